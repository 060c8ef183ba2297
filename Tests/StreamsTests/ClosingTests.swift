/// How streams end: half-close both ways, resets, TIME-WAIT (RFC 9293, section 3.6).
import Bytes
import Streams
import Testing
import Wire

@Suite struct ClosingTests {
    @Test func theClientFinishesFirst() {
        var talk = Conversation.opened()
        let reply = talk.sendsAndWaits([.acknowledge, .fin], sequence: 1, acknowledgement: 1, pattern(100))
        var events = talk.events
        #expect(events.contains(.finReceived))
        #expect(reply[0].acknowledgement == 102)
        // The other direction stays open.
        var sent = talk.upstreamSends(pattern(5000))
        #expect(sent.flatMap(\.bytes) == pattern(5000))
        talk.sends(.acknowledge, sequence: 102, acknowledgement: 5001)
        talk.endpoint.finish()
        sent = talk.answers()
        #expect(sent.count == 1 && sent[0].flags.contains(.fin) && sent[0].sequence == 5001)
        talk.sends(.acknowledge, sequence: 102, acknowledgement: 5002)
        events = talk.events
        let phase = talk.endpoint.phase
        let used = talk.pool.used
        #expect(events.contains(.closed) && phase == .closed(.finished) && used == 0)
    }

    @Test func theUpstreamFinishesFirst() {
        var talk = Conversation.opened()
        talk.endpoint.finish()
        let fin = talk.answers()
        #expect(fin.count == 1 && fin[0].flags == [.acknowledge, .fin])
        talk.sends(.acknowledge, sequence: 1, acknowledgement: 2)
        var phase = talk.endpoint.phase
        #expect(phase == .finWait2)
        talk.sends([.acknowledge, .push], sequence: 1, acknowledgement: 2, pattern(3000))
        let last = talk.sends([.acknowledge, .fin], sequence: 3001, acknowledgement: 2)
        let events = talk.events
        phase = talk.endpoint.phase
        #expect(last.count == 1 && last[0].acknowledgement == 3002)
        #expect(events == [.finReceived, .timeWait] && phase == .timeWait)
        let upstream = talk.upstream
        #expect(upstream == pattern(3000))
        talk.waits(.seconds(9))
        phase = talk.endpoint.phase
        #expect(phase == .timeWait)
        talk.waits(.seconds(2))
        phase = talk.endpoint.phase
        #expect(phase == .closed(.finished))
    }

    @Test func bothFinishAtOnce() {
        var talk = Conversation.opened()
        talk.endpoint.finish()
        #expect(talk.answers().count == 1)
        let reply = talk.sends([.acknowledge, .fin], sequence: 1, acknowledgement: 1)
        var phase = talk.endpoint.phase
        #expect(phase == .closing && reply[0].acknowledgement == 2)
        talk.sends(.acknowledge, sequence: 2, acknowledgement: 2)
        phase = talk.endpoint.phase
        #expect(phase == .timeWait)
    }

    @Test("a FIN is sent again at the same place, in every state (B007)", arguments: [false, true])
    func repeatsFIN(clientFinishedFirst: Bool) {
        var talk = Conversation.opened()
        if clientFinishedFirst { talk.sends([.acknowledge, .fin], sequence: 1, acknowledgement: 1) }
        talk.endpoint.finish()
        let first = talk.answers()
        #expect(first.count == 1 && first[0].flags.contains(.fin) && first[0].sequence == 1)
        let again = talk.waits(.seconds(4)).filter { $0.flags.contains(.fin) }
        #expect(!again.isEmpty && again.allSatisfy { $0.sequence == 1 && $0.bytes.isEmpty })
        if !clientFinishedFirst {
            // CLOSING: the client's FIN crosses, ours is still not acknowledged.
            talk.sends([.acknowledge, .fin], sequence: 1, acknowledgement: 1)
            let phase = talk.endpoint.phase
            #expect(phase == .closing)
            let more = talk.waits(.seconds(8)).filter { $0.flags.contains(.fin) }
            #expect(!more.isEmpty && more.allSatisfy { $0.sequence == 1 })
        }
    }

