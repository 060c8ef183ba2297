/// Starts that fail and ends that are wanted: what is said, with which exit code, and what is left (B194, B196, B200).

import Foundation
import TestSupport
import Testing

extension LabTests {
    @Suite("starts and ends", .enabled(if: RouteLab.isPossible))
    struct StartupTests {
        /// One way to fail: what is done before, the configuration, and what has to be said.
        struct Failure: Sendable, CustomTestStringConvertible {
            let testDescription: String
            let code: Int32
            let words: [String]
            var change: @Sendable (inout Daemon.Settings, Lab) throws -> Void = { _, _ in }

            init(
                _ name: String, _ code: Int32, _ words: String...,
                change: @escaping @Sendable (inout Daemon.Settings, Lab) throws -> Void
            ) {
                (testDescription, self.code, self.words, self.change) = (name, code, words, change)
            }
        }

        /// As a user without rights, who has another place for the control socket.
        private static func asNobody(_ lab: Lab) -> [String] {
            edited(lab, "s#\(lab.directory.path)/control.sock#/tmp/\(lab.name).sock#")
                + ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"]
        }

        private static func hiding(_ command: String) -> [String] {
            ["unshare", "--mount", "--propagation", "private", "sh", "-c", "\(command); exec \"$@\"", "sh"]
        }

        /// Waits, in a shell, until somebody listens at a port.
        private static func listening(_ port: Int) -> String {
            "for i in $(seq 400); do ss -Hltn 'sport = :\(port)' | grep -q . && break; sleep 0.05; done"
        }

        static let failures = [
            Failure("no configuration", 66, "No such file", "--config") { settings, lab in
                settings.arguments = []
                settings.wrapper = hiding("rm \(lab.directory.path)/starshipd.json5")
            },
            Failure("a mistake in the configuration", 78, "starshipd.json5:", "profiles[0].domainz") { settings, _ in
                settings.profile = "domainz: []"
            },
            Failure("a password that others may read", 80, "pw", "chmod 600") { settings, lab in
                let file = "\(lab.directory.path)/pw"
                _ = FileManager.default.createFile(
                    atPath: file, contents: Data("x".utf8), attributes: [.posixPermissions: 0o644])
                settings.socks = "users: [{ name: \"qa\", passwordFile: \"\(file)\" }]"
            },
            Failure("a credential that nobody has given", 80, "$CREDENTIALS_DIRECTORY/qa", "LoadCredential") {
                settings, _ in settings.socks = #"users: [{ name: "qa", passwordFile: "$CREDENTIALS_DIRECTORY/qa" }]"#
            },
            Failure("no such group", 83, "nosuchgroup", "groupadd") { settings, lab in
                settings.wrapper = edited(lab, "s/control: { /control: { group: \"nosuchgroup\", /")
            },
            // B194: each reason of its own, with what mends it.
            Failure("no /dev/net/tun", 84, "/dev/net/tun", "modprobe tun") { settings, _ in
                settings.wrapper = hiding("mount -t tmpfs tmpfs /dev/net")
            },
            Failure("no driver behind it", 84, "/dev/net/tun", "modprobe tun") { settings, _ in
                settings.wrapper = hiding("mount -t tmpfs tmpfs /dev/net && mknod -m 666 /dev/net/tun c 10 254")
            },
            Failure("a device that this user may not open", 85, "/dev/net/tun", "DeviceAllow") { settings, lab in
                settings.wrapper =
                    hiding("mount -t tmpfs tmpfs /dev/net && mknod -m 600 /dev/net/tun c 10 200") + asNobody(lab)
            },
            Failure("no CAP_NET_ADMIN", 85, "TUNSETIFF", "CAP_NET_ADMIN") { settings, lab in
                settings.wrapper = asNobody(lab)
            },
            Failure("a name that is no TUN device's", 86, "wan", "tun.name") { settings, lab in
                settings.wrapper = edited(lab, "s/starship0/wan/")
            },
            Failure("an address that is taken", 87, "10.77.0.1:1080", "ss -lntup") { settings, lab in
                settings.more += "http: { listen: \"10.77.0.1:1080\", allow: [\"10.77.0.0/24\"] },"
                settings.wrapper = [
                    "sh", "-c",
                    "/usr/bin/python3 \(Lab.programs)/network.py serve 1080 & \(listening(1080)); \"$@\"; s=$?; kill $!; exit $s",
                    "sh",
                ]
            },
            Failure("a port that takes rights", 88, ":53", "CAP_NET_BIND_SERVICE") { settings, lab in
                let without = #"/dns: {/d; s/tun: {.*},/tun: false,/; s/setup: "gateway".*\]/setup: "none"/"#
                settings.wrapper = edited(lab, "\(without); s/:10808/:53/") + asNobody(lab)
            },
            Failure("no place for the control socket", 89, "control.socket", "/nosuch") { settings, lab in
                settings.wrapper = edited(lab, "s#\(lab.directory.path)/control.sock#/nosuch/place/control.sock#")
            },
            Failure("no place for the packets", 90, "/nosuch/capture", "--capture") { settings, _ in
                settings.arguments = ["--capture", "/nosuch/capture"]
            },
            Failure("no ip and no nft", 91, "apt-get install iproute2 nftables") { settings, lab in
                settings.wrapper = ["env", "PATH=\(lab.directory.path)"]
            },
            Failure("fake addresses that are somebody's", 93, "198.18.0.0/15", "dns.pool") { settings, _ in
                settings.wrapper = ["sh", "-c", "ip address add 198.18.7.7/24 dev wan && exec \"$@\"", "sh"]
            },
        ]

