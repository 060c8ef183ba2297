/// Punycode (RFC 3492), the encoding only: nothing here has to know what an A-label spells.

enum Punycode {
    // RFC 3492, section 5.
    private static let base = 36
    private static let tMin = 1
    private static let tMax = 26
    private static let skew = 38
    private static let damp = 700
    private static let initialBias = 72
    private static let initialN: UInt32 = 0x80

    /// What stands behind `xn--` (section 6.3).
    ///
    /// A label of 1,012 characters, the longest that comes here, is far from where the counters would overflow.
    static func encode(_ label: [UInt32]) -> [UInt8] {
        var output = label.filter { $0 < initialN }.map { UInt8($0) }
        let basic = output.count
        if basic > 0 { output.append(UInt8(ascii: "-")) }
        var (n, delta, bias, handled) = (initialN, 0, initialBias, basic)
        while handled < label.count {
            // Never missing: something that is not basic is left.
            let next = label.reduce(UInt32.max) { $1 >= n ? min($0, $1) : $0 }
            delta += Int(next - n) * (handled + 1)
            n = next
            for value in label {
                if value < n { delta += 1 }
                guard value == n else { continue }
                append(delta, bias: bias, to: &output)
                bias = adapt(delta, points: handled + 1, isFirst: handled == basic)
                delta = 0
                handled += 1
            }
            delta += 1
            n += 1
        }
        return output
    }

    /// A number as a variable-length integer (section 3.3).
    private static func append(_ number: Int, bias: Int, to output: inout [UInt8]) {
        var rest = number
        var k = base
        while true {
            let threshold = min(tMax, max(tMin, k - bias))
            guard rest >= threshold else { break }
            output.append(digit(threshold + (rest - threshold) % (base - threshold)))
            rest = (rest - threshold) / (base - threshold)
            k += base
        }
        output.append(digit(rest))
    }

    /// The bias after a delta (section 6.1).
    private static func adapt(_ delta: Int, points: Int, isFirst: Bool) -> Int {
        var delta = isFirst ? delta / damp : delta / 2
        delta += delta / points
        var k = 0
        while delta > (base - tMin) * tMax / 2 {
            delta /= base - tMin
            k += base
        }
        return k + (base - tMin + 1) * delta / (delta + skew)
    }

    /// a to z are 0 to 25, 0 to 9 are 26 to 35.
    private static func digit(_ value: Int) -> UInt8 {
        UInt8(value < 26 ? value + 0x61 : value - 26 + 0x30)
    }
}
