/// A client and an upstream around one endpoint, played by hand: what a test says, the endpoint hears, and what it
/// answers comes back as values. Sequence numbers count from the two initial ones, so `1` is the first octet.
import Bytes
import Streams
import Testing
import Wire

/// A segment that the endpoint sent, with its payload.
struct Sent: Equatable {
    var segment: TCPSegment
    var bytes: [UInt8]
    var gsoSize: Int

    var flags: TCPFlags { segment.flags }
    /// From our initial sequence number on.
    var sequence: Int { segment.sequence - Conversation.gateway }
    /// From the client's initial sequence number on.
    var acknowledgement: Int { segment.acknowledgement - Conversation.client }
    /// The segments that the kernel makes of it.
    var sizes: [Int] {
        guard gsoSize > 0 else { return [bytes.count] }
        return stride(from: 0, to: bytes.count, by: gsoSize).map { min(gsoSize, bytes.count - $0) }
    }
}

struct Conversation: ~Copyable {
    static let client = SequenceNumber(4_294_960_000)
    static let gateway = SequenceNumber(4_294_967_000)
    static let usual = TCPOptions(
        maximumSegmentSize: 1460, windowScale: 7, selectiveAcknowledgementPermitted: true,
        timestamps: TCPTimestamps(value: 100, echo: 0))

    var settings: TCPSettings
    var pool: BufferPool
    var endpoint: TCPEndpoint
    var now = Instant(nanoseconds: 1_000_000_000)
    /// What the upstream took.
    var upstream: [UInt8] = []
    /// How much it takes at a time.
    var appetite = Int.max
    var events: TCPEvents = []
    /// What the client puts into its segments.
    var window: UInt16 = 502
    var clock: UInt32?
    var lastStamp: UInt32 = 0
    var maximumPayload = 65483

    init(
        _ options: TCPOptions = Conversation.usual, window: UInt16 = 64240, family: AddressFamily = .ipv4,
        settings: TCPSettings = TCPSettings(), budget: Int = 64 << 20, flags: TCPFlags = .syn
    ) {
        self.settings = settings
        pool = BufferPool(budget: budget)
        clock = options.timestamps?.value
        let syn = TCPSegment(sequence: Self.client, flags: flags, window: window, options: options)
        endpoint = TCPEndpoint(
            syn: syn, initialSequence: Self.gateway, timestampOffset: 5000, family: family, settings: settings, now: now
        )
    }

    /// A conversation after the handshake.
    static func opened(
        _ options: TCPOptions = Conversation.usual, family: AddressFamily = .ipv4,
        settings: TCPSettings = TCPSettings(),
        budget: Int = 64 << 20, roundTrip: Interval = .milliseconds(20)
    ) -> Conversation {
        var talk = Conversation(options, family: family, settings: settings, budget: budget)
        talk.endpoint.accept()
        let reply = talk.answers()
        #expect(reply.count == 1 && reply[0].flags == [.syn, .acknowledge])
        talk.passes(roundTrip)
        let answer = talk.sends(.acknowledge, sequence: 1, acknowledgement: 1)
        #expect(answer.isEmpty)
        #expect(talk.events.contains(.established))
        return talk
    }

    /// The client sends a segment; returns what comes back at once.
    @discardableResult mutating func sends(
        _ flags: TCPFlags, sequence: Int, acknowledgement: Int = 0, _ bytes: [UInt8] = [], window: UInt16? = nil,
        options: TCPOptions? = nil, blocks: [(Int, Int)] = []
    ) -> [Sent] {
        var all = options ?? TCPOptions()
        if options == nil, let clock { all.timestamps = TCPTimestamps(value: clock, echo: lastStamp) }
        for (start, end) in blocks {
            all.selectiveAcknowledgements.append(SACKBlock(Self.gateway + start, Self.gateway + end))
        }
        let segment = TCPSegment(
            sequence: Self.client + sequence,
            acknowledgement: flags.contains(.acknowledge) ? Self.gateway + acknowledgement : SequenceNumber(0),
            flags: flags, window: window ?? self.window, options: all, payloadCount: bytes.count)
        deliver(segment, bytes)
        return answers()
    }

