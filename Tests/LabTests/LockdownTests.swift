/// What the daemon can still do once it runs, by the kernel's own word and by trying; and that it does its work.

import Foundation
import TestSupport
import Testing

extension LabTests {
    @Suite("the lock-down")
    struct LockdownTests {
        /// A line of proc_pid_status(5) of each thread.
        private static func states(_ pid: Int32, _ key: String) throws -> [String] {
            let tasks = try FileManager.default.contentsOfDirectory(atPath: "/proc/\(pid)/task")
            return tasks.compactMap { task in
                // A thread may have ended since.
                let text = try? String(contentsOfFile: "/proc/\(pid)/task/\(task)/status", encoding: .utf8)
                return text.map { field(key, of: $0) }
            }
        }

        private static func field(_ key: String, of status: String) -> String {
            let line = status.split(separator: "\n").first { $0.hasPrefix("\(key):") }
            return line.map { $0.dropFirst(key.count + 1).trimmingCharacters(in: .whitespaces) } ?? ""
        }

        /// The processes that a process has started and that still run.
        private static func children(of pid: Int32) -> [Int32] {
            let path = "/proc/\(pid)/task/\(pid)/children"
            let text = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
            return text.split(separator: " ").compactMap { Int32($0) }
        }

        private static func status(of pid: Int32) -> String {
            (try? String(contentsOfFile: "/proc/\(pid)/status", encoding: .utf8)) ?? ""
        }

        private static func isRunning(_ pid: Int32) -> Bool {
            let state = field("State", of: status(of: pid))
            return !state.isEmpty && !state.hasPrefix("Z")
        }

        /// The gateway for a device whose routes it keeps, with several kinds of threads at work.
        private static func start(_ arguments: String...) throws -> (routes: RouteLab, daemon: Daemon) {
            let routes = try RouteLab()
            var settings = routes.settings("web.example")
            settings.workers = 2
            settings.arguments = arguments
            settings.isProbed = true
            return (routes, try routes.start(settings))
        }

        /// The answer of the control API to a question.
        private static func asked(_ lab: Lab, _ path: String) throws -> String {
            let curl = ["curl", "-sS", "--unix-socket", Daemon.socket(lab), "http://gateway\(path)"]
            return try lab.run(.gateway, curl).output
        }

        @Test("every thread has CAP_NET_ADMIN alone, no bounding set, no new privileges and a filter; so says the log")
        func rights() throws {
            let (routes, daemon) = try Self.start()
            // A page by name and by proxy: whatever starts threads late has started them then.
            #expect(try routes.page("web.example") == "\(RouteLab.proxied) web.example", "\(daemon.program.errors)")
            let pid = daemon.program.pid
            for (key, value) in [
                ("CapEff", "0000000000001000"), ("CapPrm", "0000000000001000"), ("CapInh", "0000000000000000"),
                ("CapBnd", "0000000000000000"), ("CapAmb", "0000000000000000"), ("NoNewPrivs", "1"), ("Seccomp", "2"),
            ] {
                let states = try Self.states(pid, key)
                #expect(states.count >= 4 && states.allSatisfy { $0 == value }, "\(key): \(states)")
            }
            let line = daemon.events("lockdown").first ?? ""
            #expect(line.contains("capabilities=net_admin") && !line.contains("missing"), "\(line)")
            let status = try Self.asked(routes.lab, "/v1/status")
            #expect(status.contains("\"holds\":true"), "\(status)")
            #expect(!status.contains("the lock-down lacks"))
            #expect(try daemon.stop() == 0, "\(daemon.program.errors)")
        }

