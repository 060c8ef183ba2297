/// Bounds that README names: each holds, is counted in the snapshot, and is said once in ten seconds and not for each
/// packet that meets it.

import Addresses
import Bytes
import LinuxIO
import Testing
import Upstreams
import Wire

@testable import Gateway

extension WorkerTests {
    @Suite("Limits")
    struct Limits {
        /// The lines that tell of a bound.
        private func told(_ event: String, by bench: Bench) -> [Substring] {
            bench.log.split(separator: "\n").filter { $0.hasPrefix("event=\(event) ") }
        }

        /// A counter by its name in the snapshot.
        private func counted(_ name: String, by bench: Bench) -> Int? {
            bench.machines[0].counters.named.first { $0.name == name }?.value
        }

        @Test func halfOpenFlowsOfOneDevice() throws {
            let bench = try Bench {
                $0.halfOpenPerDevice = 3
            } upstreamSettings: {
                $0.overallTimeout = .seconds(120)
            }
            func open() throws -> Client {
                let client = bench.client()
                try client.sendSYN()
                bench.settle()
                #expect(bench.machines[0].halfOpen <= 3)
                return client
            }
            var clients = try (0..<20).map { _ in try open() }
            #expect(clients.map(\.wasReset) == (0..<20).map { $0 < 17 }, "the oldest give way")
            #expect(counted("half_open_evicted", by: bench) == 17)
            #expect(
                told("half-open-limit", by: bench) == ["event=half-open-limit level=warning limit=3 device=10.9.0.2"])
            bench.advance(.seconds(9))
            clients.append(try open())
            #expect(told("half-open-limit", by: bench).count == 1)
            bench.advance(.seconds(1))
            clients += try (0..<2).map { _ in try open() }
            #expect(told("half-open-limit", by: bench).count == 2)
            #expect(counted("half_open_evicted", by: bench) == 20)
            for client in clients where !client.wasReset {
                try client.sendRaw(.reset, sequence: SequenceNumber(1001))
            }
            while bench.nextPeer() != nil {}
            bench.expectNothingLeft()
        }

        @Test func halfOpenFlowsInAll() throws {
            let bench = try Bench { $0.halfOpen = 2 }
            let waiting = (0..<2).map { _ in bench.client() }
            for client in waiting { try client.sendSYN() }
            let peers = try waiting.map { _ in try bench.accept() }
            for number in 10..<40 {
                try bench.client(from: Bench.address("10.9.0.\(number)", 0).address).sendSYN()
                bench.settle()
            }
            #expect(bench.machines[0].flows == 2 && bench.machines[0].halfOpen == 2)
            #expect(bench.nextPeer() == nil, "nobody is dialled")
            #expect(counted("cookies_sent", by: bench) == 30)
            #expect(told("half-open-limit", by: bench) == ["event=half-open-limit level=warning limit=2"])
            bench.advance(.seconds(10))
            // The first two dials may be over by then, and somebody else waits in their place.
            let late = (0..<3).map { _ in bench.client() }
            for client in late {
                try client.sendSYN()
                bench.settle()
            }
            #expect(bench.machines[0].halfOpen == 2)
            #expect(told("half-open-limit", by: bench).count == 2)
            for client in waiting + late { try client.sendRaw(.reset, sequence: SequenceNumber(1001)) }
            while bench.nextPeer() != nil {}
            bench.expectNothingLeft()
            withExtendedLifetime(peers) {}
        }

        @Test func datagramFlowsOfOneDeviceAndAsManyQuestions() throws {
            let (outside, service) = (try Outside(), try Outside())
            let bench = try Bench {
                $0.icmpPerSecond = 10_000
                $0.datagrams.directPorts = [outside.address.port]
                $0.datagrams.flowsPerDevice = 8
                $0.datagrams.service = service.address
            }
            func send(_ ports: Range<UInt16>, to host: String, _ target: UInt16) throws -> [Seen] {
                for port in ports { try bench.inject(Datagram.udp(from: "10.9.0.2", port, to: host, target, [1])) }
                return bench.takeStrays()
            }
            let refusals = try send(50000..<50030, to: outside.host, outside.address.port)
            #expect(refusals.count == 22 && refusals.allSatisfy { $0.icmp?.type == [3, 3] })
            #expect(bench.machines[0].datagramFlows == 8)
            #expect(counted("udp_limit_hits", by: bench) == 22)
            let line: Substring = "event=udp-flow-limit level=warning limit=8 device=10.9.0.2"
            #expect(told("udp-flow-limit", by: bench) == [line])
            // Questions are no flows of these, and have as many places.
            let unasked = try send(51000..<51010, to: "8.8.8.8", 53)
            #expect(unasked.count == 2 && unasked.allSatisfy { $0.icmp?.type == [3, 3] })
            #expect(bench.machines[0].datagramFlows == 16)
            #expect(counted("udp_limit_hits", by: bench) == 24)
            #expect(told("udp-flow-limit", by: bench) == [line])
            bench.advance(.seconds(10))
            _ = try send(52000..<52003, to: outside.host, outside.address.port)
            #expect(told("udp-flow-limit", by: bench) == [line, line])
            bench.advance(.seconds(31))
            bench.expectNothingLeft()
        }