    /// The client sends octets, and waits the moment that an acknowledgement of a few may wait for company.
    @discardableResult mutating func sendsAndWaits(
        _ flags: TCPFlags, sequence: Int, acknowledgement: Int = 0, _ bytes: [UInt8] = []
    ) -> [Sent] {
        let sent = sends(flags, sequence: sequence, acknowledgement: acknowledgement, bytes)
        let heard = events
        let late = waits(.milliseconds(2))
        events.formUnion(heard)
        return sent + late
    }

    mutating func deliver(_ segment: TCPSegment, _ bytes: [UInt8]) {
        let receipt = endpoint.receive(segment, payload: bytes.span, now: now, settings: settings, pool: &pool)
        events = receipt.events
        if !receipt.direct.isEmpty {
            let taken = min(appetite, receipt.direct.count)
            let split = receipt.direct.lowerBound + taken
            upstream += bytes[receipt.direct.lowerBound..<split]
            events.formUnion(
                endpoint.keep(bytes.span.extracting(split..<receipt.direct.upperBound), pool: &pool))
        }
    }

    /// Everything that the endpoint wants to send now.
    ///
    /// With `moreFollows`, as if the upstream were to send more at once.
    mutating func answers(moreFollows: Bool = false) -> [Sent] {
        var sent: [Sent] = []
        while let next = endpoint.nextSegment(
            now: now, settings: settings, pool: pool, maximumPayload: maximumPayload, moreFollows: moreFollows)
        {
            var bytes: [UInt8] = []
            for index in 0..<next.payload.runCount {
                pool.withBytes(next.payload[index]) { bytes.append(copying: $0) }
            }
            if let stamps = next.segment.options.timestamps { lastStamp = stamps.value }
            sent.append(Sent(segment: next.segment, bytes: bytes, gsoSize: next.gsoSize))
            if sent.count > 10_000 {
                Issue.record("the endpoint never stops sending")
                break
            }
        }
        return sent
    }

    /// The upstream sends octets; returns what goes to the client at once.
    @discardableResult mutating func upstreamSends(_ bytes: [UInt8]) -> [Sent] {
        queues(bytes)
        return answers()
    }

    /// The upstream's octets are queued, and nobody asks for segments yet.
    mutating func queues(_ bytes: [UInt8]) {
        let count = endpoint.append(bytes.span, pool: &pool)
        #expect(count == bytes.count)
    }

    /// The upstream takes octets that wait.
    mutating func upstreamReads(_ wanted: Int) -> [Sent] {
        var left = min(wanted, endpoint.unread)
        while left > 0 {
            let runs = endpoint.unreadRuns()
            var count = 0
            for index in 0..<runs.runCount where count < left {
                var run = runs[index]
                run.count = min(run.count, left - count)
                pool.withBytes(run) { upstream.append(copying: $0) }
                count += run.count
            }
            endpoint.removeUnread(count, pool: &pool)
            left -= count
        }
        return answers()
    }

    /// Time passes without anything happening.
    mutating func passes(_ time: Interval) {
        now = now + time
        if let value = clock { clock = value &+ UInt32(truncatingIfNeeded: time.milliseconds) }
    }

    /// Time passes, the endpoint's timers run; returns everything that it sent meanwhile.
    @discardableResult mutating func waits(_ time: Interval) -> [Sent] {
        let end = now + time
        var sent: [Sent] = []
        var rounds = 0
        while endpoint.deadline <= end, rounds < 100_000 {
            rounds += 1
            passes(max(endpoint.deadline - now, .zero))
            events.formUnion(endpoint.timeout(now: now, settings: settings))
            sent += answers()
        }
        if rounds == 100_000 { Issue.record("a timer never stops") }
        passes(end - now)
        return sent
    }

}

/// Octets that differ from place to place, so that a misplaced one is seen.
func pattern(_ count: Int, from start: Int = 0) -> [UInt8] {
    (start..<start + count).map { UInt8(truncatingIfNeeded: ($0 &* 2_654_435_761) >> 11) }
}
