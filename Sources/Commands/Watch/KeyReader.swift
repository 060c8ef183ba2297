/// Keys, from the octets that a terminal sends for them.

/// A key that somebody has pressed.
public enum Key: Equatable, Sendable {
    case character(Character)
    /// Control with a small letter.
    case control(Character)
    case up
    case down
    case pageUp
    case pageDown
    case enter
    case backspace
    case escape
}

/// Cuts octets into keys; a sequence may come in pieces.
///
/// Keys that mean nothing here are passed over whole, so that none of their octets is taken for a key of its own.
public struct KeyReader: Sendable {
    /// No key is longer.
    private static let longest = 32

    /// The beginning of a key.
    private var rest: [UInt8] = []

    public init() {}

    /// Whether something waits that may be the Escape key, or the beginning of a sequence.
    public var isPending: Bool { !rest.isEmpty }

    /// Takes octets and returns the keys that they complete.
    public mutating func take(_ octets: [UInt8]) -> [Key] {
        rest += octets
        var keys: [Key] = []
        while let (key, length) = next() {
            if let key { keys.append(key) }
            rest.removeFirst(length)
        }
        return keys
    }

    /// Says that nothing has come for a while: an Escape that waits is one.
    public mutating func finish() -> [Key] {
        let isEscape = rest.first == 0x1b
        let others = Array(rest.dropFirst())
        rest = []
        return (isEscape ? [.escape] : []) + (isEscape ? take(others) : [])
    }

    /// The first key of `rest` and its length; nil when more has to come.
    private func next() -> (Key?, Int)? {
        guard let first = rest.first else { return nil }
        switch first {
        case 0x1b: return sequence()
        case 0x0d, 0x0a: return (.enter, 1)
        case 0x7f, 0x08: return (.backspace, 1)
        case 0..<0x20: return (.control(Character(Unicode.Scalar(first | 0x60))), 1)
        default: return character(first)
        }
    }

    /// ECMA-48, section 5.4: parameters, intermediates, a final octet.
    private func sequence() -> (Key?, Int)? {
        guard rest.count > 1 else { return nil }
        switch rest[1] {
        case UInt8(ascii: "O"):
            guard rest.count > 2 else { return nil }
            return (Self.named(rest[2], []), 3)
        case UInt8(ascii: "["):
            guard let end = rest[2...].firstIndex(where: { 0x40...0x7e ~= $0 }) else {
                return rest.count > Self.longest ? (nil, rest.count) : nil
            }
            return (Self.named(rest[end], Array(rest[2..<end])), end + 1)
        default: return (.escape, 1)
        }
    }

    private static func named(_ final: UInt8, _ parameters: [UInt8]) -> Key? {
        switch (Character(Unicode.Scalar(final)), String(decoding: parameters, as: UTF8.self)) {
        case ("A", _): .up
        case ("B", _): .down
        case ("~", "5"): .pageUp
        case ("~", "6"): .pageDown
        default: nil
        }
    }

    private func character(_ first: UInt8) -> (Key?, Int)? {
        let length =
            switch first {
            case 0xc2...0xdf: 2
            case 0xe0...0xef: 3
            case 0xf0...0xf4: 4
            default: 1
            }
        guard rest.count >= length else { return nil }
        guard let text = String(validating: rest[..<length], as: UTF8.self), let character = text.first else {
            return (nil, 1)
        }
        return (.character(character), length)
    }
}
