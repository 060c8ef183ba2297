/// The Internet checksum (RFC 1071): the one's complement of the one's complement sum of 16-bit words.
///
/// The sum is kept in machine order: byte order does not matter to it (RFC 1071, section 2(B)), and whole
/// 32-bit words into a 64-bit total is the loop that the compiler vectorises. Each `add` begins at an even
/// offset, so only the last piece may have an odd length.
public struct InternetChecksum: Sendable {
    @usableFromInline var sum: UInt64 = 0

    @inlinable public init() {}

    /// Adds a 16-bit value that would stand in the packet in network order.
    @inlinable public mutating func add(_ word: UInt16) {
        sum &+= UInt64(word.bigEndian)
    }

    /// Adds a 32-bit value that would stand in the packet in network order.
    @inlinable public mutating func add(_ word: UInt32) {
        sum &+= UInt64(word.bigEndian)
    }

    /// Adds a 64-bit value that would stand in the packet in network order.
    @inlinable public mutating func add(_ word: UInt64) {
        add(UInt32(word >> 32))
        add(UInt32(word & 0xffff_ffff))
    }

    /// Adds bytes; an odd last one counts as the high half of a word (RFC 1071, section 4.1).
    @inlinable public mutating func add(_ bytes: Span<UInt8>) {
        // Safe: UInt8 has no padding, and the loads below accept every bit pattern.
        unsafe add(bytes.bytes)
    }

    @usableFromInline mutating func add(_ bytes: RawSpan) {
        let wholeWords = bytes.byteCount & ~3
        var total = sum
        var offset = 0
        while offset < wholeWords {
            // A 64-bit total of 32-bit words cannot overflow below 16 GiB.
            total &+= UInt64(unsafe bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt32.self))
            offset += 4
        }
        if bytes.byteCount & 2 != 0 {
            total &+= UInt64(unsafe bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt16.self))
            offset += 2
        }
        if bytes.byteCount & 1 != 0 {
            let last = unsafe bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt8.self)
            total &+= UInt64((UInt16(last) << 8).bigEndian)
        }
        sum = total
    }

    /// Adds what another sum holds; its bytes must stand at an even offset.
    @inlinable public mutating func add(_ other: InternetChecksum) {
        sum &+= UInt64(other.partial.bigEndian)
    }

    /// Adds bytes that stand at an odd offset: in their own sum each octet counts as the other half of its word
    /// (RFC 1071, section 2(B)).
    public mutating func addAtOddOffset(_ bytes: Span<UInt8>) {
        var swapped = InternetChecksum()
        swapped.add(bytes)
        add(swapped.partial.byteSwapped)
    }

    /// Adds the bytes of runs, the first of which stands at an even offset, whatever their lengths are.
    public mutating func add(_ runs: ByteRuns, of pool: borrowing BufferPool) {
        var isOdd = false
        for index in 0..<runs.runCount {
            let run = runs[index]
            pool.withBytes(run) { if isOdd { addAtOddOffset($0) } else { add($0) } }
            isOdd = isOdd != (run.count % 2 == 1)
        }
    }

    /// The folded sum without the final complement: what NEEDS_CSUM wants in the checksum field.
    @inlinable public var partial: UInt16 {
        var folded = sum
        while folded > 0xffff { folded = (folded & 0xffff) &+ (folded >> 16) }
        return UInt16(folded).bigEndian
    }

    /// The checksum to store; over a packet that holds its checksum it is 0 when the packet is intact.
    @inlinable public var value: UInt16 { ~partial }
}
