/// The bounds on flows: shares of half-open ones, SYN cookies, the flow cap, memory.

import Addresses
import Bytes
import Testing
import Upstreams
import Wire

@testable import Gateway

extension WorkerTests {
    @Suite("Bounds")
    struct Bounds {
        /// Over a device's share its oldest half-open flow gives way.
        @Test func aDeviceOverItsShareLosesItsOldest() throws {
            let bench = try Bench { $0.halfOpenPerDevice = 3 }
            let other = bench.client(from: Bench.address("10.9.0.9", 0).address)
            try other.sendSYN()
            let clients = (0..<4).map { _ in bench.client() }
            for client in clients {
                try client.sendSYN()
                bench.settle()
            }
            bench.until("the oldest is refused") { clients[0].wasReset }
            #expect(clients[0].segments.first?.acknowledgement == SequenceNumber(1001))
            #expect(clients.dropFirst().allSatisfy { $0.segments.isEmpty })
            #expect(other.segments.isEmpty, "another device's flow is not touched")
            #expect(bench.machines[0].halfOpen == 4)
            #expect(bench.counter(\.halfOpenEvicted) == 1)
            #expect(bench.lastFlowLine.contains("too many half-open connections of this device"))
            for client in clients.dropFirst() + [other] {
                try client.sendRaw(.reset, sequence: SequenceNumber(1001))
            }
            while bench.nextPeer() != nil {}
            bench.expectNothingLeft()
        }

        @Test func anEstablishedFlowLeavesItsShare() throws {
            let bench = try Bench { $0.halfOpenPerDevice = 1 }
            let clients = (0..<3).map { _ in bench.client() }
            for client in clients { _ = try client.open() }
            #expect(bench.machines[0].halfOpen == 0)
            #expect(clients.allSatisfy { !$0.wasReset })
            for client in clients { try client.reset() }
            bench.expectNothingLeft()
        }

        /// B232: over the bound in all a SYN costs no state and no dial.
        @Test("over the bound a SYN gets a cookie, and the connection works", arguments: [true, false])
        func cookie(hasTimestamps: Bool) throws {
            let bench = try Bench { $0.halfOpen = 1 }
            let waiting = bench.client()
            try waiting.sendSYN()
            let first = try bench.accept()

            let client = bench.client()
            if hasTimestamps {
                client.offer.timestamps = TCPTimestamps(value: 0, echo: 0)
                client.offer.windowScale = 7
                client.offer.selectiveAcknowledgementPermitted = true
            }
            try client.sendSYN()
            bench.until("the cookie comes") { !client.segments.isEmpty }
            let answer = try #require(client.segments.first)
            #expect(answer.flags == [.syn, .acknowledge])
            #expect(bench.machines[0].flows == 1, "no state")
            #expect(bench.nextPeer() == nil, "no dial")
            #expect((answer.options.windowScale != nil) == hasTimestamps)

            try client.establish()
            try client.send("early")
            let peer = try bench.acceptTunnel()
            bench.until("the bytes arrive") { peer.text == "early" }
            peer.send("yes")
            bench.until("the answer arrives") { client.text == "yes" }
            peer.finish()
            try client.finish()
            try waiting.sendRaw(.reset, sequence: SequenceNumber(1001))
            bench.until("the first dial is over") { first.isOver }
            bench.expectNothingLeft()
            #expect(bench.counter(\.cookiesSent) == 1)
            #expect(bench.counter(\.cookiesAccepted) == 1)
            #expect(bench.log.contains("handshake=cookie up=5 down=3"))
        }

        @Test func whoCameWithACookieHearsOfARefusalAsAReset() throws {
            let bench = try Bench { $0.halfOpen = 1 }
            try bench.client().sendSYN()
            _ = try bench.accept()
            let client = bench.client()
            try client.sendSYN()
            bench.until("the cookie comes") { !client.segments.isEmpty }
            try client.establish()
            _ = try bench.acceptTunnel("HTTP/1.1 503 Full\r\nContent-Length: 0\r\n\r\n")
            bench.until("the reset comes") { client.wasReset }
            #expect(client.segments.last?.sequence == client.expected, "one that the client believes")
        }

        @Test func aCookieThatIsNoneOfOursIsReset() throws {
            let bench = try Bench { $0.halfOpen = 1 }
            try bench.client().sendSYN()
            _ = try bench.accept()
            let client = bench.client()
            try client.sendSYN()
            bench.until("the cookie comes") { !client.segments.isEmpty }
            client.next = client.next + 1
            client.expected = client.expected + 1
            _ = client.takeSegments()
            try client.acknowledge()
            #expect(client.takeSegments().map(\.flags) == [.reset])
            #expect(bench.machines[0].flows == 1)
            #expect(bench.counter(\.cookiesRejected) == 1)
            // Long after the last cookie it is only a stray.
            bench.advance(.seconds(129))
            try client.acknowledge()
            bench.settle()
            #expect(bench.counter(\.cookiesRejected) == 1)
        }

        /// B232: over the flow cap a new SYN gets RST, those that are there live on, and it recovers.
        @Test func overTheFlowCapASYNIsRefused() throws {
            let bench = try Bench { $0.flows = 2 }
            let clients = (0..<2).map { _ in bench.client() }
            let peers = try clients.map { try $0.open() }
            let late = bench.client()
            try late.sendSYN()
            bench.until("the SYN is refused") { late.wasReset }
            #expect(late.segments.first?.flags == [.reset, .acknowledge])
            #expect(late.segments.first?.acknowledgement == SequenceNumber(1001))
            #expect(bench.counter(\.flowLimitHits) == 1)
            #expect(bench.log.contains("event=flow-limit client=\(late.address) target=198.51.100.10:443"))
            try clients[0].send("still here")
            bench.until("the bytes arrive") { peers[0].text == "still here" }
            try clients[1].reset()
            bench.settle()
            let next = bench.client()
            _ = try next.open()
            try clients[0].reset()
            try next.reset()
            bench.expectNothingLeft()
        }

