/// Base64 (RFC 4648), written in both alphabets and read strictly.
///
/// Strict means that a value has one spelling: no blanks, no foreign characters, padding exactly as the
/// alphabet's use here wants it, and the unused low bits of the last character zero (section 3.5), so a
/// signature cannot be changed without becoming wrong.

/// Why text is not Base64.
public enum Base64Error: Error, Equatable {
    /// The character at this offset is not in the alphabet.
    case character(offset: Int)
    /// The length is one that no bytes have, or padding is missing or where none belongs.
    case length
    /// The last character carries bits that belong to no byte.
    case slack
}

/// One of the two alphabets of RFC 4648.
public enum Base64: Sendable {
    /// Section 4, with padding.
    case standard
    /// Section 5, for URLs and file names, without padding.
    case url

    /// Writes bytes as text.
    public func encode(_ bytes: Span<UInt8>) -> String {
        let alphabet = characters
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count + 2) / 3 * 4)
        var offset = 0
        while offset < bytes.count {
            let count = min(3, bytes.count - offset)
            var group: UInt32 = 0
            for index in 0..<3 { group = group << 8 | (index < count ? UInt32(bytes[offset + index]) : 0) }
            for index in 0...count { text.append(alphabet[Int(group >> UInt32(18 - 6 * index)) & 63]) }
            if self == .standard { text.append(contentsOf: repeatElement(UInt8(ascii: "="), count: 3 - count)) }
            offset += count
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Reads text that `encode` could have written.
    public func decode(_ text: String) throws(Base64Error) -> [UInt8] {
        let characters = try unpadded(Array(text.utf8))
        guard characters.count % 4 != 1 else { throw .length }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(characters.count / 4 * 3 + 2)
        var group: UInt32 = 0
        var bits = 0
        for offset in characters.indices {
            guard let value = value(of: characters[offset]) else { throw .character(offset: offset) }
            group = group << 6 | UInt32(value)
            bits += 6
            guard bits >= 8 else { continue }
            bits -= 8
            bytes.append(UInt8(truncatingIfNeeded: group >> UInt32(bits)))
        }
        guard group & (1 << UInt32(bits) - 1) == 0 else { throw .slack }
        return bytes
    }

    /// Takes off the padding, which must be all that is due.
    private func unpadded(_ text: [UInt8]) throws(Base64Error) -> ArraySlice<UInt8> {
        guard self == .standard else { return text[...] }
        guard text.count % 4 == 0 else { throw .length }
        let padding = text.suffix(2).reversed().prefix { $0 == UInt8(ascii: "=") }.count
        return text.dropLast(padding)
    }

    private var characters: [UInt8] {
        let common = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
        return Array((common + (self == .standard ? "+/" : "-_")).utf8)
    }

    private func value(of character: UInt8) -> UInt8? {
        switch (character, self) {
        case (UInt8(ascii: "A")...UInt8(ascii: "Z"), _): character - UInt8(ascii: "A")
        case (UInt8(ascii: "a")...UInt8(ascii: "z"), _): character - UInt8(ascii: "a") + 26
        case (UInt8(ascii: "0")...UInt8(ascii: "9"), _): character - UInt8(ascii: "0") + 52
        case (UInt8(ascii: "+"), .standard), (UInt8(ascii: "-"), .url): 62
        case (UInt8(ascii: "/"), .standard), (UInt8(ascii: "_"), .url): 63
        default: nil
        }
    }
}
