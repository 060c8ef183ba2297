/// Any bytes as a story told to a TCP endpoint: segments around the ones that would be right, time, an upstream.
///
/// Each octet of both streams follows from its place, so whatever the story, what the endpoint hands out and what
/// it sends can be checked.

import Addresses
import Bytes
import Streams
import Wire

func fuzzEndpoint(_ bytes: [UInt8]) {
    var story = Story(bytes)
    while !story.isOver { story.step() }
    story.close()
}

private struct Story: ~Copyable {
    private var script: [UInt8]
    private var position = 0
    private var settings = TCPSettings()
    private var pool = BufferPool(budget: 24 * BufferPool.chunkSize)
    private var endpoint: TCPEndpoint
    private var now = Instant(nanoseconds: 1_000_000_000)
    /// How much of the client's stream came out, and how much the upstream gave.
    private var delivered = 0
    private var given = 0
    /// How far the endpoint has sent.
    private var sent = 0
    private let clientFirst: SequenceNumber
    private let ownFirst: SequenceNumber

    init(_ bytes: [UInt8]) {
        script = bytes
        settings.receiveAllowance = 128 << 10
        settings.sendAllowance = 128 << 10
        var options = TCPOptions()
        let shape = bytes.first ?? 0
        if shape & 1 != 0 { options.timestamps = TCPTimestamps(value: 1000, echo: 0) }
        if shape & 2 != 0 { options.windowScale = shape >> 4 }
        options.selectiveAcknowledgementPermitted = shape & 4 != 0
        if shape & 8 != 0 { options.maximumSegmentSize = UInt16(bytes.count > 1 ? bytes[1] : 0) << 4 }
        // Both streams wrap within reach.
        clientFirst = SequenceNumber(0xffff_f000)
        ownFirst = SequenceNumber(0xffff_e000)
        endpoint = TCPEndpoint(
            syn: TCPSegment(sequence: clientFirst, flags: .syn, window: 65535, options: options),
            initialSequence: ownFirst, timestampOffset: 77, family: shape & 0x80 == 0 ? .ipv4 : .ipv6,
            settings: settings, now: now)
        position = 2
    }

    var isOver: Bool { position >= script.count || endpoint.isClosed }

    private mutating func octet() -> Int {
        defer { position += 1 }
        return position < script.count ? Int(script[position]) : 0
    }

    private mutating func signed() -> Int { Int(Int16(truncatingIfNeeded: octet() << 8 | octet())) }

    mutating func step() {
        switch octet() % 16 {
        case 0: endpoint.accept()
        case 1: endpoint.finish()
        case 2: if octet() == 0 { endpoint.abort() }
        case 3: _ = endpoint.pathMTU(loweredTo: octet() << 4, quotedSequence: ownFirst + 1 + signed())
        case 4, 5: pass(.microseconds(1 << Int64(octet() % 36)))
        case 6, 7: give(octet() << 6)
        case 8:
            let count = min(endpoint.unread, octet() << 6)
            take(count)
        case 9: proper()
        default: segment()
        }
        drain()
        if endpoint.deadline <= now {
            _ = endpoint.timeout(now: now, settings: settings)
            drain()
        }
    }

    /// Time passes as far as the next deadline, or a little.
    private mutating func pass(_ interval: Interval) {
        now = min(now + interval, Instant(nanoseconds: 1 << 60))
        if endpoint.deadline <= now { _ = endpoint.timeout(now: now, settings: settings) }
    }

    private mutating func give(_ count: Int) {
        let room = endpoint.sendSpace(pool: pool, settings: settings)
        let bytes = (given..<given + min(room, count)).map(Self.own)
        given += endpoint.append(bytes.span, pool: &pool)
    }

    /// Takes stored octets of the client, checking them.
    private mutating func take(_ count: Int) {
        let runs = endpoint.unreadRuns()
        var left = count
        for index in 0..<runs.runCount {
            pool.withBytes(runs[index]) { bytes in
                for place in 0..<min(left, bytes.count) {
                    precondition(bytes[place] == Self.client(delivered + count - left + place), "another octet")
                }
                left -= min(left, bytes.count)
            }
        }
        endpoint.removeUnread(count - left, pool: &pool)
        delivered += count - left
    }

