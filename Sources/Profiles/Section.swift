/// Typed reading of one object of a configuration, with errors that say where, what and what instead.

internal import Addresses
internal import Bytes

/// One object whose keys are all known.
struct Section {
    let path: String
    let position: TextPosition
    private let members: [String: JSON5Member]

    /// Checks that the value is an object and that each of its keys is known.
    ///
    /// Keys in `later` belong to features that this version lacks; they are refused unless they say nothing.
    init(_ value: JSON5Value, path: String, keys: [String], later: [String] = []) throws(ConfigurationError) {
        self.path = path
        position = value.position
        guard case .object(let list) = value.content else {
            throw ConfigurationError(
                .wrongType, at: value.position, path: path, found: value.kind, expected: "an object: { … }")
        }
        members = Dictionary(list.map { ($0.key, $0) }) { first, _ in first }
        for member in list where !keys.contains(member.key) {
            let inner = Shown.path(path, member.key)
            guard !later.contains(member.key) else {
                if member.value.isEmpty { continue }
                throw ConfigurationError(
                    .notYet, at: member.position, path: inner, found: "a setting that is not in this version yet",
                    expected: "no `\(member.key)`, or an empty one")
            }
            throw ConfigurationError(
                .unknownKey, at: member.position, path: inner, found: "unknown key \(Shown.key(member.key))",
                expected: "one of \(keys.joined(separator: ", "))",
                hint: ConfigurationKeys.advice(on: member.key, in: path, among: keys))
        }
    }

    subscript(_ key: String) -> JSON5Value? { members[key]?.value }

    /// An error about one of the keys: at an element of its list, at its value or, where it is missing, at the object.
    func error(
        _ code: ConfigurationError.Code, _ key: String, found: String, expected: String, hint: String? = nil,
        at element: JSON5Value? = nil
    ) -> ConfigurationError {
        ConfigurationError(
            code, at: element?.position ?? self[key]?.position ?? position, path: Shown.path(path, key), found: found,
            expected: expected, hint: hint)
    }

    /// The value of a key that must be there.
    func required(_ key: String, _ expected: String) throws(ConfigurationError) -> JSON5Value {
        guard let value = self[key] else { throw error(.missingKey, key, found: "no such key", expected: expected) }
        return value
    }

    // MARK: Values that keep their default when the key is missing

    func read(_ key: String, into flag: inout Bool) throws(ConfigurationError) {
        guard let value = self[key] else { return }
        guard case .boolean(let found) = value.content else {
            throw error(.wrongType, key, found: value.kind, expected: "true or false")
        }
        flag = found
    }

    func read(_ key: String, into number: inout Int, within range: ClosedRange<Int>) throws(ConfigurationError) {
        guard let value = self[key] else { return }
        let expected = "a whole number from \(range.lowerBound) to \(range.upperBound)"
        guard case .number(let found) = value.content else {
            let hint = value.isText ? "numbers stand without quotes" : nil
            throw error(.wrongType, key, found: value.kind, expected: expected, hint: hint)
        }
        guard let integer = found.integer, range.contains(integer) else {
            throw error(.badValue, key, found: Shown.number(found), expected: expected)
        }
        number = integer
    }

    func read(
        _ key: String, into duration: inout Interval, within range: ClosedRange<Interval>
    ) throws(ConfigurationError) {
        guard let value = self[key] else { return }
        duration = try self.duration(value, key, within: range)
    }

    func duration(
        _ value: JSON5Value, _ key: String, within range: ClosedRange<Interval>
    ) throws(ConfigurationError) -> Interval {
        let expected =
            "a duration from \"\(Quantity.text(range.lowerBound))\" to \"\(Quantity.text(range.upperBound))\""
        guard case .string(let text) = value.content else {
            throw error(.wrongType, key, found: value.kind, expected: expected, hint: "with its unit and in quotes")
        }
        guard let interval = Quantity.duration(text) else {
            throw error(
                .badValue, key, found: Shown.text(text), expected: expected,
                hint: "one number and one unit: ms, s, m, h or d")
        }
        guard range.contains(interval) else {
            throw error(.badValue, key, found: Shown.text(text), expected: expected)
        }
        return interval
    }

    /// Reads a number of octets.
    func read(_ key: String, intoSize size: inout Int, within range: ClosedRange<Int>) throws(ConfigurationError) {
        guard let value = self[key] else { return }
        let expected =
            "a size from \"\(Quantity.text(octets: range.lowerBound))\" to \"\(Quantity.text(octets: range.upperBound))\""
        guard case .string(let text) = value.content else {
            throw error(.wrongType, key, found: value.kind, expected: expected, hint: "with its unit and in quotes")
        }
        guard let octets = Quantity.size(text) else {
            throw error(
                .badValue, key, found: Shown.text(text), expected: expected,
                hint: "one number and one unit: B, KiB, MiB or GiB")
        }
        guard range.contains(octets) else {
            throw error(.badValue, key, found: Shown.text(text), expected: expected)
        }
        size = octets
    }

