/// What is no TCP, and what is no packet at all.

import Addresses
import Bytes
import Flows
import Testing
import Upstreams
import Wire

@testable import Gateway

extension WorkerTests {
    @Suite("Datagrams")
    struct Datagrams {
        /// Device and target of either family.
        static let pairs = [("10.9.0.2", "198.51.100.10"), ("fd00:9::2", "2001:db8:51::10")]

        /// B130: UDP is refused at once, from the original destination (RFC 1122, section 3.2.2.1; RFC 4443,
        /// section 3.1), with the packet quoted.
        @Test("UDP is refused with port unreachable", arguments: pairs, [true, false])
        func udp(pair: (device: String, target: String), hasVirtioHeader: Bool) throws {
            let bench = try Bench(hasVirtioHeader: hasVirtioHeader)
            let packet = Datagram.udp(from: pair.device, to: pair.target, 443, Array("quic".utf8))
            try bench.inject(packet)
            let answer = try #require(bench.takeStrays().first)
            #expect(answer.ip.source == Bench.address(pair.target, 0).address)
            #expect(answer.ip.destination == Bench.address(pair.device, 0).address)
            let message = answer.bytes[answer.ip.payload]
            #expect(Array(message.prefix(2)) == (answer.ip.source.isIPv4 ? [3, 3] : [1, 4]))
            #expect(Array(message.dropFirst(8)) == packet)
            #expect(bench.counter(\.udpRefused) == 1)
        }

        /// B127: 50 a second for a device, each device by itself.
        @Test func errorsAreFew() throws {
            let bench = try Bench()
            var answers = 0
            // In one instant of the bench's clock no token comes: all that a full bucket has, and no more.
            for round in 0..<120 {
                try bench.inject(Datagram.udp(from: "10.9.0.2", to: "198.51.100.10", UInt16(round + 1), []))
                if round % 40 == 39 { answers += bench.takeStrays().count }
            }
            #expect(answers == 50)
            #expect(bench.counter(\.icmpLimited) == 70)
            try bench.inject(Datagram.udp(from: "10.9.0.3", to: "198.51.100.10", 443, []))
            #expect(bench.takeStrays().count == 1, "another device has its own")
            bench.advance(.seconds(1))
            for _ in 0..<50 { try bench.inject(Datagram.udp(from: "10.9.0.2", to: "198.51.100.10", 443, [])) }
            #expect(bench.takeStrays().count == 50)
        }

        /// B230: a refused datagram is forgotten, however many ports and hosts it names.
        @Test func datagramsLeaveNothing() throws {
            let bench = try Bench()
            for round in 0..<4000 {
                let target = "198.51.\(round / 250).\(round % 250 + 1)"
                try bench.inject(Datagram.udp(from: "10.9.0.2", to: target, UInt16(5000 + round), [0, 1, 2]))
                if round % 100 == 99 { _ = bench.takeStrays() }
            }
            #expect(bench.counter(\.udpRefused) + bench.counter(\.icmpLimited) == 4000)
            #expect(bench.counter(\.udpRefused) >= 50)
            bench.expectNothingLeft()
        }

