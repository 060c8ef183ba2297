/// Why a rule or a list was refused, for whoever wrote it.

/// One reason, with its place and what would be right.
public struct RoutingError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The sort of mistake, for programs.
    public enum Code: String, Sendable {
        /// Octets that are no text: invalid UTF-8, or NUL.
        case encoding
        case tooLarge
        /// No spelling of the list's format.
        case spelling
        /// A name that cannot be a host's.
        case name
        /// A network that is none.
        case prefix
        /// A rule that other programs know and this one does not.
        case unsupported
        case unknownSet
        case unknownOutbound
        /// A list of which nobody can say what it means.
        case ambiguous
    }

    public var code: Code
    /// `rules`, `bypass`, `domains`, or the name of a set.
    public var list: String
    public var file: String?
    public var line: Int?
    public var found: String
    public var expected: String
    public var hint: String?

    /// One line: place, found, expected, and advice where there is any.
    public var description: String {
        let place = RuleOrigin.place(file: file, line: line)
        var text = "\(list)\(place.isEmpty ? "" : ", " + place): found \(found); expected \(expected)"
        if let hint { text += " (\(hint))" }
        return text
    }
}

/// A refusal before its place is known.
struct Misspelling: Error {
    var code: RoutingError.Code
    var found: String
    var expected: String
    var hint: String?

    init(_ code: RoutingError.Code, found: String, expected: String, hint: String? = nil) {
        self.code = code
        self.found = found
        self.expected = expected
        self.hint = hint
    }

    init(_ code: RoutingError.Code, found: ArraySlice<UInt8>, expected: String, hint: String? = nil) {
        self.init(code, found: Shown.text(found), expected: expected, hint: hint)
    }

    func at(list: String, file: String?, line: Int?) -> RoutingError {
        RoutingError(code: code, list: list, file: file, line: line, found: found, expected: expected, hint: hint)
    }
}

/// How pieces of a list are shown in messages.
enum Shown {
    /// A text in quotes: one line, at most 60 characters, what cannot be seen as its number.
    ///
    /// Somebody's proxy URL may have got in here: what stands before an "@" may be a password, unless that begins a
    /// word, as attributes do.
    static func text(_ text: ArraySlice<UInt8>) -> String {
        var (text, shown) = (text, "\"")
        if let at = text.lastIndex(of: UInt8(ascii: "@")), at > text.startIndex, text[at - 1] > 0x20 {
            text = text[at...]
            shown += "…"
        }
        // Four octets are the longest character: what lies behind cannot be shown anyway.
        let start = String(decoding: text.prefix(244), as: UTF8.self).unicodeScalars
        for scalar in start.prefix(60) { shown += scalar.visible }
        return shown + (start.count > 60 ? "…\"" : "\"")
    }

    static func text(_ text: String) -> String { Self.text(Array(text.utf8)[...]) }
}
