/// Where two configurations differ, key by key: the administrator's file and what is running.

/// One key that both don't say the same of.
public struct Difference: Equatable, Sendable, CustomStringConvertible {
    /// The key's path; entries of lists by their id or name, such as `profiles[whistle-qa].upstream.port`.
    public var path: String
    /// What the file says; nil: nothing, so the default counts.
    public var file: JSON?
    /// What is running; nil: the default.
    public var running: JSON?

    /// One line.
    public var description: String {
        "\(path): \(file.map { "file \($0.text)" } ?? "not in the file"), "
            + (running.map { "running \($0.text)" } ?? "not running")
    }

    /// As `GET /v1/diff` says it.
    public var json: JSON {
        .object([
            JSON.Member("path", .string(path)), JSON.Member("file", file ?? .null),
            JSON.Member("running", running ?? .null),
        ])
    }
}

extension Configuration {
    /// What differs while this one runs, in the order of the configuration's keys.
    public func differences(from file: Configuration) -> [Difference] {
        Difference.between(file.json, json, path: "")
    }
}

extension Difference {
    static func between(_ file: JSON?, _ running: JSON?, path: String) -> [Difference] {
        guard file != running else { return [] }
        if case .object(let left)? = file, case .object(let right)? = running {
            let keys = left.map(\.key) + right.map(\.key).filter { key in !left.contains { $0.key == key } }
            return keys.flatMap { between(file?[$0], running?[$0], path: Shown.path(path, $0)) }
        }
        let left = entries(file ?? .array([]))
        let right = entries(running ?? .array([]))
        guard let left, let right, !(left.isEmpty && right.isEmpty) else {
            return [Difference(path: path, file: file, running: running)]
        }
        let names = left.map(\.name) + right.map(\.name).filter { name in !left.contains { $0.name == name } }
        let found = names.flatMap { name in
            let before = left.first { $0.name == name }?.value
            let after = right.first { $0.name == name }?.value
            return between(before, after, path: "\(path)[\(name)]")
        }
        return found.isEmpty ? [Difference(path: path, file: file, running: running)] : found
    }

    /// The entries of a list that have a name each; nil for any other value.
    private static func entries(_ value: JSON) -> [(name: String, value: JSON)]? {
        guard case .array(let elements) = value else { return nil }
        var entries: [(name: String, value: JSON)] = []
        for element in elements {
            guard case .string(let name)? = element["id"] ?? element["name"] else { return nil }
            entries.append((name, element))
        }
        return entries
    }
}
