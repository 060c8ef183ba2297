/// The unit under a real systemd: what it promises to systemd, what systemd does for it, and what the sandbox leaves.

import Foundation
import TestSupport
import Testing

extension LabTests {
    @Suite("under a real systemd", .enabled(if: RouteLab.isPossible), .unless(Machine.obstacle))
    struct SystemdTests {
        /// A machine in the lab's network, configured and not started.
        struct Setting {
            let routes: RouteLab
            let machine: Machine

            init(_ domains: String..., change: (inout Daemon.Settings) -> Void = { _ in }) throws {
                routes = try RouteLab()
                machine = try Machine(routes.lab)
                try machine.configure(Self.settings(routes, domains, change))
            }

            static func settings(
                _ routes: RouteLab, _ domains: [String], _ change: (inout Daemon.Settings) -> Void = { _ in }
            ) -> Daemon.Settings {
                var settings = routes.settings()
                settings.profile = "domains: [\(domains.map { "\"\($0)\"" }.joined(separator: ", "))]"
                settings.profiles = """
                    { id: "other", name: "Other", upstream: \(settings.upstream), domains: ["example"], health: false }
                    """
                change(&settings)
                return settings
            }

            func start() throws { try machine.start() }

            /// As `RouteLab.page`; a failure brings the service's log along.
            func expectPage(_ name: String, at held: String? = nil, source: SourceLocation = #_sourceLocation) throws {
                let page = try routes.page(name, at: held)
                #expect(page == "\(RouteLab.proxied) \(name)", "\(machine.said)", sourceLocation: source)
            }
        }

        @Test("systemd-analyze finds nothing wrong with the units, and little that is exposed")
        func units() throws {
            let machine = try Machine(try Lab())
            let units = [
                "starshipd.service", "starshipd-settings.service", "starshipd-settings.path", "starship-dhcp.service",
            ]
            let paths = units.map { "/usr/lib/systemd/system/\($0)" }
            let verified = try machine.run(["systemd-analyze", "verify", "--man=no"] + paths)
            #expect(verified.status == 0 && verified.output + verified.errors == "", "\(verified)")
            let security = try machine.run(["systemd-analyze", "security", "--offline=true", paths[0]]).output
            let words = security.split(separator: "\n").last { $0.contains("Overall exposure") }?.split(separator: " ")
            let score = try #require(words?.compactMap { Double($0) }.first, "\(security)")
            #expect(score <= 2.0, "\(security)")
        }

        @Test("a start is over when the gateway carries, systemd shows its health, and a stop leaves nothing behind")
        func startAndStop() throws {
            let setting = try Setting("web.example") { $0.isProbed = true }
            let machine = setting.machine
            try machine.shell("sysctl -qw net.ipv4.ip_forward=0 net.ipv4.conf.lan.rp_filter=1")
            let before = try setting.routes.listing()
            try setting.start()
            #expect(try machine.isActive)
            try setting.expectPage("web.example")
            let status = try machine.property("StatusText")
            #expect(status.hasPrefix("lab is "), "\(status)")
            // What the sandbox forbids was done by the step before.
            #expect(try machine.shell("sysctl -n net.ipv4.ip_forward net.ipv4.conf.lan.rp_filter") == "1\n2")
            #expect(try machine.log().contains("may not be written") == false)

            try machine.stop()
            #expect(try machine.property("Result") == "success")
            let difference = try setting.routes.listing().split(separator: "\n")
                .difference(from: before.split(separator: "\n"))
            #expect(difference.isEmpty, "\(difference)")
            let left = try machine.shell(
                "ls -d /run/starship* /run/credentials/starshipd.service 2>/dev/null; pgrep -l starship; id starshipd"
                    + " 2>/dev/null; systemctl show -p ActiveState --value starshipd-settings.path")
            #expect(left == "inactive", "\(left)")
            // What is to outlive it does.
            #expect(try machine.shell("ls /var/lib/private/starship").contains("fake-map"))
        }

        @Test("a reload counts when systemctl returns, and one that is refused fails and changes nothing")
        func reload() throws {
            let setting = try Setting("web.example")
            let machine = setting.machine
            try setting.start()
            let process = try machine.process
            #expect(try setting.routes.page("news.example") == "\(RouteLab.direct) news.example")
            try machine.shell("systemctl log-level debug")
            try machine.configure(Setting.settings(setting.routes, ["web.example", "news.example"]))
            try machine.shell("systemctl reload \(Machine.unit)")
            try setting.expectPage("news.example")
            // sd_notify(3): RELOADING=1 with MONOTONIC_USEC, and READY=1 behind it.
            let told = try machine.run(["journalctl", "--no-pager", "-o", "cat", "_PID=1"]).output
            #expect(told.contains("RELOADING=1") && told.contains("MONOTONIC_USEC="), "\(told.suffix(3000))")

            try machine.write("{ profiles: [] }", to: "/etc/starship/starship.json5")
            let refused = try machine.run(["systemctl", "reload", Machine.unit])
            #expect(refused.status != 0)
            #expect(try machine.isActive, "\(machine.said)")
            #expect(try machine.process == process)
            try setting.expectPage("news.example")
        }

        @Test(
            "systemd kills it when a single thread stands still, and not before",
            arguments: ["worker-1", "names", "starshipd"])
        func watchdog(thread: String) throws {
            let setting = try Setting("web.example") { $0.workers = 2 }
            let machine = setting.machine
            try machine.extend("[Service]\nWatchdogSec=3s\n")
            try setting.start()
            let process = try machine.process
            // Three times its patience with nothing to do.
            #expect(Lab.wait(9) { (try? machine.property("NRestarts")) != "0" } == false, "\(machine.said)")
            // The machine has a /tmp of its own, where this source tree may be.
            let program = try String(contentsOfFile: "\(Lab.programs)/hold_thread.py", encoding: .utf8)
            let holder = try machine.run(["/usr/bin/python3", "-c", program, "\(process)", thread, "20"], within: 40)
            #expect(holder.output.contains("held"), "\(holder)")
            #expect(holder.output.contains("gone"), "\(holder) \(machine.said)")
            try machine.waitForSuccessor(of: process)
            #expect(try machine.log().contains("Watchdog timeout"))
            #expect(try machine.property("NRestarts") == "1")
            try setting.expectPage("web.example")
        }

        /// Ends the service's process as a mistake in it would.
        enum Death: String, CaseIterable {
            case killed = "kill -KILL $MAIN"
            /// A worker's thread alone is hit, and takes the process with it.
            case crashed = """
                /usr/bin/python3 -c 'import ctypes, os, sys
                for thread in os.listdir("/proc/$MAIN/task"):
                    if open("/proc/$MAIN/task/" + thread + "/comm").read().strip() == "worker-0":
                        sys.exit(ctypes.CDLL(None).syscall(234, $MAIN, int(thread), 4))'
                """
        }

        @Test("after a kill or a crash it is back within a second, as it was", arguments: Death.allCases)
        func comesBack(death: Death) throws {
            let setting = try Setting("example") { $0.isProbed = false }
            let machine = setting.machine
            let before = try setting.routes.listing()
            try setting.start()
            let fakes = try ["web.example", "socket.example"].map { ($0, try setting.routes.address(of: $0)) }
            try machine.shell("starshipctl use other --all")
            let standing = try setting.routes.listing()
            var quickest = Int.max
            for _ in 0..<3 {
                let process = try machine.process
                let left = Int(try machine.property("ActiveExitTimestampMonotonic")) ?? 0
                try machine.shell(death.rawValue.replacing("$MAIN", with: "\(process)"))
                try machine.waitForSuccessor(of: process)
                let ended = Int(try machine.property("ActiveExitTimestampMonotonic")) ?? 0
                let ready = Int(try machine.property("ActiveEnterTimestampMonotonic")) ?? 0
                #expect(ended > left && ready > ended)
                quickest = min(quickest, ready - ended)
            }
            #expect(quickest < 1_000_000, "microseconds from its end to READY")
            #expect(try machine.property("NRestarts") == "3")
            let difference = Self.lines(try setting.routes.listing()).difference(from: Self.lines(standing))
            #expect(difference.isEmpty, "\(difference)")
            for (name, fake) in fakes { try setting.expectPage(name, at: fake) }
            #expect(try machine.run(["starshipctl", "status", "--json"]).output.contains(#""id":"other""#))
            try machine.stop()
            let left = try setting.routes.listing().split(separator: "\n")
                .difference(from: before.split(separator: "\n"))
            #expect(left.isEmpty, "\(left)")
        }

        /// The lines of a listing without the number of our device, which is another one's each time.
        private static func lines(_ listing: String) -> [Substring] {
            listing.split(separator: "\n").map { line in
                guard line.contains(": starship0 "), let colon = line.firstIndex(of: ":") else { return line }
                return line[colon...]
            }
        }

        @Test(
            "while it is dead, network.whenDown says what becomes of what was to be proxied", arguments: [true, false])
        func whenDown(isBlocked: Bool) throws {
            let setting = try Setting("web.example") {
                $0.network += ", whenDown: \"\(isBlocked ? "block" : "direct")\""
            }
            let machine = setting.machine
            try machine.extend("[Service]\nRestart=no\n")
            try machine.shell("sysctl -qw net.ipv4.ip_forward=0")
            let before = try setting.routes.listing()
            try setting.start()
            let fake = try setting.routes.address(of: "web.example")
            let process = try machine.process
            try machine.shell("kill -KILL \(process)")
            #expect(try Lab.wait(10) { try machine.property("ActiveState") == "failed" })
            if isBlocked {
                let asked = try setting.routes.device("network.py", "ask", fake, "80")
                #expect(asked.hasPrefix("failed OSError"), "\(asked)")
                #expect(try setting.routes.page("socket.example", at: "198.51.100.11").hasPrefix(RouteLab.direct))
                try machine.shell("starshipd cleanup")
            }
            let difference = try setting.routes.listing().split(separator: "\n")
                .difference(from: before.split(separator: "\n"))
            #expect(difference.isEmpty, "\(difference)")
        }
    }
}
