/// What goes to the client next.
public import Bytes
import Wire

extension TCPEndpoint {
    // MARK: The send queue

    /// How many octets to read from the upstream now, 0 while it is not worth a system call.
    ///
    /// About two congestion windows wait here: one is under way, the other follows when it is acknowledged.
    @inline(__always) public func sendSpace(pool: borrowing BufferPool, settings: borrowing TCPSettings) -> Int {
        guard canQueue else { return 0 }
        let wanted = min(max(2 * congestion.window, 64 << 10), settings.sendAllowance)
        let space = min(wanted - sendQueue.count, pool.available / 2)
        return space >= wanted / 3 || sendQueue.isEmpty ? max(space, 0) : 0
    }

    @inline(__always) private var canQueue: Bool {
        guard !isFinishing else { return false }
        switch phase {
        case .synReceived, .established, .closeWait: return true
        case .dialling, .finWait1, .finWait2, .closing, .lastAck, .timeWait, .closed: return false
        }
    }

    /// How many octets wait for the client, sent or not.
    @inline(__always) public var queued: Int { sendQueue.count }

    /// Space behind the queue to read from the upstream into; `commit` must follow.
    public mutating func reserve(_ count: Int, pool: inout BufferPool) -> ByteRuns {
        precondition(canQueue, "octets after the end")
        return sendQueue.reserve(count, in: &pool)
    }

    /// Takes over the first `count` octets of reserved space.
    public mutating func commit(_ count: Int, of space: ByteRuns, pool: inout BufferPool) {
        sendQueue.commit(count, of: space, in: &pool)
    }

    /// Queues a copy of octets and returns how many found room.
    public mutating func append(_ bytes: Span<UInt8>, pool: inout BufferPool) -> Int {
        guard canQueue else { return 0 }
        return sendQueue.append(bytes, in: &pool)
    }

    // MARK: Segments

    /// The next segment to write, or nil when there is nothing to send now.
    ///
    /// `maximumPayload` bounds the payload of one segment: with segmentation by the kernel what is left of 65,535
    /// octets after the headers with timestamps, without it 0, which means one MSS. With `moreFollows` less than that
    /// is held back, because the caller is about to queue more; it must ask once more without it.
    public mutating func nextSegment(
        now: Instant, settings: borrowing TCPSettings, pool: borrowing BufferPool, maximumPayload: Int,
        moreFollows: Bool = false
    ) -> OutgoingSegment? {
        precondition(handedOut == 0, "direct octets were not settled by keep")
        switch phase {
        case .closed: return reset()
        case .dialling: return nil
        case .synReceived(let sent):
            if let reset = challengeReset() { return reset }
            let reply = synAcknowledgement(now: now, settings: settings, available: pool.available)
            return reply ?? (sent > 0 ? bareAcknowledgement(now: now, pool: pool) : nil)
        case .timeWait:
            if idleDeadline == .never { idleDeadline = now + settings.timeWait }
            return bareAcknowledgement(now: now, pool: pool)
        case .established, .closeWait, .finWait1, .finWait2, .closing, .lastAck: break
        }
        window.tune(
            roundTrip: time.smoothed, segmentSize: segmentSize, unread: received.unread,
            settings: settings, now: now)
        let probe = probe(now: now)
        guard let plan = probe ?? nextData(now: now, maximumPayload: maximumPayload, moreFollows: moreFollows) else {
            return bareAcknowledgement(now: now, pool: pool)
        }
        return carry(out: plan, now: now, pool: pool)
    }

    /// What is to be sent, before it is written out: small, so that it can be handed around.
    struct Plan {
        var sequence: SequenceNumber
        var flags: TCPFlags
        /// The payload, in the send queue.
        var offset: Int
        var count: Int
        /// The payload's octets in each segment.
        var size: Int
    }

    @inline(__always) private mutating func carry(out plan: Plan, now: Instant, pool: borrowing BufferPool)
        -> OutgoingSegment
    {
        OutgoingSegment(
            header(plan.sequence, flags: plan.flags, payload: plan.count, now: now, available: pool.available),
            payload: sendQueue.runs(from: plan.offset, count: plan.count, in: pool),
            gsoSize: plan.count > plan.size ? plan.size : 0)
    }

    private mutating func reset() -> OutgoingSegment? {
        guard due.contains(.reset) else { return nil }
        due = []
        // While the client's SYN is unanswered it takes only a RST that acknowledges it (RFC 9293, section 3.10.7.3).
        return OutgoingSegment(
            TCPSegment(
                sequence: accounts.sent == 0 && sendNext == initialSequence ? SequenceNumber(0) : sendNext,
                acknowledgement: receiveNext,
                flags: [.reset, .acknowledge]))
    }

    private mutating func challengeReset() -> OutgoingSegment? {
        guard let sequence = resetSequence else { return nil }
        resetSequence = nil
        return OutgoingSegment(TCPSegment(sequence: sequence, flags: .reset))
    }

    @inline(__always) private mutating func bareAcknowledgement(now: Instant, pool: borrowing BufferPool)
        -> OutgoingSegment?
    {
        let isKeepalive = due.contains(.keepaliveProbe)
        guard acknowledgements.isDue || isKeepalive else { return nil }
        due.remove(.keepaliveProbe)
        // A keepalive probe repeats the last sequence number, so that it must be answered (RFC 9293, section 3.8.4).
        return OutgoingSegment(
            header(isKeepalive ? sendNext - 1 : sendNext, flags: .acknowledge, now: now, available: pool.available))
    }

    /// A header with everything that the client is told along the way.
    @inline(__always) mutating func header(
        _ sequence: SequenceNumber, flags: TCPFlags, payload: Int = 0, now: Instant, available: Int
    ) -> TCPSegment {
        var options = TCPOptions()
        if offer.timestamps { options.timestamps = timestamps(now) }
        let sacks = offer.selectiveAcknowledgements
        if sacks { options.selectiveAcknowledgements = acknowledgements.blocks(received, limit: blockLimit) }
        let field = window.advertise(
            received, next: receiveNext, available: available, segmentSize: segmentSize)
        lastAcknowledged = receiveNext
        acknowledgements.sent(withData: payload > 0, sacks: sacks, now: now)
        return TCPSegment(
            sequence: sequence, acknowledgement: receiveNext, flags: flags, window: field, options: options,
            payloadCount: payload)
    }

    /// Forty octets of options hold three blocks beside timestamps, four without.
    @inline(__always) private var blockLimit: Int { offer.timestamps ? 3 : 4 }

    /// The most octets of payload in a segment that is sent now, with the blocks that are due.
    @inline(__always) var sizeWithBlocks: Int {
        guard offer.selectiveAcknowledgements, acknowledgements.hasBlocks(received) else { return segmentSize }
        let count = acknowledgements.blocks(received, limit: blockLimit).count
        return count == 0 ? segmentSize : segmentSize - 4 - 8 * count
    }
}
