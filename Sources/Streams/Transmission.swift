/// A record of the `SendScoreboard`.

import Bytes
import Wire

/// A stretch of sequence space that went out in one go, and what is known about it since.
struct Transmission: Equatable {
    var start: SequenceNumber
    var end: SequenceNumber
    /// When it was last sent.
    var sentAt: Instant
    var state = State.outstanding
    /// Whether it was sent more than once: then its acknowledgement is no measure of time (Karn).
    var isRetransmitted = false

    enum State: UInt8 {
        /// Sent and neither acknowledged nor given up: it counts as in flight.
        case outstanding
        /// The client holds it ahead of a hole (RFC 2018).
        case sacked
        /// Given up; to be sent again.
        case lost
    }

    var octets: Int { end - start }

    /// Whether it was sent before the other; what was sent in one go is ordered by its end (RFC 8985, section 6.2).
    func wasSent(before time: Instant, end other: SequenceNumber) -> Bool {
        sentAt < time || sentAt == time && end < other
    }
}

/// What one acknowledgement says was delivered.
struct Delivery {
    let now: Instant
    /// A retransmission that is acknowledged faster than this was not what the client saw (RFC 8985, section 6.2).
    let leastRoundTrip: Interval

    /// The end of the highest octets that SACK had told of before, if any.
    let highestSACK: SequenceNumber?

    /// Octets that are known to have arrived now and were not before.
    var octets = 0
    /// When the oldest octets were sent that were never retransmitted.
    var oldest: Instant?
    /// When the latest of these were sent.
    var latest: Instant?
    /// The latest transmission of all, by the order of `Transmission.wasSent`.
    var newestSentAt: Instant?
    var newestEnd = SequenceNumber(0)
    /// Octets arrived after others that were sent later, and not because they were sent again.
    var sawReordering = false
    /// Octets below the highest SACK were retransmitted.
    var coversRetransmission = false

    init(now: Instant, leastRoundTrip: Interval, highestSACK: SequenceNumber? = nil) {
        self.now = now
        self.highestSACK = highestSACK
        self.leastRoundTrip = leastRoundTrip
    }

    /// Takes account of octets up to `end` of a transmission.
    mutating func add(_ record: Transmission, upTo end: SequenceNumber) {
        octets += end - record.start
        if let highestSACK, end < highestSACK, !record.isRetransmitted { sawReordering = true }
        if record.isRetransmitted {
            coversRetransmission = true
            if now - record.sentAt < leastRoundTrip { return }
        } else {
            if let time = oldest { oldest = min(time, record.sentAt) } else { oldest = record.sentAt }
            if let time = latest { latest = max(time, record.sentAt) } else { latest = record.sentAt }
        }
        if let time = newestSentAt, record.sentAt < time || record.sentAt == time && end <= newestEnd { return }
        newestSentAt = record.sentAt
        newestEnd = end
    }
}
