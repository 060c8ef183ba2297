/// Time as the data path sees it: read once a loop turn by the caller, and passed down.
///
/// `Swift.Duration` is 16 bytes and computes in 128 bits; these are 8 bytes and one addition, and a flow
/// holds several of them.

/// A distance in time, in whole nanoseconds; negative values lie in the past.
///
/// Range ±292 years.
public struct Interval: Comparable, Hashable, Sendable, AdditiveArithmetic {
    public var nanoseconds: Int64

    @inlinable public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    public static let zero = Interval(nanoseconds: 0)

    @inlinable public static func nanoseconds(_ count: Int64) -> Interval { Interval(nanoseconds: count) }
    @inlinable public static func microseconds(_ count: Int64) -> Interval { Interval(nanoseconds: count * 1000) }
    @inlinable public static func milliseconds(_ count: Int64) -> Interval { Interval(nanoseconds: count * 1_000_000) }
    @inlinable public static func seconds(_ count: Int64) -> Interval { Interval(nanoseconds: count * 1_000_000_000) }
    @inlinable public static func hours(_ count: Int64) -> Interval { seconds(count * 3600) }

    /// Whole microseconds, rounded towards zero.
    @inlinable public var microseconds: Int64 { nanoseconds / 1000 }

    /// Whole milliseconds, rounded towards zero.
    @inlinable public var milliseconds: Int64 { nanoseconds / 1_000_000 }

    @inlinable public static func < (left: Interval, right: Interval) -> Bool { left.nanoseconds < right.nanoseconds }
    @inlinable public static func + (left: Interval, right: Interval) -> Interval {
        Interval(nanoseconds: left.nanoseconds + right.nanoseconds)
    }
    @inlinable public static func - (left: Interval, right: Interval) -> Interval {
        Interval(nanoseconds: left.nanoseconds - right.nanoseconds)
    }
    @inlinable public static func * (left: Interval, right: Int64) -> Interval {
        Interval(nanoseconds: left.nanoseconds * right)
    }
    @inlinable public static func / (left: Interval, right: Int64) -> Interval {
        Interval(nanoseconds: left.nanoseconds / right)
    }
}

/// A point on the monotonic clock, in nanoseconds since some start that only differences make sense of.
public struct Instant: Comparable, Hashable, Sendable {
    public var nanoseconds: Int64

    @inlinable public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    /// Later than everything: a deadline that never comes.
    public static let never = Instant(nanoseconds: .max)

    @inlinable public static func < (left: Instant, right: Instant) -> Bool { left.nanoseconds < right.nanoseconds }

    /// Adds a distance; what lies past the end of time is `never`.
    @inlinable public static func + (left: Instant, right: Interval) -> Instant {
        let (sum, overflow) = left.nanoseconds.addingReportingOverflow(right.nanoseconds)
        return overflow ? .never : Instant(nanoseconds: sum)
    }
    @inlinable public static func - (left: Instant, right: Interval) -> Instant {
        Instant(nanoseconds: left.nanoseconds - right.nanoseconds)
    }
    @inlinable public static func - (left: Instant, right: Instant) -> Interval {
        Interval(nanoseconds: left.nanoseconds - right.nanoseconds)
    }
}
