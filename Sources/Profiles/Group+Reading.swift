/// The keys of an upstream of the type `group`.

internal import Bytes

extension GroupOptions {
    init(_ section: Section) throws(ConfigurationError) {
        members = try Self.members(section)
        try section.read("choose", into: &choose)
        for (key, owner) in [("tolerance", Choice.fastest), ("returnAfter", .fallback)] where owner != choose {
            guard section[key] == nil else {
                throw section.error(
                    .conflict, key, found: "`\(key)` with choose \"\(choose.rawValue)\"",
                    expected: "choose \"\(owner.rawValue)\", or no `\(key)`")
            }
        }
        try section.read("tolerance", into: &tolerance, within: .milliseconds(1) ... .seconds(10))
        try section.read("returnAfter", into: &returnAfter, within: .seconds(1) ... .hours(24))
        try section.read("whenDown", into: &whenDown)
    }

    /// The most members of a group.
    static let memberLimit = 16

    private static func members(_ section: Section) throws(ConfigurationError) -> [String] {
        let expected = "a list of 2 to \(memberLimit) profiles' ids, the preferred one first"
        _ = try section.required("members", expected)
        let entries = try section.texts("members", expected, limit: memberLimit)
        guard entries.count >= 2 else {
            throw section.error(
                .badValue, "members", found: entries.isEmpty ? "an empty list" : "a list of 1", expected: expected,
                hint: "a single upstream needs no group")
        }
        var members: [String] = []
        for (index, entry) in entries.enumerated() {
            let mistake: (found: String, expected: String)? =
                if !LinkValues.isIdentifier(entry.text) {
                    (Shown.text(entry.text), "a profile's id: \(Section.identifierForm)")
                } else if members.contains(entry.text) {
                    ("\(Shown.text(entry.text)) again", "each member once")
                } else {
                    nil
                }
            if let mistake {
                throw ConfigurationError(
                    .badValue, at: entry.position, path: "\(Shown.path(section.path, "members"))[\(index)]",
                    found: mistake.found, expected: mistake.expected)
            }
            members.append(entry.text)
        }
        return members
    }
}
