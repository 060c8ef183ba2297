/// The other side of the simulation: a TCP client written for the tests, on purpose in another way than the gateway's.
///
/// It opens, sends by go-back-N with a fixed window and a doubling timer, and keeps what it receives octet by octet.
/// Places in the streams are plain integers; only at the wire do they become 32 bits.
import Bytes
import TestSupport
import Wire

/// A segment on the link, with its payload.
struct Flying {
    var segment: TCPSegment
    var bytes: [UInt8]
}

struct ReferencePeer {
    /// What this client is like, drawn from the seed.
    struct Character {
        var options: TCPOptions
        var initial: UInt32
        var bufferSize = 65_536
        var sendingWindow = 30_000
        /// How often it stops reading, and for how long.
        var pauses = 0.0
        /// Whether it acknowledges every second segment or every one.
        var isLazy = false
        /// Whether it ends with a RST, after so many octets were received.
        var resetsAfter: Int?
        /// Whether it sends its FIN only after the gateway's.
        var finishesLast = false
    }

    enum State { case opening, open, closed, reset }

    let character: Character
    let outgoing: [UInt8]
    var state = State.opening
    var problem: String?

    // Sending: places count from the SYN, which is 0.
    var acknowledged = 0
    var next = 0
    var allowed = 1
    var timeout = Interval.milliseconds(400)
    var timer = Instant.never
    var duplicates = 0
    var segmentSize = 536

    // Receiving.
    var theirInitial: UInt32 = 0
    var incoming: [UInt8] = []
    var ahead: [Int: UInt8] = [:]
    var unread = 0
    var finPlace: Int?
    var finReceived = false
    var toldEdge = 0
    var hasTimestamps = false
    var hasSACK = false
    var shift = 0
    var theirShift = 0
    var recentStamp: UInt32 = 0
    var isReading = true
    var unanswered = 0
    var answerDeadline = Instant.never
    var lingerUntil = Instant.never
    var latestAhead: [Int] = []

    init(_ character: Character, outgoing: [UInt8]) {
        self.character = character
        self.outgoing = outgoing
    }

    var deadline: Instant { min(timer, answerDeadline, lingerUntil) }
    var finAcknowledged: Bool { acknowledged == outgoing.count + 2 }

    var finSendable: Bool { !character.finishesLast || finReceived }
    /// The place behind everything that may be sent by now.
    var sendEnd: Int { outgoing.count + 1 + (finSendable ? 1 : 0) }

    // MARK: Opening

    mutating func open(now: Instant) -> [Flying] {
        timer = now + timeout
        next = 1
        var options = character.options
        if options.timestamps != nil { options.timestamps = TCPTimestamps(value: clock(now), echo: 0) }
        return [
            Flying(
                segment: TCPSegment(
                    sequence: SequenceNumber(character.initial), flags: .syn,
                    window: UInt16(min(character.bufferSize, 65_535)), options: options), bytes: [])
        ]
    }

    func clock(_ now: Instant) -> UInt32 { UInt32(truncatingIfNeeded: now.nanoseconds / 1_000_000) &+ 77 }

    // MARK: Receiving

    mutating func receive(_ flying: Flying, now: Instant) -> [Flying] {
        let segment = flying.segment
        if state == .reset { return segment.flags.contains(.reset) ? [] : [resetSegment()] }
        if segment.flags.contains(.reset) {
            // RFC 1337: what is over can't be reset.
            if state == .closed || lingerUntil != .never { return [] }
            state = .reset
            timer = .never
            answerDeadline = .never
            return []
        }
        if state == .opening { return takeSYN(segment, now: now) }
        if segment.flags.contains(.syn) { return [acknowledgement(now)] }
        if let stamps = segment.options.timestamps, hasTimestamps { recentStamp = stamps.value }
        guard segment.flags.contains(.acknowledge) else { return fail("a segment without ACK") }
        var replies = takeAcknowledgement(segment, now: now)
        if segment.length > 0
            || Int32(bitPattern: segment.sequence.value &- theirInitial) < Int32(place(of: incoming.count))
        {
            replies += takePayload(flying, now: now)
        }
        return replies + send(now)
    }

    /// The place of an octet of the gateway's stream: the SYN is 0.
    func place(of count: Int) -> Int { count + 1 }

    mutating func fail(_ text: String) -> [Flying] {
        if problem == nil { problem = text }
        return []
    }

