/// The alphabet of HTTP: octets by name, and comparisons without case.

import Bytes

/// Octets by the names of their characters, and the classes that HTTP and host names are made of.
enum ASCII {
    static let tab: UInt8 = 0x09
    static let lineFeed: UInt8 = 0x0a
    static let carriageReturn: UInt8 = 0x0d
    static let space: UInt8 = 0x20
    static let quote: UInt8 = 0x22
    static let hash: UInt8 = 0x23
    static let asterisk: UInt8 = 0x2a
    static let comma: UInt8 = 0x2c
    static let dot: UInt8 = 0x2e
    static let slash: UInt8 = 0x2f
    static let zero: UInt8 = 0x30
    static let colon: UInt8 = 0x3a
    static let semicolon: UInt8 = 0x3b
    static let less: UInt8 = 0x3c
    static let equals: UInt8 = 0x3d
    static let question: UInt8 = 0x3f
    static let at: UInt8 = 0x40
    static let openBracket: UInt8 = 0x5b
    static let backslash: UInt8 = 0x5c
    static let closeBracket: UInt8 = 0x5d
    static let lowerX: UInt8 = 0x78

    static func isDigit(_ octet: UInt8) -> Bool { octet &- zero < 10 }

    static func isLetter(_ octet: UInt8) -> Bool { (octet | 0x20) &- 0x61 < 26 }

    static func isHexDigit(_ octet: UInt8) -> Bool { isDigit(octet) || (octet | 0x20) &- 0x61 < 6 }

    static func isBlank(_ octet: UInt8) -> Bool { octet == space || octet == tab }

    /// What host names are made of, dots aside.
    static func isNameOctet(_ octet: UInt8) -> Bool {
        isLetter(octet) || isDigit(octet) || octet == 0x2d || octet == 0x5f
    }

    /// `tchar` of RFC 9110, section 5.6.2.
    static func isToken(_ octet: UInt8) -> Bool {
        if isLetter(octet) || isDigit(octet) { return true }
        switch octet {
        case 0x21, 0x23...0x27, 0x2a, 0x2b, 0x2d, 0x2e, 0x5e, 0x5f, 0x60, 0x7c, 0x7e: return true
        default: return false
        }
    }

    /// Folds the capitals of ASCII and leaves everything else.
    static func lowercase(_ octet: UInt8) -> UInt8 { octet &- 0x41 < 26 ? octet | 0x20 : octet }
}

extension Span<UInt8> {
    /// Whether these are the octets of `text`, which is in lower case, in any case.
    func matches(_ text: StaticString) -> Bool {
        guard count == text.utf8CodeUnitCount else { return false }
        return hasPrefix(text)
    }

    /// Whether these begin with the octets of `text`, which is in lower case, in any case.
    func hasPrefix(_ text: StaticString) -> Bool {
        guard count >= text.utf8CodeUnitCount else { return false }
        var index = 0
        for octet in text.description.utf8 {
            guard ASCII.lowercase(self[index]) == octet else { return false }
            index += 1
        }
        return true
    }

    func contains(_ octet: UInt8) -> Bool { firstIndex(of: octet, from: 0) != nil }

    func firstIndex(of octet: UInt8, from start: Int) -> Int? {
        var index = start
        while index < count {
            if self[index] == octet { return index }
            index += 1
        }
        return nil
    }

    func allSatisfy(_ condition: (UInt8) -> Bool) -> Bool {
        for index in indices where !condition(self[index]) { return false }
        return true
    }

    /// The part of a range without the blanks at its ends.
    func trimmed(_ range: Range<Int>) -> Range<Int> {
        var lower = range.lowerBound
        var upper = range.upperBound
        while lower < upper, ASCII.isBlank(self[lower]) { lower += 1 }
        while upper > lower, ASCII.isBlank(self[upper - 1]) { upper -= 1 }
        return lower..<upper
    }
}

extension String {
    /// The text of these octets, or nil when they are not UTF-8.
    init?(validating octets: Span<UInt8>) {
        guard let text = try? UTF8Span(validating: octets) else { return nil }
        self.init(copying: text)
    }
}

/// The value of one to eighteen digits, or nil for anything else and for more than `limit`.
func decimal(_ text: Span<UInt8>, limit: Int) -> Int? {
    guard text.count > 0, text.count <= 18, text.allSatisfy(ASCII.isDigit) else { return nil }
    var value = 0
    for index in text.indices { value = value * 10 + Int(text[index] - ASCII.zero) }
    return value <= limit ? value : nil
}
