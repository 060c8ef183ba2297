/// Datagrams that are carried: out by a socket of their own, back from the address that the device has asked.

import Addresses
import Bytes
import Flows
import LinuxIO
import Names
import Testing
import Upstreams
import Wire

@testable import Gateway

extension WorkerTests {
    @Suite("UDP")
    struct UDP {
        /// A device, and a host outside of the same family.
        static let pairs = [("10.9.0.2", "127.0.0.1"), ("fd00:9::2", "::1")]

        /// A bench that carries what goes to this host's port.
        private func bench(
            _ outside: Outside, workers: Int = 1, hasVirtioHeader: Bool = false,
            _ change: (inout GatewaySettings) -> Void = { _ in }
        ) throws -> Bench {
            try Bench(workers: workers, hasVirtioHeader: hasVirtioHeader) {
                $0.datagrams.directPorts = [outside.address.port]
                change(&$0)
            }
        }

        private func packet(
            _ data: String, from device: String = "10.9.0.2", _ port: UInt16 = 50001, to outside: Outside
        ) -> [UInt8] {
            Datagram.udp(from: device, port, to: outside.host, outside.address.port, Array(data.utf8))
        }

        // MARK: Out and back

        @Test("a datagram goes out and its answer comes back", arguments: pairs, [true, false])
        func exchange(pair: (device: String, outside: String), hasVirtioHeader: Bool) throws {
            let outside = try Outside(pair.outside)
            let bench = try bench(outside, hasVirtioHeader: hasVirtioHeader)
            try bench.inject(packet("question", from: pair.device, to: outside))
            let asked = try bench.next(at: outside)
            #expect(asked.data == Array("question".utf8))
            for answer in ["one", "and another"] {
                outside.send(Array(answer.utf8), to: asked.peer)
                let seen = try #require(bench.nextStrays().first?.udp)
                #expect(seen.source == outside.address)
                #expect(seen.destination == Bench.address(pair.device, 50001))
                #expect(seen.data == Array(answer.utf8))
            }
            #expect(bench.counter(\.udpCarried) == 1)
            #expect(bench.counter(\.udpAnswered) == 2)
            #expect(bench.counter(\.udpRefused) == 0)
        }

        @Test func aFlowKeepsItsPortAndAnotherOneHasAnother() throws {
            let outside = try Outside()
            let bench = try bench(outside)
            var peers: [SocketAddress] = []
            for (port, text) in [(50001, "a"), (50001, ""), (50002, "c")] as [(UInt16, String)] {
                try bench.inject(packet(text, from: "10.9.0.2", port, to: outside))
                let asked = try bench.next(at: outside)
                #expect(asked.data == Array(text.utf8))
                peers.append(asked.peer)
            }
            #expect(peers[0] == peers[1])
            #expect(peers[0] != peers[2])
            #expect(bench.machines[0].datagramFlows == 2)
        }

        /// RFC 4787, REQ-8: nobody else gets in by a flow's port.
        @Test func aStrangersDatagramIsNoAnswer() throws {
            let outside = try Outside()
            let stranger = try Outside()
            let bench = try bench(outside)
            try bench.inject(packet("question", to: outside))
            let asked = try bench.next(at: outside)
            stranger.send([6, 6, 6], to: asked.peer)
            #expect(bench.takeStrays().isEmpty)
            #expect(bench.counter(\.udpAnswered) == 0)
        }

        /// An answer that does not fit the tunnel is cut (RFC 791, section 3.2; RFC 8200, section 4.5).
        @Test("a large answer comes in fragments", arguments: pairs, [true, false])
        func fragments(pair: (device: String, outside: String), hasVirtioHeader: Bool) throws {
            let outside = try Outside(pair.outside)
            let bench = try bench(outside, hasVirtioHeader: hasVirtioHeader)
            try bench.inject(packet("question", from: pair.device, to: outside))
            let asked = try bench.next(at: outside)
            let data = pattern(4000)
            outside.send(data, to: asked.peer)
            let pieces = bench.nextStrays(3)
            #expect(pieces.count == 3)
            #expect(pieces.allSatisfy { $0.bytes.count <= 1500 && $0.ip.fragment != nil })
            let answer = try #require(try bench.joined(pieces)).udp
            #expect(answer?.source == outside.address)
            #expect(answer?.data == data)
        }

