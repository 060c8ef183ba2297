/// A gateway whose surroundings break while it runs, and what can be asked of it meanwhile.
///
///     device ── gateway (network.setup: gateway) ── internet: dnsmasq, tinyproxy ── origin

import Foundation
import TestSupport
import Testing

final class EnduranceLab {
    static let isPossible = RouteLab.isPossible && Lab.has("prlimit")

    let routes: RouteLab
    var daemon: Daemon
    private let settings: Daemon.Settings
    /// What stands in front of `starshipctl`, such as a clock that goes wrong as the daemon's does.
    var wrapper: [String] = []

    var lab: Lab { routes.lab }

    /// In domain mode unless there are no domains; probed every five seconds.
    init(domains: String? = "example", _ change: (inout Daemon.Settings) -> Void = { _ in }) throws {
        let routes = try RouteLab()
        var settings = domains.map { routes.settings($0) } ?? routes.settings()
        settings.isProbed = true
        settings.profiles =
            "{ id: \"other\", upstream: \(Daemon.Settings.http(Upstream.tinyproxy.port)), domains: [\"example\"] }"
        settings.more += """
            health: { url: "http://198.51.100.10/", body: "peer *", interval: "5s", timeout: "4s", slow: "3s" }, clock: "trust",
            """
        change(&settings)
        self.routes = routes
        self.settings = settings
        daemon = try routes.start(settings)
    }

    /// Starts it again, as a supervisor would.
    func restart() throws { daemon = try routes.start(settings) }

    @discardableResult
    func control(_ arguments: String...) throws -> LabProgram.Result {
        try lab.run(
            .gateway, wrapper + ["\(Lab.binaries)/starshipctl", "--socket", Daemon.socket(lab)] + arguments)
    }

    /// `starshipctl status --json`.
    func status() throws -> [String: Any] {
        let answer = try control("status", "--json")
        let card = try JSONSerialization.jsonObject(with: Data(answer.output.utf8)) as? [String: Any]
        guard let card else { throw LabError("no status: \(answer)") }
        return card
    }

    func colour() throws -> String {
        let health = try status()["health"] as? [String: Any]
        return health?["colour"] as? String ?? "none"
    }

    /// Waits for a colour.
    func becomes(_ colour: String, within seconds: Double = Lab.patience) throws -> Bool {
        try Lab.wait(seconds) { try self.colour() == colour }
    }

    /// How many devices have a profile of their own.
    func assigned() throws -> Int {
        let devices = try status()["devices"] as? [String: Any]
        return devices?["assigned"] as? Int ?? -1
    }

    /// One of `limits` of the status.
    func limit(_ name: String) throws -> (used: Int, bound: Int, hits: Int) {
        let limits = try status()["limits"] as? [[String: Any]] ?? []
        guard let one = limits.first(where: { $0["limit"] as? String == name }), let used = one["used"] as? Int,
            let bound = one["of"] as? Int, let hits = one["hits"] as? Int
        else { throw LabError("no limit \(name) in \(limits)") }
        return (used, bound, hits)
    }

    /// Whether a page of a proxied name comes through the proxy; an address that the device still holds saves the
    /// look-up.
    func pageComes(at held: String? = nil) throws -> Bool {
        try routes.page("web.example", at: held) == "\(RouteLab.proxied) web.example"
    }

    /// How a question for a name's address is answered: `NOERROR`, `SERVFAIL` or `nothing`.
    func answer(of name: String, _ options: String...) throws -> String {
        let dig = ["dig", "+time=3", "+tries=1", "@10.9.0.1", name, "A"] + options
        let text = try lab.run(.device, dig).output
        return text.firstMatch(of: /status: ([A-Z]+)/).map { String($0.output.1) } ?? "nothing"
    }

    /// How many lines the daemon has written.
    var lines: Int { daemon.program.errors.count { $0 == "\n" } }
}
