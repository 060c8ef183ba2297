/// The switch on real devices, real proxies and real packets.
///
///     device, tablet ── gateway ── internet: squid, mitmproxy, the embedded upstream ── origin

import Foundation
import TestSupport
import Testing

/// A gateway that is commanded by `starshipctl`, with three upstreams to choose from.
struct SwitchLab {
    static let isPossible =
        Upstream.squid.isAvailable && Upstream.mitmproxy.isAvailable && Lab.has("zbarimg") && Lab.has("dnsmasq")

    let lab: Lab
    let squid: LabProgram
    let embedded: LabProgram
    let names: LabProgram
    let servers: LabProgram
    let daemon: Daemon

    static let profiles = """
        { id: "embedded", name: "Embedded", selfService: true,
          upstream: { type: "http", host: "10.77.0.2", port: 10809 } },
        { id: "mitm", name: "mitmproxy", selfService: true, upstream: { type: "http", host: "10.77.0.2", port: 8080 } },
        { id: "dead", name: "Nobody there", upstream: { type: "http", host: "10.77.0.2", port: 9 } }
        """

    /// Two devices, and everything that they meet; `lab` is squid.
    init(more: String = "") throws {
        let lab = try Lab()
        try lab.addTablet()
        squid = try Upstream.squid.start(in: lab)
        embedded = try Upstream.embedded.start(in: lab)
        servers = try lab.start(.origin, Lab.python(["routes.py", "serve", "198.51.100.10", "198.51.100.11"]))
        names = try lab.start(
            .internet,
            [
                "dnsmasq", "--keep-in-foreground", "--conf-file=/dev/null", "--no-resolv", "--no-hosts", "--user=root",
                "--pid-file=", "--listen-address=10.77.0.2", "--bind-interfaces", "--log-facility=-", "--local=/example/",
                "--host-record=web.example,198.51.100.10",
            ])
        try servers.waitFor("ready")
        var settings = Daemon.Settings()
        settings.network = "setup: \"gateway\", lan: [\"lan\"]"
        settings.upstream = Daemon.Settings.http(Upstream.squid.port)
        settings.more = """
            state: "\(lab.directory.path)/state", clock: "trust", gateway: "lab-1",
            dns: { resolvers: ["10.77.0.2:53"] }, devices: [{ name: "pixel", mac: "02:00:00:00:00:03" }],
            \(more)
            """
        settings.profiles = Self.profiles
        daemon = try Daemon(lab, settings, routed: false)
        self.lab = lab
    }

    /// Runs the command line on the gateway.
    @discardableResult
    func control(_ arguments: [String], input: String? = nil) throws -> LabProgram.Result {
        try lab.run(
            .gateway, ["\(Lab.binaries)/starshipctl", "--socket", Daemon.socket(lab)] + arguments, input: input)
    }

    /// As `control`; it must not be refused.
    @discardableResult
    func done(_ arguments: String...) throws -> String {
        let result = try control(arguments)
        guard result.status == 0 else { throw LabError("starshipctl \(arguments): \(result.errors)") }
        return result.output
    }

    /// What a device's page says about who has fetched it.
    func page(_ place: Lab.Place, _ name: String = "web.example") throws -> String {
        let dig = ["dig", "+short", "+time=2", "+tries=2", "@10.9.0.1", name, "A"]
        let address = try lab.run(place, dig).output.split(separator: "\n").last.map(String.init) ?? ""
        let curl = [
            "curl", "-sS", "--max-time", "5", "--resolve", "\(name):443:\(address)", "--resolve",
            "\(name):80:\(address)", "http://\(name)/",
        ]
        let result = try lab.run(place, curl)
        return result.status == 0 ? String(result.output.dropLast()) : "failed: \(result.errors)"
    }

    /// The flow log's lines of a device through a profile.
    func flows(of address: String, through profile: String) -> Int {
        daemon.events("flow").count { $0.contains("client=\(address):") && $0.contains(" profile=\(profile) ") }
    }
}

extension LabTests {
    @Suite("switching", .enabled(if: SwitchLab.isPossible))
    struct SwitchTests {
        @Test("one command moves one device to another upstream, and the other device's flows live on")
        func switches() throws {
            let lab = try SwitchLab()
            #expect(try lab.page(.device).hasPrefix("peer 10.78.0.1"))
            #expect(try lab.page(.tablet).hasPrefix("peer 10.78.0.1"))
            #expect(lab.flows(of: "10.9.0.2", through: "lab") == 1 && lab.flows(of: "10.9.0.3", through: "lab") == 1)
            let fake =
                try lab.lab.run(.device, ["dig", "+short", "@10.9.0.1", "web.example", "A"]).output
                .split(separator: "\n").first.map(String.init) ?? ""
            let talk = try lab.lab.start(.device, Lab.python(["routes.py", "talk", fake, "20"]))
            try talk.waitFor("peer")

            let answer = try lab.done("use", "embedded", "--device", "pixel")
            #expect(answer.contains("pixel") && answer.contains("embedded"), "\(answer)")
            #expect(try lab.page(.tablet).hasPrefix("peer 10.78.0.1"))
            #expect(lab.flows(of: "10.9.0.3", through: "embedded") == 1, "\(lab.daemon.program.errors.suffix(3000))")
            #expect(try lab.page(.device).hasPrefix("peer"))
            #expect(
                lab.flows(of: "10.9.0.2", through: "lab") == 2 && lab.flows(of: "10.9.0.2", through: "embedded") == 0)
            let lines = talk.output.split(separator: "\n").count
            #expect(Lab.wait(3) { talk.output.split(separator: "\n").count > lines + 5 })
            #expect(talk.isRunning && !talk.output.contains("broken"))

            // Back to the default, and everything at once.
            try lab.done("release", "--device", "pixel")
            #expect(try lab.page(.tablet).hasPrefix("peer"))
            #expect(lab.flows(of: "10.9.0.3", through: "lab") == 2)
        }
    }
}
