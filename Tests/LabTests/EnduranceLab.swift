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

    /// What has to outlive whatever happens.
    struct Kept: Equatable, CustomStringConvertible {
        /// The configuration's octets, the number of the lab's state, and what both come to: all that stands in a file
        /// of theirs, profiles among it, and which profiles devices were given.
        let file: String
        let revision: Int
        let effective: String
        let assignments: [String: String]

        var description: String { "revision \(revision), \(assignments): \(effective)" }
    }

    func kept() throws -> Kept {
        let file = try String(contentsOf: lab.directory.appending(path: "starshipd.json5"), encoding: .utf8)
        guard let revision = try status()["revision"] as? Int else { throw LabError("no revision in the status") }
        let effective = try control("export")
        guard effective.status == 0 else { throw LabError("no export: \(effective)") }
        let list = try control("devices", "--json").output
        let devices = (try JSONSerialization.jsonObject(with: Data(list.utf8)) as? [String: Any])?["devices"]
        var assignments: [String: String] = [:]
        for device in devices as? [[String: Any]] ?? [] where device["profileBy"] as? String == "assignment" {
            // By which address it is called depends on whether it was heard of since the start.
            for address in device["addresses"] as? [String] ?? [] where !address.contains(":") {
                assignments[address] = device["profile"] as? String
            }
        }
        return Kept(file: file, revision: revision, effective: effective.output, assignments: assignments)
    }

    /// Gives a device a profile of its own, so that there is something to lose.
    func assign(_ profile: String = "other", to device: String = "10.9.0.77") throws -> Kept {
        let given = try control("use", profile, "--device", device)
        guard given.status == 0 else { throw LabError("no assignment: \(given)") }
        let kept = try kept()
        guard kept.revision > 0, kept.assignments == [device: profile] else { throw LabError("is not kept: \(kept)") }
        return kept
    }

    /// The same after the next start, from what is on the disk.
    func keptByRestart() throws -> Kept {
        daemon.program.end(.kill)
        try restart()
        return try kept()
    }

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
