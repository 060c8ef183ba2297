/// One event on one line of `key=value` pairs, for standard error and the journal.
///
/// The line is built in bytes: a gateway closes thousands of flows a second, and each one is a line.

/// How important a line is; the raw value is the journal's priority (sd-daemon(3)).
public enum LogLevel: UInt8, Comparable, Sendable {
    case error = 3
    case warning = 4
    case notice = 5
    case info = 6
    case debug = 7

    public static func < (left: LogLevel, right: LogLevel) -> Bool { left.rawValue < right.rawValue }
}

public struct LogLine: Sendable {
    /// The line, with its newline once it is finished.
    public private(set) var bytes: [UInt8] = []

    /// Begins a line; with `journal` the priority stands in front as `<6>`, which journald takes off.
    public init(_ level: LogLevel, event: String, journal: Bool) {
        bytes.reserveCapacity(256)
        if journal {
            bytes.append(UInt8(ascii: "<"))
            bytes.append(UInt8(ascii: "0") + level.rawValue)
            bytes.append(UInt8(ascii: ">"))
        }
        append("event=")
        append(event)
        if level <= .warning {
            append(level == .error ? " level=error" : " level=warning")
        }
    }

    public mutating func add(_ key: String, _ value: Int) {
        begin(key)
        append(decimal: value)
    }

    public mutating func add(_ key: String, _ value: UInt64) {
        add(key, Int(truncatingIfNeeded: value & UInt64(Int.max)))
    }

    /// Adds a text; it is quoted when it has anything but letters, digits and plain punctuation in it.
    ///
    /// Then quotes, backslashes and whatever moves a cursor or ends a line somewhere are escaped: a line stays a
    /// line, and looks like what it is.
    public mutating func add(_ key: String, _ value: String) {
        begin(key)
        guard value.isEmpty || !value.utf8.allSatisfy(Self.isPlain) else { return append(value) }
        bytes.append(UInt8(ascii: "\""))
        for scalar in value.unicodeScalars {
            switch scalar.value {
            case 0x22, 0x5c: append("\\\(scalar)")
            case 0x0a: append("\\n")
            case 0x0d: append("\\r")
            case 0x09: append("\\t")
            case 0x20..<0x7f: bytes.append(UInt8(truncatingIfNeeded: scalar.value))
            case let code where Self.isInvisible(scalar): append("\\u{\(String(code, radix: 16))}")
            default: bytes.append(contentsOf: UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }

    /// Ends the line.
    public mutating func finish() { bytes.append(UInt8(ascii: "\n")) }

    /// Letters, digits and punctuation but the quote, `=` and the backslash.
    private static func isPlain(_ byte: UInt8) -> Bool {
        byte > 0x20 && byte < 0x7f && byte != 0x22 && byte != 0x3d && byte != 0x5c
    }

    /// Control characters of either block, line and paragraph separators, and what turns the direction of text.
    private static func isInvisible(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: true
        default: false
        }
    }

    private mutating func begin(_ key: String) {
        bytes.append(UInt8(ascii: " "))
        append(key)
        bytes.append(UInt8(ascii: "="))
    }

    private mutating func append(_ text: String) {
        bytes.append(contentsOf: text.utf8)
    }

    private mutating func append(decimal value: Int) {
        if value < 0 { bytes.append(UInt8(ascii: "-")) }
        var rest = value.magnitude
        let start = bytes.count
        repeat {
            bytes.append(UInt8(ascii: "0") + UInt8(rest % 10))
            rest /= 10
        } while rest > 0
        bytes[start...].reverse()
    }
}
