/// Loss and repair: who is sent again, when, and how much goes out meanwhile.
import Bytes
import Streams
import Testing
import Wire

@Suite struct RecoveryTests {
    /// Ten segments of 1,448 octets are under way, 20 ms after the last word of the client.
    private static func tenUnderWay(_ options: TCPOptions = Conversation.usual) -> Conversation {
        var talk = Conversation.opened(options)
        let size = options.timestamps == nil ? 1460 : 1448
        let sent = talk.upstreamSends(pattern(10 * size))
        #expect(sent.flatMap(\.sizes) == [Int](repeating: size, count: 10))
        return talk
    }

    /// Where a segment begins, counted from 1.
    private static func place(_ index: Int) -> Int { 1 + 1448 * index }

    @Test func aHoleIsFilledAfterThreeSegmentsBehindIt() {
        var talk = Self.tenUnderWay()
        talk.passes(.milliseconds(20))
        let blocks = [(Self.place(1), Self.place(4))]
        let sent = talk.sends(.acknowledge, sequence: 1, acknowledgement: 1, blocks: blocks)
        // RFC 8985, section 6.2: with three segments SACKed there is no reason to wait.
        #expect(sent.first?.sequence == 1 && sent.first?.bytes == pattern(1448))
        #expect(sent.allSatisfy { $0.sequence == 1 || $0.sequence >= Self.place(10) })
    }

    @Test func oneSegmentBehindAHoleMayBeReorderedForAQuarterOfTheRoundTrip() {
        var talk = Self.tenUnderWay()
        talk.passes(.milliseconds(20))
        let blocks = [(Self.place(1), Self.place(2))]
        let none = talk.sends(.acknowledge, sequence: 1, acknowledgement: 1, blocks: blocks)
        #expect(!none.contains { $0.sequence == 1 })
        let early = talk.waits(.microseconds(4900))
        #expect(early.isEmpty)
        let late = talk.waits(.microseconds(200))
        #expect(late.first?.sequence == 1 && late.first?.bytes.count == 1448)
    }

    @Test func whatComesLateIsNotSentAgain() {
        var talk = Self.tenUnderWay()
        talk.passes(.milliseconds(20))
        talk.sends(.acknowledge, sequence: 1, acknowledgement: 1, blocks: [(Self.place(1), Self.place(2))])
        talk.passes(.milliseconds(2))
        talk.sends(.acknowledge, sequence: 1, acknowledgement: Self.place(2))
        let rest = talk.waits(.milliseconds(15))
        #expect(!rest.contains { $0.sequence < Self.place(10) })
        let accounts = talk.endpoint.accounts
        #expect(accounts.retransmitted == 0)
    }

    @Test func onlyTheHolesAreSentAgain() {
        var talk = Self.tenUnderWay()
        talk.passes(.milliseconds(20))
        let blocks = [(Self.place(8), Self.place(10)), (Self.place(4), Self.place(7)), (Self.place(1), Self.place(3))]
        var sent = talk.sends(.acknowledge, sequence: 1, acknowledgement: 1, blocks: blocks)
        talk.passes(.milliseconds(20))
        sent += talk.sends(.acknowledge, sequence: 1, acknowledgement: Self.place(3), blocks: Array(blocks.prefix(2)))
        let again = sent.filter { $0.sequence < Self.place(10) }
        #expect(again.map(\.sequence) == [Self.place(0), Self.place(3), Self.place(7)])
        #expect(again.allSatisfy { $0.bytes == pattern(1448, from: $0.sequence - 1) })
    }

    @Test func aLostRetransmissionIsNoticedWithoutTheTimer() {
        var talk = Self.tenUnderWay()
        _ = talk.endpoint.append(pattern(40_000).span, pool: &talk.pool)
        talk.passes(.milliseconds(20))
        let blocks = [(Self.place(1), Self.place(10))]
        let first = talk.sends(.acknowledge, sequence: 1, acknowledgement: 1, blocks: blocks)
        let newest = first.filter { $0.sequence >= Self.place(10) }.map { $0.sequence + $0.bytes.count }.max() ?? 0
        #expect(first.first?.sequence == 1 && newest > Self.place(10))
        // What was sent after the retransmission arrives, the retransmission does not.
        talk.passes(.milliseconds(20))
        talk.sends(.acknowledge, sequence: 1, acknowledgement: 1, blocks: [(Self.place(1), newest)])
        let again = talk.waits(.milliseconds(10))
        let accounts = talk.endpoint.accounts
        #expect(again.contains { $0.sequence == 1 } || accounts.retransmitted >= 2 * 1448)
        #expect(accounts.timeouts == 0)
    }

