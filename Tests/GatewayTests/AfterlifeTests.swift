/// What is remembered of a flow that is over.

import Addresses
import Bytes
import Testing
import Wire

@testable import Gateway

extension WorkerTests {
    @Suite("Afterwards")
    struct Afterwards {
        /// Opens a flow and closes it, the gateway's side first, so that the gateway has the TIME-WAIT.
        private func close(_ client: Client, on bench: Bench) throws {
            let peer = try client.open()
            peer.close()
            bench.until("the end arrives") { client.hasEnded }
            try client.finish()
            bench.expectNothingLeft()
        }

        /// B009: a SYN with a larger sequence number reuses the port (RFC 9293, section 3.6.1).
        @Test func aNewerSYNReusesATimeWait() throws {
            let bench = try Bench()
            let old = bench.client(port: 40777)
            try close(old, on: bench)
            #expect(bench.machines[0].lingering == 1)
            let first = try #require(old.segments.first?.sequence)

            let new = bench.client(port: 40777)
            new.next = old.next + 100_000
            let peer = try new.open()
            try new.send("again")
            bench.until("the bytes arrive") { peer.text == "again" }
            let second = try #require(new.segments.first?.sequence)
            #expect(second > first + 1, "beyond the old connection's numbers")
            #expect(bench.counter(\.timeWaitReused) == 1)
            #expect(bench.machines[0].lingering == 0)
            try new.reset()
            bench.expectNothingLeft()
        }

        @Test func aTimeWaitAcknowledgesLateSegmentsAndIsForgottenAfter10Seconds() throws {
            let bench = try Bench()
            let client = bench.client()
            try close(client, on: bench)
            _ = client.takeSegments()
            try client.sendRaw([.acknowledge, .fin], sequence: client.next - 1)
            let answer = try #require(client.takeSegments().first)
            #expect(answer.flags == .acknowledge)
            #expect(answer.acknowledgement == client.next)
            bench.advance(.seconds(11))
            #expect(bench.machines[0].lingering == 0)
            try client.sendRaw([.acknowledge, .fin], sequence: client.next - 1)
            #expect(client.takeSegments().map(\.flags) == [.reset])
        }

        /// The key of a flow that we reset answers late segments with RST for 10 s; a SYN
        /// opens anew.
        @Test func aLateSegmentAfterOurResetGetsOneAndASYNOpensAnew() throws {
            let bench = try Bench()
            let client = bench.client()
            let peer = try client.open()
            peer.reset()
            bench.until("the reset comes") { client.wasReset }
            bench.expectNothingLeft()
            _ = client.takeSegments()
            try client.send("late")
            let answer = try #require(client.takeSegments().first)
            #expect(answer.flags == .reset)
            // RFC 9293, section 3.10.7.1: the sequence number is the segment's acknowledgement.
            #expect(answer.sequence == client.expected)

            let again = bench.client(port: client.address.port)
            again.next = client.next + 1
            let second = try again.open()
            second.send("hello")
            bench.until("the bytes arrive") { again.text == "hello" }
            try again.reset()
            bench.expectNothingLeft()
        }

        /// B005's neighbour: whatever belongs to no flow is refused as RFC 9293, section 3.10.7.1 says.
        @Test func aSegmentOfNoFlowIsReset() throws {
            let bench = try Bench()
            let client = bench.client()
            client.expected = SequenceNumber(5555)
            try client.send("who are you")
            #expect(client.takeSegments() == [TCPSegment(sequence: SequenceNumber(5555), flags: .reset)])
            try client.sendRaw(.fin, sequence: SequenceNumber(10), Array("xyz".utf8))
            let answer = try #require(client.takeSegments().first)
            #expect(answer.flags == [.reset, .acknowledge])
            #expect(answer.acknowledgement == SequenceNumber(14))
            try client.reset()
            #expect(client.takeSegments().isEmpty, "a RST is never answered")
            bench.expectNothingLeft()
        }

        /// B009's neighbour: the key is the client's again when it is done, although what it sent is still on its way
        /// to a slow upstream, and that arrives whole.
        @Test("a SYN on a flow that still drains opens anew", arguments: [true, false])
        func draining(serverEndsFirst: Bool) throws {
            let bench = try Bench()
            let old = bench.client(port: 40888)
            let slow = try old.open()
            slow.isReading = false
            if serverEndsFirst {
                slow.finish()
                bench.until("the end arrives") { old.hasEnded }
            }
            let data = pattern(16 << 20)
            let taken = try old.upload(data) { bench.machines[0].chunksUsed >= 4 }
            try old.finish()
            bench.settle()
            if !serverEndsFirst {
                slow.finish()
                bench.until("the end arrives") { old.hasEnded }
            }
            bench.settle()
            #expect(bench.machines[0].flows == 1)

            let new = bench.client(port: 40888)
            new.next = old.next + 100_000
            let peer = try new.open()
            #expect(bench.machines[0].flows == 2)
            try new.send("again")
            bench.until("the bytes arrive") { peer.text == "again" }
            slow.isReading = true
            bench.until("the upload ends") { slow.isOver }
            #expect(slow.isEnded, "an end, not a reset")
            let isWhole = slow.received == Array(data[..<taken])
            #expect(isWhole)
            peer.send("yes")
            bench.until("the new flow lives on") { new.text == "yes" }
            try new.reset()
            bench.expectNothingLeft()
        }

        @Test func theHandshakesLastACKOfAnOldAddressIsReset() throws {
            let bench = try Bench()
            let client = bench.client()
            client.expected = SequenceNumber(77)
            try client.acknowledge()
            #expect(client.takeSegments().map(\.flags) == [.reset])
            #expect(bench.machines[0].flows == 0)
        }
    }
}
