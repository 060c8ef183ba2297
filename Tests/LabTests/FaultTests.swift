/// What breaks around the daemon: its device, its proxy, its own process.

import Foundation
import TestSupport
import Testing

extension LabTests {
    @Suite("faults")
    struct FaultTests {
        @Test("SIGTERM ends it with 0, and the device is gone", arguments: [1, 3])
        func stops(workers: Int) throws {
            let lab = try Lab()
            let daemon = try Daemon(lab, Daemon.Settings { $0.workers = workers })
            #expect(try daemon.stop() == 0, "\(daemon.program.errors)")
            let link = try lab.run(.gateway, ["ip", "link", "show", "starship0"])
            #expect(link.status != 0)
        }

        @Test("after SIGKILL it starts again at once and works")
        func killed() throws {
            let lab = try Lab()
            let proxy = try ScriptedProxy(lab, [[.connect, .established, .echo()]])
            let first = try Daemon(lab)
            let open = try lab.startClient(
                .tunnel,
                [
                    .pingPong(bytes: 1, count: 1), .say("carried"), .pause(1), .send("x"),
                    .receiveEnd(.reset, within: 30),
                ])
            try open.waitFor("carried")
            first.program.end(.kill)
            let second = try Daemon(lab)
            let talk = try lab.client(.tunnel, [.pingPong(bytes: 3, count: 3)])
            #expect(talk.problem == nil, "\(second.program.errors)")
            // What the former one left is reset at its next segment.
            #expect(try Talk.of(open)[0].problem == nil)
            withExtendedLifetime(proxy) {}
        }

        @Test("when its device is taken away it says so and ends with 1")
        func deviceGone() throws {
            let lab = try Lab()
            let daemon = try Daemon(lab)
            try lab.run(.gateway, ["ip", "link", "delete", "starship0"])
            let result = try daemon.program.wait(within: 30)
            #expect(result.status == 1, "\(result.errors)")
            #expect(result.errors.contains("starship0") && result.errors.contains("level=error"))
        }

        @Test("flows of a proxy that is killed are reset, and go again when it is back")
        func proxyKilled() throws {
            let lab = try Lab()
            let origins = try Origins(lab, [.echo])
            var proxy = try Upstream.embedded.start(in: lab)
            let daemon = try Daemon(lab, Daemon.Settings { $0.upstream = Daemon.Settings.http(Upstream.embedded.port) })
            let open = try lab.startClient(
                .tunnel, to: "198.51.100.14", port: 7000,
                [.pingPong(bytes: 1, count: 1), .say("carried"), .receiveEnd(within: 30)])
            try open.waitFor("carried")
            proxy.end(.kill)
            #expect(try Talk.of(open)[0].ended != nil, "the device is told")
            let refused = try lab.client(.tunnel, to: "198.51.100.14", port: 7000, [])
            #expect(refused.cause == "refused", "\(refused)")
            proxy = try Upstream.embedded.start(in: lab)
            let talk = try lab.client(.tunnel, to: "198.51.100.14", port: 7000, [.pingPong(bytes: 3, count: 3)])
            #expect(talk.problem == nil, "\(daemon.program.errors)")
            withExtendedLifetime(origins) {}
        }