    @Test func aFINBeforeItsTimeWaitsForTheHole() {
        var talk = Conversation.opened()
        talk.sends([.acknowledge, .fin], sequence: 101, acknowledgement: 1, pattern(100, from: 100))
        var events = talk.events
        #expect(!events.contains(.finReceived))
        talk.appetite = 50
        let reply = talk.sends(.acknowledge, sequence: 1, acknowledgement: 1, pattern(100))
        events = talk.events
        #expect(events.contains(.finReceived) && reply[0].acknowledgement == 202)
        var isDrained = talk.endpoint.isDrained
        #expect(!isDrained)
        _ = talk.upstreamReads(1000)
        isDrained = talk.endpoint.isDrained
        let upstream = talk.upstream
        #expect(isDrained && upstream == pattern(200))
    }

    @Test func queuedOctetsGoBeforeTheFIN() {
        var talk = Conversation.opened()
        _ = talk.endpoint.append(pattern(3000).span, pool: &talk.pool)
        talk.endpoint.finish()
        let sent = talk.answers()
        #expect(sent.flatMap(\.bytes) == pattern(3000))
        #expect(sent.last?.flags.contains(.fin) == true)
    }

    @Test func anUpstreamThatEndsBeforeTheHandshakeIsHeard() {
        var talk = Conversation()
        talk.endpoint.accept()
        #expect(talk.answers().count == 1)
        _ = talk.endpoint.append(pattern(100).span, pool: &talk.pool)
        talk.endpoint.finish()
        let sent = talk.sends(.acknowledge, sequence: 1, acknowledgement: 1)
        #expect(sent.count == 1 && sent[0].flags.contains(.fin) && sent[0].bytes == pattern(100))
    }

    @Test func anAbortIsAReset() {
        var talk = Conversation.opened()
        talk.upstreamSends(pattern(100))
        talk.endpoint.abort()
        let sent = talk.answers()
        #expect(sent.count == 1 && sent[0].flags.contains(.reset) && sent[0].sequence == 101)
        let isClosed = talk.endpoint.isClosed
        #expect(isClosed)
        talk.endpoint.release(&talk.pool)
        let used = talk.pool.used
        #expect(used == 0)
        // Late segments get a RST where the client stands.
        let record = talk.endpoint.timeWaitRecord(lasting: .seconds(10), now: talk.now)
        let late = TCPSegment(
            sequence: Conversation.client + 1, acknowledgement: Conversation.gateway + 51, flags: .acknowledge)
        #expect(record.receive(late) == .reply(TCPSegment(sequence: Conversation.gateway + 51, flags: .reset)))
    }

    @Test("the port of a finished stream can be used again at once (B009)")
    func reopens() {
        var talk = Conversation.opened()
        talk.endpoint.finish()
        _ = talk.answers()
        talk.sends(.acknowledge, sequence: 1, acknowledgement: 2)
        talk.sends([.acknowledge, .fin], sequence: 1, acknowledgement: 2)
        talk.passes(.milliseconds(100))
        let record = talk.endpoint.timeWaitRecord(lasting: .seconds(10), now: talk.now)
        let syn = TCPSegment(sequence: Conversation.client + 100_000, flags: .syn, window: 64240)
        #expect(record.receive(syn) == .reopen)
        let reply = talk.sends(.syn, sequence: 100_000, options: TCPOptions())
        let events = talk.events
        #expect(reply.isEmpty && events.contains(.reopen))
    }

    @Test func lateSegmentsInTimeWaitAreAcknowledged() {
        var talk = Conversation.opened()
        talk.endpoint.finish()
        _ = talk.answers()
        talk.sends([.acknowledge, .fin], sequence: 1, acknowledgement: 2)
        let reply = talk.sends([.acknowledge, .fin], sequence: 1, acknowledgement: 2)
        #expect(reply.count == 1 && reply[0].acknowledgement == 2 && reply[0].sequence == 2)
        // An old SYN is no new stream; a RST ends nothing (RFC 1337).
        let old = talk.sends(.syn, sequence: -5, options: TCPOptions())
        #expect(old.count == 1 && old[0].flags == .acknowledge)
        let none = talk.sends(.reset, sequence: 2)
        let phase = talk.endpoint.phase
        #expect(none.isEmpty && phase == .timeWait)
    }

    @Test("memory of streams that hang half closed is what they hold, not what they could (B027)")
    func holdsNothingHalfClosed() {
        var talk = Conversation.opened()
        talk.sendsAndWaits([.acknowledge, .fin], sequence: 1, acknowledgement: 1, [120])
        let used = talk.pool.used
        let deadline = talk.endpoint.deadline
        #expect(used == 0)
        // No timer but keepalive: the relay's limit ends it.
        #expect(deadline - talk.now > .seconds(3600))
    }
}
