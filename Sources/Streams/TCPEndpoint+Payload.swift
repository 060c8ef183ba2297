/// Octets and FIN of the client, and the window that they come through.
public import Bytes
import Wire

extension TCPEndpoint {
    /// How many octets can be read.
    @inline(__always) public var unread: Int { received.unread }

    /// Whether the client has finished and everything that it sent was read.
    @inline(__always) public var isDrained: Bool { finTaken && received.unread == 0 }

    /// Where the unread octets stand, as many as fit into one `ByteRuns`.
    @inline(__always) public func unreadRuns() -> ByteRuns { received.unreadRuns() }

    /// Drops octets that the upstream took; the window may open, and `nextSegment` may tell so.
    public mutating func removeUnread(_ count: Int, pool: inout BufferPool) {
        received.removeUnread(count, in: &pool)
        tookUpstream(count)
        tellWindow(available: pool.available)
    }

    /// Settles the octets of `Receipt.direct`: `rest` is what the upstream did not take.
    ///
    /// What finds no room is not acknowledged, and the client sends it again.
    @discardableResult public mutating func keep(_ rest: Span<UInt8>, pool: inout BufferPool) -> TCPEvents {
        precondition(rest.count <= handedOut, "more is kept than was handed out")
        let taken = handedOut - rest.count
        handedOut = 0
        var events: TCPEvents = []
        received.skip(taken, in: &pool)
        tookUpstream(taken)
        if rest.count > 0 {
            window.upstreamIsBehind()
            // What was held ahead of a hole may be a part of the rest already.
            let missing = rest.extracting(min(received.unread, rest.count)...)
            if received.append(missing, in: &pool) < missing.count { events.insert(.outOfMemory) }
        }
        if received.unread > 0 { events.insert(.unread) }
        events.formUnion(takeFIN())
        return events
    }

    private mutating func tookUpstream(_ count: Int) {
        accounts.received += UInt64(count)
        window.tookUpstream(count)
    }

    private mutating func tellWindow(available: Int) {
        guard !finTaken else { return }
        let isWorth = window.isWorthTelling(
            received, next: receiveNext, available: available, segmentSize: segmentSize)
        if isWorth { acknowledgements.require() }
    }

    /// Takes payload and FIN of an acceptable segment.
    mutating func takePayload(
        _ segment: TCPSegment, _ payload: Span<UInt8>, now: Instant, settings: borrowing TCPSettings,
        pool: inout BufferPool
    ) -> Receipt {
        guard !finTaken else {
            // Nothing can follow a FIN; what comes is a copy, or nonsense.
            acknowledgements.require()
            return Receipt()
        }
        var range = 0..<payload.count
        let missing = received.next
        let before = missing - segment.sequence
        if before > 0 {
            let known = min(before, payload.count)
            if known > 0 {
                acknowledgements.tookDuplicate(SACKBlock(segment.sequence, segment.sequence + known))
            } else {
                acknowledgements.require()
            }
            range = known..<payload.count
        }
        // Nothing is taken beyond the window, nor beyond a FIN.
        let edge = finSequence.map { $0 < window.edge ? $0 : window.edge } ?? window.edge
        let room = edge - segment.sequence
        let isCut = payload.count > room
        if isCut {
            range = range.lowerBound..<max(room, range.lowerBound)
            acknowledgements.require()
        }
        if segment.flags.contains(.fin), !isCut, finSequence == nil {
            finSequence = segment.sequence + segment.payloadCount
        }
        guard !range.isEmpty else { return Receipt(events: takeFIN()) }
        let sequence = segment.sequence + range.lowerBound
        guard sequence == missing else {
            return Receipt(events: store(payload.extracting(range), at: sequence, settings: settings, pool: &pool))
        }
        return takeInOrder(payload, range, now: now, settings: settings, pool: &pool)
    }

    private mutating func takeInOrder(
        _ payload: Span<UInt8>, _ range: Range<Int>, now: Instant, settings: borrowing TCPSettings,
        pool: inout BufferPool
    ) -> Receipt {
        // A segment that fills a hole is acknowledged at once (RFC 5681, section 4.2).
        if !received.isOrdered { acknowledgements.tookOutOfOrder(at: received.next) }
        acknowledgements.tookInOrder(
            range.count, segment: payload.count, announced: Int(settings.announcedSegmentSize(family)), now: now,
            delay: settings.acknowledgementDelay)
        if received.unread == 0 {
            handedOut = range.count
            return Receipt(direct: range)
        }
        var events: TCPEvents = .unread
        if received.append(payload.extracting(range), in: &pool) < range.count { events.insert(.outOfMemory) }
        events.formUnion(takeFIN())
        return Receipt(events: events)
    }

    /// Keeps octets ahead of a hole.
    private mutating func store(
        _ bytes: Span<UInt8>, at sequence: SequenceNumber, settings: borrowing TCPSettings, pool: inout BufferPool
    ) -> TCPEvents {
        switch received.insert(bytes, at: sequence, limit: settings.reassemblyRanges, in: &pool) {
        case .stored:
            acknowledgements.tookOutOfOrder(at: sequence)
            return []
        case .duplicate:
            acknowledgements.tookOutOfOrder(at: sequence)
            acknowledgements.tookDuplicate(SACKBlock(sequence, sequence + bytes.count))
            return []
        case .outOfMemory:
            acknowledgements.tookOutOfOrder(at: sequence)
            return .outOfMemory
        case .tooManyRanges:
            acknowledgements.require()
            return .tooManyRanges
        }
    }

    /// Counts the client's FIN once everything before it is there.
    private mutating func takeFIN() -> TCPEvents {
        guard let fin = finSequence, !finTaken, received.next >= fin else { return [] }
        finTaken = true
        if phase == .established { acknowledgements.tookFIN(now: lastHeard) } else { acknowledgements.require() }
        switch phase {
        case .established: phase = .closeWait
        case .finWait1: phase = .closing
        case .finWait2: enterTimeWait()
        case .dialling, .synReceived, .closeWait, .closing, .lastAck, .timeWait, .closed: break
        }
        return phase == .timeWait ? [.finReceived, .timeWait] : .finReceived
    }

    mutating func enterTimeWait() {
        phase = .timeWait
        lossTimer = LossTimer()
        // The end is set when the acknowledgement of the FIN goes out, because only then is the time known.
        idleDeadline = .never
    }
}
