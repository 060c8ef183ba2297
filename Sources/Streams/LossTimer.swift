/// Which wait of the sending side runs; `TCPEndpoint+Timers` starts it and acts when it is over.

import Bytes

/// The one timer of the sending side: it stands for whichever of these comes first.
struct LossTimer {
    enum Kind: UInt8 {
        case idle
        /// The SYN-ACK is sent again.
        case synAcknowledgement
        /// RTO (RFC 6298).
        case retransmission
        /// PTO (RFC 8985, section 7).
        case tailProbe
        /// Octets that may only be late are given up (RFC 8985, section 6.3).
        case reordering
        /// The closed window is probed (RFC 9293, section 3.8.6.1).
        case persist
    }

    var kind = Kind.idle
    var deadline = Instant.never
    /// How often the timeout is doubled.
    @Compact var backOff = 0
    /// What the retransmission timeout counts from.
    var base = Instant(nanoseconds: 0)
    /// What the probe timeout counts from: the last octets sent, or the last progress.
    var tailBase = Instant.never
    /// When octets become lost that may be only reordered.
    var reorderingDeadline = Instant.never
    /// Since when the client answers nothing.
    var stalledSince = Instant.never

    /// Octets are under way where there were none.
    mutating func begin(at now: Instant) {
        base = now
        if kind == .persist { backOff = 0 }
    }

    /// The client acknowledged something new.
    mutating func progress(at now: Instant) {
        base = now
        tailBase = now
        backOff = 0
        stalledSince = .never
    }

    mutating func set(_ kind: Kind, _ deadline: Instant) {
        self.kind = kind
        self.deadline = deadline
    }
}
