/// Raw packets at the TUN device: odd SYNs, wrong checksums, noise, ping, fragments, UDP.

import TestSupport
import Testing

extension LabTests {
    @Suite("packets on the TUN device")
    struct PacketTests {
        /// ECN, Fast Open, data, MPTCP, nothing at all (B016).
        @Test("unusual SYNs are answered, and nothing that we don't speak is agreed to")
        func unusual() throws {
            let lab = try Lab()
            let proxy = try ScriptedProxy(lab, [[.connect, .established, .pause(5)]])
            let daemon = try Daemon(lab)
            let usual: [[RawPacket.OptionPart]] = [["mss", 1460], ["sackok"], ["ts", 100, 0], ["ws", 7]]
            let fastOpen: [[RawPacket.OptionPart]] = [["mss", 1460], ["raw", "2202"]]
            let multipath: [[RawPacket.OptionPart]] = [["mss", 1460], ["raw", "1e0c00811111111111111111"]]
            let syns: [RawPacket] = [
                .syn(port: 40001, flags: "SEC", options: usual), .syn(port: 40002, options: fastOpen),
                .syn(port: 40003, data: "EARLY"), .syn(port: 40004, options: multipath),
                .syn(port: 40005, options: []),
            ]
            let steps = syns.flatMap { [PacketStep.inject($0), .await(port: $0.tcp?.from)] }
            let seen = try lab.packets(steps).packets
            for port in 40001...40005 {
                let answer = seen.first { $0.to == port }
                #expect(answer?.flags == "SA", "port \(port): \(String(describing: answer)) \(daemon.program.errors)")
                #expect([5001, 5006].contains(answer?.ack))
                #expect(answer?.mss == 1460, "what the MTU leaves")
                #expect(answer?.options?.contains("2202") != true && answer?.options?.contains("1e0c") != true)
            }
            withExtendedLifetime(proxy) {}
        }

        /// RFC 9293 section 3.7.1: 536 without the option, and never more than the peer's (B016, B120).
        @Test(
            "no segment is larger than the client's MSS allows, however large the tunnel's are",
            arguments: [0, 536, 1240], [1500, 9000])
        func segmentSize(mss: Int, mtu: Int) throws {
            let lab = try Lab()
            let proxy = try ScriptedProxy(lab, [[.connect, .established, .receive("x"), .sendBytes(100_000)]])
            let daemon = try Daemon(lab, Daemon.Settings { $0.mtu = mtu })
            for (index, timestamps) in [false, true].enumerated() {
                var options: [[RawPacket.OptionPart]] = mss > 0 ? [["mss", .number(mss)]] : []
                if timestamps { options.append(["ts", 100, 0]) }
                let sums = try lab.packets([.talk(.syn(port: 41000 + index, options: options), seconds: 10)]).talk
                #expect(sums?.open == true && sums?.received == 100_000, "\(String(describing: sums))")
                let limit = (mss > 0 ? mss : 536) - (timestamps ? 12 : 0)
                #expect((sums?.largest ?? 9999) <= limit, "\(daemon.program.errors)")
            }
            withExtendedLifetime(proxy) {}
        }

        /// RFC 1122 section 3.2.1.2, RFC 9293 section 3.1 (B017).
        @Test("wrong checksums are dropped in silence, and the next good SYN works")
        func checksums() throws {
            let lab = try Lab()
            let proxy = try ScriptedProxy(lab, [[.connect, .established, .pause(5)]])
            let daemon = try Daemon(lab)
            let seen = try lab.packets([
                .inject(.syn(port: 42001, badSum: "tcp")), .inject(.syn(port: 42002, badSum: "ip")), .watch(0.3),
                .inject(.syn(port: 42003)), .await(port: 42003),
            ]).packets
            #expect(seen.count == 1 && seen[0].to == 42003 && seen[0].flags == "SA", "\(seen)")
            let counters = try daemon.snapshot()
            #expect(counters["counters.dropped_checksum"] == 2, "\(counters)")
            withExtendedLifetime(proxy) {}
        }

        /// What a kernel sends on any interface (B115).
        @Test("router solicitations and mDNS are neither answered nor logged")
        func noise() throws {
            let lab = try Lab()
            let daemon = try Daemon(lab)
            let linesBefore = daemon.program.errors.split(separator: "\n").count
            let solicitation =
                "6000000000083a40fe800000000000000000000000000001ff02000000000000000000000000000285007d3600000000"
            let seen = try lab.packets([
                .inject(.bytes(solicitation), times: 1000),
                .inject(.udp(port: 5353, to: "224.0.0.251", targetPort: 5353, data: "_http._tcp.local"), times: 1000),
                .inject(
                    .udp(from: "fd00:9:77::2", port: 5353, to: "ff02::fb", targetPort: 5353, data: "_http"),
                    times: 1000),
                .watch(0.5),
            ]).packets
            #expect(seen.isEmpty, "\(seen.prefix(3))")
            #expect(daemon.program.errors.split(separator: "\n").count - linesBefore <= 2)
        }

        /// A device never waits for what cannot come, whichever family (B116).
        @Test("an IPv6 SYN that the proxy refuses is reset at once")
        func fastRefusal() throws {
            let lab = try Lab()
            let proxy = try ScriptedProxy(
                lab, [[.connect, .send("HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n"), .close(.fin)]])
            let daemon = try Daemon(lab)
            let seen = try lab.packets([
                .inject(.syn(from: "fd00:9:77::2", port: 42113, to: "2001:db8:51::10", seq: 77)),
                .await(port: 42113, within: 0.5),
            ]).packets
            #expect(seen.first?.flags == "RA" && seen.first?.ack == 78, "\(seen) \(daemon.program.errors)")
            withExtendedLifetime(proxy) {}
        }

