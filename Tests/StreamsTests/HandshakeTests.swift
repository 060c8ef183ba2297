/// The handshake, from the SYN that waits to the stream that is open (RFC 9293, section 3.5).
import Bytes
import Streams
import Testing
import Wire

@Suite struct HandshakeTests {
    @Test func answersOnlyAfterTheUpstreamAccepts() {
        var talk = Conversation()
        let early = talk.answers()
        #expect(early.isEmpty)
        talk.endpoint.accept()
        let reply = talk.answers()
        #expect(reply.count == 1)
        #expect(reply[0].flags == [.syn, .acknowledge])
        #expect(reply[0].sequence == 0 && reply[0].acknowledgement == 1)
        #expect(reply[0].segment.options.maximumSegmentSize == 1460)
        #expect(reply[0].segment.options.windowScale == 7)
        #expect(reply[0].segment.options.selectiveAcknowledgementPermitted)
        #expect(reply[0].segment.options.timestamps?.echo == 100)
        talk.sends(.acknowledge, sequence: 1, acknowledgement: 1)
        let phase = talk.endpoint.phase
        #expect(phase == .established)
    }

    @Test("a refused upstream is a refused connection, never a clean end (B001)")
    func refuses() {
        var talk = Conversation()
        talk.passes(.milliseconds(200))
        talk.endpoint.abort()
        let reply = talk.answers()
        // RFC 9293, section 3.10.7.3: in SYN-SENT only a RST that acknowledges the SYN counts.
        #expect(reply.count == 1 && reply[0].flags == [.reset, .acknowledge])
        #expect(reply.first?.segment.sequence == SequenceNumber(0))
        #expect(reply.first?.acknowledgement == 1)
        let isClosed = talk.endpoint.isClosed
        #expect(isClosed)
    }

    @Test("copies of the SYN join the attempt and are answered once, with the latest clock (B015)")
    func joins() {
        var talk = Conversation()
        for wait in [1000, 2000] as [Int64] {
            talk.passes(.milliseconds(wait))
            var options = Conversation.usual
            options.timestamps = TCPTimestamps(value: talk.clock ?? 0, echo: 0)
            let reply = talk.sends(.syn, sequence: 0, window: 64240, options: options)
            let events = talk.events
            #expect(reply.isEmpty && events.isEmpty)
        }
        talk.passes(.seconds(1))
        talk.endpoint.accept()
        let reply = talk.answers()
        #expect(reply.count == 1 && reply[0].sequence == 0)
        #expect(reply[0].segment.options.timestamps?.echo == 3100)

        let again = talk.sends(.syn, sequence: 0, options: Conversation.usual)
        #expect(again.count == 1 && again[0].flags == [.syn, .acknowledge] && again[0].sequence == 0)
        let phase = talk.endpoint.phase
        #expect(phase == .synReceived(sent: 2))
    }

    @Test func offersOnlyWhatEverySYNOffered() {
        var talk = Conversation()
        talk.passes(.seconds(1))
        talk.sends(.syn, sequence: 0, options: TCPOptions(maximumSegmentSize: 1400, windowScale: 7))
        talk.clock = nil
        talk.endpoint.accept()
        let options = talk.answers().first?.segment.options
        #expect(options?.timestamps == nil && options?.selectiveAcknowledgementPermitted == false)
        #expect(options?.windowScale == 7)
        talk.sends(.acknowledge, sequence: 1, acknowledgement: 1)
        let sizes = talk.upstreamSends(pattern(4000)).flatMap(\.sizes)
        #expect(sizes == [1400, 1400, 1200])
    }

    @Test("a client that takes its SYN back cancels the dial, and nothing follows (B010)")
    func cancels() {
        for sequence in [0, 1] {
            var talk = Conversation()
            talk.passes(.milliseconds(7))
            let reply = talk.sends([.reset, .acknowledge], sequence: sequence)
            let events = talk.events
            #expect(reply.isEmpty && events == [.reset, .closed])
            // The upstream says yes too late, and has something to say.
            talk.endpoint.accept()
            let count = talk.endpoint.append(pattern(4096).span, pool: &talk.pool)
            let late = talk.answers()
            let used = talk.pool.used
            let deadline = talk.endpoint.deadline
            #expect(count == 0 && late.isEmpty && used == 0 && deadline == .never)
        }
    }

    @Test func aResetOfAnotherAttemptCancelsNothing() {
        var talk = Conversation()
        talk.sends([.reset, .acknowledge], sequence: 5000)
        let phase = talk.endpoint.phase
        #expect(phase == .dialling)
    }

