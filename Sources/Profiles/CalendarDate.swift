/// Days as people write them, and the second at which each ends.

internal import Bytes

enum CalendarDate {
    /// The last second of a day in UTC, counted from 1970; nil for what is no day from 2020 to 9999.
    ///
    /// The form is that of RFC 3339: `2027-06-30`.
    static func end(of text: String) -> Int64? {
        let octets = Array(text.utf8)
        guard octets.count == 10, octets[4] == 0x2d, octets[7] == 0x2d else { return nil }
        let digits = octets.enumerated().filter { $0.offset != 4 && $0.offset != 7 }.map(\.element)
        guard digits.allSatisfy({ Unicode.Scalar($0).isDecimalDigit }) else { return nil }
        let number = { (range: Range<Int>) in digits[range].reduce(Int64(0)) { $0 * 10 + Int64($1 - 0x30) } }
        let (year, month, day) = (number(0..<4), number(4..<6), number(6..<8))
        guard year >= 2020, (1...12).contains(month), day >= 1 else { return nil }
        let end = start(year: year, month: month, day: day) + 86_399
        // The 31st of a month with 30 days is the first of the next one.
        return Self.text(end) == text ? end : nil
    }

    /// The day of a second, counted from 1970.
    static func text(_ seconds: Int64) -> String { String(UnixTime(seconds: seconds).description.prefix(10)) }

    /// The first second of a day in the Gregorian calendar, years beginning in March.
    private static func start(year: Int64, month: Int64, day: Int64) -> Int64 {
        let year = month > 2 ? year : year - 1
        let monthFromMarch = (month + 9) % 12
        let dayOfYear = (153 * monthFromMarch + 2) / 5 + day - 1
        return (365 * year + year / 4 - year / 100 + year / 400 + dayOfYear - 719_468) * 86_400
    }
}

extension Section {
    /// Reads a day, and gives its last second.
    func endOfDay(_ key: String) throws(ConfigurationError) -> Int64? {
        let expected = "a day from 2020 to 9999, such as \"2027-06-30\" (it ends with that day in UTC)"
        guard let text = try text(key, expected) else { return nil }
        guard let end = CalendarDate.end(of: text) else {
            throw error(.badValue, key, found: Shown.text(text), expected: expected)
        }
        return end
    }
}