        /// B127: none about groups, errors, or later fragments.
        @Test(
            "nothing is said where no error may be sent",
            arguments: [
                Datagram.udp(from: "10.9.0.2", to: "224.0.0.251", 9999, [1]),
                Datagram.udp(from: "10.9.0.2", to: "255.255.255.255", 9999, [1]),
                Datagram.udp(from: "fd00:9::2", to: "ff02::fb", 5353, [1]),
                Datagram.packet(
                    1, from: "10.9.0.2", to: "198.51.100.10",
                    [3, 3, 0, 0, 0, 0, 0, 0] + Datagram.udp(from: "10.9.0.1", to: "10.9.0.2", 2, [1]), sumAt: 2),
                Datagram.ipv4(
                    17, from: "10.9.0.2", to: "198.51.100.10", [UInt8](repeating: 0x78, count: 64), fragment: 8),
                // RFC 4443, section 2.4(e): the same over IPv6, and about a redirect.
                Datagram.packet(
                    58, from: "fd00:9::2", to: "2001:db8:51::10",
                    [1, 4, 0, 0, 0, 0, 0, 0] + Datagram.udp(from: "fd00:9::1", to: "fd00:9::2", 2, [1]), sumAt: 2),
                Datagram.packet(
                    58, from: "fd00:9::2", to: "2001:db8:51::10", [137, 0, 0, 0] + [UInt8](repeating: 0, count: 36),
                    sumAt: 2),
                Datagram.packet(
                    58, from: "fd00:9::2", to: "ff02::1", [128, 0, 0, 0, 0, 7, 0, 1, 0x61], sumAt: 2),
                Datagram.ipv6(
                    44, from: "fd00:9::2", to: "2001:db8:51::10",
                    [17, 0, 0, 64, 0, 0, 0, 9] + [UInt8](repeating: 0x78, count: 64)),
                // RFC 1122, section 3.2.2: whoever has no single address gets none.
                Datagram.udp(from: "0.0.0.0", to: "198.51.100.10", 443, [1]),
                Datagram.udp(from: "224.0.0.5", to: "198.51.100.10", 443, [1]),
                Datagram.udp(from: "127.0.0.1", to: "198.51.100.10", 443, [1]),
                Datagram.udp(from: "::", to: "2001:db8:51::10", 443, [1]),
                // The broadcast address of the tunnel's network.
                Datagram.udp(from: "10.9.0.2", to: "198.19.255.255", 9999, [1]),
            ])
        func silence(packet: [UInt8]) throws {
            let bench = try Bench { $0.datagrams.broadcasts = [Bench.address("198.19.255.255", 0).address] }
            try bench.inject(packet)
            #expect(bench.takeStrays().isEmpty)
            #expect(bench.machines[0].flows == 0)
        }

        /// B124: an echo request is answered with its own id, sequence number and data.
        @Test("a ping is answered", arguments: pairs, [true, false])
        func ping(pair: (device: String, target: String), hasVirtioHeader: Bool) throws {
            let bench = try Bench(hasVirtioHeader: hasVirtioHeader)
            let data = Array("abcdefgh!".utf8)
            try bench.inject(Datagram.ping(from: pair.device, to: pair.target, id: 7, sequence: 2, data))
            let answer = try #require(bench.takeStrays().first)
            #expect(answer.ip.source == Bench.address(pair.target, 0).address)
            let message = Array(answer.bytes[answer.ip.payload])
            #expect(Array(message[..<2]) == [answer.ip.source.isIPv4 ? 0 : 129, 0])
            #expect(Array(message[4...]) == [0, 7, 0, 2] + data)
            #expect(bench.counter(\.echoReplies) == 1)
        }

        /// B124: a ping tells the truth about the way, and only to whom it concerns.
        @Test("a ping is refused while the upstream is lost", arguments: pairs)
        func refusedPing(pair: (device: String, target: String)) throws {
            // Nobody listens there: the upstream's own socket is the bench's, and is not asked.
            let nobody = Target(Bench.address("127.0.0.1", 9))
            let other = pair.device.contains(".") ? "10.9.1.3" : "fd00:99::3"
            let bench = try Bench(kind: .http(server: nobody)) {
                var way = $0.routing.direct
                way.kind = .http(server: Target(Bench.address("127.0.0.1", 10)))
                $0.routing.profiles.append(.init(id: "other", upstream: way, rules: .everything))
                $0.routing.scopes = ["10.9.1.0/24", "fd00:99::/64"].compactMap { IPPrefix(parsing: $0) }
                    .map { RoutingSettings.Scope(network: $0, profile: 1) }
            }
            let ping = Datagram.ping(from: pair.device, to: pair.target, [1, 2, 3])
            for round in 1...2 {
                try bench.inject(ping)
                bench.settle()
                #expect(bench.counter(\.echoReplies) == round, "one miss may be an accident")
                let client = bench.client()
                try client.sendSYN()
                bench.until("the dial fails") { client.wasReset }
            }
            _ = bench.takeStrays()
            try bench.inject(ping)
            let answer = try #require(bench.takeStrays().first)
            #expect(answer.ip.source == Bench.address(pair.target, 0).address)
            // Host unreachable, address unreachable (RFC 792; RFC 4443, section 3.1).
            #expect(answer.icmp?.type == (answer.ip.source.isIPv4 ? [3, 1] : [1, 3]))
            #expect(answer.icmp?.quote == ping)
            #expect(bench.counter(\.echoRefused) == 1)
            try bench.inject(Datagram.ping(from: other, to: pair.target, [1, 2, 3]))
            bench.settle()
            #expect(bench.counter(\.echoReplies) == 3, "another profile has another upstream")
            // One dial that comes through, and it is back.
            bench.shared.policy.upstreams[0].noteProbe(getsThrough: true)
            try bench.inject(ping)
            bench.settle()
            #expect(bench.counter(\.echoReplies) == 4)
        }