        /// At the bound the flow that has been idle for longest gives way, if that was for a minute.
        @Test("at the flow cap the idlest gives way", arguments: [true, false])
        func theIdlestGivesWay(isOfOneDevice: Bool) throws {
            let bench = try Bench { settings in
                settings.flows = isOfOneDevice ? 100 : 3
                settings.flowsPerDevice = isOfOneDevice ? 3 : 100
            }
            let clients = (0..<3).map { _ in bench.client() }
            let peers = try clients.map { try $0.open() }
            bench.advance(.seconds(40))
            try clients[0].send("busy")
            bench.until("the bytes arrive") { peers[0].text == "busy" }
            bench.advance(.seconds(30))
            // The second one is the idlest, beside the third: whichever goes, the first stays.
            let next = bench.client()
            _ = try next.open()
            #expect(!clients[0].wasReset)
            #expect([clients[1], clients[2]].filter(\.wasReset).count == 1)
            #expect(bench.machines[0].flows == 3)
            #expect(bench.counter(\.flowsShed) == 1)
            #expect(bench.log.contains("idle for longest when there was no room for another one"))
            let event = isOfOneDevice ? "event=device-flow-limit" : "event=flow-limit"
            #expect(bench.log.contains("\(event) level=warning limit=3"), "\(bench.log)")
            for client in clients + [next] where !client.wasReset { try client.reset() }
            bench.expectNothingLeft()
        }

        /// One device's flows are bounded, whatever room there is in all; other devices don't feel it.
        @Test func aDeviceWithItsShareOfBusyFlowsIsRefused() throws {
            let bench = try Bench { $0.flowsPerDevice = 2 }
            let clients = (0..<2).map { _ in bench.client() }
            for client in clients { _ = try client.open() }
            bench.advance(.seconds(59))
            let late = bench.client()
            try late.sendSYN()
            bench.until("the SYN is refused") { late.wasReset }
            #expect(bench.counter(\.deviceFlowLimitHits) == 1)
            #expect(bench.counter(\.flowsShed) == 0)
            #expect(clients.allSatisfy { !$0.wasReset })
            let other = bench.client(from: Bench.address("10.9.0.9", 0).address)
            _ = try other.open()
            try clients[0].reset()
            bench.settle()
            let next = bench.client()
            _ = try next.open()
            for client in [clients[1], other, next] { try client.reset() }
            bench.expectNothingLeft()
        }

        /// A flow that is still asked for may wait for long (Charles asks a human), and is not idle.
        @Test func aFlowThatIsStillOpenedDoesNotGiveWay() throws {
            let bench = try Bench {
                $0.flows = 1
            } upstreamSettings: {
                $0.overallTimeout = .seconds(120)
            }
            let waiting = bench.client()
            try waiting.sendSYN()
            let peer = try bench.accept()
            bench.advance(.seconds(90))
            let late = bench.client()
            try late.sendSYN()
            bench.until("the newcomer is refused") { late.wasReset }
            #expect(!waiting.wasReset)
            try waiting.sendRaw(.reset, sequence: SequenceNumber(1001))
            bench.until("the dial is over") { peer.isOver }
            bench.expectNothingLeft()
        }

        /// What finds no room is not acknowledged: a full pool slows a stream and never breaks it.
        @Test func aSmallPoolSlowsStreamsAndBreaksNone() throws {
            // Twelve chunks.
            let bench = try Bench { $0.bufferMemory = 12 * BufferPool.chunkSize }
            let client = bench.client()
            let peer = try client.open()
            peer.isReading = false
            let data = pattern(3 << 20)
            var sent = 0
            bench.until("the download is taken") {
                sent += peer.send(Array(data[sent...]))
                return sent == data.count
            }
            bench.until("the download is there") { client.received.count == data.count }
            let isWhole = client.received == data
            #expect(isWhole)
            peer.isReading = true
            let upload = pattern(300_000)
            try client.upload(upload)
            bench.until("the upload is there") { peer.received.count == upload.count }
            let isUploadWhole = peer.received == upload
            #expect(isUploadWhole)
            try client.reset()
            bench.expectNothingLeft()
        }

        /// Nothing else happens to a flow that found no buffer, so it has to be remembered.
        @Test func aFlowThatFoundNoBufferGoesOnWhenOneComesBack() throws {
            let bench = try Bench(listeners: [.socks([])]) { $0.bufferMemory = 8 * BufferPool.chunkSize }
            let client = bench.client()
            let peer = try client.open()
            let hog = try bench.emptyPool(of: 8)
            peer.send("small")
            bench.settle()
            #expect(client.text == "", "the pool was to be empty")
            #expect(bench.machines[0].nextWake.map { $0 > bench.now } ?? true, "and nobody spins")
            hog.reset()
            bench.until("the bytes arrive") { client.text == "small" }
            try client.reset()
            bench.expectNothingLeft()
        }

        /// B242's neighbour: a worker without flows sleeps, and one with idle flows wakes for their limits alone.
        @Test func anIdleWorkerSleeps() throws {
            let bench = try Bench()
            #expect(bench.machines[0].nextWake == nil)
            let client = bench.client()
            _ = try client.open()
            // Behind the time at which keepalive begins, half of its 60 s.
            bench.advance(.seconds(35))
            let wake = try #require(bench.machines[0].nextWake)
            #expect(wake - bench.now > .seconds(60))
            try client.reset()
            bench.expectNothingLeft()
            bench.advance(.seconds(5))
            #expect(bench.machines[0].nextWake == nil)
        }
    }
}
