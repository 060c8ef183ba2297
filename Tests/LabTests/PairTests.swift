/// A pair of gateways that share an address: Debian's keepalived, two starshipd, and a phone that notices nothing.
///
///     device, tablet ──┐            ┌── gateway (10.9.0.4) ──┐
///                    switch: 10.9.0.1                      switch ── internet: squid, the embedded upstream ── origin
///                                   └── second  (10.9.0.5) ──┘

import Foundation
import TestSupport
import Testing

/// Both gateways with their files; each program is started by the test.
private struct PairLab {
    static let isPossible = Upstream.squid.isAvailable && Lab.has("keepalived")

    let lab: Lab
    let squid: LabProgram
    let embedded: LabProgram
    let servers: LabProgram

    static let phone = "02:00:00:00:00:02"
    static let shared = "10.9.0.1"

    init() throws {
        let lab = try Lab()
        try lab.addGateway()
        try lab.addTablet()
        squid = try Upstream.squid.start(in: lab)
        embedded = try Upstream.embedded.start(in: lab)
        servers = try lab.start(.origin, Lab.python(["routes.py", "serve", "198.51.100.10"]))
        try servers.waitFor("ready")
        let key = lab.directory.appending(path: "key")
        try String(repeating: "5a", count: 32).write(to: key, atomically: true, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: key.path)
        self.lab = lab
    }

    private func number(_ place: Lab.Place) -> Int { place == .second ? 2 : 1 }
    func socket(_ place: Lab.Place) -> String { "\(lab.directory.path)/control-\(number(place)).sock" }

    /// Starts one of both, and waits until it is ready.
    func start(_ place: Lab.Place) throws -> LabProgram {
        let (own, other) = (number(place), 3 - number(place))
        let text = """
            {
              network: { setup: "gateway", lan: ["lan"] }, socks: false, ipv6: false, log: { flows: "all" },
              dns: { resolvers: ["10.77.0.2:53"], pool: "198.\(17 + own).0.0/16" },
              control: { socket: "\(socket(place))" }, state: "\(lab.directory.path)/state-\(own)", clock: "trust",
              gateway: "lab-\(own)", keys: [{ id: "pair", file: "\(lab.directory.path)/key", scope: ["peer"] }],
              push: { listen: "10.9.0.\(3 + own):10801", allow: ["10.9.0.\(3 + other)"] },
              peers: [{ id: "lab-\(other)", address: "10.9.0.\(3 + other):10801", key: "pair" }],
              profiles: [{ id: "usual", upstream: { type: "http", host: "10.77.0.2", port: 10809 }, health: false },
                         { id: "squid", upstream: { type: "http", host: "10.77.0.2", port: 3128 }, health: false }],
            }
            """
        let file = lab.directory.appending(path: "pair-\(own).json5")
        try text.write(to: file, atomically: true, encoding: .utf8)
        let program = try lab.start(place, ["\(Lab.binaries)/starshipd", "--config", file.path])
        try program.waitFor("event=ready", within: 30)
        return program
    }

    /// Starts keepalived with the example of Configs/keepalived, with this lab's names in its first lines.
    func keepalived(_ place: Lab.Place) throws -> LabProgram {
        let own = number(place)
        let examples = Lab.sources.appending(path: "Configs/keepalived")
        var text = try String(
            contentsOf: examples.appending(path: own == 1 ? "master.conf" : "backup.conf"), encoding: .utf8)
        for (name, value) in [
            ("LAN", "lan"), ("UPLINK", "wan"), ("VIRTUAL", "\(Self.shared)/24"), ("SELF", "10.9.0.\(3 + own)"),
            ("OTHER", "10.9.0.\(6 - own)"),
        ] {
            text.replace(try Regex("(?m)^\\$\(name)=.*$"), with: "$\(name)=\(value)")
        }
        text.replace(
            try Regex("check-starship ([a-z]+)\""),
            with: { "check-starship \($0.output[1].substring ?? "") --socket \(socket(place))\"" })
        text.replace("/usr/share/starship/keepalived/", with: examples.path + "/")
        text.replace("preempt_delay 10", with: "preempt_delay 2")
        let file = lab.directory.appending(path: "keepalived-\(own).conf")
        try text.write(to: file, atomically: true, encoding: .utf8)
        let test = try lab.run(place, ["keepalived", "--config-test", "--use-file=\(file.path)"])
        guard test.status == 0 else { throw LabError("keepalived refuses \(file.path): \(test.errors)\(test.output)") }
        return try lab.start(
            place,
            [
                "env", "PATH=\(Lab.binaries):/usr/sbin:/usr/bin:/sbin:/bin", "keepalived", "--dont-fork",
                "--log-console",
                "--log-detail", "--no-syslog", "--use-file=\(file.path)", "--pid=\(lab.directory.path)/k\(own).pid",
                "--vrrp_pid=\(lab.directory.path)/v\(own).pid",
            ])
    }

