/// The 32-bit cyclic redundancy check of Ethernet, PNG and gzip (ISO 3309; PNG specification, annex D).

/// A running CRC-32 with the reflected polynomial 0xedb88320.
public struct CRC32: Sendable {
    private var remainder: UInt32 = 0xffff_ffff

    public init() {}

    /// The checksum of bytes that are all there.
    public static func checksum(_ bytes: Span<UInt8>) -> UInt32 {
        var checksum = CRC32()
        checksum.update(bytes)
        return checksum.value
    }

    /// Takes the next piece.
    public mutating func update(_ bytes: Span<UInt8>) {
        for index in bytes.indices {
            remainder = Self.table[Int(UInt8(truncatingIfNeeded: remainder) ^ bytes[index])] ^ remainder >> 8
        }
    }

    /// The checksum of what was taken so far.
    public var value: UInt32 { ~remainder }

    private static let table: [UInt32] = (0..<256).map { index in
        (0..<8).reduce(UInt32(index)) { word, _ in word & 1 == 1 ? 0xedb8_8320 ^ word >> 1 : word >> 1 }
    }
}
