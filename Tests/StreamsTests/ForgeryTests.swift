/// What strangers and overload must not get: numbers to guess, memory to take.
import Addresses
import Bytes
import Streams
import Testing
import Wire

@Suite struct ForgeryTests {
    static let client = SocketAddress(IPAddress(v4: 0x0a09_0002), 40001)
    static let target = SocketAddress(IPAddress(v4: 0xc633_640a), 443)
    static let now = Instant(nanoseconds: 1_000_000_000_000)
    private let cookies = SYNCookies(key: (1, 2))
    private let settings = TCPSettings()

    private func syn(_ options: TCPOptions) -> TCPSegment {
        TCPSegment(sequence: SequenceNumber(1000), flags: .syn, window: 64240, options: options)
    }

    private func answer(_ options: TCPOptions, now: Instant = now) -> TCPSegment {
        cookies.answer(
            syn(options), client: Self.client, target: Self.target, timestampOffset: 12_345, settings: settings,
            now: now)
    }

    private func acknowledgement(of answer: TCPSegment, payload: Int = 0) -> TCPSegment {
        var options = TCPOptions()
        if let stamps = answer.options.timestamps {
            options.timestamps = TCPTimestamps(value: 200, echo: stamps.value)
        }
        return TCPSegment(
            sequence: SequenceNumber(1001), acknowledgement: answer.sequence + 1, flags: .acknowledge, window: 500,
            options: options, payloadCount: payload)
    }

