/// A walk over the characters of a text that always knows its line and column.

/// Where a reader stands in a text of Unicode scalars.
///
/// A line ends with LF, CR or CRLF, as editors count. A byte order mark at the start is passed over.
struct TextCursor {
    private let scalars: [Unicode.Scalar]
    private var index = 0
    private(set) var position = TextPosition(line: 1, column: 1)

    /// Decodes UTF-8, or says where the first octet stands that is none.
    init(_ bytes: Span<UInt8>) throws(ConfigurationError) {
        var scalars: [Unicode.Scalar] = []
        scalars.reserveCapacity(bytes.count)
        var invalid: Int?
        var offset = 0
        while offset < bytes.count {
            guard let (scalar, length) = Self.decode(bytes, at: offset) else {
                invalid = offset
                break
            }
            if offset > 0 || scalar != "\u{feff}" { scalars.append(scalar) }
            offset += length
        }
        self.scalars = scalars
        guard let invalid else { return }
        while next() != nil {}
        let octet = String(bytes[invalid], radix: 16, uppercase: true)
        throw ConfigurationError(
            .encoding, at: position, path: "", found: "the octet 0x\(octet), which is not UTF-8",
            expected: "UTF-8 text",
            hint: "save the file as UTF-8")
    }

    /// The character that comes next, without moving.
    var peek: Unicode.Scalar? { index < scalars.count ? scalars[index] : nil }

    /// A character further on, without moving.
    func peek(ahead count: Int) -> Unicode.Scalar? {
        index + count < scalars.count ? scalars[index + count] : nil
    }

    /// Moves past one character and returns it.
    @discardableResult
    mutating func next() -> Unicode.Scalar? {
        guard let scalar = peek else { return nil }
        index += 1
        if scalar == "\n" || scalar == "\r" && peek != "\n" {
            position.line += 1
            position.column = 1
        } else {
            position.column += 1
        }
        return scalar
    }

    /// Moves past a character if it is the next one.
    mutating func skip(_ scalar: Unicode.Scalar) -> Bool {
        guard peek == scalar else { return false }
        next()
        return true
    }

    /// Reads one scalar of well-formed UTF-8 (Unicode 15, table 3-7), or returns nil.
    private static func decode(_ bytes: Span<UInt8>, at offset: Int) -> (Unicode.Scalar, Int)? {
        let first = bytes[offset]
        let (length, least): (Int, UInt32)
        switch first {
        case 0x00...0x7f: return (Unicode.Scalar(first), 1)
        case 0xc2...0xdf: (length, least) = (2, 0x80)
        case 0xe0...0xef: (length, least) = (3, 0x800)
        case 0xf0...0xf4: (length, least) = (4, 0x10000)
        default: return nil
        }
        guard bytes.count - offset >= length else { return nil }
        var value = UInt32(first) & (0x7f >> UInt32(length))
        for index in 1..<length {
            guard bytes[offset + index] & 0xc0 == 0x80 else { return nil }
            value = value << 6 | UInt32(bytes[offset + index] & 0x3f)
        }
        // The shortest form alone is well-formed; surrogates and numbers past the end are no scalars.
        guard value >= least, let scalar = Unicode.Scalar(value) else { return nil }
        return (scalar, length)
    }
}