        @Test("what it does at run time it still does: routes, firewall, settings, files, store, names")
        func works() throws {
            let (routes, daemon) = try Self.start()
            let lab = routes.lab
            #expect(try routes.page("web.example") == "\(RouteLab.proxied) web.example")
            // To global mode and back: routes and the firewall change, the store is written.
            var other = routes.settings()
            other.workers = 2
            try daemon.reload(other)
            #expect(Lab.wait { (try? routes.page("news.example")) == "\(RouteLab.proxied) news.example" })
            let all = try lab.run(.gateway, ["ip", "route", "show", "table", "10801"]).output
            #expect(all.contains("default dev starship0"), "\(all)")
            // An interface comes, and with it settings below /proc/sys.
            try lab.run(.gateway, ["ip", "link", "add", "late0", "type", "dummy"])
            try lab.run(.gateway, ["ip", "address", "add", "192.0.2.1/24", "dev", "late0"])
            try lab.run(.gateway, ["nft", "delete", "table", "inet", "starship"])
            try lab.run(.gateway, ["ip", "link", "set", "late0", "up"])
            #expect(
                Lab.wait {
                    (try? lab.run(.gateway, ["nft", "list", "table", "inet", "starship"]).status) == 0
                }, "\(daemon.program.errors)")
            #expect(daemon.events("network").allSatisfy { !$0.contains("level=error") }, "\(daemon.program.errors)")
            #expect(try daemon.stop() == 0, "\(daemon.program.errors)")
            #expect(try lab.run(.gateway, ["nft", "list", "table", "inet", "starship"]).status != 0)
            #expect(try lab.run(.gateway, ["ip", "rule"]).output.contains("108") == false)
        }

        #if arch(x86_64)
        private static let (socket, clone, execve, mount) = ("41", "56", "59", "165")

        /// Has the daemon make a system call, and says what became of it.
        private static func inject(_ lab: Lab, _ daemon: Daemon, _ call: String...) throws -> String {
            // A thread that has just been woken is in no call: it is tried again.
            for _ in 0..<20 {
                let words = ["inject.py", "\(daemon.program.pid)"] + call
                let result = try lab.run(.gateway, Lab.python(words))
                if result.status == 0 { return result.output.trimmingCharacters(in: .whitespacesAndNewlines) }
                #expect(result.errors.contains("not in a system call"), "\(result.errors)")
                usleep(50_000)
            }
            return ""
        }

        @Test("what it does not need fails, and running a program ends it")
        func injected() throws {
            let lab = try Lab()
            let daemon = try Daemon(lab)
            // fork (SIGCHLD), mount, a socket for raw packets (AF_PACKET): EPERM.
            #expect(try Self.inject(lab, daemon, Self.clone, "17") == "returned -1")
            #expect(try Self.inject(lab, daemon, Self.mount) == "returned -1")
            #expect(try Self.inject(lab, daemon, Self.socket, "17", "3") == "returned -1")
            #expect(daemon.isRunning)
            // SIGSYS.
            #expect(try Self.inject(lab, daemon, Self.execve) == "ended by signal 31")
            #expect(try daemon.program.wait(within: 20).status == -31)
        }

        @Test("--no-lockdown leaves everything as it was, and is said loudly")
        func off() throws {
            let lab = try Lab()
            let daemon = try Daemon(lab, Daemon.Settings { $0.arguments = ["--no-lockdown"] })
            // No path for it: EFAULT, as the kernel says where no filter comes before it.
            #expect(try Self.inject(lab, daemon, Self.execve) == "returned -14")
            #expect(try Self.states(daemon.program.pid, "Seccomp").allSatisfy { $0 == "0" })
            let line = daemon.events("lockdown").first ?? ""
            #expect(line.contains("level=warning") && line.contains("--no-lockdown"), "\(line)")
            let status = try Self.asked(lab, "/v1/status")
            #expect(status.contains("\"holds\":false") && status.contains("the lock-down lacks everything"))
        }
        #endif

        @Test("the tools' process is small, has what tools need, and ends with the daemon, however that ends")
        func companion() throws {
            let (routes, daemon) = try Self.start()
            let children = Self.children(of: daemon.program.pid)
            let companion = try #require(children.first)
            #expect(children.count == 1)
            let status = Self.status(of: companion)
            #expect(Self.field("Name", of: status) == "starship-tools")
            #expect(Self.field("NoNewPrivs", of: status) == "1")
            // CAP_NET_ADMIN and CAP_NET_RAW.
            for key in ["CapEff", "CapPrm", "CapBnd"] {
                #expect(Self.field(key, of: status) == "0000000000003000", "\(key)")
            }
            let resident = Int(Self.field("VmRSS", of: status).filter(\.isNumber)) ?? .max
            let own = Int(Self.field("RssAnon", of: status).filter(\.isNumber)) ?? .max
            print("The tools' process takes \(resident) KiB, of which \(own) are memory and the rest files.")
            #expect(own < 2048)
            daemon.program.end(.kill)
            #expect(Lab.wait { !Self.isRunning(companion) })
            withExtendedLifetime(routes) {}
        }

