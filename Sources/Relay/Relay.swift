/// # How a stream is relayed
///
/// A flow has two ends, the **client** and the **upstream**, and two lanes between them:
///
///     client ── up lane ──▶ upstream
///     client ◀── down lane ── upstream
///
/// A lane is open until its source ends, drains what was received before, and is over when its sink was told
/// so: FIN becomes `shutdown(SHUT_WR)`, end of file becomes FIN. The flow is finished when both lanes are
/// over. A reset on one side ends both lanes at once and is a reset on the other side.
///
/// `Relay` is the book-keeping of this, the same for every kind of end. It moves no bytes: `Gateway/DataPath`
/// does, and tells it. It holds no clock either; each call brings the time.

public import Bytes

/// The two sides of a flow.
public enum Side: Sendable {
    /// The device, or whoever opened the stream.
    case client
    /// The proxy, or the target when it is dialled directly.
    case upstream
}

/// How far one direction of a flow has come.
public struct Lane: Sendable {
    /// Where its end stands.
    public enum Phase: Sendable {
        /// The source may still send.
        case open
        /// The source has ended; what it sent before is on its way to the sink.
        case draining
        /// Everything was handed to the sink, and its end is kept back (`halfClose: hold`).
        case held
        /// The sink has been told. Nothing moves any more.
        case over
    }

    public fileprivate(set) var phase = Phase.open

    /// The octets that the source has given.
    public fileprivate(set) var bytes: UInt64 = 0

    /// When the last octet came, or when the lane was opened.
    public fileprivate(set) var lastMoved: Instant
}

/// Whether the end of the up lane is passed on at once.
public enum HalfClose: Sendable {
    case pass
    /// For proxies that end the whole tunnel at the client's half-close: wait until the upstream has closed.
    case hold
}

/// The time limits of a relay.
public struct RelayLimits: Sendable {
    /// How long a half-closed flow may go without a byte in the open direction.
    public var halfClose: Interval
    /// How long a flow may go without a byte in either direction.
    public var idle: Interval

    public init(halfClose: Interval, idle: Interval) {
        self.halfClose = halfClose
        self.idle = idle
    }
}

/// The state of both lanes of a flow.
public struct Relay: Sendable {
    public private(set) var up: Lane
    public private(set) var down: Lane

    /// Who ended first; nil while both are open.
    public private(set) var endedFirst: Side?

    public init(at now: Instant) {
        up = Lane(lastMoved: now)
        down = Lane(lastMoved: now)
    }

    /// Notes that `count` octets came from `source`.
    public mutating func moved(_ count: Int, from source: Side, at now: Instant) {
        switch source {
        case .client:
            up.bytes += UInt64(count)
            up.lastMoved = now
        case .upstream:
            down.bytes += UInt64(count)
            down.lastMoved = now
        }
    }

    /// Notes that a source will send no more.
    ///
    /// Call `drained` when the sink has everything.
    public mutating func sourceEnded(_ source: Side, at now: Instant) {
        if endedFirst == nil { endedFirst = source }
        switch source {
        case .client:
            guard up.phase == .open else { return }
            up.phase = .draining
            // The other direction gets its full time from here (`RelayLimits.halfClose`).
            down.lastMoved = max(down.lastMoved, now)
        case .upstream:
            guard down.phase == .open else { return }
            down.phase = .draining
            up.lastMoved = max(up.lastMoved, now)
        }
    }

    /// Whether the end of `source`'s lane is to be passed to its sink now that the sink has every byte.
    ///
    /// True exactly once for a lane; the caller then tells the sink.
    public mutating func drained(_ source: Side, halfClose: HalfClose) -> Bool {
        switch source {
        case .client:
            guard up.phase == .draining || up.phase == .held else { return false }
            if halfClose == .hold, down.phase == .open {
                up.phase = .held
                return false
            }
            up.phase = .over
        case .upstream:
            guard down.phase == .draining else { return false }
            down.phase = .over
        }
        return true
    }

    /// Gives up keeping the client's end back; `drained` passes it on from now.
    ///
    /// Returns false when there was nothing held.
    public mutating func releaseHeld() -> Bool {
        guard up.phase == .held else { return false }
        up.phase = .over
        return true
    }

    /// Ends both directions at once: nothing is left that could be passed on.
    public mutating func ended() {
        up.phase = .over
        down.phase = .over
    }

    /// Gives both directions their full time again, from now.
    public mutating func restart(at now: Instant) {
        up.lastMoved = now
        down.lastMoved = now
    }

    /// Notes that a sink took octets of a source that has ended: as long as that goes on, nothing is overdue.
    public mutating func progressed(at now: Instant) {
        if endedFirst != nil { restart(at: now) }
    }

    /// Both directions are over, and both sinks know.
    public var isFinished: Bool { up.phase == .over && down.phase == .over }

    /// When something must happen if no byte moves before.
    public func deadline(_ limits: RelayLimits) -> Instant {
        let lastMoved = max(up.lastMoved, down.lastMoved)
        switch (up.phase == .open, down.phase == .open) {
        case (true, true): return lastMoved + limits.idle
        case (false, true): return min(lastMoved + limits.idle, down.lastMoved + limits.halfClose)
        case (true, false): return min(lastMoved + limits.idle, up.lastMoved + limits.halfClose)
        // Both sources have ended: what is left is a sink that takes nothing, or does not acknowledge its end.
        case (false, false): return lastMoved + limits.halfClose
        }
    }
}
