/// The window that segments to the client announce; what is stored is in `ReceiveBuffer`.

import Bytes
import Wire

/// How much the client may send.
///
/// The right edge never moves back (RFC 9293, section 3.8.6). It moves on only when that is worth a segment,
/// to avoid the silly window (section 3.8.6.2.2). The allowance follows what the upstream took in a round trip,
/// twice over, so that a fast stream is never held back by us. Where the upstream is the slower side a larger one
/// brings nothing but octets that wait: it does not grow then, and shrinks while they pile up.
struct ReceiveWindow {
    /// RCV.NXT + RCV.WND: the first octet that the client may not send.
    private(set) var edge: SequenceNumber
    /// What may wait here at most.
    @Compact private(set) var allowance: Int
    /// The shift of the window field, 0 without the option.
    var shift: UInt8 = 0

    /// Octets that the upstream took since `measuredFrom`, and in the period before.
    @Compact private var taken = 0
    @Compact private var takenBefore = 0
    /// Whether the upstream left octets here that were offered to it.
    private var isBehind = false
    private var measuredFrom = Instant(nanoseconds: .min)

    init(next: SequenceNumber, allowance: Int) {
        edge = next
        self.allowance = allowance
    }

    /// The upstream took octets.
    mutating func tookUpstream(_ octets: Int) { taken += octets }

    /// The upstream did not take all that it was offered.
    mutating func upstreamIsBehind() { isBehind = true }

    /// Lets the allowance follow the upstream at the end of a round trip; `unread` octets wait for it.
    mutating func tune(
        roundTrip: Interval, segmentSize: Int, unread: Int, settings: borrowing TCPSettings, now: Instant
    ) {
        guard taken > 0 else { return }
        if measuredFrom == Instant(nanoseconds: .min) { measuredFrom = now }
        guard now - measuredFrom >= max(roundTrip, .microseconds(200)) else { return }
        let most = settings.receiveAllowance
        if isBehind || unread > 0 {
            if unread > allowance / 4 {
                let least = min(settings.initialReceiveAllowance, settings.receiveAllowance)
                allowance = max(allowance - allowance / 8, least)
            }
        } else if taken > takenBefore, allowance < most {
            var wanted = 2 * taken + 16 * segmentSize
            // While the client is in slow start, the next round trip brings more still.
            wanted += min(wanted, takenBefore > 0 ? wanted * (taken - takenBefore) / takenBefore : wanted)
            allowance = min(max(allowance, wanted), most)
            takenBefore = taken
        }
        taken = 0
        isBehind = false
        measuredFrom = now
    }

    /// The edge that could be told now.
    ///
    /// The pool is shared, so one stream counts on half of what is left of it. Two segments may come in any case when
    /// nothing is unread: they can go straight through.
    func possibleEdge(_ buffer: borrowing ReceiveBuffer, next: SequenceNumber, available: Int, segmentSize: Int)
        -> SequenceNumber
    {
        let least = buffer.unread == 0 ? 2 * segmentSize : 0
        let room = min(allowance - buffer.unread, max(available / 2, least), 0xffff << Int(shift))
        return next + max(room, 0)
    }

    /// The window field of a segment that goes out now; from then on the edge is told.
    mutating func advertise(
        _ buffer: borrowing ReceiveBuffer, next: SequenceNumber, available: Int, segmentSize: Int
    ) -> UInt16 {
        let possible = possibleEdge(buffer, next: next, available: available, segmentSize: segmentSize)
        if possible - edge >= min(segmentSize, allowance / 2) {
            let units = (possible - next) >> Int(shift)
            if next + (units << Int(shift)) > edge { edge = next + (units << Int(shift)) }
        }
        // Rounded up: the edge must not seem to move back.
        let window = max(edge - next, 0)
        let units = min((window + (1 << Int(shift)) - 1) >> Int(shift), 0xffff)
        if next + (units << Int(shift)) > edge { edge = next + (units << Int(shift)) }
        return UInt16(units)
    }

    /// The window field of a SYN-ACK, which is never scaled.
    mutating func advertiseUnscaled(next: SequenceNumber, available: Int) -> UInt16 {
        let window = min(allowance, max(available / 2, 4096), 0xffff)
        if next + window > edge { edge = next + window }
        return UInt16(window)
    }

    /// The window was told in a SYN-ACK that is not remembered.
    mutating func wasTold(next: SequenceNumber, window: Int) { edge = next + window }

    /// Whether the client should be told that there is room again: its window has at least doubled.
    func isWorthTelling(_ buffer: borrowing ReceiveBuffer, next: SequenceNumber, available: Int, segmentSize: Int)
        -> Bool
    {
        let window = max(edge - next, 0)
        let possible = possibleEdge(buffer, next: next, available: available, segmentSize: segmentSize) - next
        return possible >= 2 * window && possible - window >= min(segmentSize, allowance / 2)
    }
}
