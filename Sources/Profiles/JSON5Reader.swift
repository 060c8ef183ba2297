/// # How JSON5 is read
///
/// The reader follows the JSON5 specification (spec.json5.org, version 1.0.0) and is stricter where a file that
/// people edit by hand would otherwise surprise them: keys may not be repeated, blanks other than the
/// plain ones (U+00A0, typographic spaces) and typographic quotes are refused by name, control characters
/// stand in texts as escapes only, and depth and size are bounded. Each value knows its line and column.
///
///     bytes ── TextCursor ──▶ characters with places ── JSON5Reader ──▶ JSON5Value ── Configuration
///
/// A byte order mark at the start and CRLF line ends are accepted. No message repeats text from the input
/// beyond one character or a key, so a misplaced secret stays where it is.

internal import Routing

/// Reads one JSON5 text.
public struct JSON5Reader {
    /// The most octets of a text, unless its reader says otherwise.
    public static let sizeLimit = 1 << 20

    /// The most objects and lists within each other.
    public static let depthLimit = 32

    var cursor: TextCursor
    private var depth = 0

    private init(_ bytes: Span<UInt8>, limit: Int) throws(ConfigurationError) {
        guard bytes.count <= limit else {
            throw ConfigurationError(
                .tooLarge, at: nil, path: "", found: "\(bytes.count) octets", expected: "at most \(limit)")
        }
        cursor = try TextCursor(bytes)
    }

    /// Reads the one value of a text.
    public static func read(
        _ bytes: Span<UInt8>, limit: Int = JSON5Reader.sizeLimit
    ) throws(ConfigurationError) -> JSON5Value {
        var reader = try JSON5Reader(bytes, limit: limit)
        try reader.skipBlanks(path: "")
        let value = try reader.value(path: "")
        try reader.skipBlanks(path: "")
        guard reader.cursor.peek == nil else {
            throw reader.unexpected(path: "", expected: "nothing more after the value")
        }
        return value
    }

    // MARK: Values

    private mutating func value(path: String) throws(ConfigurationError) -> JSON5Value {
        let position = cursor.position
        switch cursor.peek {
        case "{": return JSON5Value(position: position, content: .object(try object(path: path)))
        case "[": return JSON5Value(position: position, content: .array(try array(path: path)))
        case "\"", "'": return JSON5Value(position: position, content: .string(try string(path: path)))
        case let scalar? where scalar.isDecimalDigit || scalar == "+" || scalar == "-" || scalar == ".":
            return JSON5Value(position: position, content: .number(try number(path: path)))
        case let scalar? where scalar.isIdentifierStart || scalar == "\\":
            return JSON5Value(position: position, content: try word(path: path))
        default: throw unexpected(path: path, expected: "a value")
        }
    }

    /// Reads null, true, false, Infinity or NaN; any other word wants quotes.
    private mutating func word(path: String) throws(ConfigurationError) -> JSON5Value.Content {
        let position = cursor.position
        switch try identifier(path: path) {
        case "null": return .null
        case "true": return .boolean(true)
        case "false": return .boolean(false)
        case "Infinity": return .number(JSON5Number(text: "Infinity", double: .infinity, integer: nil))
        case "NaN": return .number(JSON5Number(text: "NaN", double: .nan, integer: nil))
        default:
            throw ConfigurationError(
                .syntax, at: position, path: path, found: "a word without quotes", expected: "a value",
                hint: "texts stand in quotes: \"…\"")
        }
    }

    private mutating func object(path: String) throws(ConfigurationError) -> [JSON5Member] {
        let open = try enter(path: path)
        var members: [JSON5Member] = []
        var places: [String: TextPosition] = [:]
        while true {
            try skipBlanks(path: path)
            if cursor.skip("}") { break }
            let position = cursor.position
            let key = try key(path: path, open: open)
            let inner = Shown.path(path, key)
            if let former = places.updateValue(position, forKey: key) {
                throw ConfigurationError(
                    .duplicateKey, at: position, path: inner, found: "the key a second time",
                    expected: "each key once", hint: "it stands already in line \(former.line)")
            }
            try skipBlanks(path: inner)
            guard cursor.skip(":") else { throw unexpected(path: inner, expected: "a colon after the key") }
            try skipBlanks(path: inner)
            members.append(JSON5Member(key: key, position: position, value: try value(path: inner)))
            try skipBlanks(path: inner)
            if cursor.skip(",") { continue }
            guard cursor.peek == "}" else { throw unexpected(path: inner, expected: "a comma or }", open: open) }
        }
        depth -= 1
        return members
    }