    @Test func aCookieBringsBackWhatTheClientOffered() throws {
        for shift in [nil, 0, 7, 14] as [UInt8?] {
            let options = TCPOptions(
                maximumSegmentSize: 1460, windowScale: shift, selectiveAcknowledgementPermitted: true,
                timestamps: TCPTimestamps(value: 100, echo: 0))
            let answer = answer(options)
            #expect(answer.flags == [.syn, .acknowledge] && answer.acknowledgement == SequenceNumber(1001))
            #expect(answer.options.timestamps?.echo == 100)
            #expect((answer.options.windowScale != nil) == (shift != nil))
            // The clock in the cookie does not run ahead, and is less than 64 ms behind.
            let stamp = UInt32(Self.now.nanoseconds / 1_000_000) + 12_345
            #expect((0..<64).contains(stamp - (answer.options.timestamps?.value ?? 0)))

            var reply = acknowledgement(of: answer, payload: 100)
            reply.window = 60_000
            let restored = try #require(
                cookies.restore(reply, client: Self.client, target: Self.target, now: Self.now + .seconds(60)))
            var pool = BufferPool(budget: 1 << 20)
            var endpoint = TCPEndpoint(
                cookie: restored, timestampOffset: 12_345, family: .ipv4, settings: settings, now: Self.now)
            let bytes = pattern(100)
            let receipt = endpoint.receive(
                reply, payload: bytes.span, now: Self.now, settings: settings, pool: &pool)
            #expect(receipt.direct == 0..<100 && receipt.events.contains(.established))
            // Nobody was dialled yet: the octets wait.
            endpoint.keep(bytes.span, pool: &pool)
            let unread = endpoint.unread
            #expect(unread == 100)
            _ = endpoint.append(pattern(3000).span, pool: &pool)
            let first = endpoint.nextSegment(now: Self.now, settings: settings, pool: pool, maximumPayload: 65483)
            #expect(first?.gsoSize == 1448 && first?.segment.acknowledgement == SequenceNumber(1101))
            endpoint.release(&pool)
            let used = pool.used
            #expect(used == 0)
        }
    }

    @Test(arguments: [(100, 256), (536, 536), (1300, 1220), (1459, 1440), (9000, 8960)])
    func aCookieNeverRaisesTheSegmentSize(announced: Int, size: Int) throws {
        let answer = answer(TCPOptions(maximumSegmentSize: UInt16(announced)))
        let restored = try #require(
            cookies.restore(acknowledgement(of: answer), client: Self.client, target: Self.target, now: Self.now))
        var pool = BufferPool(budget: 1 << 20)
        var large = settings
        large.interfaceMTU = 16_000
        var endpoint = TCPEndpoint(
            cookie: restored, timestampOffset: 0, family: .ipv4, settings: large, now: Self.now)
        let none = [UInt8]()
        var reply = acknowledgement(of: answer)
        reply.window = 60_000
        _ = endpoint.receive(reply, payload: none.span, now: Self.now, settings: large, pool: &pool)
        _ = endpoint.append(pattern(20_000).span, pool: &pool)
        let first = endpoint.nextSegment(now: Self.now, settings: large, pool: pool, maximumPayload: 0)
        #expect(first?.segment.payloadCount == size)
        endpoint.release(&pool)
    }

    @Test func anotherSegmentIsNoCookie() {
        let good = acknowledgement(of: answer(TCPOptions(maximumSegmentSize: 1460)))
        #expect(cookies.restore(good, client: Self.client, target: Self.target, now: Self.now) != nil)
        var other = good
        other.acknowledgement += 1
        #expect(cookies.restore(other, client: Self.client, target: Self.target, now: Self.now) == nil)
        other = good
        other.sequence += 1
        #expect(cookies.restore(other, client: Self.client, target: Self.target, now: Self.now) == nil)
        let stranger = SocketAddress(Self.client.address, 40002)
        #expect(cookies.restore(good, client: stranger, target: Self.target, now: Self.now) == nil)
        let another = SYNCookies(key: (1, 3))
        #expect(another.restore(good, client: Self.client, target: Self.target, now: Self.now) == nil)
    }

    @Test func aCookieGrowsStale() {
        let good = acknowledgement(of: answer(TCPOptions(maximumSegmentSize: 1460)))
        let late = Self.now + .seconds(200)
        #expect(cookies.restore(good, client: Self.client, target: Self.target, now: late) == nil)
        let around = Self.now + .seconds(64 * 32)
        #expect(cookies.restore(good, client: Self.client, target: Self.target, now: around) == nil)
    }

    // MARK: Initial sequence numbers

    @Test func initialSequenceNumbersGrowAndTellNothing() {
        let numbers = InitialSequence(key: (3, 4))
        let first = numbers.number(client: Self.client, target: Self.target, now: Self.now)
        let later = numbers.number(client: Self.client, target: Self.target, now: Self.now + .milliseconds(4))
        // RFC 6528, section 3: one every 4 µs.
        #expect(later - first == 1000)
        let other = numbers.number(
            client: SocketAddress(Self.client.address, 40002), target: Self.target, now: Self.now)
        #expect(abs(other - first) > 1000)
        let secret = InitialSequence(key: (3, 5)).number(client: Self.client, target: Self.target, now: Self.now)
        #expect(secret != first)
        let beyond = numbers.number(
            client: Self.client, target: Self.target, beyond: first + 5_000_000, now: Self.now)
        #expect(beyond > first + 5_000_000)
    }

    // MARK: Segments of nobody

    @Test func segmentsOfNobodyAreReset() {
        // RFC 9293, section 3.10.7.1.
        let data = TCPSegment(sequence: SequenceNumber(7), flags: [.push], payloadCount: 10)
        #expect(
            TCPReset.answering(data)
                == TCPSegment(
                    sequence: SequenceNumber(0), acknowledgement: SequenceNumber(17), flags: [.reset, .acknowledge]))
        let acknowledged = TCPSegment(
            sequence: SequenceNumber(7), acknowledgement: SequenceNumber(99), flags: .acknowledge, payloadCount: 10)
        #expect(TCPReset.answering(acknowledged) == TCPSegment(sequence: SequenceNumber(99), flags: .reset))
        #expect(TCPReset.answering(TCPSegment(sequence: SequenceNumber(7), flags: .reset)) == nil)
    }

    @Test func theRecordOfAResetStreamAnswersUntilASYNComes() {
        let record = TimeWaitRecord(
            kind: .reset, sendNext: SequenceNumber(50), receiveNext: SequenceNumber(60), timestamps: nil,
            deadline: Self.now)
        let late = TCPSegment(
            sequence: SequenceNumber(60), acknowledgement: SequenceNumber(40), flags: .acknowledge, payloadCount: 5)
        #expect(record.receive(late) == .reply(TCPSegment(sequence: SequenceNumber(40), flags: .reset)))
        #expect(record.receive(TCPSegment(sequence: SequenceNumber(60), flags: .reset)) == .silence)
        #expect(record.receive(TCPSegment(sequence: SequenceNumber(1), flags: .syn)) == .reopen)
    }

    @Test func aNewerClockReopensWhateverTheSequenceNumber() {
        // RFC 6191, section 2.
        let record = TimeWaitRecord(
            kind: .timeWait, sendNext: SequenceNumber(50), receiveNext: SequenceNumber(60),
            timestamps: TCPTimestamps(value: 9, echo: 100), deadline: Self.now)
        var syn = TCPSegment(sequence: SequenceNumber(10), flags: .syn)
        syn.options.timestamps = TCPTimestamps(value: 101, echo: 0)
        #expect(record.receive(syn) == .reopen)
        syn.options.timestamps = TCPTimestamps(value: 99, echo: 0)
        #expect(record.receive(syn) != .reopen)
    }
}