        /// B126: a question in fragments is one datagram.
        @Test func aQuestionInFragmentsIsOneDatagram() throws {
            let outside = try Outside()
            let bench = try bench(outside)
            let data = pattern(2000)
            let whole = Datagram.udp(from: "10.9.0.2", to: outside.host, outside.address.port, data)
            let payload = Array(whole[20...])
            for range in [1480..<payload.count, 0..<1480] {
                let more: UInt16 = range.upperBound < payload.count ? 0x2000 : 0
                try bench.inject(
                    Datagram.ipv4(
                        17, from: "10.9.0.2", to: outside.host, Array(payload[range]), identification: 5,
                        fragment: UInt16(range.lowerBound / 8) | more))
            }
            #expect(try bench.next(at: outside).data == data)
        }

        // MARK: The end, and the bounds

        /// B230: 30 s after its last datagram nothing is left of a flow.
        @Test func anIdleFlowEnds() throws {
            let outside = try Outside()
            let bench = try bench(outside)
            try bench.inject(packet("question", to: outside))
            let asked = try bench.next(at: outside)
            bench.advance(.seconds(29))
            outside.send([1], to: asked.peer)
            #expect(bench.nextStrays().count == 1)
            bench.advance(.seconds(29))
            #expect(bench.machines[0].datagramFlows == 1)
            try #require(bench.machines[0].nextWake != nil)
            bench.advance(.seconds(2))
            #expect(bench.machines[0].datagramFlows == 0)
            bench.expectNothingLeft()
            #expect(bench.log.contains("event=udp client=10.9.0.2:50001 target=\(outside.address) up=8 down=1 ms="))
        }

        /// B230, B132: a device has 64 flows at most; what is over is refused and counted.
        @Test func aDeviceHasABound() throws {
            let outside = try Outside()
            let bench = try bench(outside) { $0.icmpPerSecond = 1000 }
            for port in 0..<80 as Range<UInt16> {
                try bench.inject(packet("x", from: "10.9.0.2", 50000 + port, to: outside))
            }
            let refusals = bench.takeStrays()
            #expect(refusals.count == 16)
            #expect(refusals.allSatisfy { $0.icmp?.type == [3, 3] })
            #expect(bench.counter(\.udpLimitHits) == 16)
            #expect(bench.machines[0].datagramFlows == 64)
            try bench.inject(packet("x", from: "10.9.0.3", to: outside))
            bench.settle()
            #expect(bench.machines[0].datagramFlows == 65, "another device has its own")
            bench.advance(.seconds(31))
            #expect(bench.machines[0].datagramFlows == 0)
            try bench.inject(packet("x", to: outside))
            bench.settle()
            #expect(bench.machines[0].datagramFlows == 1)
        }

        /// B132: datagrams that nobody carries open nothing, and a thousand of them are a line or two.
        @Test func refusedDatagramsAreALineOrTwo() throws {
            let bench = try Bench()
            for port in 0..<1000 as Range<UInt16> {
                try bench.inject(Datagram.udp(from: "10.9.0.2", 20000 + port, to: "203.0.113.5", 9999, [0x78]))
                if port % 100 == 99 { bench.settle() }
            }
            bench.advance(.seconds(2))
            let lines = bench.log.split(separator: "\n")
            #expect(lines.count <= 5)
            #expect(bench.machines[0].datagramFlows == 0)
            #expect(bench.nextPeer() == nil)
            let told = lines.compactMap { $0.split(separator: "count=").last.flatMap { Int($0) } }
            #expect(told.reduce(0, +) == bench.counter(\.udpRefused), "the last of a burst are told too")
        }

        // MARK: Errors

