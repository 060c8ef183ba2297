/// Colours and causes over real proxies, with faults that are made on the way to them.
///
///     device ── gateway ── internet: tinyproxy, and `faults.py` in its place ── origin

import Foundation
import Synchronization
import TestSupport
import Testing

/// A gateway whose one upstream is looked after, and what can be done to it.
final class HealthLab {
    static let isPossible = Upstream.tinyproxy.isAvailable && Lab.has("nft")

    let lab: Lab
    private(set) var proxy: LabProgram
    let faults: LabProgram
    let servers: LabProgram
    let daemon: Daemon
    /// Where the gateway's password for the proxy stands.
    let secret: URL

    /// The shortest interval that a profile may have, and how long a cause may take: an interval and 5 s.
    static let interval = 5.0
    static let patience = interval + 5

    init(
        upstream: String? = nil, profiles: String = "", interval: String = "5s", timeout: String = "1s",
        slow: String = "500ms", servers addresses: [String] = ["198.51.100.10"], password: String? = nil
    ) throws {
        lab = try Lab()
        servers = try lab.start(.origin, Lab.python(["routes.py", "serve"] + addresses))
        faults = try lab.start(.internet, Lab.python(["faults.py", "serve"]))
        proxy = try Upstream.tinyproxy.start(in: lab)
        try servers.waitFor("ready")
        try faults.waitFor("ready")
        secret = lab.directory.appending(path: "secret")
        if let password { try Self.write(password, to: secret) }
        let user = password == nil ? "" : ", user: \"lab\", passwordFile: \"\(secret.path)\""
        daemon = try Daemon(
            lab,
            Daemon.Settings {
                $0.upstream =
                    upstream
                    ?? "{ type: \"http\", host: \"proxy.example\", port: \(Upstream.tinyproxy.port)\(user) }"
                $0.profiles = profiles
                $0.isProbed = true
                $0.more = """
                    health: { url: "http://198.51.100.10/", body: "peer *", interval: "\(interval)",
                        timeout: "\(timeout)", slow: "\(slow)" },
                    clock: "trust", gateway: "lab-1",
                    devices: [{ name: "stb", address: "10.9.0.2" }],
                    """
            })
    }

    func control(_ arguments: String...) throws -> LabProgram.Result {
        try lab.run(.gateway, ["\(Lab.binaries)/starshipctl", "--socket", Daemon.socket(lab)] + arguments)
    }

    /// Colour and cause as `starshipctl status` has them, such as `red port_closed`; without a cause the colour alone.
    func health() throws -> String {
        let text = try control("status", "--json").output
        let card = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any]
        let health = card?["health"] as? [String: Any]
        let cause = health?["cause"] as? [String: Any]
        return [health?["colour"], cause?["code"]].compactMap { $0 as? String }.joined(separator: " ")
    }

    /// The same for whoever reads what went wrong.
    var seen: String { (try? health()) ?? "no answer" }

    /// Waits for a colour and cause, and says how long it took; nil: it did not come in time.
    func seconds(until expected: String, within limit: Double = HealthLab.patience) throws -> Double? {
        let watch = Stopwatch()
        guard try Lab.wait(promised: limit, until: { try health() == expected }) else { return nil }
        return watch.seconds
    }

    // What is done to the way there

    /// Ends the proxy as a power cut would.
    func killProxy() { proxy.end(.kill) }

    /// Starts the proxy anew, for those who know a user's password (`NAME PASSWORD`), or for all.
    func startProxy(for user: String? = nil) throws {
        proxy.end(.kill)
        proxy = try Upstream.tinyproxy.start(in: lab, for: user)
    }

    static func write(_ password: String, to file: URL) throws {
        try "\(password)\n".write(to: file, atomically: true, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
    }

    /// Runs a script of nft in the internet namespace, in a table that `undo` removes.
    func firewall(_ rules: String) throws {
        let text = "table ip faults {\n\(rules)\n}\n"
        let result = try lab.run(.internet, ["nft", "-f", "-"], input: text)
        guard result.status == 0 else { throw LabError("nft: \(result.errors)") }
    }

    func undo() throws { try lab.run(.internet, ["nft", "delete", "table", "ip", "faults"]) }

    /// Writes the gateway's hosts file anew: in place, because a running program has this very file.
    func setNames(_ change: ([Substring]) -> [Substring]) throws {
        let names = try lab.run(.gateway, ["\(Lab.sources.path)/scripts/lab", "names"]).output
        let text = change(names.split(separator: "\n")).joined(separator: "\n") + "\n"
        try Data(text.utf8).write(to: URL(filePath: "/etc/netns/\(lab.name)-gateway/hosts"), options: [])
    }

    /// Has another port answer in the proxy's place.
    func replaceProxy(by port: Int) throws {
        try firewall(
            """
            chain in { type nat hook prerouting priority dstnat;
            tcp dport \(Upstream.tinyproxy.port) redirect to :\(port)
            }
            """)
    }

    /// Has another port answer in the place of the page behind the proxy.
    func replacePage(by port: Int) throws {
        try firewall(
            """
            chain out { type nat hook output priority -100;
            ip daddr 198.51.100.10 tcp dport 80 dnat to 10.77.0.2:\(port)
            }
            """)
    }

    func filter(_ rule: String) throws {
        try firewall("chain in { type filter hook input priority filter;\n\(rule)\n}")
    }
}