        @Test func datagramFlowsInAll() throws {
            let outside = try Outside()
            let bench = try Bench {
                $0.datagrams.directPorts = [outside.address.port]
                $0.datagrams.flows = 10
            }
            func send(from numbers: Range<Int>) throws -> Int {
                for number in numbers {
                    try bench.inject(
                        Datagram.udp(from: "10.9.0.\(number)", 50000, to: outside.host, outside.address.port, [1]))
                }
                return bench.takeStrays().count { $0.icmp?.type == [3, 3] }
            }
            #expect(try send(from: 2..<42) == 30)
            #expect(bench.machines[0].datagramFlows == 10)
            #expect(counted("udp_limit_hits", by: bench) == 30)
            #expect(
                told("udp-flow-limit", by: bench) == ["event=udp-flow-limit level=warning limit=10 device=10.9.0.12"])
            // Those that are there go on, and with room there are others.
            #expect(try send(from: 2..<12) == 0)
            bench.advance(.seconds(31))
            #expect(try send(from: 50..<60) == 0)
            #expect(bench.machines[0].datagramFlows == 10)
            bench.advance(.seconds(31))
            bench.expectNothingLeft()
        }

        /// What finds no room is not acknowledged, so its sender sends it again.
        @Test func octetsThatWait() throws {
            let limit = 8 * BufferPool.chunkSize
            let bench = try Bench(listeners: [.socks([])]) { $0.bufferMemory = limit }
            let client = bench.client()
            let peer = try client.open()
            let hog = try bench.emptyPool(of: 8)
            let words = pattern(1000)
            for _ in 0..<20 {
                // What is missing before it has to come first, so this has to be kept.
                try client.sendRaw([.acknowledge, .push], sequence: client.next + 1000, words)
                bench.settle()
                #expect(bench.machines[0].chunksUsed <= 8)
            }
            #expect((counted("out_of_memory", by: bench) ?? 0) >= 20)
            #expect(told("buffer-limit", by: bench) == ["event=buffer-limit level=warning limit=\(limit)"])
            bench.advance(.seconds(10))
            try client.sendRaw([.acknowledge, .push], sequence: client.next + 1000, words)
            bench.settle()
            #expect(told("buffer-limit", by: bench).count == 2)
            hog.reset()
            bench.settle()
            try client.send(words)
            bench.until("the words arrive") { peer.received == words }
            #expect(!client.wasReset)
            try client.reset()
            bench.expectNothingLeft()
        }
    }
}

@Suite("Limits of the DNS service")
struct NameServerLimitTests {
    private typealias Bench = NameServerBench

    /// A third of the questions are one device's, who may have two at a time.
    @Test func questionsThatWait() throws {
        let resolver = try WrittenResolver()
        let bench = try Bench(resolver.address) {
            $0.pendingPerDevice = 2
            $0.pendingLimit = 3
        }
        let other = try DatagramSocket.connect(to: bench.address)
        bench.book.setDevice(IPAddress(v4: 0x0a09_0009), behind: other.localAddress?.port ?? 0)
        // Over its share a device is answered at once, by SERVFAIL.
        for id: UInt16 in 0..<5 { bench.send(Bench.query("n\(id).other.test", id: id)) }
        for _ in 2..<5 { #expect(try Bench.code(bench.receive()) == 2) }
        #expect(bench.service.counts(3, \.overloaded))
        // Another one has what is left in all.
        for id: UInt16 in 10..<12 { _ = other.send(Bench.query("n\(id).other.test", id: id).span) }
        try awaitReadable(other.descriptor.number)
        #expect(bench.service.counts(4, \.overloaded))
        #expect(bench.service.counts(3, \.forwarded))
        let named = bench.service.counters.named.first { $0.name == "dns_overloaded" }
        #expect(named?.value == 4)
        // Those that wait get their answers, and there is room again.
        for _ in 0..<3 { try resolver.answer([IPAddress(v4: 0xc633_6407)]) }
        for _ in 0..<2 { #expect(try Bench.code(bench.receive()) == 0) }
        bench.send(Bench.query("later.other.test", id: 20))
        try resolver.answer([IPAddress(v4: 0xc633_6407)])
        #expect(try Bench.code(bench.receive()) == 0)
    }

    /// A connection with a question does not give way: the newcomer is refused.
    @Test func connectionsWithQuestions() throws {
        let resolver = try WrittenResolver()
        let bench = try Bench(resolver.address) { $0.streamLimit = 2 }
        let first = try NameClientStream(to: bench.address)
        try first.send([Bench.query("one.other.test", id: 1)])
        let second = try NameClientStream(to: bench.address)
        try second.send([Bench.query("two.other.test", id: 2)])
        #expect(bench.service.counts(2, \.forwarded))
        let third = try NameClientStream(to: bench.address)
        try awaitReadable(third.socket.descriptor.number)
        var bytes: [UInt8] = []
        let outcome = third.socket.read(appendingTo: &bytes, limit: 1)
        #expect(outcome == .failed(.connectionReset))
        #expect(bench.service.counts(1, \.streamsRefused))
        #expect(bench.service.counters.streamsShed == 0)
        for _ in 0..<2 { try resolver.answer([IPAddress(v4: 0xc633_6407)]) }
        #expect(try Bench.code(first.message()) == 0)
        #expect(try Bench.code(second.message()) == 0)
    }
}