        /// Echo is answered here, in both families, with its data and a right checksum (B124, B113).
        @Test("ping is answered while the proxy is well")
        func ping() throws {
            let lab = try Lab()
            let daemon = try Daemon(lab)
            let seen = try lab.packets([
                .inject(.ping(to: "198.51.100.10", seq: 2)), .await(),
                .inject(.ping(from: "fd00:9:77::2", to: "2001:db8:51::10", seq: 3)), .await(),
            ]).packets
            #expect(seen.count == 2, "\(seen) \(daemon.program.errors)")
            let bodies = ["00070002" + "6162636465666768", "00070003" + "6162636465666768"]
            for (packet, body) in zip(seen, bodies) {
                #expect(packet.type == (packet.protocol == 1 ? 0 : 129) && packet.code == 0)
                #expect(packet.body == body && packet.sumGood == true, "\(packet)")
            }
            let system = try lab.run(.device, ["ping", "-c", "2", "-i", "0.2", "-W", "1", "203.0.113.9"])
            #expect(system.status == 0, "\(system.output)")
        }

        /// A later fragment has no header to read (B126).
        @Test("fragments never become flows, and the daemon lives on")
        func fragments() throws {
            let lab = try Lab()
            let daemon = try Daemon(lab)
            // A first fragment of a SYN (8 octets of it, more to come), then the second alone, then a lone one.
            let fragments = [
                "4500001c00552000400626860a094d02c633640a9c6701bb00001388",
                "4500001c00552001400626850a094d02c633640a000000005002faf0",
                "4500001c00562001400626840a094d02c633640a9c6801bb00001388",
            ]
            let seen = try lab.packets(fragments.map { .inject(.sealed($0)) } + [.watch(0.5)]).packets
            #expect(seen.allSatisfy { $0.protocol != 6 }, "\(seen)")
            let counters = try daemon.snapshot()
            #expect(counters["flows"] == 0, "\(counters)")
            #expect(daemon.isRunning)
        }

        /// RFC 1122 section 3.2.2, RFC 4443 section 2.4 (B127).
        @Test("ICMP errors go neither to groups nor about errors or fragments, and are few")
        func errorRules() throws {
            let lab = try Lab()
            let daemon = try Daemon(lab)
            let about = "4500001c123440004011b3d60a094d02c633640a1388232800080000"
            let silent: [RawPacket] = [
                .udp(to: "224.0.0.251", targetPort: 9999, data: "x"),
                .udp(to: "255.255.255.255", targetPort: 9999, data: "x"),
                // An ICMP port unreachable (type 3, code 3) about some packet of ours.
                .sealed("4500003812344000400173ca0a094d02c633640a0303000000000000" + about),
                // A later fragment of a UDP datagram.
                .sealed("4500001c1234004040117396" + "0a094d02c633640a7878787878787878"),
            ]
            let quiet = try lab.packets(silent.map { .inject($0) } + [.watch(0.5)]).packets
            #expect(quiet.isEmpty, "\(quiet)")
            let flood = try lab.packets([
                .inject(.udp(to: "198.51.100.10", targetPort: 443, data: "quic"), times: 10_000, rate: 20_000),
                .watch(0.5),
            ]).packets
            #expect((1...1000).contains(flood.count), "\(flood.count) answers")
            #expect(flood.allSatisfy { $0.type == 3 && $0.code == 3 && $0.source == "198.51.100.10" })
            #expect(daemon.isRunning)
        }

        /// QUIC must fall back at once (B130).
        @Test("UDP is refused at once from the address that it went to, in both families")
        func quic() throws {
            let lab = try Lab()
            let daemon = try Daemon(lab)
            let initial = "\u{c3}\0\0\0\u{1}\u{8}" + String(repeating: "\0", count: 1194)
            let seen = try lab.packets([
                .inject(.udp(to: "198.51.100.10", targetPort: 443, data: initial)), .await(within: 0.5),
                .inject(.udp(from: "fd00:9:77::2", to: "2001:db8:51::10", targetPort: 443, data: initial)),
                .await(within: 0.5),
            ]).packets
            #expect(seen.count == 2, "\(daemon.program.errors)")
            #expect(seen.first?.type == 3 && seen.first?.code == 3 && seen.first?.source == "198.51.100.10")
            #expect(seen.last?.type == 1 && seen.last?.code == 4 && seen.last?.source == "2001:db8:51::10")
            #expect(seen.allSatisfy { $0.sumGood == true })
            // The quote begins with the packet itself: version and header length (IPv4), version (IPv6).
            #expect(seen.first?.body?.dropFirst(8).hasPrefix("4500") == true)
            #expect(seen.last?.body?.dropFirst(8).hasPrefix("6") == true)
            let counters = try daemon.snapshot()
            #expect(counters["counters.udp_refused"] == 2, "\(counters)")
        }

        /// UDP costs no upstream connection and no state (B132).
        @Test("a thousand UDP ports open nothing")
        func manyPorts() throws {
            let lab = try Lab()
            let proxy = try ScriptedProxy(lab, [[.connect, .established, .pause(1)]])
            let daemon = try Daemon(lab)
            let before = daemon.descriptors
            let linesBefore = daemon.program.errors.split(separator: "\n").count
            _ = try lab.packets([
                .inject(.udp(to: "203.0.113.5", targetPort: 9999, data: "S"), times: 1000, varyingPort: true),
                .watch(0.5),
            ])
            #expect(daemon.descriptors - before <= 4)
            #expect(daemon.program.errors.split(separator: "\n").count - linesBefore <= 5)
            let counters = try daemon.snapshot()
            #expect(counters["counters.udp_refused"] + counters["counters.icmp_limited"] >= 1000, "\(counters)")
            #expect(try proxy.talks.isEmpty)
        }
    }
}
