/// # Lists that others keep
///
/// A set is a list in a file: names, networks and what else can be listed, without outbounds. It is read whole or
/// not at all: the first line that cannot be an entry refuses the list, because a list that lost a line silently is
/// worse than none. Names go straight from the file's octets into the index; no string is made for them.

public struct RuleList: Sendable {
    /// How a list is written; `Spelling` has what the same text means in each.
    public enum Format: String, CaseIterable, Sendable {
        /// Found out from the first lines.
        case auto
        /// As the domain list of a profile.
        case plain
        case hosts
        case v2fly
        case clash
        case surge
    }

    /// A set of the same configuration, the entries of which belong to this one too.
    struct Inclusion: Sendable {
        var name: String
        var line: Int
    }

    public let name: String
    public let file: String?
    /// The format that was found or given.
    public let format: Format
    var index = ConditionIndex()
    var inclusions: [Inclusion] = []
    /// The line of each entry.
    var lines: [UInt32] = []

    /// How many entries there are.
    public var count: Int { lines.count }

    init(name: String, file: String?, format: Format) {
        self.name = name
        self.file = file
        self.format = format
    }

    /// The first entry that matches what is known of a flow.
    public func match(_ query: RouteQuery) -> RuleOrigin? {
        let entry = index.first(query)
        guard entry != noRule else { return nil }
        return RuleOrigin(
            list: name, file: file, line: Int(lines[Int(entry)]),
            text: index.spelling(of: entry, matching: query) ?? "")
    }

    /// Whether an entry matches, without saying which.
    public func contains(_ query: RouteQuery) -> Bool { index.first(query) != noRule }

    /// This list and all that it includes, each once.
    func withIncluded(from sets: [String: RuleList]) throws(Misspelling) -> [RuleList] {
        var lists = [self]
        var names: Set<String> = [name]
        var next = 0
        while next < lists.count {
            for inclusion in lists[next].inclusions where names.insert(inclusion.name).inserted {
                guard let list = sets[inclusion.name] else {
                    var refusal = RuleSet.unknown(set: inclusion.name, sets)
                    let place = RuleOrigin.place(file: lists[next].file ?? lists[next].name, line: inclusion.line)
                    refusal.found = "include:\(inclusion.name) in \(place)"
                    throw refusal
                }
                lists.append(list)
            }
            next += 1
        }
        return lists
    }

    mutating func add(_ condition: Condition, line: Int) throws(Misspelling) {
        try index.add(condition, rule: UInt32(lines.count))
        lines.append(UInt32(line))
    }
}