        /// Runs sed(1) over the configuration before the start.
        private static func edited(_ lab: Lab, _ script: String) -> [String] {
            ["sh", "-c", "sed -i '\(script)' \(lab.directory.path)/starshipd.json5 && exec \"$@\"", "sh"]
        }

        @Test("a start that fails says so in one line with its own exit code, and changes nothing", arguments: failures)
        func fails(failure: Failure) throws {
            let routes = try RouteLab()
            var settings = routes.settings("web.example")
            try failure.change(&settings, routes.lab)
            let before = try routes.listing()
            let result = try Daemon.launch(routes.lab, settings).wait(within: 60)
            #expect(result.status == failure.code, "\(result.errors)")
            // Besides lines of the log (`event=…`), of what was well until then.
            let lines = result.errors.split(separator: "\n").filter { !$0.hasPrefix("event=") }
            #expect(lines.count == 1 && lines[0].hasPrefix("starshipd: "), "\(result.errors)")
            #expect(!result.errors.contains("level="))
            for words in failure.words { #expect(result.errors.contains(words), "\(result.errors)") }
            #expect(!result.errors.contains("event=ready"))
            try routes.lab.run(.gateway, ["ip", "address", "del", "198.18.7.7/24", "dev", "wan"])
            let difference = try routes.listing().split(separator: "\n").difference(from: before.split(separator: "\n"))
            #expect(difference.isEmpty, "\(difference)")
        }

        @Test("each of these has an exit code that no other kind of failure has")
        func codes() {
            let kinds = Dictionary(grouping: Self.failures, by: \.code).mapValues(\.count)
            // A device may be missing in two ways, and forbidden in two; secrets may be wrong in two.
            #expect(kinds.filter { $0.value > 1 } == [84: 2, 85: 2, 80: 2])
        }

        @Test("B194: SOCKS alone needs neither the device nor any right")
        func socksAlone() throws {
            let lab = try Lab()
            let proxy = try ScriptedProxy(lab, [[.connect, .established, .echo()]])
            let settings = Daemon.Settings {
                $0.wrapper =
                    Self.hiding("mount -t tmpfs tmpfs /dev/net")
                    + Self.edited(lab, "s/tun: {.*},/tun: false,/") + Self.asNobody(lab)
                $0.more = "state: false,"
            }
            let daemon = try Daemon(lab, settings, routed: false)
            let talk = try lab.client(.socks, [.pingPong(bytes: 3, count: 3)])
            #expect(talk.problem == nil, "\(daemon.program.errors)")
            withExtendedLifetime(proxy) {}
        }

        @Test(
            "B200: after SIGTERM it ends within five seconds, and each client is told within one", arguments: [1, 3])
        func stops(workers: Int) throws {
            let lab = try Lab()
            // Whoever comes after the first 200 is never answered.
            let answers: [[Step]] = Array(repeating: [.connect, .established, .echo()], count: 200)
            let proxy = try ScriptedProxy(lab, answers + [[.connect, .pause(60)]])
            let daemon = try Daemon(lab, Daemon.Settings { $0.workers = workers })
            let steps: [Step] = [.pingPong(bytes: 1, count: 1), .receiveEnd(within: 90)]
            let open = [
                try lab.startClient(.tunnel, parallel: 180, steps), try lab.startClient(.socks, parallel: 20, steps),
            ]
            let isOpen = { (snapshot: Snapshot) in snapshot.has("states.open") && snapshot["states.open"] == 200 }
            #expect(isOpen(try daemon.snapshot(within: 20, until: isOpen)))
            let pending = try lab.startClient(.tunnel, port: 444, parallel: 50, patience: 30, [])
            let ready = try daemon.snapshot(within: 20) { $0["flows"] >= 250 }
            #expect(ready["flows"] >= 250, "\(ready)")
            let began = Stopwatch()
            let signalled = Date().timeIntervalSince1970
            daemon.program.signal(.terminate)
            #expect(try daemon.program.wait(within: 60).status == 0)
            #expect(began.seconds < 5)
            let (carried, proxied) = (try Talk.of(open[0]), try Talk.of(open[1]))
            let refused = try Talk.of(pending)
            // Each client says itself when it heard of the end.
            func isTold(_ time: Double?) -> Bool {
                guard let seconds = time.map({ $0 - signalled }) else { return false }
                return seconds >= 0 && seconds < 1 + began.allowance
            }
            #expect(carried.count == 180 && proxied.count == 20 && refused.count == 50)
            for talk in carried { #expect(talk.ended == "reset" && isTold(talk.endedAt), "\(talk)") }
            for talk in proxied {
                #expect(["reset", "fin"].contains(talk.ended) && isTold(talk.endedAt), "\(talk)")
            }
            for talk in refused {
                #expect(talk.opened == false && talk.cause != "timeout" && isTold(talk.openedAt), "\(talk)")
            }
            withExtendedLifetime(proxy) {}
        }

        @Test("B200: a second signal ends it at once")
        func secondSignal() throws {
            let routes = try RouteLab()
            // A tool that hangs holds the end up.
            let slow = routes.lab.directory.appending(path: "bin")
            try FileManager.default.createDirectory(at: slow, withIntermediateDirectories: true)
            let nft = slow.appending(path: "nft")
            let flag = "\(routes.lab.directory.path)/hang"
            try "#!/bin/sh\n[ -e \(flag) ] && { touch \(flag).now; exec sleep 40; }\nexec /usr/sbin/nft \"$@\"\n"
                .write(to: nft, atomically: true, encoding: .utf8)
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: nft.path)
            var settings = routes.settings("web.example")
            settings.wrapper = ["env", "PATH=\(slow.path):/usr/sbin:/usr/bin:/sbin:/bin"]
            let daemon = try routes.start(settings)
            // What the start itself has changed is looked at again just after it, with the same tool.
            _ = Lab.wait(2) { false }
            _ = FileManager.default.createFile(atPath: flag, contents: nil)
            daemon.program.signal(.terminate)
            #expect(Lab.wait { FileManager.default.fileExists(atPath: "\(flag).now") })
            #expect(Lab.wait(1) { !daemon.isRunning } == false, "the tool hangs")
            daemon.program.signal(.terminate)
            #expect(try daemon.program.wait(within: 20).status == -15)
        }

        @Test("B196: started before the network is up it waits, red, and is green soon after")
        func beforeTheNetwork() throws {
            let routes = try RouteLab()
            let lab = routes.lab
            try lab.shell(.gateway, "ip link set wan down; ip link set lan down; ip address flush dev lan")
            var settings = routes.settings("web.example")
            settings.isProbed = true
            settings.profile += ", health: { url: \"http://web.example/\", interval: \"30s\" }"
            let daemon = try routes.start(settings)
            #expect(Lab.wait { daemon.events("listener").contains { $0.contains("10.9.0.1:10808") } })
            #expect(Lab.wait { daemon.events("health").contains { $0.contains("colour=red") } })
            _ = Lab.wait(8) { false }
            #expect(daemon.isRunning)
            try lab.shell(
                .gateway,
                "ip link set wan up; ip route add default via 10.77.0.2; ip link set lan up; ip address add 10.9.0.1/24 dev lan"
            )
            let isGreen = Lab.wait(promised: 35) { daemon.events("health").last?.contains("colour=green") == true }
            #expect(isGreen, "\(daemon.program.errors.suffix(3000))")
            // Its listener on an address that came later serves.
            let proxy = "socks5h://\(Lab.socksAddress):\(Lab.socksPort)"
            let curl = ["curl", "-sS", "--max-time", "5", "--proxy", proxy, "http://web.example/"]
            #expect(try lab.run(.device, curl).output == "\(RouteLab.proxied) web.example\n")
            #expect(try routes.page("web.example") == "\(RouteLab.proxied) web.example")
        }
    }
}
