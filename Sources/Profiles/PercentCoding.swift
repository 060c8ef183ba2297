/// Percent-encoded text (RFC 3986, section 2.1), decoded once and encoded in one way.

/// Why a text could not be decoded.
public enum PercentCodingError: Error {
    /// A `%` without two hexadecimal digits behind it, or octets that are not UTF-8.
    case malformed
    case controlCharacter
}

/// Escapes of octets.
public enum PercentCoding {
    /// Decodes every escape, once; anything else stands for itself.
    public static func decode(_ text: some StringProtocol) throws(PercentCodingError) -> String {
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let octet = rest.popFirst() {
            guard octet == UInt8(ascii: "%") else {
                bytes.append(octet)
                continue
            }
            guard let high = rest.popFirst().flatMap({ Unicode.Scalar($0).hexDigit }),
                let low = rest.popFirst().flatMap({ Unicode.Scalar($0).hexDigit })
            else { throw .malformed }
            bytes.append(UInt8(high << 4 | low))
        }
        guard let decoded = String(validating: bytes, as: UTF8.self) else { throw .malformed }
        guard !decoded.hasControlCharacters else { throw .controlCharacter }
        return decoded
    }

    /// Encodes what a value in a query must not hold (section 3.4), and some that people get wrong.
    ///
    /// Letters, digits and `-._~,:*/` stay, so that hosts, networks and lists of them can be read.
    public static func encode(_ text: String) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        var encoded: [UInt8] = []
        for octet in text.utf8 {
            if Unicode.Scalar(octet).isASCIILetterOrDigit || plain.contains(octet) {
                encoded.append(octet)
            } else {
                encoded += [UInt8(ascii: "%"), digits[Int(octet >> 4)], digits[Int(octet & 15)]]
            }
        }
        return String(decoding: encoded, as: UTF8.self)
    }

    private static let plain = Array("-._~,:*/".utf8)
}

extension String {
    /// The text without blanks and line ends around it: hand scanners and people add them.
    var trimmingBlanks: Substring {
        let isBlank = { (character: Character) in character == " " || character == "\t" || character.isNewline }
        var trimmed = drop(while: isBlank)
        while let last = trimmed.last, isBlank(last) { trimmed.removeLast() }
        return trimmed
    }
}