        /// B124: a ping larger than the link comes in fragments, and goes back in fragments.
        @Test("a large ping is answered in fragments", arguments: pairs)
        func largePing(pair: (device: String, target: String)) throws {
            let bench = try Bench()
            let data = pattern(3000)
            let ping = Datagram.ping(from: pair.device, to: pair.target, data)
            for piece in try Datagram.fragments(of: ping, mtu: 1280) { try bench.inject(piece) }
            let pieces = bench.nextStrays(3)
            #expect(pieces.allSatisfy { $0.bytes.count <= 1500 && $0.ip.fragment != nil })
            let answer = try #require(try bench.joined(pieces))
            #expect(answer.icmp?.type == [answer.ip.source.isIPv4 ? 0 : 129, 0])
            #expect(answer.icmp?.quote == data)
        }

        /// B113: a datagram over IPv6 without checksum is dropped (RFC 8200, section 8.1).
        @Test func aDatagramWithoutChecksumOverIPv6IsDropped() throws {
            let bench = try Bench()
            var packet = Datagram.udp(from: "fd00:9::2", to: "2001:db8:51::10", 53, [1, 2])
            packet[46] = 0
            packet[47] = 0
            try bench.inject(packet)
            #expect(bench.takeStrays().isEmpty)
        }

        /// B126: a datagram in fragments is one datagram, in whatever order they come, and nothing of it is a
        /// header but the first one's.
        @Test("fragments are put together", arguments: [[0, 1, 2], [2, 0, 1]])
        func fragments(order: [Int]) throws {
            let bench = try Bench()
            let whole = Datagram.udp(from: "10.9.0.2", to: "198.51.100.10", 443, [UInt8](repeating: 7, count: 1000))
            let payload = Array(whole[20...])
            let pieces = [0..<400, 400..<800, 800..<payload.count].map { range in
                Datagram.ipv4(
                    17, from: "10.9.0.2", to: "198.51.100.10", Array(payload[range]), identification: 77,
                    fragment: UInt16(range.lowerBound / 8) | (range.upperBound < payload.count ? 0x2000 : 0))
            }
            for index in order.dropLast() { try bench.inject(pieces[index]) }
            #expect(bench.takeStrays().isEmpty)
            try bench.inject(pieces[order[2]])
            let answer = try #require(bench.takeStrays().first)
            #expect(Array(answer.bytes[answer.ip.payload].prefix(2)) == [3, 3])
            // The quote is the whole datagram's beginning: its UDP length is 1008.
            #expect(Array(answer.bytes[answer.ip.payload][(20 + 8 + 20)...].prefix(8)) == Array(payload[..<8]))
        }

        /// RFC 8200, section 4.5: the same over IPv6.
        @Test("fragments over IPv6 are put together", arguments: [[0, 1, 2], [2, 1, 0]])
        func fragments6(order: [Int]) throws {
            let bench = try Bench()
            let whole = Datagram.udp(
                from: "fd00:9::2", to: "2001:db8:51::10", 443, [UInt8](repeating: 7, count: 3000))
            let pieces = try Datagram.fragments(of: whole, mtu: 1280)
            #expect(pieces.count == 3)
            for index in order.dropLast() { try bench.inject(pieces[index]) }
            #expect(bench.takeStrays().isEmpty)
            try bench.inject(pieces[order[2]])
            let answer = try #require(bench.takeStrays().first)
            #expect(answer.icmp?.type == [1, 4])
            // The datagram without its fragment headers, as much of it as fits (RFC 4443, section 3.1).
            #expect(answer.icmp?.quote == Array(whole.prefix(1280 - 48)))
        }