    func hasAddress(_ place: Lab.Place) throws -> Bool {
        try lab.run(place, ["ip", "-brief", "address", "show", "dev", "lan"]).output.contains(" \(Self.shared)/24")
    }

    func api(_ place: Lab.Place, _ method: String, _ path: String, _ body: String...) throws -> String {
        try lab.program(place, ["api.py", "call", socket(place), method, path] + body)
    }

    func control(_ place: Lab.Place, _ arguments: String...) throws -> LabProgram.Result {
        try lab.run(place, ["\(Lab.binaries)/starshipctl", "--socket", socket(place)] + arguments)
    }

    /// Waits until a gateway has heard everything from its peer, and its peer lacks nothing.
    func isSynchronised(_ place: Lab.Place, within seconds: Double = 40) throws -> Bool {
        try Lab.wait(seconds) {
            let status = try api(place, "GET", "/v1/status")
            return status.contains("\"synchronised\":true") && status.contains("\"behind\":0")
        }
    }

    /// What the phone sees of a page, asked anew of the shared address; tries for so long.
    func page(_ place: Lab.Place = .device, within seconds: Double = 10) throws -> Bool {
        try Lab.wait(seconds) {
            let dig = ["dig", "+short", "+time=1", "+tries=1", "@\(Self.shared)", "web.example", "A"]
            let address = try lab.run(place, dig).output.split(separator: "\n").last.map(String.init) ?? ""
            let curl = [
                "curl", "-sS", "--max-time", "3", "--resolve", "web.example:80:\(address)", "http://web.example/",
            ]
            return try lab.run(place, curl).output.hasPrefix("peer")
        }
    }

    /// The lines of squid's own log.
    var squidLines: Int {
        let log = try? String(contentsOf: lab.directory.appending(path: "squid/access.log"), encoding: .utf8)
        return (log ?? "").split(separator: "\n").count
    }

    /// Has the phone ask for a page, which has to leave a line in squid's log.
    func isServedBySquid() throws -> Bool {
        let before = squidLines
        guard try page() else { return false }
        return Lab.wait { squidLines > before }
    }

    func setLink(_ name: String, _ state: String) throws {
        let command = ["ip", "-n", "\(lab.name)-switch", "link", "set", name, state]
        let result = try lab.run(.internet, command)
        guard result.status == 0 else { throw LabError("\(command): \(result.errors)") }
    }
}

extension LabTests {
    @Suite("a pair of gateways", .enabled(if: PairLab.isPossible))
    struct PairTests {
        @Test("the second takes over within 3 s, knows what the first was told, and gives it back with what came since")
        func takesOver() throws {
            let pair = try PairLab()
            let (first, second) = (try pair.start(.gateway), try pair.start(.second))
            #expect(try pair.isSynchronised(.gateway) && pair.isSynchronised(.second))
            let (master, backup) = (try pair.keepalived(.gateway), try pair.keepalived(.second))
            #expect(try Lab.wait(40) { try pair.hasAddress(.gateway) }, "\(master.errors.suffix(2000))")
            #expect(try !pair.hasAddress(.second), "\(backup.errors.suffix(2000))")
            #expect(try pair.page())
            let use = try pair.control(.gateway, "use", "squid", "--device", PairLab.phone)
            #expect(use.status == 0, "\(use)")
            #expect(try pair.isServedBySquid())
            #expect(
                try Lab.wait {
                    let history = try pair.api(.second, "GET", "/v1/history")
                    return history.contains("\"by\":\"lab-1\",\"how\":\"peer\"") && history.contains("uses squid")
                })

