/// What a profile says about its probes.

public import Bytes

/// How an upstream is looked after.
public struct HealthSettings: Equatable, Sendable {
    /// Between two rounds of probes.
    public var interval = Interval.seconds(30)
    /// For one probe, from its first step to its last.
    public var timeout = Interval.seconds(10)
    /// An answer that takes longer is slow.
    public var slow = Interval.seconds(2)
    /// After a miss the next try comes this soon.
    public var retry = Interval.seconds(3)
    /// Whether there is a URL to ask for: without one nothing is verified.
    public var hasPage = false

    public init() {}
}
