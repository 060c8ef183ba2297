/// The measure of time that `LossTimer`, `RACK` and the tail loss probe wait by.

import Bytes

/// The round-trip time and the retransmission timeout that follows from it (RFC 6298).
struct RoundTripTime {
    /// SRTT; zero before the first sample.
    private(set) var smoothed = Interval.zero
    /// RTTVAR.
    private(set) var variation = Interval.zero
    /// The least sample of the last minutes, which RACK takes a quarter of for reordering.
    private(set) var least = Interval.zero
    private var leastAt = Instant(nanoseconds: 0)

    /// The lower bound of what is added to SRTT.
    ///
    /// RFC 6298 asks for an RTO of 1 s at least; every widespread stack has gone down to about 200 ms, which
    /// covers the delayed acknowledgements of all of them.
    static let leastMargin = Interval.milliseconds(200)
    static let most = Interval.seconds(120)
    /// Before the first sample (RFC 6298, section 2.1).
    static let initial = Interval.seconds(1)
    /// For how long a least sample is believed: paths change.
    static let memory = Interval.seconds(300)

    var isKnown: Bool { smoothed > .zero }

    /// RTO without back-off.
    var timeout: Interval {
        guard isKnown else { return Self.initial }
        return min(smoothed + max(Self.leastMargin, variation * 4), Self.most)
    }

    mutating func sample(_ time: Interval, at now: Instant) {
        // A clock that is read once a turn makes very short times zero.
        let time = max(time, .microseconds(1))
        sampleLeast(time, at: now)
        guard isKnown else {
            smoothed = time
            variation = time / 2
            return
        }
        let error = smoothed < time ? time - smoothed : smoothed - time
        variation = variation + (error - variation) / 4
        smoothed = smoothed + (time - smoothed) / 8
    }

    /// Takes a sample for the least alone.
    mutating func sampleLeast(_ time: Interval, at now: Instant) {
        let time = max(time, .microseconds(1))
        guard least == .zero || time <= least || now - leastAt > Self.memory else { return }
        least = time
        leastAt = now
    }
}