            // The process.
            first.end(.kill)
            #expect(try Lab.wait(promised: 3) { try pair.hasAddress(.second) }, "\(backup.errors.suffix(2000))")
            #expect(try pair.isServedBySquid())
            #expect(second.errors.contains("profile=squid"), "it was the second one that carried it")

            // What is decided while the first one is away is there when it is back, and so is the address.
            let named = try pair.api(.second, "PUT", "/v1/devices/\(PairLab.phone)", "{\"name\":\"pixel-7\"}")
            #expect(named.hasPrefix("200"), "\(named)")
            let again = try pair.start(.gateway)
            #expect(try pair.isSynchronised(.gateway) && pair.isSynchronised(.second))
            let devices = try pair.api(.gateway, "GET", "/v1/devices")
            #expect(devices.contains("\"pixel-7\"") && devices.contains("\"squid\""), "\(devices)")
            #expect(try Lab.wait(40) { try pair.hasAddress(.gateway) }, "\(master.errors.suffix(2000))")
            #expect(try pair.isServedBySquid())
            #expect(again.errors.contains("profile=squid"))

            // The link.
            try pair.setLink("lan-gateway", "down")
            #expect(try Lab.wait(promised: 3) { try pair.hasAddress(.second) }, "\(backup.errors.suffix(2000))")
            #expect(try pair.isServedBySquid())
            let status = try pair.control(.second, "status")
            #expect(status.output.contains("lab-1 (10.9.0.4:10801)"), "\(status)")
            #expect(
                try Lab.wait(20) {
                    try pair.api(.second, "GET", "/v1/status").contains("the peer lab-1 has not been heard for")
                })
            try pair.setLink("lan-gateway", "up")
            #expect(try Lab.wait(40) { try pair.hasAddress(.gateway) && !pair.hasAddress(.second) })
            #expect(try pair.isServedBySquid())
            #expect(second.isRunning && again.isRunning)
        }

        @Test("alone since its start it blocks whom it does not know, says why, and serves whom it knows")
        func blocksStrangers() throws {
            let pair = try PairLab()
            do {
                let (first, second) = (try pair.start(.gateway), try pair.start(.second))
                #expect(try pair.isSynchronised(.gateway) && pair.isSynchronised(.second))
                let assigned = try pair.api(
                    .gateway, "POST", "/v1/activate", "{\"profile\":\"squid\",\"device\":\"\(PairLab.phone)\"}")
                #expect(assigned.hasPrefix("200"), "\(assigned)")
                #expect(try pair.isSynchronised(.gateway))
                first.end(.terminate)
                second.end(.kill)
            }
            let second = try pair.start(.second)
            let backup = try pair.keepalived(.second)
            #expect(try Lab.wait(40) { try pair.hasAddress(.second) }, "\(backup.errors.suffix(2000))")
            #expect(try pair.isServedBySquid(), "\(second.errors.suffix(2000))")

            let reason = "has not heard from its peer since it started"
            #expect(try !pair.page(.tablet, within: 0))
            let why = try pair.control(.second, "why", "10.9.0.3")
            let words = why.output.split { $0.isWhitespace }.joined(separator: " ")
            #expect(words.contains("none, blocked (peers: this gateway \(reason))"), "\(why)")
            let shown = try pair.lab.run(.tablet, ["curl", "-sS", "--max-time", "5", "http://\(PairLab.shared)/"])
            #expect(shown.output.contains("This gateway \(reason)"), "\(shown)")
            #expect(try pair.api(.second, "GET", "/v1/status").contains(reason))

            // With the peer it knows that nobody knows the tablet, and what is usual counts.
            let first = try pair.start(.gateway)
            #expect(try pair.isSynchronised(.second))
            #expect(try pair.page(.tablet))
            #expect(first.isRunning)
        }
    }
}
