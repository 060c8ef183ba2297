/// Ends of streams, end to end: FIN for FIN, reset for reset, and nothing lost before either.

import Foundation
import TestSupport
import Testing

extension LabTests {
    @Suite("half-close and the ends of streams")
    struct HalfCloseTests {
        /// A client that asks, half-closes and waits, over a proxy that answers late (B020).
        @Test("an answer that comes seconds after the client's FIN is whole", arguments: Way.allCases)
        func lateAnswer(way: Way) throws {
            let lab = try Lab()
            let proxy = try ScriptedProxy(
                lab,
                [
                    [
                        .connect, .established, .receive("REQ"), .receiveEnd(.fin), .pause(3), .sendBytes(1_000_000),
                        .close(.fin),
                    ]
                ])
            let daemon = try Daemon(lab)
            let talk = try lab.client(
                way, port: 7000, [.send("REQ"), .halfClose, .receiveBytes(1_000_000), .receiveEnd(.fin)])
            #expect(talk.problem == nil, "\(daemon.program.errors)")
            let seen = try proxy.finished()
            #expect(seen[0].problem == nil)
        }

        /// The upstream ends at once and the client reads slowly (B022).
        @Test("a slow reader gets all that was sent before the end, then FIN", arguments: Way.allCases)
        func slowReader(way: Way) throws {
            let lab = try Lab()
            let proxy = try ScriptedProxy(lab, [[.connect, .established, .sendBytes(300_000), .close(.fin)]])
            let daemon = try Daemon(lab)
            let watch = try lab.start(
                .device, ["tcpdump", "-Uni", "eth0", "-l", "tcp[tcpflags] & tcp-rst != 0"])
            try watch.waitFor("listening")
            let talk = try lab.client(
                way, receiveBuffer: 8192, [.receiveBytes(300_000, rate: 40_000), .receiveEnd(.fin)])
            #expect(talk.problem == nil, "\(daemon.program.errors)")
            #expect(watch.output.isEmpty, "no reset is sent to the device: \(watch.output)")
            withExtendedLifetime(proxy) {}
        }

        /// A keep-alive connection that the upstream gives up (B023).
        @Test("the upstream's FIN reaches the device at once", arguments: Way.allCases)
        func idleClose(way: Way) throws {
            let lab = try Lab()
            let proxy = try ScriptedProxy(
                lab,
                [
                    [
                        .connect, .established, .expect("^GET "), .send("HTTP/1.1 204 No Content\r\n\r\n"), .pause(1),
                        .close(.fin),
                    ]
                ])
            let daemon = try Daemon(lab)
            let talk = try Lab.quick(\.endSeconds, below: 1.15) {
                try lab.client(way, [.send("GET / HTTP/1.1\r\n\r\n"), .expect("204"), .receiveEnd(.fin)])
            }
            #expect(talk.problem == nil, "\(daemon.program.errors)")
            #expect((talk.endSeconds ?? 9) < 1.15)
            withExtendedLifetime(proxy) {}
        }

        /// Closed by the upstream as soon as it is open (B025).
        @Test("when the upstream ends first and the client follows, the flow is gone", arguments: Way.allCases)
        func upstreamFirst(way: Way) throws {
            let lab = try Lab()
            let proxy = try ScriptedProxy(lab, [[.connect, .established, .close(.fin)]])
            let daemon = try Daemon(lab)
            let before = daemon.descriptors
            let talk = try Lab.quick(\.endSeconds, below: 0.3) {
                try lab.client(way, port: 25, [.receiveEnd(.fin)])
            }
            #expect(talk.problem == nil, "\(daemon.program.errors)")
            #expect((talk.endSeconds ?? 9) < 0.3)
            let after = try daemon.snapshot(within: 1.5) { $0["flows"] == 0 }
            #expect(after["flows"] == 0, "\(after)")
            #expect(daemon.descriptors <= before)
            withExtendedLifetime(proxy) {}
        }

        /// Five hundred clients that half-close over a proxy that never answers (B027).
        @Test("half-closed flows are reaped after their own time limit")
        func reaped() throws {
            let lab = try Lab()
            let proxy = try ScriptedProxy(
                lab, [[.connect, .established, .receive("x"), .pause(60)]])
            let daemon = try Daemon(lab, Daemon.Settings { $0.limits = "halfClose: \"3s\"" })
            let before = daemon.residentKiB
            let program = try lab.startClient(
                .tunnel, parallel: 500, [.send("x"), .halfClose, .receiveEnd(within: 20)])
            _ = try Talk.of(program, within: 40)
            let after = try daemon.snapshot(within: 5) { $0["flows"] == 0 }
            #expect(after["flows"] == 0, "\(after)")
            #expect(daemon.residentKiB - before < 4096)
            #expect(daemon.flow(with: ["half-closed"]), "\(daemon.events("flow").last ?? "")")
            withExtendedLifetime(proxy) {}
        }

        /// An aborted answer must not look like a whole one (B028).
        @Test("the upstream's reset is a reset to the client, after what came before it", arguments: Way.allCases)
        func upstreamReset(way: Way) throws {
            let lab = try Lab()
            let proxy = try ScriptedProxy(
                lab, [[.connect, .established, .sendBytes(1000), .pause(0.05), .close(.reset)]])
            let daemon = try Daemon(lab)
            let talk = try Lab.quick(\.endSeconds, below: 0.5) {
                try lab.client(way, [.receiveBytes(1000), .receiveEnd(.reset)])
            }
            #expect(talk.problem == nil, "\(daemon.program.errors)")
            #expect((talk.endSeconds ?? 9) < 0.5)
            withExtendedLifetime(proxy) {}
        }

