/// The receiving side's answers: `TCPEndpoint+Payload` tells what came, `TCPEndpoint+Send` asks what is due.

import Bytes
import Wire

/// When to acknowledge, and what to say in SACK blocks.
///
/// Data in order is acknowledged every two full-sized segments, so a super-segment gets one acknowledgement, or
/// after a delay (RFC 9293, section 3.8.6.3). Anything unusual is acknowledged at once (RFC 5681, section 4.2),
/// and so is every full-sized segment while the client's window still grows (`quick`).
struct Acknowledgements {
    /// An acknowledgement has to go out with the next segment, at once.
    private(set) var isDue = false
    /// When the delayed one has to.
    private(set) var deadline = Instant.never
    /// Segments that are answered one by one, because the client counts duplicates (no SACK).
    @Compact private var separate = 0

    /// Octets that were not acknowledged yet.
    @Compact private var waiting = 0
    /// What a full-sized segment of this client seems to be.
    @Compact private var fullSize = 536
    /// How many acknowledgements are not to be delayed.
    @Compact private var quick = 16
    /// Whether octets that arrived were followed by octets of ours: then an answer will carry the acknowledgement.
    private var isDialogue = false
    private var lastReceived = Instant(nanoseconds: 0)
    /// How soon an answer follows in a dialogue.
    private static let dialogue = Interval.milliseconds(40)

    /// A block that arrived twice (DSACK, RFC 2883).
    private var duplicate: SACKBlock?
    /// The first octets of the latest segments ahead of a hole, the latest first.
    private var recent = InlineArray<4, SequenceNumber>(repeating: SequenceNumber(0))
    @Compact private var recentCount = 0

    /// Data in order arrived.
    mutating func tookInOrder(_ octets: Int, segment: Int, announced: Int, now: Instant, delay: Interval) {
        waiting += octets
        if segment > fullSize { fullSize = min(segment, max(announced, 536)) }
        if now - lastReceived > .seconds(1) { quick = max(quick, 2) }
        lastReceived = now
        if waiting >= 2 * fullSize || quick > 0 && !isDialogue && octets >= fullSize {
            isDue = true
        } else {
            deadline = min(deadline, now + (quick > 0 && !isDialogue ? Self.shortDelay : delay))
        }
    }

    /// The client's FIN arrived: our own is often on its way, and carries the acknowledgement.
    mutating func tookFIN(now: Instant) { deadline = min(deadline, now + Self.shortDelay) }

    /// How long the acknowledgement of a small piece waits for an answer that carries it, before it is known whether
    /// the stream goes to and fro.
    private static let shortDelay = Interval.milliseconds(2)

    /// Something happened that the client has to know at once.
    mutating func require() { isDue = true }

    /// A segment arrived ahead of a hole, or filled a part of one.
    mutating func tookOutOfOrder(at sequence: SequenceNumber) {
        hurry()
        var place = min(recentCount, 3)
        while place > 0 {
            recent[place] = recent[place - 1]
            place -= 1
        }
        recent[0] = sequence
        recentCount = min(recentCount + 1, 4)
    }

    /// Octets arrived that were here already.
    mutating func tookDuplicate(_ block: SACKBlock) {
        hurry()
        duplicate = block
    }

    private mutating func hurry() {
        isDue = true
        separate += 1
        quick = max(quick, 16)
        isDialogue = false
    }

    /// The delay is over.
    mutating func expire() {
        deadline = .never
        isDue = true
    }

    /// A segment with an acknowledgement goes out.
    mutating func sent(withData: Bool, sacks: Bool, now: Instant) {
        if withData, now - lastReceived < Self.dialogue { isDialogue = true }
        waiting = 0
        deadline = .never
        if quick > 0 { quick -= 1 }
        separate = sacks ? 0 : max(separate - 1, 0)
        isDue = separate > 0
        duplicate = nil
    }

    /// The blocks to report, the one that changed last first (RFC 2018, section 4).
    func blocks(_ buffer: borrowing ReceiveBuffer, limit: Int) -> SACKBlocks {
        var blocks = SACKBlocks()
        if let duplicate { blocks.append(duplicate) }
        guard !buffer.isOrdered else { return blocks }
        let first = blocks.count
        for index in 0..<recentCount where blocks.count < limit {
            guard let range = buffer.range(holding: recent[index]) else { continue }
            var known = false
            for other in first..<blocks.count where blocks[other] == range { known = true }
            if !known { blocks.append(range) }
        }
        return blocks
    }

    /// Whether blocks have to be reported at all.
    func hasBlocks(_ buffer: borrowing ReceiveBuffer) -> Bool { duplicate != nil || !buffer.isOrdered }
}