    @Test func theEndOfAFlightIsProbed() {
        var talk = Conversation.opened()
        talk.upstreamSends(pattern(4344))
        talk.passes(.milliseconds(20))
        // The last segment is lost, and nothing behind it can show it.
        talk.sends(.acknowledge, sequence: 1, acknowledgement: 2897)
        let srtt = talk.endpoint.roundTripTime
        let early = talk.waits(srtt * 2)
        #expect(early.isEmpty)
        let probe = talk.waits(.milliseconds(201))
        #expect(probe.first?.sequence == 2897 && probe.first?.bytes.count == 1448)
        let accounts = talk.endpoint.accounts
        #expect(accounts.timeouts == 0)
    }

    @Test func newOctetsMakeTheBestProbe() {
        var talk = Self.tenUnderWay()
        _ = talk.endpoint.append(pattern(14_480).span, pool: &talk.pool)
        let probe = talk.waits(.milliseconds(60))
        #expect(probe.first?.sequence == Self.place(10))
        #expect(probe.count == 1)
    }

    @Test func theTimerDoublesAndTheWindowIsOneSegment() {
        var options = Conversation.usual
        options.selectiveAcknowledgementPermitted = false
        var talk = Self.tenUnderWay(options)
        let start = talk.now
        var times: [Int64] = []
        for _ in 0..<4 {
            talk.passes(talk.endpoint.deadline - talk.now)
            _ = talk.endpoint.timeout(now: talk.now, settings: talk.settings)
            let sent = talk.answers()
            #expect(sent.count == 1 && sent[0].sequence == 1 && sent[0].bytes.count == 1448)
            times.append((talk.now - start).milliseconds)
        }
        // RTO = SRTT + max(200 ms, 4 RTTVAR) with the one sample of 20 ms; then twice as long each time.
        #expect(times == [220, 660, 1540, 3300])
    }

    @Test func aNeedlessTimeoutIsTakenBack() {
        var talk = Self.tenUnderWay()
        let stamp = talk.lastStamp
        _ = talk.endpoint.append(pattern(60_000).span, pool: &talk.pool)
        // The path stalls: a probe, then the timer.
        _ = talk.waits(.milliseconds(400))
        let accounts = talk.endpoint.accounts
        #expect(accounts.timeouts >= 1)
        // Everything had arrived: the client echoes the clock of the first transmissions (RFC 3522).
        talk.lastStamp = stamp
        let sent = talk.sends(.acknowledge, sequence: 1, acknowledgement: Self.place(10))
        let octets = sent.reduce(0) { $0 + $1.bytes.count }
        #expect(octets >= 9 * 1448)
        #expect(sent.allSatisfy { $0.sequence >= Self.place(10) })
    }

    @Test func aTimeoutThatWasRightBeginsWithSlowStart() {
        var talk = Self.tenUnderWay()
        _ = talk.endpoint.append(pattern(60_000).span, pool: &talk.pool)
        _ = talk.waits(.milliseconds(400))
        let sent = talk.sends(.acknowledge, sequence: 1, acknowledgement: Self.place(1))
        #expect(sent.reduce(0) { $0 + $1.bytes.count } <= 3 * 1448)
    }

    @Test func duplicatesReportedByTheClientTakeTheReductionBack() {
        var talk = Self.tenUnderWay()
        _ = talk.endpoint.append(pattern(200_000).span, pool: &talk.pool)
        talk.passes(.milliseconds(20))
        let first = talk.sends(
            .acknowledge, sequence: 1, acknowledgement: 1, blocks: [(Self.place(1), Self.place(9))])
        #expect(first.contains { $0.sequence == 1 })
        let end = first.map { $0.sequence + $0.bytes.count }.max() ?? 0
        talk.passes(.milliseconds(20))
        // The original came late and the copy after it: a block below the acknowledgement (RFC 2883, RFC 3708).
        let sent = talk.sends(
            .acknowledge, sequence: 1, acknowledgement: max(end, Self.place(10)), blocks: [(1, Self.place(1))])
        #expect(sent.reduce(0) { $0 + $1.bytes.count } >= 10 * 1448)
    }

