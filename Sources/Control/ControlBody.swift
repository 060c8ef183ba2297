/// Typed reading of a request's body: one JSON object whose keys are all known.

internal import Bytes
internal import Profiles

struct ControlBody {
    private let members: [String: JSON5Value]

    /// Reads the body of a request; every key has to be one of those.
    init(_ request: ControlRequest, keys: [String]) throws(ControlError) {
        guard request.isJSON else {
            throw ControlError(
                .unsupportedMediaType,
                "found a body that is not said to be JSON; expected Content-Type: application/json")
        }
        let value: JSON5Value
        do throws(ConfigurationError) {
            value = try JSON5Reader.read(request.body.span)
        } catch {
            throw ControlError(error)
        }
        guard case .object(let list) = value.content else {
            throw ControlError(
                .badRequest, "found \(value.kind); expected an object with \(keys.joined(separator: ", "))",
                found: value.kind, expected: "an object")
        }
        members = Dictionary(list.map { ($0.key, $0.value) }) { first, _ in first }
        for member in list where !keys.contains(member.key) {
            throw Self.unknown(member.key, among: keys, "key")
        }
    }

    static func unknown(_ name: String, among names: [String], _ what: String) -> ControlError {
        let near = NearMiss.suggestion(for: name, among: names)
        let expected = names.isEmpty ? "none" : "one of \(names.joined(separator: ", "))"
        let shown = String(name.unicodeScalars.filter { $0.isASCII && $0.value > 0x20 }.prefix(64).map(Character.init))
        return ControlError(
            .badRequest, "found the unknown \(what) `\(shown)`; expected \(expected)", path: shown,
            found: "an unknown \(what)", expected: expected, hint: near.map { "did you mean `\($0)`?" })
    }

    static func wrong(_ key: String, _ found: String, _ expected: String) -> ControlError {
        ControlError(
            .badRequest, "\(key): found \(found); expected \(expected)", path: key, found: found, expected: expected)
    }

    /// Whether a key is there, be it with null.
    func mentions(_ key: String) -> Bool { members[key] != nil }

    /// Whether a key is there and says something.
    func has(_ key: String) -> Bool { members[key].map { $0.content != .null } ?? false }

    /// A text of one line; nil where the key is not there, or null.
    func text(_ key: String, _ expected: String, limit: Int = 1024) throws(ControlError) -> String? {
        guard let value = members[key], value.content != .null else { return nil }
        guard case .string(let text) = value.content else { throw Self.wrong(key, value.kind, expected) }
        let isOneLine = text.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }
        guard !text.isEmpty, text.utf8.count <= limit, isOneLine else {
            let found =
                text.isEmpty ? "an empty text" : isOneLine ? "a text over \(limit) octets" : "no text of one line"
            throw Self.wrong(key, found, expected)
        }
        return text
    }

    /// As `text`, where it has to be there.
    func required(_ key: String, _ expected: String, limit: Int = 1024) throws(ControlError) -> String {
        guard let text = try text(key, expected, limit: limit) else { throw Self.wrong(key, "nothing", expected) }
        return text
    }

    func flag(_ key: String) throws(ControlError) -> Bool {
        guard let value = members[key], value.content != .null else { return false }
        guard case .boolean(let flag) = value.content else { throw Self.wrong(key, value.kind, "true or false") }
        return flag
    }

    func integer(_ key: String, within range: ClosedRange<Int>) throws(ControlError) -> Int? {
        guard let value = members[key], value.content != .null else { return nil }
        let expected = "a whole number from \(range.lowerBound) to \(range.upperBound)"
        guard case .number(let number) = value.content, let integer = number.integer, range.contains(integer) else {
            throw Self.wrong(key, value.kind == "a number" ? "a number that is none of these" : value.kind, expected)
        }
        return integer
    }

    func duration(_ key: String, within range: ClosedRange<Interval>) throws(ControlError) -> Interval? {
        let expected =
            "a duration from \"\(Quantity.text(range.lowerBound))\" to \"\(Quantity.text(range.upperBound))\""
        guard let text = try text(key, expected, limit: 32) else { return nil }
        guard let duration = Quantity.duration(text), range.contains(duration) else {
            throw Self.wrong(key, "no such duration", expected)
        }
        return duration
    }

    /// A list of texts; nil where it is not there.
    func texts(_ key: String, _ expected: String, limit: Int) throws(ControlError) -> [String]? {
        guard let value = members[key], value.content != .null else { return nil }
        guard case .array(let elements) = value.content, elements.count <= limit else {
            throw Self.wrong(key, value.kind, "\(expected), at most \(limit)")
        }
        var texts: [String] = []
        for element in elements {
            guard case .string(let text) = element.content else { throw Self.wrong(key, element.kind, expected) }
            texts.append(text)
        }
        return texts
    }
}
