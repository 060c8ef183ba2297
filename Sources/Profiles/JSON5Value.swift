/// What a JSON5 text says, and where it says it.

/// A place in a text: both numbers start at 1, and a column is one Unicode scalar.
public struct TextPosition: Equatable, Sendable, CustomStringConvertible {
    public var line: Int
    /// 0 where the whole line is meant.
    public var column: Int

    public init(line: Int, column: Int) {
        self.line = line
        self.column = column
    }

    public var description: String { column == 0 ? "line \(line)" : "line \(line), column \(column)" }
}

/// One value with the place of its first character.
public struct JSON5Value: Equatable, Sendable {
    public let position: TextPosition
    public let content: Content

    /// What it is.
    public enum Content: Equatable, Sendable {
        case null
        case boolean(Bool)
        case number(JSON5Number)
        case string(String)
        case array([JSON5Value])
        /// In the order of the text; no key stands twice.
        case object([JSON5Member])
    }

    /// The kind of the value in words, for messages.
    public var kind: String {
        switch content {
        case .null: "null"
        case .boolean(let value): value ? "true" : "false"
        case .number: "a number"
        case .string: "a text"
        case .array(let elements): elements.isEmpty ? "an empty list" : "a list"
        case .object: "an object"
        }
    }

    /// Whether the value says nothing: null, false, an empty text, list or object.
    public var isEmpty: Bool {
        switch content {
        case .null, .boolean(false): true
        case .boolean(true), .number: false
        case .string(let text): text.isEmpty
        case .array(let elements): elements.isEmpty
        case .object(let members): members.isEmpty
        }
    }
}

extension JSON5Value {
    /// Where the value stands that a path such as `profiles[0].upstream.port` leads to, or as near as it gets.
    func position(of path: String) -> TextPosition {
        var value = self
        for step in path.split(whereSeparator: { $0 == "." || $0 == "[" }) {
            let next: JSON5Value? =
                switch value.content {
                case .object(let members): members.first { $0.key == step }?.value
                case .array(let elements):
                    Int(step.dropLast()).flatMap { elements.indices.contains($0) ? elements[$0] : nil }
                default: nil
                }
            guard let next else { break }
            value = next
        }
        return value.position
    }
}

/// One key of an object and its value.
public struct JSON5Member: Equatable, Sendable {
    public let key: String
    public let position: TextPosition
    public let value: JSON5Value
}

/// A number as it is spelled and as it is meant.
public struct JSON5Number: Equatable, Sendable {
    /// The characters of the text, sign and prefix included.
    public let text: String
    /// The nearest double, which may be infinite or no number at all.
    public let double: Double

    /// The value, if it is a whole number that fits.
    ///
    /// `1e3` and `1.0` are whole numbers; a decimal spelling beyond 2^53 is exact or nil.
    public let integer: Int?

    /// Numbers are equal when they are spelled alike; by value NaN would not equal itself.
    public static func == (left: JSON5Number, right: JSON5Number) -> Bool { left.text == right.text }
}