        /// The network's word about a datagram becomes ours, from the address that was asked, and the flow goes on.
        @Test("a refusal outside is a port unreachable", arguments: pairs)
        func refused(pair: (device: String, outside: String)) throws {
            let outside = try Outside(pair.outside)
            let bench = try bench(outside)
            let port = outside.address.port
            outside.close()
            let question = packet("question", from: pair.device, to: outside)
            for round in 1...2 {
                try bench.inject(question)
                let seen = try #require(bench.nextStrays().first)
                #expect(seen.ip.source == outside.address.address)
                #expect(seen.ip.destination == Bench.address(pair.device, 0).address)
                #expect(seen.icmp?.type == (seen.ip.source.isIPv4 ? [3, 3] : [1, 4]))
                #expect(seen.icmp?.quote == Array(question.prefix(seen.ip.source.isIPv4 ? 28 : 48)))
                #expect(bench.counter(\.udpErrorsTold) == round)
            }
            #expect(bench.machines[0].datagramFlows == 1)
            let again = try Outside(pair.outside, port: port)
            try bench.inject(question)
            #expect(try bench.next(at: again).data == Array("question".utf8))
        }

        /// RFC 1191, section 4; RFC 4443, section 3.2.
        @Test("what is too long for the way is a Packet Too Big", arguments: pairs)
        func tooBig(pair: (device: String, outside: String)) throws {
            let outside = try Outside(pair.outside)
            let bench = try bench(outside)
            try bench.inject(packet("question", from: pair.device, to: outside))
            _ = try bench.next(at: outside)
            let target = FlowKey(client: Bench.address(pair.device, 50001), target: outside.address)
            bench.machines[0].fail(target, .messageTooLong)
            let seen = try #require(bench.nextStrays().first)
            #expect(seen.icmp?.type == (seen.ip.source.isIPv4 ? [3, 4] : [2, 0]))
            // Loopback's MTU is 65536; in IPv4 the field has 16 bits.
            #expect(seen.icmp?.parameter == (seen.ip.source.isIPv4 ? [0, 0, 0xff, 0xff] : [0, 1, 0, 0]))
        }

        /// A router between us and the device says that our answers are too big: the next ones are cut.
        @Test("a Packet Too Big about an answer is honoured", arguments: pairs)
        func honoured(pair: (device: String, outside: String)) throws {
            let outside = try Outside(pair.outside)
            let bench = try bench(outside)
            try bench.inject(packet("question", from: pair.device, to: outside))
            let asked = try bench.next(at: outside)
            outside.send(pattern(1400), to: asked.peer)
            let answer = try #require(bench.nextStrays().first)
            #expect(answer.udp?.data.count == 1400)
            let source = answer.ip.source.isIPv4 ? "10.9.0.254" : "fd00:9::fe"
            for mtu: UInt16 in [500, 1300] {
                // From a router, to the address that the answer came from.
                try bench.inject(Datagram.tooBig(from: source, to: outside.host, mtu: mtu, about: answer.bytes))
            }
            bench.settle()
            #expect(bench.counter(\.icmpErrorsAccepted) == 1, "500 is below what either family's links may have")
            #expect(bench.counter(\.icmpErrorsIgnored) == 1)
            outside.send(pattern(1400), to: asked.peer)
            let pieces = bench.nextStrays(2)
            #expect(pieces.count == 2)
            #expect(pieces.allSatisfy { $0.bytes.count <= 1300 })
        }

        /// Decision 12: nobody reaches by UDP what they may not reach by TCP.
        @Test("what may not be dialled is refused", arguments: ["169.254.7.7", "10.9.0.1", "0.1.2.3"])
        func refusedTargets(target: String) throws {
            let bench = try Bench(upstreamSettings: {
                $0.policy.own = [IPPrefix(parsing: "10.9.0.1")].compactMap(\.self)
            })
            try bench.inject(Datagram.udp(from: "10.9.0.2", to: target, 123, [0x1b]))
            #expect(bench.nextStrays().first?.icmp?.type == [3, 3])
            #expect(bench.machines[0].datagramFlows == 0)
        }

