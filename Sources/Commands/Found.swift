/// The daemon's answer, looked into: what is missing or of another type is nil, and no text can move the cursor.

public import Profiles
internal import Routing

/// A place in an answer, whether there is something or not.
public struct Found: Sendable {
    let value: JSON5Value?

    public init(_ value: JSON5Value?) { self.value = value }

    public subscript(_ key: String) -> Found {
        guard case .object(let members)? = value?.content else { return Found(nil) }
        return Found(members.first { $0.key == key }?.value)
    }

    /// Whether there is something, and not null.
    public var isThere: Bool {
        switch value?.content {
        case nil, .null?: false
        case .boolean?, .number?, .string?, .array?, .object?: true
        }
    }

    /// A text of one line: names come from devices and people, so control characters are made visible.
    public var text: String? { raw.map { Self.visible($0[...]) } }

    /// A text of several lines.
    var lines: [String]? { raw.map { $0.split(separator: "\n").map(Self.visible) } }

    /// A text as it was sent.
    public var raw: String? {
        if case .string(let text)? = value?.content { text } else { nil }
    }

    public var integer: Int? {
        if case .number(let number)? = value?.content { number.integer } else { nil }
    }

    public var flag: Bool? {
        if case .boolean(let flag)? = value?.content { flag } else { nil }
    }

    public var elements: [Found] {
        if case .array(let elements)? = value?.content { elements.map(Found.init) } else { [] }
    }

    public var texts: [String] { elements.compactMap(\.text) }

    var members: [(key: String, value: Found)] {
        guard case .object(let members)? = value?.content else { return [] }
        return members.map { (Self.visible($0.key[...]), Found($0.value)) }
    }

    static func visible(_ text: Substring) -> String {
        text.unicodeScalars.map(\.visible).joined()
    }
}

extension Found {
    /// What an answer says of an error, in one line; nil when it says nothing of the kind.
    public var error: String? {
        let error = self["error"]
        guard var line = error["message"].text ?? error["code"].text else { return nil }
        // The message of a configuration's or a link's error has it all already.
        if let expected = error["expected"].text, !line.contains("expected") {
            line += error["found"].text.map { "; found \($0)" } ?? ""
            line += "; expected \(expected)"
        }
        if let place = error["path"].text, !line.contains("\(place):"), !line.contains("`\(place)`") {
            line = "\(place): \(line)"
        }
        if let hint = error["hint"].text, !line.contains(hint) { line += " (\(hint))" }
        return line
    }
}