        /// The other direction of B028.
        @Test("the client's reset is a reset to the upstream", arguments: Way.allCases)
        func clientReset(way: Way) throws {
            let lab = try Lab()
            let proxy = try ScriptedProxy(
                lab, [[.connect, .established, .receive("abc"), .receiveEnd(.reset)]])
            let daemon = try Daemon(lab)
            let talk = try lab.client(way, [.send("abc"), .pause(0.2), .close(.reset)])
            #expect(talk.problem == nil, "\(daemon.program.errors)")
            let seen = try proxy.finished()
            #expect(seen[0].problem == nil)
        }

        /// Push connections: the long wait runs in the long set, the keepalive is looked at always (B029).
        @Test("an idle connection stays open, and keepalive watches over the upstream's side")
        func idlePush() throws {
            // Keepalive begins when a flow is half as old as the silence that it waits for.
            let idle: Double = LongRun.isOn ? 960 : 14
            let lab = try Lab()
            let proxy = try ScriptedProxy(
                lab, [[.connect, .established, .receive("k", within: idle + 20), .send("K"), .pause(1)]])
            let daemon = try Daemon(lab, Daemon.Settings { $0.limits = "keepaliveUpstream: \"10s\"" })
            let client = try lab.startClient(.tunnel, port: 5228, [.pause(idle), .send("k"), .receive("K")])
            var sockets = ""
            let isKept = try Lab.wait(idle - 1) {
                sockets = try lab.run(.gateway, ["ss", "-Htno", "state", "established", "dport", "= :8118"]).output
                return sockets.contains("timer:(keepalive")
            }
            #expect(isKept, "\(sockets)")
            let talk = try Talk.of(client, within: idle + 30)
            #expect(talk[0].problem == nil, "\(daemon.program.errors)")
            withExtendedLifetime(proxy) {}
        }

        @Test("both directions end on their own over the embedded upstream", arguments: Way.allCases)
        func embedded(way: Way) throws {
            let lab = try Lab()
            let origin = try ScriptedProxy(
                lab, at: "198.51.100.13", port: 7000,
                [
                    [.receiveBytes(500_000), .receiveEnd(.fin), .pause(0.5), .sendBytes(500_000), .close(.fin)],
                    [.sendBytes(500_000), .halfClose, .receiveBytes(500_000), .receiveEnd(.fin)],
                ])
            let proxy = try Upstream.embedded.start(in: lab)
            let daemon = try Daemon(lab, Daemon.Settings { $0.upstream = Daemon.Settings.http(Upstream.embedded.port) })
            let first = try lab.client(
                way, to: "198.51.100.13", port: 7000,
                [.sendBytes(500_000), .halfClose, .receiveBytes(500_000), .receiveEnd(.fin)])
            #expect(first.problem == nil, "\(daemon.program.errors) \(proxy.errors)")
            let second = try lab.client(
                way, to: "198.51.100.13", port: 7000,
                [.receiveBytes(500_000), .receiveEnd(.fin), .pause(0.5), .sendBytes(500_000), .close(.fin)])
            #expect(second.problem == nil, "\(daemon.program.errors) \(proxy.errors)")
            #expect(try origin.finished(2).allSatisfy { $0.problem == nil })
        }

        @Test(
            "what a proxy sent before it closed arrives whole, then FIN",
            arguments: [Upstream.openedSquid, .tinyproxy, .mitmproxy])
        func drained(upstream: Upstream) throws {
            guard upstream.isAvailable else { return Lab.leaveOut("draining over \(upstream)") }
            let lab = try Lab()
            let origin = try ScriptedProxy(
                lab, at: "198.51.100.13", port: 7000, [[.receive("?1\n"), .sendBytes(2_000_000), .close(.fin)]])
            let proxy = try upstream.start(in: lab)
            let daemon = try Daemon(lab, Daemon.Settings { $0.upstream = Daemon.Settings.http(upstream.port) })
            for way in Way.allCases {
                let talk = try lab.client(
                    way, to: "198.51.100.13", port: 7000,
                    [.send("?1\n"), .receiveBytes(2_000_000, rate: 2_000_000), .receiveEnd(.fin)])
                #expect(talk.problem == nil, "\(way) \(daemon.program.errors)")
            }
            withExtendedLifetime((proxy, origin)) {}
        }

        @Test(
            "with halfClose: hold the whole answer comes over proxies that end at the client's FIN",
            arguments: [Upstream.openedSquid, .tinyproxy, .mitmproxy])
        func held(upstream: Upstream) throws {
            guard upstream.isAvailable else { return Lab.leaveOut("hold over \(upstream)") }
            let lab = try Lab()
            let origin = try ScriptedProxy(
                lab, at: "198.51.100.13", port: 7000,
                [[.receive("?1\n"), .pause(1), .sendBytes(500_000), .close(.fin)]])
            let proxy = try upstream.start(in: lab)
            let daemon = try Daemon(
                lab,
                Daemon.Settings { $0.upstream = Daemon.Settings.http(upstream.port, "halfClose: \"hold\"") })
            for way in Way.allCases {
                let talk = try lab.client(
                    way, to: "198.51.100.13", port: 7000,
                    [.send("?1\n"), .halfClose, .receiveBytes(500_000), .receiveEnd(.fin)])
                #expect(talk.problem == nil, "\(way) \(daemon.program.errors)")
            }
            withExtendedLifetime((proxy, origin)) {}
        }
    }
}