extension LabTests {
    @Suite("health", .enabled(if: HealthLab.isPossible))
    struct HealthTests {
        /// What is done, what it must look like, and how it is undone.
        struct Fault: CustomStringConvertible, Sendable {
            var description: String
            var expected: String
            var make: @Sendable (HealthLab) throws -> Void
            var undo: @Sendable (HealthLab) throws -> Void = { try $0.undo() }
        }

        static let faults: [Fault] = [
            Fault(description: "the proxy is killed", expected: "red port_closed") {
                $0.killProxy()
            } undo: {
                try $0.startProxy()
            },
            Fault(description: "the proxy wants a password that it does not get", expected: "red credentials_rejected")
            {
                try $0.startProxy(for: "lab right")
            } undo: {
                try $0.startProxy()
            },
            Fault(description: "accepting and silent: stopped", expected: "red proxy_silent") {
                $0.proxy.signal(.stop)
            } undo: {
                $0.proxy.signal(.goOn)
            },
            Fault(description: "black hole", expected: "red connect_silent") { try $0.filter("tcp dport 8888 drop") },
            Fault(description: "closed port", expected: "red port_closed") {
                try $0.filter("tcp dport 8888 reject with tcp reset")
            },
            Fault(description: "its name is gone", expected: "red name_unknown") {
                try $0.setNames { $0.filter { !$0.hasSuffix("proxy.example") } }
            } undo: {
                try $0.setNames { $0 }
            },
            Fault(description: "silent program", expected: "red proxy_silent") { try $0.replaceProxy(by: 8101) },
            Fault(description: "closes instead of answering", expected: "red proxy_closed") {
                try $0.replaceProxy(by: 8102)
            },
            Fault(description: "refuses CONNECT", expected: "yellow connect_refused") {
                try $0.replaceProxy(by: 8103)
            },
            Fault(description: "wrong password", expected: "red credentials_rejected") {
                try $0.replaceProxy(by: 8104)
            },
            Fault(description: "502 to CONNECT", expected: "yellow origin_failing") { try $0.replaceProxy(by: 8105) },
            Fault(description: "noise in the place of a page", expected: "yellow wrong_page") {
                try $0.replaceProxy(by: 8106)
            },
            Fault(description: "another program at the port", expected: "red proxy_malformed") {
                try $0.replaceProxy(by: 8107)
            },
            Fault(description: "captive portal", expected: "yellow wrong_page") { try $0.replacePage(by: 8110) },
            Fault(description: "other words", expected: "yellow wrong_page") { try $0.replacePage(by: 8112) },
            Fault(description: "the origin is gone", expected: "yellow origin_failing") {
                try $0.lab.run(.origin, ["ip", "link", "set", "eth0", "down"])
            } undo: {
                try $0.lab.run(.origin, ["ip", "link", "set", "eth0", "up"])
                try $0.lab.run(.origin, ["ip", "route", "replace", "default", "via", "10.78.0.1"])
            },
            Fault(description: "the gateway's uplink is down", expected: "red no_uplink") {
                try $0.lab.run(.gateway, ["ip", "link", "set", "wan", "down"])
            } undo: {
                try $0.lab.run(.gateway, ["ip", "link", "set", "wan", "up"])
                try $0.lab.run(.gateway, ["ip", "route", "replace", "default", "via", "10.77.0.2"])
            },
        ]

        @Test("each fault has its colour and its cause, within an interval and five seconds, and heals by itself")
        func colours() throws {
            // Nearly all of it is waiting, so four labs wait beside each other.
            let found = Mutex<[String]>([])
            DispatchQueue.concurrentPerform(iterations: 4) { part in
                let faults = Self.faults.enumerated().filter { $0.offset % 4 == part }.map(\.element)
                let words = (try? Self.tryAll(faults)) ?? ["the lab could not be made"]
                found.withLock { $0 += words }
            }
            let wrong = found.withLock { $0 }
            #expect(wrong.isEmpty, "\(wrong.joined(separator: "\n"))")
        }

