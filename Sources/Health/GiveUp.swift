/// When an upstream has been red for too long.

public import Bytes

/// Says once that an upstream has been red for so long, and again only after it was something else.
public struct GiveUp: Sendable {
    /// How long it may be red; nil for ever.
    private let limit: Interval?
    private var redSince: Instant?
    private var isTold = false

    public init(after limit: Interval?) { self.limit = limit }

    /// Takes the colour; true when it is time to give up.
    public mutating func update(_ colour: Colour, at now: Instant) -> Bool {
        guard colour == .red else {
            redSince = nil
            isTold = false
            return false
        }
        redSince = redSince ?? now
        guard !isTold, now >= deadline else { return false }
        isTold = true
        return true
    }

    /// When `update` is to be called again without news.
    public var deadline: Instant {
        guard !isTold, let limit, let redSince else { return .never }
        return redSince + limit
    }
}
