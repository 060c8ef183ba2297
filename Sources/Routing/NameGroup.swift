/// Names under the suffix that one owner looks likely to have, so that a list is short.
///
/// There is no list of public suffixes here: the suffix is the last two labels, or three where the last one has two
/// letters and the one before it three or fewer, as in `bbc.co.uk`. So `www.ibm.de` is taken for a suffix of its own,
/// and the sites of a host such as `github.io` are taken for one.

public struct NameGroup: Equatable, Sendable {
    public let suffix: String
    /// In the order of the alphabet.
    public let names: [String]

    /// Groups names in their normal form: the largest group first, those of one size in the order of the alphabet.
    public static func groups(of names: [String]) -> [NameGroup] {
        Dictionary(grouping: Set(names), by: suffix).map { NameGroup(suffix: $0, names: $1.sorted()) }
            .sorted { ($1.names.count, $0.suffix) < ($0.names.count, $1.suffix) }
    }

    /// The suffix that a name is grouped under.
    public static func suffix(of name: String) -> String {
        let labels = name.split(separator: ".")
        let isShort =
            labels.count > 2 && labels[labels.count - 1].utf8.count == 2
            && labels[labels.count - 2].utf8.count <= 3
        return labels.suffix(isShort ? 3 : 2).joined(separator: ".")
    }
}
