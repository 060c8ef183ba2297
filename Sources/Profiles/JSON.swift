/// JSON as it is written: by the control API, the store and the command line (RFC 8259).
///
/// Reading is `JSON5Reader`'s; JSON is JSON5.

/// A value to be written.
public enum JSON: Equatable, Sendable {
    case null
    case boolean(Bool)
    case integer(Int)
    case string(String)
    case array([JSON])
    /// In this order.
    case object([Member])

    /// One key and its value.
    public struct Member: Equatable, Sendable {
        public var key: String
        public var value: JSON

        public init(_ key: String, _ value: JSON) {
            self.key = key
            self.value = value
        }
    }

    /// An object without those members whose value is nil.
    public static func members(_ pairs: KeyValuePairs<String, JSON?>) -> JSON {
        .object(pairs.compactMap { pair in pair.value.map { Member(pair.key, $0) } })
    }

    public static func strings(_ texts: [String]) -> JSON { .array(texts.map(JSON.string)) }

    /// The value of a key; nil when this is no object or has none.
    public subscript(_ key: String) -> JSON? {
        guard case .object(let members) = self else { return nil }
        return members.first { $0.key == key }?.value
    }
}

extension JSON: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral,
    ExpressibleByArrayLiteral
{
    public init(stringLiteral value: String) { self = .string(value) }
    public init(integerLiteral value: Int) { self = .integer(value) }
    public init(booleanLiteral value: Bool) { self = .boolean(value) }
    public init(arrayLiteral elements: JSON...) { self = .array(elements) }
}

extension JSON {
    /// On one line, without blanks.
    public var text: String {
        var text = ""
        write(into: &text, indent: nil, depth: 0)
        return text
    }

    /// One member a line, two blanks deeper in each object and list, and a line feed at the end.
    public var pretty: String {
        var text = ""
        write(into: &text, indent: "  ", depth: 0)
        return text + "\n"
    }

    private func write(into text: inout String, indent: String?, depth: Int) {
        switch self {
        case .null: text += "null"
        case .boolean(let value): text += value ? "true" : "false"
        case .integer(let value): text += "\(value)"
        case .string(let value): Self.write(value, into: &text)
        case .array(let elements):
            Self.write(elements, "[", "]", into: &text, indent, depth) { element, text in
                element.write(into: &text, indent: indent, depth: depth + 1)
            }
        case .object(let members):
            Self.write(members, "{", "}", into: &text, indent, depth) { member, text in
                Self.write(member.key, into: &text)
                text += indent == nil ? ":" : ": "
                member.value.write(into: &text, indent: indent, depth: depth + 1)
            }
        }
    }

    private static func write<Element>(
        _ elements: [Element], _ open: String, _ close: String, into text: inout String, _ indent: String?,
        _ depth: Int,
        _ write: (Element, inout String) -> Void
    ) {
        text += open
        for (index, element) in elements.enumerated() {
            if index > 0 { text += "," }
            if let indent { text += "\n" + String(repeating: indent, count: depth + 1) }
            write(element, &text)
        }
        if let indent, !elements.isEmpty { text += "\n" + String(repeating: indent, count: depth) }
        text += close
    }

    /// A text in quotes; control characters, quotes and backslashes as RFC 8259, section 7, wants them.
    private static func write(_ value: String, into text: inout String) {
        text += "\""
        for scalar in value.unicodeScalars {
            switch scalar {
            case "\"": text += "\\\""
            case "\\": text += "\\\\"
            case "\n": text += "\\n"
            case "\r": text += "\\r"
            case "\t": text += "\\t"
            case "\u{0}"..."\u{1f}", "\u{7f}":
                let code = String(scalar.value, radix: 16)
                text += "\\u" + String(repeating: "0", count: 4 - code.count) + code
            default: text.unicodeScalars.append(scalar)
            }
        }
        text += "\""
    }
}
