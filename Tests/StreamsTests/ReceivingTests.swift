/// What comes from the client: order, duplicates, holes, and what is acknowledged when.
import Bytes
import Streams
import Testing
import Wire

@Suite struct ReceivingTests {
    /// Lets the acknowledgements that are never delayed pass, so that the usual delay applies.
    private static func settled() -> Conversation {
        var talk = Conversation.opened()
        var place = 1
        for _ in 0..<16 {
            talk.sendsAndWaits([.acknowledge, .push], sequence: place, acknowledgement: 1, pattern(10, from: place))
            place += 10
        }
        return talk
    }

    @Test func handsOctetsInOrderStraightToTheUpstream() {
        var talk = Conversation.opened()
        talk.sends(.acknowledge, sequence: 1, acknowledgement: 1, pattern(50_000))
        let upstream = talk.upstream
        let used = talk.pool.used
        #expect(upstream == pattern(50_000))
        #expect(used == 0)
    }

    @Test("each copy of octets that were taken is acknowledged at once (B004)")
    func acknowledgesCopies() {
        var talk = Conversation.opened()
        var count = 0
        for _ in 0..<5 {
            let reply = talk.sends([.acknowledge, .push], sequence: 1, acknowledgement: 1, pattern(100))
            count += reply.filter { $0.flags == .acknowledge && $0.acknowledgement == 101 }.count
            talk.passes(.milliseconds(20))
        }
        let upstream = talk.upstream
        #expect(count >= 4)
        #expect(upstream == pattern(100))
    }

    @Test func reportsCopiesAsDSACK() {
        var talk = Conversation.opened()
        talk.sends(.acknowledge, sequence: 1, acknowledgement: 1, pattern(100))
        let reply = talk.sends(.acknowledge, sequence: 1, acknowledgement: 1, pattern(100))
        let blocks = reply[0].segment.options.selectiveAcknowledgements
        // RFC 2883, section 4: the first block is below the cumulative acknowledgement.
        #expect(blocks.count == 1)
        #expect(blocks[0] == SACKBlock(Conversation.client + 1, Conversation.client + 101))
    }

    @Test("only the exact RST ends a stream; one in the window is challenged, others are passed over (B005)")
    func judgesResets() {
        var talk = Conversation.opened()
        let outside = talk.sends(.reset, sequence: -5000)
        #expect(outside.isEmpty)
        let inside = talk.sends(.reset, sequence: 501)
        #expect(inside.count == 1 && inside[0].flags == .acknowledge && inside[0].acknowledgement == 1)
        var phase = talk.endpoint.phase
        #expect(phase == .established)
        let exact = talk.sends(.reset, sequence: 1)
        phase = talk.endpoint.phase
        #expect(exact.isEmpty && phase == .closed(.resetByClient))
        let after = talk.sends(.acknowledge, sequence: 1, acknowledgement: 1)
        #expect(after.isEmpty)
    }

    @Test("a keepalive probe is answered and the stream lives on (B012)")
    func answersKeepalive() {
        var talk = Conversation.opened()
        var all = talk.waits(.seconds(30))
        let reply = talk.sends(.acknowledge, sequence: 0, acknowledgement: 1)
        #expect(reply.count == 1 && reply[0].flags == .acknowledge && reply[0].acknowledgement == 1)
        all += talk.waits(.seconds(35))
        all += talk.sends([.acknowledge, .push], sequence: 1, acknowledgement: 1, Array("ping".utf8))
        let upstream = talk.upstream
        #expect(upstream == Array("ping".utf8))
        #expect(!all.contains { $0.flags.contains(.reset) })
    }

    @Test("a probe with one old octet is answered too (B012)")
    func answersKeepaliveWithOctet() {
        var talk = Conversation.opened()
        talk.sends(.acknowledge, sequence: 1, acknowledgement: 1, pattern(10))
        let reply = talk.sends(.acknowledge, sequence: 10, acknowledgement: 1, [9])
        #expect(reply.count == 1 && reply[0].acknowledgement == 11)
    }

    // MARK: When to acknowledge

    @Test func delaysTheAcknowledgementOfALoneSegment() {
        var talk = Self.settled()
        var place = 161
        let first = talk.sends([.acknowledge, .push], sequence: place, acknowledgement: 1, pattern(10))
        #expect(first.isEmpty)
        let early = talk.waits(.milliseconds(39))
        #expect(early.isEmpty)
        let late = talk.waits(.milliseconds(1))
        place += 10
        #expect(late.count == 1 && late[0].acknowledgement == place)
    }

    @Test func acknowledgesEverySecondFullSegment() {
        var talk = Self.settled()
        var place = 161
        var replies: [Int] = []
        for _ in 0..<6 {
            let reply = talk.sends(.acknowledge, sequence: place, acknowledgement: 1, pattern(1448))
            place += 1448
            replies.append(reply.count)
        }
        // RFC 9293, section 3.8.6.3: at least every second full-sized segment.
        #expect(!zip(replies, replies.dropFirst()).contains { $0 == 0 && $1 == 0 })
    }

    @Test func acknowledgesASuperSegmentOnce() {
        var talk = Self.settled()
        let place = 161
        let reply = talk.sends(.acknowledge, sequence: place, acknowledgement: 1, pattern(60_000))
        #expect(reply.count == 1 && reply[0].acknowledgement == place + 60_000)
    }

    @Test func anAnswerCarriesTheAcknowledgement() {
        var talk = Self.settled()
        let place = 161
        let none = talk.sends([.acknowledge, .push], sequence: place, acknowledgement: 1, pattern(10))
        #expect(none.isEmpty)
        let answer = talk.upstreamSends(pattern(20))
        #expect(answer.count == 1 && answer[0].acknowledgement == place + 10)
        let rest = talk.waits(.milliseconds(100))
        #expect(!rest.contains { $0.bytes.isEmpty })
    }