        /// Decision 9: one of our own that came back would go round for ever.
        @Test func ourOwnDatagramIsRefused() throws {
            let bench = try Bench(upstreamSettings: {
                $0.policy.own = [IPPrefix(parsing: "10.9.0.1")].compactMap(\.self)
            })
            try bench.inject(Datagram.udp(from: "10.9.0.1", to: "198.51.100.10", 123, [0x1b]))
            #expect(bench.nextStrays().first?.icmp?.type == [3, 3])
            #expect(bench.machines[0].datagramFlows == 0)
        }

        // MARK: Decisions

        /// B130, B132: what goes direct by default, and what does not.
        @Test func thePortsDecide() throws {
            func decision(_ port: UInt16, _ change: @escaping (inout GatewaySettings) -> Void = { _ in }) throws
                -> DatagramDecision
            {
                let key = FlowKey(
                    client: Bench.address("10.9.0.2", 50001), target: Bench.address("198.51.100.10", port))
                return try Bench(change).machines[0].worker.decideDatagram(key)
            }
            for port: UInt16 in [123, 500, 4500] {
                let answer = try decision(port)
                #expect(answer == .direct(to: Target(Bench.address("198.51.100.10", port))))
            }
            for port: UInt16 in [53, 80, 443, 853, 9999] {
                let answer = try decision(port)
                #expect(answer == .reject)
            }
            let ours = try decision(53) { $0.datagrams.service = Bench.address("127.0.0.1", 10053) }
            #expect(ours == .service)
            let letOut = try decision(443) { $0.routing.profiles[0].letsDatagramsOut = true }
            #expect(letOut == .direct(to: Target(Bench.address("198.51.100.10", 443))))
        }

        /// NTP to a fake address: the name behind it is resolved by us, and the answer comes from the fake address.
        @Test func aTargetByNameIsResolvedFirst() throws {
            let outside = try Outside()
            let second = try Outside("::1", port: outside.address.port)
            let target = Target(host: .name("localhost"), port: outside.address.port)
            let bench = try Bench { $0.datagrams.decides = { _ in .direct(to: target) } }
            for text in ["one", "two"] {
                try bench.inject(Datagram.udp(from: "10.9.0.2", to: "198.18.0.20", 123, Array(text.utf8)))
            }
            var asked: [(data: [UInt8], peer: SocketAddress)] = []
            bench.until("both come out") {
                while let next = outside.next() ?? second.next() { asked.append(next) }
                return asked.count == 2
            }
            #expect(asked.map(\.data) == [Array("one".utf8), Array("two".utf8)])
            let peer = try #require(asked.first?.peer)
            (peer.address.isIPv4 ? outside : second).send([7], to: peer)
            let answer = try #require(bench.nextStrays().first?.udp)
            #expect(answer.source == Bench.address("198.18.0.20", 123))
            #expect(answer.data == [7])
        }

        /// An address that a flow goes to is not given to another name.
        @Test func aFlowHoldsItsFakeAddress() throws {
            let outside = try Outside()
            let target = Target(outside.address)
            let names = NameTable(pool: try NameTableTests.pool())
            let bench = try Bench(names: names) { $0.datagrams.decides = { _ in .direct(to: target) } }
            let fake = try #require(names.address(for: "ntp.test", .ipv4, device: Bench.device, now: bench.now))
            try bench.inject(Datagram.udp(from: "10.9.0.2", to: fake.description, 123, [1]))
            _ = try bench.next(at: outside)
            #expect(bench.machines[0].holdsFakeAddress(Bench.address("10.9.0.2", 50001), SocketAddress(fake, 123)))
            bench.advance(.seconds(31))
            bench.expectNothingLeft()
        }

