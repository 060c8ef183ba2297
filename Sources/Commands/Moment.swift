/// Times as people read them.

internal import Bytes

/// Now, and where on the earth.
public struct Moment: Equatable, Sendable {
    /// Seconds since 1970.
    public var now: Int64
    /// Seconds that the local clock is ahead of UTC.
    public var zone: Int64

    public init(now: Int64, zone: Int64) {
        self.now = now
        self.zone = zone
    }

    /// `16:02`, with the date in front on another day.
    func clock(_ seconds: Int) -> String {
        let text = Self.local(Int64(seconds) + zone)
        let today = Self.local(now + zone).prefix(10)
        let time = text.dropFirst(11).prefix(5)
        return text.prefix(10) == today ? String(time) : "\(text.prefix(10)) \(time)"
    }

    /// `2026-12-01`.
    func date(_ seconds: Int64) -> String { String(Self.local(seconds + zone).prefix(10)) }

    /// `16:02:05`.
    func second(_ seconds: Int64) -> String { String(Self.local(seconds + zone).dropFirst(11).prefix(8)) }

    /// `16:02, in 11 h 59 min`.
    func end(_ seconds: Int) -> String {
        let left = Int64(seconds) - now
        return left > 0 ? "\(clock(seconds)), in \(Self.span(left))" : "\(clock(seconds)), over"
    }

    /// `16:02`, or `3 min ago` for what is not long past.
    func since(_ seconds: Int) -> String {
        let past = now - Int64(seconds)
        return 0..<3600 ~= past ? "\(Self.span(past)) ago" : clock(seconds)
    }

    /// A length of time in its two largest units.
    static func span(_ seconds: Int64) -> String {
        switch seconds {
        case ..<120: "\(max(0, seconds)) s"
        case ..<7200: "\(seconds / 60) min"
        case ..<172_800:
            seconds % 3600 < 60 ? "\(seconds / 3600) h" : "\(seconds / 3600) h \(seconds % 3600 / 60) min"
        default: "\(seconds / 86_400) d"
        }
    }

    private static func local(_ seconds: Int64) -> String {
        // Beyond the year 9999 nobody reads the date.
        UnixTime(seconds: min(max(0, seconds), 253_402_300_799)).description
    }
}