        /// Makes faults one after the other, and says what did not look as it must.
        private static func tryAll(_ faults: [Fault]) throws -> [String] {
            let lab = try HealthLab()
            guard try lab.seconds(until: "green") != nil else { return ["at first: \(lab.seen)"] }
            var wrong: [String] = []
            for fault in faults {
                try fault.make(lab)
                if try lab.seconds(until: fault.expected) == nil { wrong.append("\(fault): \(lab.seen)") }
                try fault.undo(lab)
                // A resolver that does not answer takes its time, whatever we wait for it.
                let limit = fault.expected.hasSuffix("name_unknown") ? 30 : HealthLab.patience
                if try lab.seconds(until: "green", within: limit) == nil { wrong.append("after \(fault): \(lab.seen)") }
            }
            return lab.daemon.isRunning ? wrong : wrong + ["the daemon has ended"]
        }

        @Test("what is no fault of the upstream leaves it green: other hosts, certificates, a page alone (B155)")
        func peace() throws {
            // A machine that is busy for a while is no fault of the upstream either.
            let lab = try HealthLab(
                timeout: "4s", slow: "3s",
                servers: ["198.51.100.10", "198.51.100.11", "198.51.100.12", "198.51.100.13"])
            #expect(try lab.seconds(until: "green") != nil)
            // Three rounds, of which nothing shows among the users' flows or in the log.
            usleep(11_000_000)
            // Nor does a monitor that connects and closes.
            try lab.lab.run(.device, ["bash", "-c", "for i in 1 2 3; do : </dev/tcp/10.9.0.1/10808; done"])
            usleep(300_000)
            #expect(try lab.health() == "green" && lab.daemon.events("flow").isEmpty)
            #expect(!lab.daemon.program.errors.contains("level="), "\(lab.daemon.program.errors)")
            // One host only: nobody listens at this port, and the proxy says so.
            let curl = ["curl", "-sS", "--max-time", "5", "http://198.51.100.11:81/"]
            for _ in 0..<4 { _ = try lab.lab.run(.device, curl) }
            #expect(try lab.health() == "green")
            // A certificate that nobody trusts, three times.
            try lab.lab.run(
                .origin,
                [
                    "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                    "-keyout", "bad.key", "-out", "bad.pem", "-days", "2", "-subj", "/CN=Nobody",
                ])
            let server = try lab.lab.start(
                .origin,
                ["openssl", "s_server", "-accept", "198.51.100.14:443", "-cert", "bad.pem", "-key", "bad.key", "-www"])
            try server.waitFor("ACCEPT")
            for _ in 0..<3 {
                let result = try lab.lab.run(.device, ["curl", "-sS", "--max-time", "5", "https://198.51.100.14/"])
                #expect(result.status == 60, "\(result.errors)")
            }
            #expect(
                Lab.wait { lab.daemon.events("certificate").contains { $0.contains("host=198.51.100.14") } },
                "\(lab.daemon.program.errors.suffix(2000))")
            #expect(try lab.health() == "green")
            // The page's host alone is gone, while users reach three others.
            try lab.firewall(
                """
                chain out { type filter hook output priority filter;
                ip daddr 198.51.100.10 tcp dport 80 reject with tcp reset
                }
                """)
            let others = ["198.51.100.11", "198.51.100.12", "198.51.100.13"]
            let end = Date(timeIntervalSinceNow: 8)
            while Date() < end {
                for host in others {
                    _ = try lab.lab.run(.device, ["curl", "-sS", "--max-time", "2", "http://\(host)/"])
                }
                #expect(try lab.health() == "green")
                usleep(300_000)
            }
            let status = try lab.control("status").output
            #expect(status.contains("note"), "\(status)")
        }

        @Test("a wrong password is red, is not tried again and again, and the right one heals it after a reload")
        func password() throws {
            let lab = try HealthLab(password: "wrong")
            try lab.startProxy(for: "lab right")
            #expect(try lab.seconds(until: "red credentials_rejected") != nil, "\(lab.seen)")
            // Two more rounds, of TCP alone: a directory behind the proxy would count each login.
            usleep(11_000_000)
            #expect(try lab.health() == "red credentials_rejected")
            #expect(lab.proxy.output.components(separatedBy: ": CONNECT 198.51.100.10:80").count - 1 == 1)
            try HealthLab.write("right", to: lab.secret)
            #expect(try lab.control("reload").status == 0)
            #expect(try lab.seconds(until: "green") != nil, "\(lab.seen)")
        }

