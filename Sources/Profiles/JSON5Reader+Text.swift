/// The words, texts and numbers of JSON5.

extension JSON5Reader {
    /// Reads an IdentifierName (JSON5, section 4), escapes included.
    mutating func identifier(path: String) throws(ConfigurationError) -> String {
        var name = String.UnicodeScalarView()
        while let scalar = cursor.peek {
            if scalar == "\\" {
                let start = cursor
                cursor.next()
                guard cursor.skip("u") else {
                    cursor = start
                    throw unexpected(path: path, expected: "\\u and four digits in a key without quotes")
                }
                let escaped = try unicodeEscape(path: path)
                guard name.isEmpty ? escaped.isIdentifierStart : escaped.isIdentifierPart else {
                    cursor = start
                    throw unexpected(path: path, expected: "a letter, digit, $ or _ in a key without quotes")
                }
                name.append(escaped)
            } else if name.isEmpty ? scalar.isIdentifierStart : scalar.isIdentifierPart {
                name.append(scalar)
                cursor.next()
            } else {
                break
            }
        }
        return String(name)
    }

    /// Reads a text in double or single quotes (JSON5, section 5).
    mutating func string(path: String) throws(ConfigurationError) -> String {
        let open = cursor.position
        guard let quote = cursor.next() else { throw unexpected(path: path, expected: "a text") }
        var text = String.UnicodeScalarView()
        while let scalar = cursor.peek {
            switch scalar {
            case quote:
                cursor.next()
                return String(text)
            case "\\":
                cursor.next()
                if let escaped = try escape(path: path) { text.append(escaped) }
            case "\n", "\r":
                throw ConfigurationError(
                    .syntax, at: open, path: path, found: "a text without an end",
                    expected: "\(quote) before the line ends")
            case "\u{00}"..."\u{08}", "\u{0b}"..."\u{1f}", "\u{7f}":
                throw unexpected(path: path, expected: "control characters in texts as \\u and four digits")
            default:
                text.append(scalar)
                cursor.next()
            }
        }
        throw ConfigurationError(
            .syntax, at: open, path: path, found: "a text without an end", expected: "\(quote) after it")
    }

    /// Reads what follows a backslash; a continued line stands for nothing.
    private mutating func escape(path: String) throws(ConfigurationError) -> Unicode.Scalar? {
        guard let scalar = cursor.peek else { throw unexpected(path: path, expected: "an escape after \\") }
        switch scalar {
        case "1"..."9": throw unexpected(path: path, expected: "an escape; \\1 to \\9 mean nothing")
        case "0":
            if let digit = cursor.peek(ahead: 1), digit.isDecimalDigit {
                throw unexpected(path: path, expected: "\\0 without another digit behind it")
            }
        default: break
        }
        cursor.next()
        switch scalar {
        case "b": return "\u{08}"
        case "f": return "\u{0c}"
        case "n": return "\n"
        case "r": return "\r"
        case "t": return "\t"
        case "v": return "\u{0b}"
        case "0": return "\u{00}"
        case "x": return Unicode.Scalar(UInt8(truncatingIfNeeded: try hexDigits(2, path: path)))
        case "u": return try unicodeEscape(path: path)
        case "\r":
            _ = cursor.skip("\n")
            return nil
        case "\n", "\u{2028}", "\u{2029}": return nil
        default: return scalar
        }
    }

    /// Reads four hexadecimal digits after `\u`, and the second half of a surrogate pair.
    private mutating func unicodeEscape(path: String) throws(ConfigurationError) -> Unicode.Scalar {
        let position = cursor.position
        let first = try hexDigits(4, path: path)
        if let scalar = Unicode.Scalar(first) { return scalar }
        if first < 0xdc00, cursor.skip("\\"), cursor.skip("u") {
            let second = try hexDigits(4, path: path)
            if 0xdc00...0xdfff ~= second,
                let scalar = Unicode.Scalar(0x10000 + (first - 0xd800) << 10 + (second - 0xdc00))
            {
                return scalar
            }
        }
        throw ConfigurationError(
            .syntax, at: position, path: path, found: "half of a surrogate pair", expected: "both halves")
    }

    private mutating func hexDigits(_ count: Int, path: String) throws(ConfigurationError) -> UInt32 {
        var value: UInt32 = 0
        for _ in 0..<count {
            guard let digit = cursor.peek?.hexDigit else {
                throw unexpected(path: path, expected: "\(count) hexadecimal digits")
            }
            value = value << 4 | digit
            cursor.next()
        }
        return value
    }
}