    mutating func takeSYN(_ segment: TCPSegment, now: Instant) -> [Flying] {
        guard segment.flags.contains([.syn, .acknowledge]) else { return [] }
        guard segment.acknowledgement.value == character.initial &+ 1 else { return fail("SYN-ACK of another SYN") }
        theirInitial = segment.sequence.value
        let mine = character.options
        hasTimestamps = segment.options.timestamps != nil
        hasSACK = segment.options.selectiveAcknowledgementPermitted
        if hasTimestamps, mine.timestamps == nil { return fail("timestamps were not offered") }
        if hasSACK, !mine.selectiveAcknowledgementPermitted { return fail("SACK was not offered") }
        if let theirs = segment.options.windowScale {
            guard let own = mine.windowScale else { return fail("window scale was not offered") }
            theirShift = Int(theirs)
            shift = Int(own)
        }
        recentStamp = segment.options.timestamps?.value ?? 0
        segmentSize = min(Int(segment.options.maximumSegmentSize ?? 536), 1460) - (hasTimestamps ? 12 : 0)
        state = .open
        acknowledged = 1
        next = 1
        allowed = 1 + Int(segment.window)
        timer = .never
        toldEdge = 1 + min(character.bufferSize, 65_535)
        return [acknowledgement(now)] + send(now)
    }

    mutating func takeAcknowledgement(_ segment: TCPSegment, now: Instant) -> [Flying] {
        let place = acknowledged + Int(Int32(bitPattern: segment.acknowledgement.value &- wire(acknowledged)))
        guard place <= max(next, acknowledged) else { return fail("acknowledged \(place), sent up to \(next)") }
        guard place >= acknowledged else { return [] }
        let edge = place + Int(segment.window) << theirShift
        if place > acknowledged {
            acknowledged = place
            duplicates = 0
            timeout = .milliseconds(400)
            timer = acknowledged < next ? now + timeout : .never
            if finAcknowledged, finReceived { linger(now) }
        } else if segment.length == 0, acknowledged < next, edge == allowed {
            duplicates += 1
            if duplicates == 3 { next = acknowledged }
        }
        // An older segment may have been overtaken; the edge never moves back.
        allowed = max(allowed, edge)
        if acknowledged == next, next < sendEnd, allowed <= next, timer == .never { timer = now + timeout }
        return []
    }

    func wire(_ place: Int) -> UInt32 { character.initial &+ UInt32(truncatingIfNeeded: place) }

    mutating func takePayload(_ flying: Flying, now: Instant) -> [Flying] {
        let segment = flying.segment
        let expected = place(of: incoming.count) + (finReceived ? 1 : 0)
        let start =
            expected
            + Int(Int32(bitPattern: segment.sequence.value &- theirInitial &- UInt32(truncatingIfNeeded: expected)))
        let limit = Int(character.options.maximumSegmentSize ?? 536) - (hasTimestamps ? 12 : 0)
        if flying.bytes.count > limit { return fail("\(flying.bytes.count) octets in a segment of \(limit)") }
        if start + flying.bytes.count > toldEdge + 1 {
            return fail("octets up to \(start + flying.bytes.count), window ends at \(toldEdge)")
        }
        var isUnusual = start != expected || finReceived || !ahead.isEmpty
        let edge = expected + max(character.bufferSize - unread, 0)
        let isNext =
            start == expected && ahead.isEmpty && !finReceived && start + flying.bytes.count <= max(edge, toldEdge)
        if isNext {
            incoming += flying.bytes
            unread += flying.bytes.count
        }
        for (index, octet) in flying.bytes.enumerated() where !isNext {
            let at = start + index
            guard at >= place(of: incoming.count), at < max(edge, toldEdge) else {
                isUnusual = true
                continue
            }
            ahead[at] = octet
        }
        if start > expected, !flying.bytes.isEmpty { latestAhead.insert(start, at: 0) }
        if segment.flags.contains(.fin) { finPlace = start + flying.bytes.count }
        while let octet = ahead.removeValue(forKey: place(of: incoming.count)) {
            incoming.append(octet)
            unread += 1
        }
        if finPlace == place(of: incoming.count), !finReceived {
            finReceived = true
            isUnusual = true
            if finAcknowledged { linger(now) }
        }
        if isReading { unread = 0 }
        if let after = character.resetsAfter, incoming.count >= after { return abort() }
        unanswered += 1
        if character.isLazy, !isUnusual, unanswered < 2, segment.length > 0 {
            answerDeadline = min(answerDeadline, now + .milliseconds(40))
            return []
        }
        return [acknowledgement(now)]
    }

    mutating func linger(_ now: Instant) {
        timer = .never
        if lingerUntil == .never { lingerUntil = now + .seconds(30) }
    }
}
