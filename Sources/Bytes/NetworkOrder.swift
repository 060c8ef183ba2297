/// Reading and writing integers in network byte order (RFC 1700, "Data Notations").
///
/// Every access is bounds-checked by the span; a parser checks its lengths first, so none of these traps.

extension Span<UInt8> {
    /// Reads two octets, the first one the more significant.
    @inlinable public func uint16(at offset: Int) -> UInt16 {
        UInt16(self[offset]) << 8 | UInt16(self[offset + 1])
    }

    /// Reads four octets, the first one the most significant.
    @inlinable public func uint32(at offset: Int) -> UInt32 {
        UInt32(uint16(at: offset)) << 16 | UInt32(uint16(at: offset + 2))
    }

    /// Reads eight octets, the first one the most significant.
    @inlinable public func uint64(at offset: Int) -> UInt64 {
        UInt64(uint32(at: offset)) << 32 | UInt64(uint32(at: offset + 4))
    }
}

extension MutableSpan<UInt8> {
    /// Writes two octets, the more significant one first.
    @inlinable public mutating func store(_ value: UInt16, at offset: Int) {
        self[offset] = UInt8(value >> 8)
        self[offset + 1] = UInt8(value & 0xff)
    }

    /// Writes four octets, the most significant one first.
    @inlinable public mutating func store(_ value: UInt32, at offset: Int) {
        store(UInt16(value >> 16), at: offset)
        store(UInt16(value & 0xffff), at: offset + 2)
    }

    /// Writes eight octets, the most significant one first.
    @inlinable public mutating func store(_ value: UInt64, at offset: Int) {
        store(UInt32(value >> 32), at: offset)
        store(UInt32(value & 0xffff_ffff), at: offset + 4)
    }
}