        @Test("without the tools' process it ends with 1, says why, and a new start is whole")
        func lostCompanion() throws {
            let (routes, daemon) = try Self.start()
            let companion = try #require(Self.children(of: daemon.program.pid).first)
            kill(companion, SIGKILL)
            let result = try daemon.program.wait(within: 30)
            #expect(result.status == 1, "\(result.errors)")
            let line = daemon.events("tools").first ?? ""
            #expect(line.contains("level=error") && line.contains("signal 9"), "\(result.errors)")
            let second = try routes.start(routes.settings("web.example"))
            #expect(try routes.page("web.example") == "\(RouteLab.proxied) web.example")
            #expect(try second.stop() == 0)
            #expect(try routes.lab.run(.gateway, ["nft", "list", "table", "inet", "starship"]).status != 0)
        }

        @Test("a stop leaves no process behind")
        func stops() throws {
            let (routes, daemon) = try Self.start()
            let companion = try #require(Self.children(of: daemon.program.pid).first)
            #expect(try daemon.stop() == 0)
            #expect(!Self.isRunning(companion))
            withExtendedLifetime(routes) {}
        }

        /// Listeners alone need no right at all; a service's user has what systemd's AmbientCapabilities gives.
        @Test(
            "an ordinary user's gateway is locked down too, and works", .enabled(if: Lab.has("setpriv")),
            arguments: [
                ([], "none", "0000000000000000"),
                (
                    ["--inh-caps=-all,+net_admin", "--ambient-caps=-all,+net_admin"], "net_admin", "0000000000001000"
                ),
            ] as [([String], String, String)])
        func unprivileged(rights: [String], words: String, left: String) throws {
            guard Lab.hasSystemUsers else { return Lab.leaveOut("an ordinary user's lock-down") }
            let lab = try Lab()
            let proxy = try ScriptedProxy(lab, [[.connect, .established, .send("T"), .close(.fin)]])
            let none = "0000000000000000"
            let place = lab.directory.appending(path: "user")
            try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
            try FileManager.default.setAttributes([.ownerAccountID: 65534], ofItemAtPath: place.path)
            let file = place.appending(path: "gateway.json5")
            try """
            {
              tun: false,
              socks: { listen: "10.9.0.1:10808", allow: ["10.9.0.0/24"] },
              control: { socket: "\(place.path)/control.sock" }, state: "\(place.path)/state",
              profiles: [{ id: "lab", health: false, upstream: \(Daemon.Settings.http(ScriptedProxy.port)) }],
            }
            """.write(to: file, atomically: true, encoding: .utf8)
            let program = try lab.start(
                .gateway,
                [
                    "setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups",
                ] + rights + ["\(Lab.binaries)/starshipd", "--config", file.path])
            try program.waitFor("event=ready", within: 60)
            #expect(program.errors.contains("capabilities=\(words)") && !program.errors.contains("missing="))
            #expect(try Self.states(program.pid, "Seccomp").allSatisfy { $0 == "2" })
            #expect(try Self.states(program.pid, "NoNewPrivs").allSatisfy { $0 == "1" })
            for (key, value) in [("CapEff", left), ("CapPrm", left), ("CapInh", none), ("CapAmb", none)] {
                #expect(try Self.states(program.pid, key).allSatisfy { $0 == value }, "\(key)")
            }
            #expect(Self.children(of: program.pid).isEmpty, "there is nothing for tools to do")
            let talk = try lab.socksBytes([
                .send(bytes("050100")), .receive(bytes("0500")), .send(bytes("05010001c633640a01bb")),
                .receive(bytes("050000")), .receiveEnd(.fin),
            ])
            #expect(talk.problem == nil && talk.data?.last == "T", "\(program.errors)")
            program.signal(.terminate)
            #expect(try program.wait(within: 30).status == 0)
            withExtendedLifetime(proxy) {}
        }
    }
}