        @Test("a push whose colour is worse than before is taken back, although TCP and CONNECT work")
        func worsePush() throws {
            let lab = try HealthLab()
            let file = lab.lab.directory.appending(path: "mine.json5")
            func push(_ port: Int) throws {
                let upstream = "{ type: \"http\", host: \"10.77.0.2\", port: \(port) }"
                let text = "{ profiles: [{ id: \"mine\", upstream: \(upstream) }], active: \"mine\" }"
                try text.write(to: file, atomically: true, encoding: .utf8)
                let result = try lab.control("push", file.path)
                #expect(result.status == 0, "\(result)")
            }
            func isOn(_ port: Int) throws -> Bool {
                try lab.control("status", "--json").output.contains("http 10.77.0.2:\(port)\"")
            }
            try push(Upstream.tinyproxy.port)
            #expect(try lab.seconds(until: "green") != nil && isOn(Upstream.tinyproxy.port), "\(lab.seen)")
            // It says yes to CONNECT, and noise in the place of the page.
            try push(8106)
            #expect(try isOn(8106))
            #expect(try Lab.wait(promised: HealthLab.patience) { try isOn(Upstream.tinyproxy.port) }, "\(lab.seen)")
            #expect(try lab.seconds(until: "green") != nil, "\(lab.seen)")
            let history = try lab.control("history").output
            #expect(history.contains("is undone"), "\(history)")
        }

        @Test("the watch shows what a real daemon sees: the proxy's end, a switch by keys, and a daemon killed")
        func watch() throws {
            let spare = "{ id: \"spare\", upstream: { type: \"http\", host: \"10.77.0.2\", port: 10809 } }"
            let lab = try HealthLab(profiles: spare)
            let second = try Upstream.embedded.start(in: lab.lab)
            let tmux = try Tmux(
                ["\(Lab.binaries)/starshipctl", "--socket", Daemon.socket(lab.lab), "watch"], columns: 100, rows: 30)
            try tmux.waitFor("● GREEN  lab")
            let curl = ["curl", "-sS", "--max-time", "5", "http://198.51.100.10/"]
            #expect(try lab.lab.run(.device, curl).output.hasPrefix("peer 10.78.0.1"))
            lab.killProxy()
            let red = try tmux.waitFor("● RED  lab")
            #expect(red.contains { $0.contains("nobody listens at the port of lab") }, "\(red)")
            try tmux.press("2")
            try tmux.waitFor("spare for whom?")
            try tmux.press("a")
            try tmux.waitFor("GREEN  spare")
            #expect(try lab.lab.run(.device, curl).output.hasPrefix("peer 10.78.0.1"))
            #expect(lab.daemon.events("flow").last?.contains("spare") == true, "\(lab.daemon.events("flow"))")
            lab.daemon.program.end(.kill)
            try tmux.waitFor("NO DAEMON")
            try tmux.press("q")
            let isOver = try Lab.wait { try tmux.property("pane_dead") == "1" }
            #expect(isOver)
            withExtendedLifetime(second) {}
        }

        @Test("an uplink that flaps is told and forgotten, and a link that loses a third is no green one")
        func badUplink() throws {
            // A segment that is lost costs 200 ms at least (RFC 6298, section 2.4, and Linux's smaller minimum).
            let lab = try HealthLab(timeout: "4s", slow: "190ms")
            #expect(try lab.seconds(until: "green") != nil)
            for _ in 0..<4 {
                try lab.lab.run(.gateway, ["ip", "link", "set", "wan", "down"])
                #expect(Lab.wait(promised: 2) { lab.seen.hasSuffix(" no_uplink") }, "\(lab.seen)")
                try lab.lab.run(.gateway, ["ip", "link", "set", "wan", "up"])
                try lab.lab.run(.gateway, ["ip", "route", "replace", "default", "via", "10.77.0.2"])
                usleep(400_000)
            }
            #expect(try lab.seconds(until: "green", within: 5) != nil, "\(lab.seen)")
            try lab.firewall(
                """
                chain in { type filter hook input priority filter;
                iifname eth0 numgen inc mod 3 < 1 drop
                }
                chain out { type filter hook output priority filter;
                oifname eth0 numgen inc mod 3 < 1 drop
                }
                """)
            let felt = Lab.wait(promised: HealthLab.patience) {
                ["yellow slow", "yellow connect_silent", "yellow proxy_silent", "yellow origin_failing"]
                    .contains(lab.seen) || lab.seen.hasPrefix("red")
            }
            #expect(felt, "\(lab.seen)")
            try lab.undo()
            #expect(try lab.seconds(until: "green") != nil, "\(lab.seen)")
        }

