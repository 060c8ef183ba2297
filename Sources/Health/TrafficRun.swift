/// Failures of users' streams with no success between them.
///
/// One failure is an accident, and of two hundred streams a second a few always fail. So a run of them has probes
/// begin, and speaks by itself only when it goes on for longer than a pause of the network.

internal import Bytes

/// Streams in a row that the upstream itself has let down.
struct TrafficRun: Sendable {
    private var count = 0
    private var first = Instant(nanoseconds: 0)
    private(set) var last = Instant(nanoseconds: .min / 2)

    /// Counts a failure; returns whether this one asks for a round of probes.
    mutating func miss(at now: Instant) -> Bool {
        if count == 0 { first = now }
        count = min(count + 1, Int(Int32.max))
        last = now
        return count == 3 || count == 2 && now - first >= Self.pause
    }

    /// How many misses it stands for: 0, 1 or 2.
    ///
    /// Three at once count when a probe has confirmed them: they may be one hiccup.
    func weight(isConfirmed: Bool) -> Int {
        if count >= 4, last - first >= Self.long { return 2 }
        return count >= 3 && (isConfirmed || last - first >= Self.pause) ? 1 : 0
    }

    private static let pause = Interval.milliseconds(500)
    private static let long = Interval.milliseconds(1500)
}