    @Test func aRecoverySendsNoMoreThanArrives() {
        var talk = Self.tenUnderWay()
        _ = talk.endpoint.append(pattern(200_000).span, pool: &talk.pool)
        talk.passes(.milliseconds(20))
        var octets = 0
        for index in 2...9 {
            let sent = talk.sends(
                .acknowledge, sequence: 1, acknowledgement: 1, blocks: [(Self.place(1), Self.place(index))])
            octets += sent.reduce(0) { $0 + $1.bytes.count }
        }
        // Eight segments arrived; proportional reduction to 0.7 lets about six go out (RFC 9937).
        #expect(octets >= 5 * 1448 && octets <= 9 * 1448)
    }

    @Test func withoutSACKThreeDuplicatesShowTheHole() {
        var options = Conversation.usual
        options.selectiveAcknowledgementPermitted = false
        var talk = Self.tenUnderWay(options)
        talk.passes(.milliseconds(20))
        for _ in 0..<2 {
            let sent = talk.sends(.acknowledge, sequence: 1, acknowledgement: 1)
            #expect(!sent.contains { $0.sequence == 1 })
        }
        let third = talk.sends(.acknowledge, sequence: 1, acknowledgement: 1)
        #expect(third.first?.sequence == 1 && third.first?.bytes.count == 1448)
        // A partial acknowledgement shows the next hole (RFC 6582, section 3.2, step 3).
        talk.passes(.milliseconds(20))
        let partial = talk.sends(.acknowledge, sequence: 1, acknowledgement: Self.place(3))
        #expect(partial.contains { $0.sequence == Self.place(3) })
    }

    @Test func aClientThatForgetsWhatItTookGetsItAgain() {
        var talk = Self.tenUnderWay()
        talk.passes(.milliseconds(20))
        talk.sends(.acknowledge, sequence: 1, acknowledgement: 1, blocks: [(Self.place(1), Self.place(10))])
        talk.passes(.milliseconds(20))
        talk.sends(.acknowledge, sequence: 1, acknowledgement: Self.place(1), blocks: [])
        var sent = talk.waits(.seconds(1))
        for index in 2...10 {
            sent += talk.sends(.acknowledge, sequence: 1, acknowledgement: Self.place(index))
            sent += talk.waits(.milliseconds(20))
        }
        let again = Set(sent.flatMap { segment in segment.sizes.indices.map { segment.sequence + $0 * 1448 } })
        #expect(again.contains(Self.place(1)))
        let queued = talk.endpoint.queued
        #expect(queued == 0)
    }

    @Test func theNumberOfRecordsIsBoundedWhateverTheClientSays() {
        var talk = Conversation.opened()
        talk.upstreamSends(pattern(14_480))
        talk.passes(.milliseconds(20))
        for index in 0..<3000 {
            talk.sends(
                .acknowledge, sequence: 1, acknowledgement: 1, blocks: [(3 + 4 * index, 4 + 4 * index)])
        }
        talk.passes(.milliseconds(20))
        talk.sends(.acknowledge, sequence: 1, acknowledgement: 14_481)
        let queued = talk.endpoint.queued
        #expect(queued == 0)
    }

    // MARK: The path

    @Test func aSmallerPathIsUsedAtOnce() {
        var talk = Self.tenUnderWay()
        let believed = talk.endpoint.pathMTU(loweredTo: 1400, quotedSequence: Conversation.gateway + 1)
        let sent = talk.answers()
        #expect(believed)
        // 1,400 less 40 of headers and 12 of timestamps.
        #expect(sent.first?.sequence == 1)
        #expect(sent.flatMap(\.sizes).allSatisfy { $0 <= 1348 })
        #expect(sent.flatMap(\.bytes) == pattern(14_480))
    }

    @Test(
        "errors about nothing that is under way are passed over",
        arguments: [(mtu: 1400, place: 0), (mtu: 1400, place: 14_481), (mtu: 1500, place: 1), (mtu: 9000, place: 1)])
    func distrusts(mtu: Int, place: Int) {
        var talk = Self.tenUnderWay()
        let believed = talk.endpoint.pathMTU(loweredTo: mtu, quotedSequence: Conversation.gateway + place)
        let sent = talk.answers()
        #expect(!believed && sent.isEmpty)
    }

    @Test func noPathIsBelievedToBeTiny() {
        var talk = Self.tenUnderWay()
        let believed = talk.endpoint.pathMTU(loweredTo: 68, quotedSequence: Conversation.gateway + 1)
        let sent = talk.answers()
        #expect(believed && sent.flatMap(\.sizes).max() == 552 - 52)
    }
}
