/// Why a configuration was refused, for whoever wrote it.
///
/// A message never shows a secret: text is quoted only where no secret can stand, and what looks like the
/// user part of a URL is left out.

internal import Routing

/// One reason, with its place in the text and what would be right.
public struct ConfigurationError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The sort of mistake, for programs.
    public enum Code: String, CaseIterable, Sendable {
        case encoding
        case syntax
        case tooLarge
        case tooDeep
        case duplicateKey
        case unknownKey
        case missingKey
        case wrongType
        case badValue
        case conflict
        /// An entry of a list that is no rule.
        case rule
        case notYet
        /// The whole text is something else: a page, another program's configuration.
        case foreign
    }

    public var code: Code
    /// The list that the error is in; nil: the configuration itself.
    public var file: String?
    public var position: TextPosition?
    /// The keys that lead there, such as `profiles[0].upstream.port`; empty for the whole text.
    public var path: String
    public var found: String
    public var expected: String
    public var hint: String?

    public init(
        _ code: Code, at position: TextPosition?, path: String, found: String, expected: String, hint: String? = nil
    ) {
        self.code = code
        file = nil
        self.position = position
        self.path = path
        self.found = found
        self.expected = expected
        self.hint = hint
    }

    /// One line: place, path, found, expected, and advice where there is any.
    public var description: String {
        var text = ""
        if let position { text += "\(position): " }
        if !path.isEmpty { text += "\(path): " }
        text += "found \(found); expected \(expected)"
        if let hint { text += " (\(hint))" }
        return text
    }
}

/// How pieces of a configuration are shown in messages.
public enum Shown {
    /// A text in quotes: one line, at most 60 characters, without the user part of a URL.
    public static func text(_ text: String) -> String {
        var rest = text[...]
        var shown = "\""
        if let at = rest.lastIndex(of: "@") {
            shown += "…"
            rest = rest[at...]
        }
        var count = 0
        for scalar in rest.unicodeScalars {
            guard count < 60 else {
                shown += "…"
                break
            }
            shown += scalar.visible
            count += 1
        }
        return shown + "\""
    }

    /// A path made longer by one key; a key that is no plain word stands in brackets.
    static func path(_ path: String, _ key: String) -> String {
        let isPlain = { (octet: UInt8) in octet < 0x80 && Unicode.Scalar(octet).isIdentifierPart || octet == 0x2d }
        guard (1...64).contains(key.utf8.count), key.utf8.allSatisfy(isPlain) else {
            return "\(path)[\(text(key))]"
        }
        return path.isEmpty ? key : path + "." + key
    }
}
