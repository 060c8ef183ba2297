/// The calendar, for logs and captures alone: it may jump, so nothing waits by it.

/// A calendar time: seconds since 1970-01-01T00:00:00Z without leap seconds, and the fraction.
public struct UnixTime: Hashable, Comparable, Sendable, CustomStringConvertible {
    public var seconds: Int64
    /// 0 ..< 1,000,000,000.
    public var nanoseconds: Int32

    public init(seconds: Int64, nanoseconds: Int32 = 0) {
        self.seconds = seconds
        self.nanoseconds = nanoseconds
    }

    public static func < (left: UnixTime, right: UnixTime) -> Bool {
        (left.seconds, left.nanoseconds) < (right.seconds, right.nanoseconds)
    }

    /// RFC 3339 in UTC with milliseconds: `2026-08-01T12:00:00.250Z`.
    public var description: String {
        let day = (seconds >= 0 ? seconds : seconds - 86_399) / 86_400
        let second = seconds - day * 86_400
        let date = Self.date(ofDay: day)
        return "\(padded(date.year, 4))-\(padded(date.month, 2))-\(padded(date.day, 2))T"
            + "\(padded(second / 3600, 2)):\(padded(second / 60 % 60, 2)):\(padded(second % 60, 2))"
            + ".\(padded(Int64(nanoseconds / 1_000_000), 3))Z"
    }

    /// The Gregorian date of a day counted from 1970-01-01.
    ///
    /// Years are taken to begin in March, so the leap day is the last one of its year and month lengths
    /// follow a straight line (153 days in five months).
    private static func date(ofDay day: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let fromMarch0000 = day + 719_468
        let era = (fromMarch0000 >= 0 ? fromMarch0000 : fromMarch0000 - 146_096) / 146_097
        let dayOfEra = fromMarch0000 - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        return (year, month, dayOfYear - (153 * monthFromMarch + 2) / 5 + 1)
    }

    /// The day of a date in the Gregorian calendar, counted from 1970-01-01; nil for what is none, and outside of the
    /// years 1 to 9999.
    public static func day(year: Int64, month: Int64, day: Int64) -> Int64? {
        guard (1...9999).contains(year), (1...12).contains(month), (1...31).contains(day) else { return nil }
        let yearFromMarch = month > 2 ? year : year - 1
        let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
        let number = 365 * yearFromMarch + yearFromMarch / 4 - yearFromMarch / 100 + yearFromMarch / 400
        let found = number + dayOfYear - 719_468
        // The 31st of a month with 30 days is the first of the next one.
        return date(ofDay: found) == (year, month, day) ? found : nil
    }

    private func padded(_ value: Int64, _ width: Int) -> String {
        let digits = String(value)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
}