    /// What a client would send that is in order and has everything.
    private mutating func proper() {
        receive(
            TCPSegment(
                sequence: clientFirst + 1 + delivered + endpoint.unread, acknowledgement: ownFirst + 1 + sent,
                flags: .acknowledge, window: 65535,
                options: TCPOptions(timestamps: TCPTimestamps(value: milliseconds, echo: 0)),
                payloadCount: octet() << 5))
    }

    private var milliseconds: UInt32 { UInt32(truncatingIfNeeded: now.nanoseconds / 1_000_000) }

    private mutating func segment() {
        let flags = TCPFlags(rawValue: UInt8(octet()))
        var options = TCPOptions()
        let shape = octet()
        if shape & 1 != 0 { options.timestamps = TCPTimestamps(value: milliseconds &+ UInt32(shape), echo: 77) }
        if shape & 2 != 0 {
            for _ in 0..<shape % 4 + 1 {
                let first = ownFirst + 1 + signed()
                options.selectiveAcknowledgements.append(SACKBlock(first, first + octet() << 6))
            }
        }
        let acknowledgement = flags.contains(.acknowledge) ? ownFirst + 1 + signed() : SequenceNumber(0)
        receive(
            TCPSegment(
                sequence: clientFirst + 1 + signed(), acknowledgement: acknowledgement, flags: flags,
                window: UInt16(octet() << 8), options: options, payloadCount: octet() << 5))
    }

    private mutating func receive(_ segment: TCPSegment) {
        _ = TCPReset.answering(segment)
        let first = segment.sequence + (segment.flags.contains(.syn) ? 1 : 0) - (clientFirst + 1)
        let payload = (0..<segment.payloadCount).map { Self.client(first + $0) }
        let receipt = endpoint.receive(
            segment, payload: payload.span, now: now, settings: settings, pool: &pool)
        guard !receipt.direct.isEmpty else { return }
        precondition(receipt.direct.upperBound <= payload.count, "octets that nobody sent")
        for index in receipt.direct {
            precondition(payload[index] == Self.client(delivered + index - receipt.direct.lowerBound), "out of order")
        }
        // The upstream takes a half.
        let taken = receipt.direct.count / 2
        delivered += taken
        _ = endpoint.keep(
            payload.span.extracting(receipt.direct.lowerBound + taken..<receipt.direct.upperBound), pool: &pool)
    }

    /// Takes what the endpoint sends, checking it.
    private mutating func drain() {
        for _ in 0..<4096 {
            guard
                let outgoing = endpoint.nextSegment(
                    now: now, settings: settings, pool: pool, maximumPayload: 60000)
            else { return }
            let segment = outgoing.segment
            precondition(segment.payloadCount == outgoing.payload.byteCount, "a payload of another length")
            precondition(segment.options.length <= 40)
            var place = segment.sequence - (ownFirst + 1)
            for index in 0..<outgoing.payload.runCount {
                pool.withBytes(outgoing.payload[index]) { bytes in
                    for offset in 0..<bytes.count {
                        precondition(bytes[offset] == Self.own(place + offset), "another octet is sent")
                    }
                    place += bytes.count
                }
            }
            // A RST may stand anywhere.
            guard segment.payloadCount > 0 else { continue }
            precondition(place <= given, "sent beyond the upstream's octets")
            sent = max(sent, place)
        }
        preconditionFailure("the endpoint never falls silent")
    }

    mutating func close() {
        endpoint.release(&pool)
        precondition(pool.used == 0, "chunks are lost")
    }

    private static func client(_ place: Int) -> UInt8 { UInt8(truncatingIfNeeded: place &* 7 &+ place >> 8) }
    private static func own(_ place: Int) -> UInt8 { UInt8(truncatingIfNeeded: place &* 13 &+ place >> 9 &+ 5) }
}
