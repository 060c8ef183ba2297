/// The schemes that a Proxy-Authenticate field offers (RFC 9110, section 11.7.1).

import Bytes

/// What a proxy wants to be shown.
public struct HTTPChallenge: Equatable, Sendable {
    /// The names of the schemes in the order of the field, at most eight.
    public private(set) var schemes: [String] = []

    public var offersBasic: Bool { schemes.contains { $0.lowercased() == "basic" } }

    /// Reads a list of challenges.
    ///
    /// Commas separate both challenges and their parameters, and quoted strings may hold commas: a word that
    /// stands first or behind a comma and is not followed by `=` is the name of a scheme.
    public init(_ field: [UInt8]) {
        let text = field.span
        var position = 0
        while position < text.count, schemes.count < 8 {
            while position < text.count, ASCII.isBlank(text[position]) || text[position] == ASCII.comma {
                position += 1
            }
            let start = position
            while position < text.count, ASCII.isToken(text[position]) { position += 1 }
            let word = start..<position
            while position < text.count, ASCII.isBlank(text[position]) { position += 1 }
            let isParameter = position < text.count && text[position] == ASCII.equals
            if !isParameter, !word.isEmpty {
                schemes.append(String(decoding: field[word], as: UTF8.self))
            }
            Self.skipItem(text, from: &position)
        }
    }

    /// Moves to the next comma that is not inside of a quoted string.
    private static func skipItem(_ text: Span<UInt8>, from position: inout Int) {
        var isQuoted = false
        while position < text.count {
            let octet = text[position]
            if isQuoted, octet == ASCII.backslash {
                position += 1
            } else if octet == ASCII.quote {
                isQuoted.toggle()
            } else if octet == ASCII.comma, !isQuoted {
                return
            }
            position += 1
        }
        position = min(position, text.count)
    }
}
