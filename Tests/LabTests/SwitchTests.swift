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
                "--pid-file=", "--listen-address=10.77.0.2", "--bind-interfaces", "--log-facility=-",
                "--local=/example/",
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

    /// How many of a device's flows have ended that went through a profile.
    func flows(of address: String, through profile: String) -> Int {
        daemon.events("flow").count { $0.contains("client=\(address):") && $0.contains(" profile=\(profile) ") }
    }

    /// Waits for so many of them: a flow's line comes after its client has gone.
    func ended(_ count: Int, of address: String, through profile: String) -> Bool {
        Lab.wait { flows(of: address, through: profile) == count }
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
            #expect(lab.ended(1, of: "10.9.0.2", through: "lab") && lab.ended(1, of: "10.9.0.3", through: "lab"))
            let fake =
                try lab.lab.run(.device, ["dig", "+short", "@10.9.0.1", "web.example", "A"]).output
                .split(separator: "\n").first.map(String.init) ?? ""
            let talk = try lab.lab.start(.device, Lab.python(["routes.py", "talk", fake, "120"]))
            try talk.waitFor("peer")

            let answer = try lab.done("use", "embedded", "--device", "pixel")
            #expect(answer.contains("pixel") && answer.contains("embedded"), "\(answer)")
            #expect(try lab.page(.tablet).hasPrefix("peer 10.78.0.1"))
            #expect(lab.ended(1, of: "10.9.0.3", through: "embedded"), "\(lab.daemon.program.errors.suffix(3000))")
            #expect(try lab.page(.device).hasPrefix("peer"))
            #expect(
                lab.ended(2, of: "10.9.0.2", through: "lab") && lab.flows(of: "10.9.0.2", through: "embedded") == 0)
            let lines = talk.output.split(separator: "\n").count
            #expect(Lab.wait { talk.output.split(separator: "\n").count > lines + 5 })
            #expect(talk.isRunning && !talk.output.contains("broken"))

            // Back to the default, and everything at once.
            try lab.done("release", "--device", "pixel")
            #expect(try lab.page(.tablet).hasPrefix("peer"))
            #expect(lab.ended(2, of: "10.9.0.3", through: "lab"))
        }

        @Test("a scanned code moves the device on its next request, and not a byte of the other one's flows changes")
        func scans() throws {
            let lab = try SwitchLab()
            let proxy = try Upstream.mitmproxy.start(in: lab.lab)
            let fake =
                try lab.lab.run(.device, ["dig", "+short", "@10.9.0.1", "web.example", "A"]).output
                .split(separator: "\n").first.map(String.init) ?? ""
            let talk = try lab.lab.start(.device, Lab.python(["routes.py", "talk", fake, "120"]))
            try talk.waitFor("peer")
            let code = lab.lab.directory.appending(path: "mitm.png").path
            try lab.done("qr", "mitm", "--png", code)
            // Read by a program that knows nothing of ours.
            let read = try lab.lab.run(.gateway, ["zbarimg", "--quiet", "--raw", code]).output
            #expect(read == "starship://activate?v=1&profile=mitm\n")
            let scan = try lab.control(["scan", "--device", "pixel"], input: read)
            #expect(scan.status == 0 && scan.output.contains("pixel"), "\(scan)")
            #expect(try lab.page(.tablet).hasPrefix("peer 10.78.0.1"))
            #expect(lab.ended(1, of: "10.9.0.3", through: "mitm"), "\(lab.daemon.program.errors.suffix(3000))")
            #expect(proxy.isRunning)
            let lines = talk.output.split(separator: "\n")
            #expect(Lab.wait { talk.output.split(separator: "\n").count > lines.count + 5 })
            #expect(talk.isRunning && !talk.output.contains("broken"))
            #expect(try lab.page(.device).hasPrefix("peer"))
            #expect(lab.flows(of: "10.9.0.2", through: "mitm") == 0)
        }

        // B160: after the command returns, new flows go the new way; an old one is reset when it falls idle.
        @Test("flows that move get two seconds, idle ones none, and the answer counts both")
        func drains() throws {
            let lab = try SwitchLab()
            let fake =
                try lab.lab.run(.device, ["dig", "+short", "@10.9.0.1", "web.example", "A"]).output
                .split(separator: "\n").first.map(String.init) ?? ""
            let moving = try lab.lab.start(.device, Lab.python(["routes.py", "talk", fake, "120"]))
            try moving.waitFor("peer")
            let idle = try lab.lab.start(.device, Lab.python(["routes.py", "wait", fake, "120"]))
            try idle.waitFor("open")
            sleep(2)
            let switched = Stopwatch()
            let answer = try lab.done("--json", "use", "embedded", "--all")
            #expect(answer.contains("\"flows\":{\"reset\":1,\"draining\":1,"), "\(answer)")
            #expect(Lab.wait(promised: 0.5) { idle.output.contains("reset") }, "\(idle.output)")
            // A machine that has let the two seconds pass meanwhile has nothing to say about them.
            let goesOn = moving.isRunning && !moving.output.contains("broken")
            #expect(goesOn || switched.wholeSeconds > 2)
            #expect(
                Lab.wait(promised: 3) { moving.output.contains("broken ConnectionResetError") },
                "\(moving.output.suffix(100))")
            #expect(try lab.page(.device).hasPrefix("peer 10.78.0.1"))
            #expect(lab.ended(1, of: "10.9.0.2", through: "embedded"))
        }

        // B162.
        @Test("from a silent upstream one gets away by a switch: what waits is refused, and new flows work at once")
        func leavesSilent() throws {
            let lab = try SwitchLab()
            let silent = try lab.lab.start(.internet, Lab.python(["routes.py", "silent", "10.77.0.2", "9009"]))
            try silent.waitFor("ready")
            let file = lab.lab.directory.appending(path: "silent.json5")
            let text = "{ id: \"silent\", upstream: { type: \"http\", host: \"10.77.0.2\", port: 9009 } }"
            try text.write(to: file, atomically: true, encoding: .utf8)
            try lab.done("push", file.path)
            try lab.done("use", "silent", "--all")
            let fake =
                try lab.lab.run(.device, ["dig", "+short", "@10.9.0.1", "web.example", "A"]).output
                .split(separator: "\n").first.map(String.init) ?? ""
            let clients = try lab.lab.start(.device, Lab.python(["routes.py", "pending", fake, "50"]))
            try clients.waitFor("pending")
            #expect(try Lab.wait { try lab.control(["--json", "status"]).output.contains("\"halfOpen\":50") })
            try lab.done("use", "embedded", "--all")
            let begun = Stopwatch()
            #expect(try lab.page(.device).hasPrefix("peer 10.78.0.1"))
            #expect(begun.seconds < 1)
            #expect(try clients.wait(within: 30).output.contains("50 refused, 0 pending"))
        }

        @Test("a lease ends by itself, and a blocked newcomer is served once it has a name")
        func leases() throws {
            let lab = try SwitchLab(more: "newDevices: \"block\",")
            #expect(try lab.page(.device).hasPrefix("failed"))
            #expect(try lab.page(.tablet).hasPrefix("peer"))
            try lab.done("devices", "name", "10.9.0.2", "phone")
            #expect(try Lab.wait { try lab.page(.device).hasPrefix("peer") })
            let refused = try lab.control(["use", "embedded"])
            #expect(refused.status == 64 && refused.errors.contains("--device"), "\(refused)")
            try lab.done("use", "embedded", "--device", "phone", "--for", "1m")
            let devices = try lab.done("--json", "devices", "phone")
            #expect(devices.contains("\"profileBy\":\"assignment\""), "\(devices)")
            // A switch of all names who keeps what it has.
            let all = try lab.done("use", "mitm", "--all")
            #expect(all.contains("phone"), "\(all)")
            let moved = try lab.done("use", "mitm", "--all", "--override")
            #expect(!moved.contains("keep"), "\(moved)")
            let again = try lab.done("--json", "devices", "phone")
            #expect(again.contains("\"profile\":\"mitm\"") && again.contains("\"profileBy\":\"default\""), "\(again)")
        }

        @Test("many switches under load lose no listener, leak nothing and leave no flow on a stale upstream")
        func switchesOften() throws {
            let lab = try SwitchLab()
            let socks = "\(Lab.socksAddress):\(Lab.socksPort)"
            let arguments = ["api.py", "switches", Daemon.socket(lab.lab), "20", socks, "embedded", "lab"]
            _ = try lab.lab.program(.gateway, arguments)
            let (descriptors, memory) = (lab.daemon.descriptors, lab.daemon.residentKiB)
            let count = "\(LongRun.rounds(300, long: 1000))"
            let text = try lab.lab.program(
                .gateway, ["api.py", "switches", Daemon.socket(lab.lab), count, socks, "embedded", "lab"], within: 240)
            let seen = try JSONDecoder().decode(Seen.self, from: Data(text.utf8))
            #expect(seen.refused == 0 && seen.stale == 0 && seen.opened > 100, "\(seen)")
            #expect(try Lab.wait { try lab.daemon.snapshot()["flows"] == 0 })
            #expect(lab.daemon.descriptors <= descriptors + 2, "\(descriptors) \(lab.daemon.descriptors)")
            #expect(lab.daemon.residentKiB < memory + 8192, "\(memory) \(lab.daemon.residentKiB)")
            #expect(try lab.page(.device).hasPrefix("peer"))
        }

        private struct Seen: Decodable {
            var opened: Int
            var refused: Int
            var stale: Int
            var slowest: Double
        }
    }
}