        @Test("an answer that takes three seconds is slow, and one that takes longer than the timeout fails")
        func slow() throws {
            let lab = try HealthLab(timeout: "4s", slow: "1s")
            #expect(try lab.seconds(until: "green") != nil)
            try lab.replacePage(by: 8111)
            #expect(try lab.seconds(until: "yellow slow") != nil, "\(lab.seen)")
            try lab.undo()
            #expect(try lab.seconds(until: "green") != nil)
        }

        /// A group of three, the first of which is tinyproxy.
        static let group = """
            { id: "first", upstream: { type: "http", host: "10.77.0.2", port: 8888 } },
            { id: "second", upstream: { type: "http", host: "10.77.0.2", port: 10809 } },
            { id: "third", upstream: { type: "http", host: "10.77.0.2", port: 3129 } }
            """

        @Test("a member of a group that dies takes with it only the requests that were on their way through it")
        func failsOver() throws {
            let members = "{ type: \"group\", choose: \"fallback\", members: [\"first\", \"second\", \"third\"] }"
            let lab = try HealthLab(upstream: members, profiles: Self.group)
            let second = try Upstream.embedded.start(in: lab.lab)
            #expect(try lab.seconds(until: "green") != nil, "\(lab.seen)")
            let load = try lab.lab.start(
                .device, Lab.python(["load.py", "paced", "198.51.100.10", "443", "200", "6"]))
            usleep(2_500_000)
            let alive = Date().timeIntervalSince1970
            lab.killProxy()
            let killed = Date().timeIntervalSince1970
            let result = try load.wait(within: 60)
            struct Outcome: Decodable {
                struct Failure: Decodable {
                    var began: Double
                    var ended: Double
                    var why: String
                }
                var good: Int
                var failures: [Failure]
            }
            let outcome = try JSONDecoder().decode(Outcome.self, from: Data(result.output.utf8))
            // Every request that began after the death went well; of those before, the ones under way alone did not.
            let late = outcome.failures.filter { $0.began > killed }
            let early = outcome.failures.filter { $0.ended < alive }
            #expect(outcome.good + outcome.failures.count == 1200 && outcome.good >= 1150)
            #expect(late.isEmpty && early.isEmpty, "\(outcome.failures) \(killed)")
            #expect(Lab.wait { lab.daemon.events("group").contains { $0.contains("chosen=second") } })
            let status = try lab.control("status").output
            #expect(status.contains("second"), "\(status)")
            withExtendedLifetime(second) {}
        }

        @Test("a group of which nobody is left refuses at once, and says so")
        func nobodyLeft() throws {
            let members = "{ type: \"group\", members: [\"second\", \"third\"] }"
            let lab = try HealthLab(upstream: members, profiles: Self.group)
            #expect(try lab.seconds(until: "red all_red") != nil, "\(lab.seen)")
            let start = Stopwatch()
            let result = try lab.lab.run(.device, ["curl", "-sS", "--max-time", "5", "http://198.51.100.10/"])
            #expect(result.status == 7 && start.seconds < 1, "\(result.errors)")
            #expect(lab.daemon.events("group").contains { $0.contains("has nobody left") })
        }

        @Test("an assignment ends when its upstream has been red for as long as the profile says")
        func givesUp() throws {
            let dead = """
                { id: "dead", upstream: { type: "http", host: "10.77.0.2", port: 9 }, health: { giveUp: "30s" } }
                """
            let lab = try HealthLab(profiles: dead)
            #expect(try lab.control("use", "dead", "--device", "stb", "--for", "1h").status == 0)
            let isGivenUp = Lab.wait(45) {
                lab.daemon.events("switch").contains { $0.contains("how=\"give up\"") && $0.contains("stb") }
            }
            #expect(isGivenUp, "\(lab.daemon.program.errors.suffix(2000))")
            let page = try lab.lab.run(.device, ["curl", "-sS", "--max-time", "5", "http://198.51.100.10/"])
            #expect(page.output.hasPrefix("peer 10.78.0.1"), "\(page.errors)")
        }

        @Test("users' streams show within two seconds that an upstream has died, whatever the interval is (B156)")
        func traffic() throws {
            let lab = try HealthLab(interval: "300s")
            #expect(try lab.seconds(until: "green") != nil)
            lab.killProxy()
            let died = Stopwatch()
            let curl = ["curl", "-sS", "--max-time", "2", "http://198.51.100.10/"]
            for _ in 0..<3 { _ = try lab.lab.run(.device, curl) }
            #expect(try lab.seconds(until: "red port_closed", within: 2) != nil, "\(lab.seen)")
            #expect(died.seconds < 4)
        }
    }
}
