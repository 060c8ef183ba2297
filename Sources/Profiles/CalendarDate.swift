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
        guard year >= 2020, let day = UnixTime.day(year: year, month: month, day: day) else { return nil }
        return day * 86_400 + 86_399
    }

    /// The day of a second, counted from 1970.
    static func text(_ seconds: Int64) -> String { String(UnixTime(seconds: seconds).description.prefix(10)) }
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
