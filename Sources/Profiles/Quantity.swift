/// Durations, sizes and marks as people write them, with their units.

public import Bytes

/// Texts that carry a unit, both ways.
public enum Quantity {
    private static let durationUnits: [(name: String, nanoseconds: Int64)] = [
        ("ms", 1_000_000), ("s", 1_000_000_000), ("m", 60_000_000_000), ("h", 3_600_000_000_000),
        ("d", 86_400_000_000_000),
    ]

    private static let sizeUnits: [(name: String, octets: Int64)] = [
        ("B", 1), ("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30),
    ]

    /// Reads one number and one unit: `250ms`, `1.5s`, `24h`.
    public static func duration(_ text: String) -> Interval? {
        guard let (number, unit) = split(text), let found = durationUnits.first(where: { $0.name == unit }) else {
            return nil
        }
        return product(number, found.nanoseconds).map(Interval.init(nanoseconds:))
    }

    /// Reads a number of octets with its unit: `64KiB`, `256MiB`.
    public static func size(_ text: String) -> Int? {
        guard let (number, unit) = split(text), let found = sizeUnits.first(where: { $0.name == unit }) else {
            return nil
        }
        return product(number, found.octets).map(Int.init)
    }

    /// Writes a duration in the largest unit that gives a whole number, and not just one of it.
    public static func text(_ interval: Interval) -> String {
        let whole = durationUnits.filter { interval.nanoseconds % $0.nanoseconds == 0 }
        guard let largest = whole.last else {
            let rest = String(interval.nanoseconds % 1_000_000)
            let zeros = String(repeating: "0", count: 6 - rest.count)
            return "\(interval.nanoseconds / 1_000_000).\(zeros)\(rest)ms"
        }
        let isOne = interval.nanoseconds == largest.nanoseconds && largest.nanoseconds > 1_000_000_000
        let unit = isOne ? whole[whole.count - 2] : largest
        return interval == .zero ? "0s" : "\(interval.nanoseconds / unit.nanoseconds)\(unit.name)"
    }

    /// Writes a size in the largest unit that gives a whole number.
    public static func text(octets: Int) -> String {
        let unit = sizeUnits.last { Int64(octets) % $0.octets == 0 && Int64(octets) >= $0.octets } ?? sizeUnits[0]
        return "\(Int64(octets) / unit.octets)\(unit.name)"
    }

    /// Reads an unsigned number in decimal, or in hexadecimal with `0x`.
    static func word(_ text: some StringProtocol) -> UInt32? {
        let digits = text.hasPrefix("0x") ? text.dropFirst(2)[...] : text[...]
        guard let first = digits.unicodeScalars.first, first.hexDigit != nil else { return nil }
        return UInt32(digits, radix: text.hasPrefix("0x") ? 16 : 10)
    }

    /// Cuts `1.5s` into its number, as digits before and behind the point, and its unit.
    private static func split(_ text: String) -> (number: (whole: Substring, fraction: Substring), unit: Substring)? {
        let isDigit: (Character) -> Bool = { "0"..."9" ~= $0 && $0.isASCII }
        let whole = text.prefix(while: isDigit)
        var rest = text.dropFirst(whole.count)
        var fraction = Substring()
        if rest.first == "." {
            fraction = rest.dropFirst().prefix(while: isDigit)
            rest = rest.dropFirst(fraction.count + 1)
            guard !fraction.isEmpty else { return nil }
        }
        guard (1...15).contains(whole.count), fraction.count <= 6 else { return nil }
        return ((whole, fraction), rest)
    }

    private static func product(_ number: (whole: Substring, fraction: Substring), _ unit: Int64) -> Int64? {
        guard let whole = Int64(number.whole) else { return nil }
        let (product, overflow) = whole.multipliedReportingOverflow(by: unit)
        guard !overflow else { return nil }
        guard !number.fraction.isEmpty else { return product }
        // At most six digits: their product with a unit of a day or a GiB may pass 63 bits, in 128 it does not.
        guard let digits = Int128(number.fraction) else { return nil }
        let parts = (0..<number.fraction.count).reduce(Int128(1)) { power, _ in power * 10 }
        let (sum, tooFar) = product.addingReportingOverflow(Int64(digits * Int128(unit) / parts))
        return tooFar ? nil : sum
    }
}