    /// Reads one word of a closed list.
    func read<Choice: RawRepresentable<String> & CaseIterable>(
        _ key: String, into choice: inout Choice
    ) throws(ConfigurationError) {
        guard let value = self[key] else { return }
        let words = Choice.allCases.map(\.rawValue)
        let expected = "one of " + words.map { "\"\($0)\"" }.joined(separator: ", ")
        guard case .string(let text) = value.content else {
            throw error(.wrongType, key, found: value.kind, expected: expected)
        }
        guard let found = Choice(rawValue: text) else {
            let suggestion = NearMiss.suggestion(for: text, among: words)
            throw error(
                .badValue, key, found: Shown.text(text), expected: expected,
                hint: suggestion.map { "did you mean \"\($0)\"?" })
        }
        choice = found
    }

    /// Reads a text of one line, not empty.
    func text(_ key: String, _ expected: String, limit: Int = 255) throws(ConfigurationError) -> String? {
        guard let value = self[key] else { return nil }
        guard case .string(let text) = value.content else {
            throw error(.wrongType, key, found: value.kind, expected: expected)
        }
        guard !text.isEmpty else { throw error(.badValue, key, found: "an empty text", expected: expected) }
        guard text.utf8.count <= limit else {
            throw error(
                .badValue, key, found: "a text of \(text.utf8.count) octets", expected: "\(expected), at most \(limit)")
        }
        guard !text.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) else {
            throw error(.badValue, key, found: "a text with control characters", expected: expected)
        }
        return text
    }

    /// Reads the name of a network interface, as the kernel takes it and a command line bears it.
    func interface(_ key: String) throws(ConfigurationError) -> String? {
        guard let text = try text(key, Self.interfaceName) else { return nil }
        guard Self.isInterface(text) else {
            throw error(.badValue, key, found: Shown.text(text), expected: Self.interfaceName)
        }
        return text
    }

    static let interfaceName = "an interface name of 1 to 15 letters, digits, hyphens, dots and underscores"

    static func isInterface(_ text: String) -> Bool {
        let isPlain = text.unicodeScalars.allSatisfy { $0.isASCIILetterOrDigit || "-._".unicodeScalars.contains($0) }
        return isPlain && (1...15).contains(text.utf8.count) && text != "." && text != ".." && !text.hasPrefix("-")
    }

    /// Reads a short name that other places refer to.
    func identifier(_ key: String) throws(ConfigurationError) -> String {
        _ = try required(key, Self.identifierForm)
        return try optionalIdentifier(key) ?? ""
    }

    /// Reads a short name that may be missing.
    func optionalIdentifier(_ key: String) throws(ConfigurationError) -> String? {
        guard let text = try text(key, Self.identifierForm, limit: 64) else { return nil }
        guard LinkValues.isIdentifier(text) else {
            throw error(.badValue, key, found: Shown.text(text), expected: Self.identifierForm)
        }
        return text
    }

    static let identifierForm = "a short name of letters, digits, hyphens, dots and underscores"

    /// Reads a list of texts of one line, none of them empty.
    func texts(_ key: String, _ expected: String, limit: Int) throws(ConfigurationError) -> [RuleText] {
        var texts: [RuleText] = []
        for (index, value) in try list(key, expected, limit: limit).enumerated() {
            let path = "\(Shown.path(path, key))[\(index)]"
            guard case .string(let text) = value.content else {
                throw ConfigurationError(
                    .wrongType, at: value.position, path: path, found: value.kind, expected: "a text",
                    hint: "the whole is \(expected)")
            }
            guard !text.isEmpty, text.utf8.count <= 1024, !text.hasControlCharacters else {
                let found = text.isEmpty ? "an empty text" : "a text that is too long, or has control characters"
                throw ConfigurationError(
                    .badValue, at: value.position, path: path, found: found,
                    expected: "one line of at most 1024 octets")
            }
            texts.append(RuleText(text, at: value.position))
        }
        return texts
    }

    /// Reads a list, or nothing.
    func list(_ key: String, _ expected: String, limit: Int) throws(ConfigurationError) -> [JSON5Value] {
        guard let value = self[key] else { return [] }
        guard case .array(let elements) = value.content else {
            throw error(.wrongType, key, found: value.kind, expected: expected)
        }
        guard elements.count <= limit else {
            throw error(
                .badValue, key, found: "a list of \(elements.count)", expected: "\(expected), at most \(limit)")
        }
        return elements
    }
}

extension JSON5Value {
    /// Whether the value is a text.
    var isText: Bool {
        if case .string = content { true } else { false }
    }
}

extension Shown {
    /// A number as it was spelled, cut where it is absurdly long.
    static func number(_ number: JSON5Number) -> String {
        number.text.count > 30 ? number.text.prefix(30) + "…" : number.text
    }

    /// A key in backquotes, cut and made visible like any text.
    static func key(_ key: String) -> String {
        "`" + text(key).dropFirst().dropLast() + "`"
    }
}