    @Test func aDialogueCostsNoBareAcknowledgements() {
        var talk = Conversation.opened()
        var bare = 0
        for turn in 0..<20 {
            let reply = talk.sends(
                [.acknowledge, .push], sequence: 1 + 3 * turn, acknowledgement: 1 + 5 * turn, pattern(3))
            bare += reply.count
            talk.passes(.milliseconds(1))
            let answer = talk.upstreamSends(pattern(5))
            #expect(answer.count == 1 && answer[0].acknowledgement == 4 + 3 * turn)
        }
        // The first one is acknowledged at once, as everything at the start is.
        #expect(bare <= 1)
    }

    // MARK: Holes

    @Test func reportsHolesAtOnceTheLatestFirst() {
        var talk = Conversation.opened()
        func block(_ start: Int, _ end: Int) -> SACKBlock {
            SACKBlock(Conversation.client + start, Conversation.client + end)
        }
        let first = talk.sends(.acknowledge, sequence: 101, acknowledgement: 1, pattern(100, from: 100))
        var blocks = first[0].segment.options.selectiveAcknowledgements
        #expect(first[0].acknowledgement == 1 && blocks.count == 1 && blocks[0] == block(101, 201))
        let second = talk.sends(.acknowledge, sequence: 301, acknowledgement: 1, pattern(100, from: 300))
        blocks = second[0].segment.options.selectiveAcknowledgements
        #expect(blocks.count == 2 && blocks[0] == block(301, 401) && blocks[1] == block(101, 201))
        let third = talk.sends(.acknowledge, sequence: 201, acknowledgement: 1, pattern(100, from: 200))
        blocks = third[0].segment.options.selectiveAcknowledgements
        #expect(blocks.count == 1 && blocks[0] == block(101, 401))
        let last = talk.sends(.acknowledge, sequence: 1, acknowledgement: 1, pattern(100))
        #expect(last[0].acknowledgement == 401)
        #expect(last[0].segment.options.selectiveAcknowledgements.isEmpty)
        _ = talk.upstreamReads(1000)
        let upstream = talk.upstream
        let used = talk.pool.used
        #expect(upstream == pattern(400) && used == 0)
    }

    @Test func anotherSegmentMayOverlapWhatIsHeld() {
        var talk = Conversation.opened()
        talk.sends(.acknowledge, sequence: 101, acknowledgement: 1, pattern(100, from: 100))
        talk.appetite = 30
        let reply = talk.sends(.acknowledge, sequence: 1, acknowledgement: 1, pattern(150))
        #expect(reply[0].acknowledgement == 201)
        _ = talk.upstreamReads(1000)
        let upstream = talk.upstream
        #expect(upstream == pattern(200))
    }

    @Test func theNumberOfHolesIsBounded() {
        var settings = TCPSettings()
        settings.reassemblyRanges = 3
        var talk = Conversation.opened(settings: settings)
        for index in 1...3 { talk.sends(.acknowledge, sequence: 20 * index, acknowledgement: 1, [1]) }
        talk.sends(.acknowledge, sequence: 80, acknowledgement: 1, [1])
        var events = talk.events
        #expect(events.contains(.tooManyRanges))
        // What joins a stretch that is there is no new one.
        talk.sends(.acknowledge, sequence: 61, acknowledgement: 1, [1])
        events = talk.events
        #expect(!events.contains(.tooManyRanges))
    }

    @Test func whatFindsNoMemoryIsNotAcknowledged() {
        var talk = Conversation.opened()
        talk.appetite = 500
        // Other streams hold everything.
        while talk.pool.take() != nil {}
        let reply = talk.sends(.acknowledge, sequence: 1, acknowledgement: 1, pattern(2000))
        let events = talk.events
        #expect(events.contains(.outOfMemory))
        #expect(reply[0].acknowledgement == 501)
        // What the upstream takes at once needs no memory.
        talk.appetite = .max
        let again = talk.sends(.acknowledge, sequence: 1, acknowledgement: 1, pattern(2000))
        let upstream = talk.upstream
        #expect(again[0].acknowledgement == 2001 && upstream == pattern(2000))
    }

    @Test func refusesOldTimestamps() {
        var talk = Conversation.opened()
        var options = TCPOptions()
        options.timestamps = TCPTimestamps(value: 50, echo: 0)
        let reply = talk.sends(.acknowledge, sequence: 1, acknowledgement: 1, pattern(10), options: options)
        let events = talk.events
        let upstream = talk.upstream
        // RFC 7323, section 5.3, R1: acknowledged and dropped.
        #expect(reply.count == 1 && events.contains(.outdated) && upstream.isEmpty)
    }

    @Test func boundsItsAnswersToConfusedSegments() {
        var talk = Conversation.opened()
        var count = 0
        for _ in 0..<100 { count += talk.sends(.acknowledge, sequence: -10, acknowledgement: 1).count }
        #expect(count == 10)
        talk.passes(.seconds(1))
        count = talk.sends(.acknowledge, sequence: -10, acknowledgement: 1).count
        #expect(count == 1)
    }

    @Test func challengesAcknowledgementsOfNothing() {
        var talk = Conversation.opened()
        let reply = talk.sends(.acknowledge, sequence: 1, acknowledgement: 1000, pattern(10))
        let upstream = talk.upstream
        #expect(reply.count == 1 && reply[0].sequence == 1 && upstream.isEmpty)
    }
}