        /// Decision 7: a switch is felt at once, and only by flows whose way has changed.
        @Test func aSwitchEndsFlowsThatGoElsewhere() throws {
            let outside = try Outside()
            let other = try Outside()
            let bench = try bench(outside) {
                $0.datagrams.directPorts = [outside.address.port]
                $0.routing.profiles[0].letsDatagramsOut = true
            }
            let question = packet("question", to: other)
            try bench.inject(packet("question", to: outside))
            try bench.inject(question)
            _ = try bench.next(at: outside)
            _ = try bench.next(at: other)
            var routing = bench.settings.routing
            routing.profiles[0].letsDatagramsOut = false
            bench.shared.board.replace(by: try Policy(routing, after: bench.shared.policy))
            bench.shared.mailboxes[0].send(.reroute(RerouteOrder(drain: .zero, waking: try WakeUp())))
            let seen = try #require(bench.nextStrays().first)
            #expect(seen.icmp?.type == [3, 3])
            #expect(seen.icmp?.quote == Array(question.prefix(28)))
            #expect(bench.machines[0].datagramFlows == 1)
        }

        @Test func aNameWithoutAddressIsAPortUnreachable() throws {
            let bench = try Bench {
                $0.datagrams.decides = { _ in .direct(to: Target(host: .name("nothing.invalid"), port: 123)) }
            }
            let question = Datagram.udp(from: "10.9.0.2", to: "198.18.0.20", 123, [1, 2, 3])
            try bench.inject(question)
            bench.settle()
            bench.machines[0].resolve("nothing.invalid", [])
            let seen = try #require(bench.nextStrays().first)
            #expect(seen.icmp?.type == [3, 3])
            #expect(seen.icmp?.quote == Array(question.prefix(28)))
            #expect(bench.machines[0].datagramFlows == 0)
        }

        // MARK: The DNS service

        @Test(
            "a question to any DNS server is carried to our own",
            arguments: [("10.9.0.2", "8.8.8.8"), ("fd00:9::2", "2001:4860:4860::8888")])
        func service(pair: (device: String, server: String)) throws {
            let service = try Outside()
            let bench = try Bench { $0.datagrams.service = service.address }
            try bench.inject(Datagram.udp(from: pair.device, to: pair.server, 53, [0x1a, 0x2b]))
            let asked = try bench.next(at: service)
            #expect(asked.data == [0x1a, 0x2b])
            #expect(
                bench.shared.dnsClients.device(behind: asked.peer.port, over: .udp)
                    == Bench.address(pair.device, 0).address)
            #expect(bench.shared.dnsClients.device(behind: asked.peer.port, over: .tcp) == nil)
            service.send([0x1a, 0x2b, 0x80], to: asked.peer)
            let answer = try #require(bench.nextStrays().first?.udp)
            #expect(answer.source == Bench.address(pair.server, 53))
            #expect(answer.data == [0x1a, 0x2b, 0x80])
            #expect(bench.machines[0].datagramFlows == 0, "over with its answer")
            #expect(bench.shared.dnsClients.count == 0)
            bench.expectNothingLeft()
        }

        @Test func questionsWithoutAnswerEndAfter10Seconds() throws {
            let service = try Outside()
            let bench = try Bench { $0.datagrams.service = service.address }
            for _ in 0..<2 { try bench.inject(Datagram.udp(from: "10.9.0.2", to: "8.8.8.8", 53, [1])) }
            let asked = try bench.next(at: service)
            service.send([1], to: asked.peer)
            #expect(bench.nextStrays().count == 1)
            #expect(bench.machines[0].datagramFlows == 1, "the other question is open")
            bench.advance(.seconds(11))
            #expect(bench.machines[0].datagramFlows == 0)
            #expect(bench.shared.dnsClients.count == 0)
        }

        // MARK: Several workers

        @Test func aDatagramAtAnotherQueueReachesItsFlow() throws {
            let outside = try Outside()
            let bench = try bench(outside, workers: 3)
            try bench.inject(packet("one", to: outside))
            let first = try bench.next(at: outside)
            try bench.inject(packet("two", to: outside), at: 2)
            let second = try bench.next(at: outside)
            #expect(first.peer == second.peer)
            #expect(bench.machines.map(\.datagramFlows) == [1, 0, 0])
            #expect(bench.counter(\.handedOver) == 1)
            bench.advance(.seconds(31))
            try bench.inject(packet("three", to: outside), at: 2)
            _ = try bench.next(at: outside)
            #expect(bench.machines.map(\.datagramFlows) == [0, 0, 1])
        }
    }
}