    @Test func aSYNWithAnotherSequenceNumberBeginsAnew() {
        var talk = Conversation()
        let reply = talk.sends(.syn, sequence: 777, options: Conversation.usual)
        let events = talk.events
        #expect(reply.isEmpty && events == [.reset, .closed, .reopen])
    }

    @Test(
        "takes every legal SYN (B016)",
        arguments: [
            (flags: [.syn, .ecnEcho, .congestionWindowReduced], options: Conversation.usual, largest: 1448),
            (flags: .syn, options: TCPOptions(maximumSegmentSize: 1460), largest: 1460),
            (flags: .syn, options: TCPOptions(), largest: 536),
        ] as [(TCPFlags, TCPOptions, Int)])
    func takesUnusual(flags: TCPFlags, options: TCPOptions, largest: Int) {
        var talk = Conversation(options, flags: flags)
        talk.endpoint.accept()
        let reply = talk.answers()
        #expect(reply.count == 1 && reply[0].flags == [.syn, .acknowledge])
        #expect(reply[0].segment.options.windowScale == nil || options.windowScale != nil)
        talk.sends(.acknowledge, sequence: 1, acknowledgement: 1, window: 20_000)
        let sizes = talk.upstreamSends(pattern(3 * largest)).flatMap(\.sizes)
        #expect(sizes == [largest, largest, largest])
    }

    @Test("octets on a SYN are left for the client to send again (B016)")
    func ignoresOctetsOnSYN() {
        let options = TCPOptions(maximumSegmentSize: 1460)
        var talk = Conversation(options)
        let syn = TCPSegment(
            sequence: Conversation.client, flags: .syn, window: 64240, options: options, payloadCount: 5)
        talk.deliver(syn, pattern(5))
        talk.endpoint.accept()
        let reply = talk.answers()
        #expect(reply.first?.acknowledgement == 1)
        talk.sends([.acknowledge, .push], sequence: 1, acknowledgement: 1, pattern(5))
        let upstream = talk.upstream
        #expect(upstream == pattern(5))
    }

    @Test func sendsTheSYNAcknowledgementAgainAndGivesUp() {
        var talk = Conversation()
        talk.endpoint.accept()
        var times: [Int64] = []
        let start = talk.now
        #expect(talk.answers().count == 1)
        for _ in 0..<4 {
            talk.passes(talk.endpoint.deadline - talk.now)
            _ = talk.endpoint.timeout(now: talk.now, settings: talk.settings)
            let again = talk.answers()
            #expect(again.count == 1 && again[0].flags == [.syn, .acknowledge] && again[0].sequence == 0)
            times.append((talk.now - start).milliseconds)
        }
        #expect(times == [1000, 3000, 7000, 15_000])
        talk.passes(talk.endpoint.deadline - talk.now)
        let events = talk.endpoint.timeout(now: talk.now, settings: talk.settings)
        #expect(events == [.timedOut, .closed])
    }

    @Test func anACKOfNothingGetsAResetAndChangesNothing() {
        var talk = Conversation()
        talk.endpoint.accept()
        _ = talk.answers()
        let reply = talk.sends(.acknowledge, sequence: 1, acknowledgement: 50)
        #expect(reply.count == 1 && reply[0].flags == .reset && reply[0].sequence == 50)
        talk.sends(.acknowledge, sequence: 1, acknowledgement: 1)
        let phase = talk.endpoint.phase
        #expect(phase == .established)
    }

    @Test func octetsThatCompleteTheHandshakeCount() {
        var talk = Conversation()
        talk.endpoint.accept()
        _ = talk.answers()
        let reply = talk.sendsAndWaits([.acknowledge, .push], sequence: 1, acknowledgement: 1, pattern(300))
        let upstream = talk.upstream
        #expect(upstream == pattern(300))
        #expect(reply.first?.acknowledgement == 301)
    }

    @Test("a SYN inside an open stream is challenged, and the client's RST then ends it (B009)")
    func challengesSYN() {
        var talk = Conversation.opened()
        let reply = talk.sends(.syn, sequence: 900_000, options: Conversation.usual)
        #expect(reply.count == 1 && reply[0].flags == .acknowledge && reply[0].acknowledgement == 1)
        // The rebooted client knows no such stream, so it answers with what the challenge acknowledged.
        let last = talk.sends(.reset, sequence: 1)
        let events = talk.events
        #expect(last.isEmpty && events == [.reset, .closed])
    }
}
