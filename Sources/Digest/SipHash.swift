/// # Digest: keyed hashes, signatures, checksums and their text
///
///     SipHash        what a stranger must not foresee: table slots, cookies, initial sequence numbers
///     SHA256         the digest under every signature (FIPS 180-4)
///     HMACSHA256     signatures of links and pushes (RFC 2104)
///     CRC32          the checksum of PNG and gzip (ISO 3309)
///     Base64         bytes as text, both alphabets, read strictly (RFC 4648)
///
/// Nothing here does I/O or draws a random number: keys come in as arguments.

/// SipHash-2-4 (Aumasson, Bernstein): a keyed 64-bit hash that strangers who lack the key cannot aim.
///
/// Words hash like their octets in little-endian order, so both forms agree.
public struct SipHash: Sendable {
    @usableFromInline let key0: UInt64
    @usableFromInline let key1: UInt64

    /// A hash under the 128-bit key whose first eight octets, read little-endian, are `key0`.
    @inlinable public init(_ key0: UInt64, _ key1: UInt64) {
        self.key0 = key0
        self.key1 = key1
    }

    /// SipHash-2-4 of a fixed number of words.
    @inlinable public func hash24<let count: Int>(_ words: [count of UInt64]) -> UInt64 {
        var state = SipState(key0, key1)
        for index in 0..<count { state.absorb(words[index]) }
        return state.finish(byteCount: count &* 8, tail: 0)
    }

    /// SipHash-2-4 of bytes.
    public func hash24(_ bytes: Span<UInt8>) -> UInt64 {
        var state = SipState(key0, key1)
        let wholeWords = bytes.count & ~7
        var offset = 0
        while offset < wholeWords {
            state.absorb(Self.word(bytes, at: offset, count: 8))
            offset += 8
        }
        let tail = Self.word(bytes, at: offset, count: bytes.count - offset)
        return state.finish(byteCount: bytes.count, tail: tail)
    }

    /// Reads up to eight octets, the first one the least significant.
    private static func word(_ bytes: Span<UInt8>, at offset: Int, count: Int) -> UInt64 {
        var word: UInt64 = 0
        for index in 0..<count { word |= UInt64(bytes[offset + index]) << UInt64(8 * index) }
        return word
    }
}

/// The four words that SipHash turns.
///
/// Its functions are always inlined, so the words stay in registers: a hash of five words is 135 instructions.
@usableFromInline struct SipState {
    @usableFromInline var v0: UInt64
    @usableFromInline var v1: UInt64
    @usableFromInline var v2: UInt64
    @usableFromInline var v3: UInt64

    /// Starts from the constants "somepseudorandomlygeneratedbytes".
    @inlinable init(_ key0: UInt64, _ key1: UInt64) {
        v0 = key0 ^ 0x736f_6d65_7073_6575
        v1 = key1 ^ 0x646f_7261_6e64_6f6d
        v2 = key0 ^ 0x6c79_6765_6e65_7261
        v3 = key1 ^ 0x7465_6462_7974_6573
    }

    @inlinable @inline(__always)
    mutating func absorb(_ word: UInt64) {
        v3 ^= word
        for _ in 0..<2 { turn() }
        v0 ^= word
    }

    /// Absorbs the last word (up to seven octets and the length) and folds the state.
    @inlinable @inline(__always)
    mutating func finish(byteCount: Int, tail: UInt64) -> UInt64 {
        absorb(UInt64(truncatingIfNeeded: byteCount) << 56 | tail)
        v2 ^= 0xff
        for _ in 0..<4 { turn() }
        return v0 ^ v1 ^ v2 ^ v3
    }

    /// One SipRound; the additions are modulo 2^64 by definition.
    @inlinable @inline(__always)
    mutating func turn() {
        v0 &+= v1
        v1 = v1 << 13 | v1 >> 51
        v1 ^= v0
        v0 = v0 << 32 | v0 >> 32
        v2 &+= v3
        v3 = v3 << 16 | v3 >> 48
        v3 ^= v2
        v0 &+= v3
        v3 = v3 << 21 | v3 >> 43
        v3 ^= v0
        v2 &+= v1
        v1 = v1 << 17 | v1 >> 47
        v1 ^= v2
        v2 = v2 << 32 | v2 >> 32
    }
}