        /// RFC 5722: pieces that overlap spoil their datagram.
        @Test func overlappingFragmentsOverIPv6AreDropped() throws {
            let bench = try Bench()
            let whole = Datagram.udp(
                from: "fd00:9::2", to: "2001:db8:51::10", 443, [UInt8](repeating: 7, count: 2000))
            var pieces = try Datagram.fragments(of: whole, mtu: 1280)
            // The second piece begins eight octets too early, with other octets.
            pieces[1][43] &-= 8
            pieces[1][50] ^= 0xff
            for piece in pieces { try bench.inject(piece) }
            #expect(bench.takeStrays().isEmpty)
            #expect(bench.counter(\.droppedFragment) == 1)
        }

        @Test func aSegmentInFragmentsReachesItsFlow() throws {
            let bench = try Bench()
            let client = bench.client()
            let peer = try client.open()
            let packet = client.packet(
                [.acknowledge, .push], sequence: client.next, Array(repeating: 0x61, count: 100))
            let payload = Array(packet[20...])
            for range in [0..<64, 64..<payload.count] {
                let more: UInt16 = range.upperBound < payload.count ? 0x2000 : 0
                try bench.inject(
                    Datagram.ipv4(
                        6, from: "10.9.0.2", to: "198.51.100.10", Array(payload[range]), identification: 9,
                        fragment: UInt16(range.lowerBound / 8) | more))
            }
            client.next = client.next + 100
            bench.until("the bytes arrive") { peer.received.count == 100 }
            try client.reset()
            bench.expectNothingLeft()
        }

        // MARK: Damage

        /// B017: without a virtio header sums are verified; what is wrong is dropped in silence and counted.
        @Test("a wrong checksum is dropped and counted", arguments: [true, false])
        func checksums(hasVirtioHeader: Bool) throws {
            let bench = try Bench(hasVirtioHeader: hasVirtioHeader)
            let client = bench.client()
            let good = client.packet(.syn, sequence: client.next, options: client.offer)
            var wrongTCP = good
            wrongTCP[36] ^= 1
            var wrongIP = good
            wrongIP[10] ^= 1
            try bench.inject(wrongTCP)
            try bench.inject(wrongIP)
            bench.settle()
            #expect(bench.nextPeer() == nil)
            #expect(bench.counter(\.droppedChecksum) == 2)
            #expect(client.segments.isEmpty)
            #expect(bench.takeStrays().isEmpty)
            try bench.inject(good)
            _ = try bench.acceptTunnel()
            bench.until("the good one is answered") { client.segments.first?.acknowledgement == SequenceNumber(1001) }
        }

        /// B017: NEEDS_CSUM and DATA_VALID are the kernel's word.
        @Test("with a virtio header that vouches for it any sum is taken", arguments: [1, 2] as [UInt8])
        func vouched(flags: UInt8) throws {
            let bench = try Bench(hasVirtioHeader: true)
            let client = bench.client()
            var packet = client.packet(.syn, sequence: client.next, options: client.offer)
            packet[36] ^= 0xff
            let header: [UInt8] = [flags, 0, 40, 0, 0, 0, 20, 0, 16, 0, 0, 0]
            try bench.machines[0].write(header + packet)
            _ = try bench.acceptTunnel()
            bench.until("it is answered") { client.segments.first?.flags == [.syn, .acknowledge] }
        }

        @Test func nonsenseIsDroppedAndCounted() throws {
            let bench = try Bench()
            let client = bench.client()
            let good = client.packet(.syn, sequence: client.next, options: client.offer)
            try bench.inject([0x10, 2, 3])
            try bench.inject([0x45])
            try bench.inject(Array(good[..<30]))
            try bench.inject(Datagram.ipv4(47, from: "10.9.0.2", to: "198.51.100.10", [1, 2, 3, 4]))
            #expect(bench.takeStrays().isEmpty)
            #expect(bench.counter(\.droppedMalformed) == 2)
            #expect(bench.counter(\.droppedUnsupported) == 2)
            #expect(bench.machines[0].flows == 0)
        }

        /// RFC 1122, section 4.2.3.10: a SYN to a group is discarded in silence.
        @Test func aSegmentToAGroupIsDropped() throws {
            let bench = try Bench()
            let client = bench.client(to: Bench.address("224.0.0.1", 443))
            try client.sendSYN()
            #expect(client.takeSegments().isEmpty)
            #expect(bench.counter(\.droppedNoise) == 1)
            #expect(bench.machines[0].flows == 0)
        }
    }
}