        /// Errors of write(2) on the device, injected in front of libc (B122).
        @Test(
            "refused writes to the device are counted, and transfers come through",
            arguments: ["EINVAL", "ENOBUFS", "EAGAIN", "EINTR"])
        func writeErrors(error: String) throws {
            let lab = try Lab()
            let library = lab.directory.appending(path: "writefault.so").path
            let command = [LabProgram.clang, "-shared", "-fPIC", "-O1", "-o", library]
            let built = try lab.run(.gateway, command + ["\(Lab.programs)/writefault.c", "-ldl"])
            #expect(built.status == 0, "\(built.errors)")
            let origins = try Origins(lab, [.transfer])
            let proxy = try Upstream.embedded.start(in: lab)
            let daemon = try Daemon(
                lab,
                Daemon.Settings {
                    $0.upstream = Daemon.Settings.http(Upstream.embedded.port)
                    $0.wrapper = ["env", "LD_PRELOAD=\(library)", "WRITEFAULT=\(error)", "WRITEFAULT_EVERY=50"]
                })
            let client = LabClient(lab, origins, .tunnel, authority: origins.authority)
            try client.transfer("down", 16 << 20)
            try client.transfer("up", 16 << 20)
            let counters = try daemon.snapshot()
            if error == "EINVAL" { #expect(counters["counters.writes_refused"] > 0, "\(counters)") }
            if ["ENOBUFS", "EAGAIN"].contains(error) { #expect(counters["counters.writes_full"] > 0, "\(counters)") }
            #expect(daemon.isRunning)
            withExtendedLifetime(proxy) {}
        }

        @Test("a configuration with a mistake is refused with line, key path and what was expected")
        func badConfiguration() throws {
            let lab = try Lab()
            let file = lab.directory.appending(path: "bad.json5")
            try "{\n  tun: { mtu: 1500 },\n  profiles: [{ id: \"a\", upstream: { type: \"htpp\" } }],\n}\n"
                .write(to: file, atomically: true, encoding: .utf8)
            let result = try lab.run(.gateway, ["\(Lab.binaries)/starshipd", "--config", file.path])
            #expect(result.status != 0)
            for text in ["3:", "profiles[0].upstream.type", "htpp", "socks5"] {
                #expect(result.errors.contains(text), "\(result.errors)")
            }
            #expect(try lab.run(.gateway, ["ip", "link", "show", "starship0"]).status != 0)
        }

        @Test("a taken address fails before the device is left behind")
        func takenAddress() throws {
            let lab = try Lab()
            let first = try Daemon(lab, routed: false)
            let file = lab.directory.appending(path: "second.json5")
            try """
            {
              tun: { name: "starship1" },
              socks: { listen: "10.9.0.1:10808", allow: ["10.9.0.0/24"] },
              profiles: [{ id: "a", upstream: { type: "direct" } }],
            }
            """.write(to: file, atomically: true, encoding: .utf8)
            let result = try lab.run(.gateway, ["\(Lab.binaries)/starshipd", "--config", file.path])
            #expect(result.status == 87, "\(result.errors)")
            #expect(result.errors.contains("10.9.0.1:10808") && result.errors.contains("in use"), "\(result.errors)")
            #expect(try lab.run(.gateway, ["ip", "link", "show", "starship1"]).status != 0)
            #expect(first.isRunning)
        }

        @Test("captured packets of one flow can be read back", arguments: [true, false])
        func capture(offload: Bool) throws {
            let lab = try Lab()
            let proxy = try ScriptedProxy(lab, [[.connect, .established, .sendBytes(100_000), .close(.fin)]])
            let file = lab.directory.appending(path: "capture.pcap").path
            let daemon = try Daemon(
                lab,
                Daemon.Settings {
                    $0.offload = offload
                    $0.arguments = ["--capture", file, "--capture-filter", "tcp port 443"]
                })
            _ = try lab.client(.tunnel, port: 443, [.receiveEnd(.fin)])
            _ = try lab.client(.tunnel, port: 444, [.receiveEnd(.fin)])
            #expect(try daemon.stop() == 0, "\(daemon.program.errors)")
            let read = try lab.run(.gateway, ["tcpdump", "-nr", file])
            #expect(read.errors.contains("RAW"), "\(read.errors)")
            let lines = read.output.split(separator: "\n")
            #expect(lines.count > 70 && lines.allSatisfy { $0.contains(".443") }, "\(lines.count) packets")
            let lengths = lines.compactMap { line in
                line.range(of: "length ").flatMap { Int(line[$0.upperBound...].prefix { $0.isNumber }) }
            }
            #expect((lengths.max() ?? 9999) <= 1460)
            withExtendedLifetime(proxy) {}
        }
    }
}