extension JSON5Reader {
    /// Reads a number (JSON5, section 6).
    mutating func number(path: String) throws(ConfigurationError) -> JSON5Number {
        let position = cursor.position
        var text = ""
        if case let sign? = cursor.peek, sign == "+" || sign == "-" {
            text.unicodeScalars.append(sign)
            cursor.next()
        }
        if let scalar = cursor.peek, scalar.isIdentifierStart { return try namedNumber(sign: text, path: path) }
        if cursor.peek == "0", cursor.peek(ahead: 1) == "x" || cursor.peek(ahead: 1) == "X" {
            return try hexadecimal(sign: text, path: path)
        }
        let whole = digits(into: &text)
        if whole.count > 1, whole.first == "0" {
            throw ConfigurationError(
                .syntax, at: position, path: path, found: "a number that begins with 0",
                expected: "a number without leading zeros")
        }
        let exact = Int(text)
        var fraction = ""
        if cursor.peek == "." {
            text += "."
            cursor.next()
            fraction = digits(into: &text)
        }
        guard !whole.isEmpty || !fraction.isEmpty else { throw unexpected(path: path, expected: "digits") }
        let hasExponent = try exponent(into: &text, path: path)
        try endOfNumber(path: path)
        let double = Double(Self.spelledForSwift(text, whole: whole, fraction: fraction)) ?? .nan
        let isPlain = fraction.isEmpty && !hasExponent
        return JSON5Number(text: text, double: double, integer: isPlain ? exact : Self.whole(double))
    }

    /// Reads +Infinity, -Infinity, +NaN or -NaN behind the sign.
    private mutating func namedNumber(sign: String, path: String) throws(ConfigurationError) -> JSON5Number {
        let start = cursor
        switch try identifier(path: path) {
        case "Infinity":
            return JSON5Number(text: sign + "Infinity", double: sign == "-" ? -.infinity : .infinity, integer: nil)
        case "NaN": return JSON5Number(text: sign + "NaN", double: .nan, integer: nil)
        default:
            cursor = start
            throw unexpected(path: path, expected: "digits")
        }
    }

    private mutating func hexadecimal(sign: String, path: String) throws(ConfigurationError) -> JSON5Number {
        cursor.next()
        cursor.next()
        var text = ""
        while let scalar = cursor.peek, scalar.hexDigit != nil {
            text.unicodeScalars.append(scalar)
            cursor.next()
        }
        guard !text.isEmpty else { throw unexpected(path: path, expected: "hexadecimal digits after 0x") }
        try endOfNumber(path: path)
        let integer = Int(sign + text, radix: 16)
        return JSON5Number(
            text: sign + "0x" + text, double: integer.map(Double.init) ?? Double(sign + "0x" + text) ?? .nan,
            integer: integer)
    }

    private mutating func digits(into text: inout String) -> String {
        var digits = ""
        while let digit = cursor.peek, digit.isDecimalDigit {
            digits.unicodeScalars.append(digit)
            cursor.next()
        }
        text += digits
        return digits
    }

    private mutating func exponent(into text: inout String, path: String) throws(ConfigurationError) -> Bool {
        guard cursor.peek == "e" || cursor.peek == "E" else { return false }
        cursor.next()
        text += "e"
        if case let sign? = cursor.peek, sign == "+" || sign == "-" {
            text.unicodeScalars.append(sign)
            cursor.next()
        }
        guard !digits(into: &text).isEmpty else { throw unexpected(path: path, expected: "digits in the exponent") }
        return true
    }

    /// A number that runs into a word is most often a duration or a size without its quotes.
    private func endOfNumber(path: String) throws(ConfigurationError) {
        guard let scalar = cursor.peek, scalar.isIdentifierPart || scalar == "." else { return }
        throw ConfigurationError(
            .syntax, at: cursor.position, path: path, found: "a number that runs into \(scalar.nameInMessages)",
            expected: "the end of the number", hint: "durations, sizes and addresses stand in quotes, such as \"30s\"")
    }

    /// JSON5 lets either side of the point be empty; Swift wants both.
    private static func spelledForSwift(_ text: String, whole: String, fraction: String) -> String {
        let sign = text.prefix { $0 == "+" || $0 == "-" }
        let tail = text.drop { $0 != "e" }
        return sign + (whole.isEmpty ? "0" : whole) + "." + (fraction.isEmpty ? "0" : fraction) + tail
    }

    private static func whole(_ double: Double) -> Int? {
        // Spelled out, because `Int(exactly:)` calls libm, which nothing else here needs.
        guard double.magnitude <= 9_007_199_254_740_992, Double(Int(double)) == double else { return nil }
        return Int(double)
    }
}

extension Unicode.Scalar {
    /// 0 to 9.
    var isDecimalDigit: Bool { "0"..."9" ~= self }

    /// The value of a hexadecimal digit.
    var hexDigit: UInt32? {
        switch self {
        case "0"..."9": value - 0x30
        case "a"..."f": value - 0x61 + 10
        case "A"..."F": value - 0x41 + 10
        default: nil
        }
    }
}
