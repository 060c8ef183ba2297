/// The bits of the segments, filled up to the data codewords of a symbol (sections 7.4.2 to 7.4.10).

struct DataBits {
    private(set) var codewords: [UInt8] = []
    /// How many bits were written.
    private var count = 0

    /// Writes all segments, the terminator and the padding.
    ///
    /// Traps when the segments need more codewords than there are.
    static func codewords(_ bytes: [UInt8], _ segments: [Segment], version: QRCode.Version, capacity: Int) -> [UInt8] {
        var bits = DataBits()
        for segment in segments {
            bits.append(segment.mode.indicator, 4)
            bits.append(UInt32(segment.range.count), segment.mode.countBits(in: version))
            bits.append(bytes[segment.range], segment.mode)
        }
        precondition(bits.count <= capacity * 8, "more bits than the symbol holds")
        // The terminator is cut where the symbol ends, and the rest of its octet is zero.
        bits.append(0, min(4, capacity * 8 - bits.count))
        let filler: [UInt8] = [0b1110_1100, 0b0001_0001]
        let padding = capacity - bits.codewords.count
        return bits.codewords + (0..<padding).map { filler[$0 % 2] }
    }

    private mutating func append(_ bytes: ArraySlice<UInt8>, _ mode: Mode) {
        var rest = bytes
        switch mode {
        case .numeric:
            while !rest.isEmpty {
                let digits = rest.prefix(3)
                rest = rest.dropFirst(3)
                append(digits.reduce(0) { $0 * 10 + UInt32($1 - 0x30) }, 3 * digits.count + 1)
            }
        case .alphanumeric:
            while !rest.isEmpty {
                let pair = rest.prefix(2).compactMap(Mode.alphanumericValue)
                rest = rest.dropFirst(2)
                append(pair.reduce(0) { $0 * 45 + $1 }, pair.count == 2 ? 11 : 6)
            }
        case .byte:
            for octet in rest { append(UInt32(octet), 8) }
        }
    }

    /// Writes the low bits of a number, the most significant one first.
    private mutating func append(_ value: UInt32, _ width: Int) {
        for bit in (0..<width).reversed() {
            if count % 8 == 0 { codewords.append(0) }
            codewords[count / 8] |= UInt8(value >> UInt32(bit) & 1) << UInt8(7 - count % 8)
            count += 1
        }
    }
}
