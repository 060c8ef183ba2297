/// The two small words of a symbol with codes of their own (annexes C and D).

enum FormatBits {
    /// Level and mask: 5 bits, 10 of a BCH code, and a pattern over all so that they are never all light.
    static func format(level: QRCode.ErrorCorrection, mask: QRCode.Mask) -> UInt32 {
        let data = level.formatBits << 3 | UInt32(mask.rawValue)
        return (data << 10 | remainder(of: data, by: 0x537, degree: 10)) ^ 0x5412
    }

    /// The version: 6 bits, and 12 of a Golay code.
    static func version(_ version: QRCode.Version) -> UInt32 {
        let data = UInt32(version.number)
        return data << 12 | remainder(of: data, by: 0x1f25, degree: 12)
    }

    /// Division of polynomials over two numbers.
    private static func remainder(of data: UInt32, by generator: UInt32, degree: UInt32) -> UInt32 {
        var rest = data
        for _ in 0..<degree { rest = rest << 1 ^ (rest >> (degree - 1)) * generator }
        return rest
    }
}
