/// Loss and repair as states: `TCPEndpoint+Acknowledge` and `TCPEndpoint+Timers` enter and leave them.

import Bytes
import Wire

/// Where the stream stands between loss and repair, and what it takes to take a reduction back.
struct Recovery {
    enum State: UInt8 {
        /// Nothing is known to be lost.
        case open
        /// Loss was found by acknowledgements; proportional rate reduction is in charge (RFC 6675, RFC 9937).
        case fast
        /// The retransmission timer ran out; slow start is in charge (RFC 5681, section 3.1).
        case timeout
        /// Octets are sent again for another reason than congestion (path MTU, a window that was closed).
        case repair
    }

    var state = State.open
    /// RecoveryPoint: SND.NXT when the state was left last; acknowledging it ends the recovery.
    var point = SequenceNumber(0)
    /// SND.UNA when the state was left.
    private var start = SequenceNumber(0)
    /// Duplicate acknowledgements of a client without SACK (RFC 6582).
    @Compact var duplicates = 0

    /// The window before the reduction, while it may still be undone.
    var memory: CUBIC.Memory?
    /// TSval of the first retransmission (Eifel detection, RFC 3522).
    var firstStamp: UInt32?
    /// Octets sent again since the reduction, and how many of them the client reported as duplicates (RFC 3708).
    @Compact private var retransmitted = 0
    @Compact private var reportedTwice = 0

    /// Whether the congestion window held the stream back in the round trip before or in this one.
    private(set) var wasLimited = false
    private var isLimited = false
    @Compact private var mostInFlight = 0
    private var roundEnd = SequenceNumber(0)

    mutating func begin(_ state: State, from start: SequenceNumber, to point: SequenceNumber, memory: CUBIC.Memory?) {
        self.state = state
        self.start = start
        self.point = point
        self.memory = memory
        firstStamp = nil
        retransmitted = 0
        reportedTwice = 0
    }

    mutating func end() {
        state = .open
        duplicates = 0
        memory = nil
    }

    mutating func retransmitted(_ octets: Int, stamp: UInt32) {
        retransmitted += octets
        if firstStamp == nil { firstStamp = stamp }
    }

    /// The client reports octets that arrived twice.
    mutating func reported(_ block: SACKBlock) {
        // Others were doubled by the network.
        guard state != .open, block.start >= start, block.end <= point, block.start < block.end else { return }
        reportedTwice += block.end - block.start
    }

    /// Whether everything that was sent again had arrived before.
    func wasNeedless(echo: UInt32?) -> Bool {
        guard memory != nil else { return false }
        if retransmitted > 0, reportedTwice >= retransmitted { return true }
        guard let echo, let firstStamp else { return false }
        return Int32(truncatingIfNeeded: echo &- firstStamp) < 0
    }

    // MARK: Whether the window is what holds the stream back

    /// The window kept octets from being sent.
    mutating func limit() { isLimited = true }

    mutating func sent(inFlight: Int) { mostInFlight = max(mostInFlight, inFlight) }

    /// Whether the window may grow (RFC 9438, section 4.1, and RFC 7661): it was used.
    mutating func mayGrow(window: Int, isSlowStart: Bool, acknowledged: SequenceNumber, next: SequenceNumber) -> Bool {
        let grows = isLimited || wasLimited || isSlowStart && window < 2 * mostInFlight
        if acknowledged >= roundEnd {
            roundEnd = next
            wasLimited = isLimited
            isLimited = false
            mostInFlight = 0
        }
        return grows
    }
}