    private mutating func array(path: String) throws(ConfigurationError) -> [JSON5Value] {
        let open = try enter(path: path)
        var elements: [JSON5Value] = []
        while true {
            let inner = "\(path)[\(elements.count)]"
            try skipBlanks(path: inner)
            if cursor.skip("]") { break }
            guard cursor.peek != nil else { throw unexpected(path: path, expected: "a value or ]", open: open) }
            elements.append(try value(path: inner))
            try skipBlanks(path: inner)
            if cursor.skip(",") { continue }
            guard cursor.peek == "]" else { throw unexpected(path: inner, expected: "a comma or ]", open: open) }
        }
        depth -= 1
        return elements
    }

    /// Passes the opening bracket, and bounds the recursion.
    private mutating func enter(path: String) throws(ConfigurationError) -> TextPosition {
        let position = cursor.position
        depth += 1
        guard depth <= Self.depthLimit else {
            throw ConfigurationError(
                .tooDeep, at: position, path: path, found: "objects and lists \(depth) deep",
                expected: "at most \(Self.depthLimit)")
        }
        cursor.next()
        return position
    }

    private mutating func key(path: String, open: TextPosition) throws(ConfigurationError) -> String {
        switch cursor.peek {
        case "\"", "'": return try string(path: path)
        case let scalar? where scalar.isIdentifierStart || scalar == "\\": return try identifier(path: path)
        default: throw unexpected(path: path, expected: "a key or }", open: open)
        }
    }
}

extension JSON5Reader {
    /// Passes white space and comments.
    mutating func skipBlanks(path: String) throws(ConfigurationError) {
        while let scalar = cursor.peek {
            switch scalar {
            case " ", "\t", "\n", "\r", "\u{0b}", "\u{0c}": cursor.next()
            case "/": try skipComment(path: path)
            default: return
            }
        }
    }

    private mutating func skipComment(path: String) throws(ConfigurationError) {
        let open = cursor.position
        switch cursor.peek(ahead: 1) {
        case "/":
            while let scalar = cursor.peek, !scalar.isLineTerminator { cursor.next() }
            // U+2028 and U+2029 end a comment and would be refused as blanks elsewhere.
            if cursor.peek == "\u{2028}" || cursor.peek == "\u{2029}" { cursor.next() }
        case "*":
            cursor.next()
            cursor.next()
            while let scalar = cursor.next() {
                if scalar == "*", cursor.skip("/") { return }
            }
            throw ConfigurationError(
                .syntax, at: open, path: path, found: "a comment without an end", expected: "*/ after it")
        default: throw unexpected(path: path, expected: "a comment: // or /*")
        }
    }

    /// The error for the character that comes next, or for the end of the text.
    func unexpected(path: String, expected: String, open: TextPosition? = nil) -> ConfigurationError {
        var found = "the end of the text"
        var hint = open.map { "for the bracket of \($0)" }
        if let scalar = cursor.peek {
            found = scalar.nameInMessages
            hint = scalar.advice
        }
        return ConfigurationError(
            .syntax, at: cursor.position, path: path, found: found, expected: expected, hint: hint)
    }
}

extension Unicode.Scalar {
    /// LineTerminator of ECMAScript 5.1, section 7.3.
    var isLineTerminator: Bool { self == "\n" || self == "\r" || self == "\u{2028}" || self == "\u{2029}" }

    /// IdentifierStart of ECMAScript 5.1, section 7.6, without the escape.
    var isIdentifierStart: Bool { self == "$" || self == "_" || properties.isIDStart }

    /// IdentifierPart of ECMAScript 5.1, section 7.6, without the escape.
    var isIdentifierPart: Bool {
        self == "$" || self == "_" || self == "\u{200c}" || self == "\u{200d}" || properties.isIDContinue
    }

    /// A character as messages call it.
    var nameInMessages: String {
        switch self {
        case " ": "a blank"
        case "\u{a0}": "a no-break space (U+00A0)"
        case "\u{feff}": "a byte order mark (U+FEFF) within the text"
        case "\u{201c}", "\u{201d}", "\u{201e}", "\u{2018}", "\u{2019}", "\u{201a}", "\u{ab}", "\u{bb}":
            "a typographic quote \(self) (\(codePoint))"
        case _ where properties.generalCategory == .spaceSeparator: "a typographic space (\(codePoint))"
        case _ where visible.hasPrefix("U+"): "the character \(codePoint)"
        default: "\(self)"
        }
    }

    /// What to do about a character that word processors leave behind.
    var advice: String? {
        switch self {
        case "\u{201c}", "\u{201d}", "\u{201e}", "\u{2018}", "\u{2019}", "\u{201a}", "\u{ab}", "\u{bb}":
            "write straight quotes: \" or '"
        case " ": nil
        case _ where properties.generalCategory == .spaceSeparator: "write a plain space"
        case "=": "a colon stands between key and value"
        case ";": "members are separated by commas"
        case "#": "comments begin with //"
        default: nil
        }
    }
}
