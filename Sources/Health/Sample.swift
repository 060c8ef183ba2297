/// One observation of an upstream: a probe's result, or that of a user's own CONNECT.

public import Bytes

/// What was tried, and what came of it.
public struct Sample: Equatable, Sendable {
    /// Which layer it speaks about.
    public enum Layer: String, CaseIterable, Sendable {
        /// A TCP connection to the proxy.
        case connect
        /// A request through the proxy.
        case request
        /// A stream that a user opened.
        case traffic
    }

    /// What was observed.
    public enum Outcome: Equatable, Sendable {
        /// It worked, in this time.
        case good(Interval)
        case bad(Cause)
    }

    public var layer: Layer
    public var outcome: Outcome

    public init(_ layer: Layer, _ outcome: Outcome) {
        self.layer = layer
        self.outcome = outcome
    }
}
