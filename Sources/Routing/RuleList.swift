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

    private let shared: Shared<ListEntries>

    init(_ entries: ListEntries) { shared = Shared(entries) }

    var entries: ListEntries { shared.value }

    public var name: String { shared.value.name }
    public var file: String? { shared.value.file }
    /// The format that was found or given.
    public var format: Format { shared.value.format }
    /// How many entries there are.
    public var count: Int { shared.value.lines.count }

    /// The first entry that matches what is known of a flow.
    public func match(_ query: RouteQuery) -> RuleOrigin? {
        let entry = first(query)
        return entry == noRule ? nil : RuleOrigin(entry: entry, of: self, matching: query)
    }

    /// Whether an entry matches, without saying which.
    public func contains(_ query: RouteQuery) -> Bool { first(query) != noRule }

    /// The number of that entry, or `noRule`.
    func first(_ query: RouteQuery) -> UInt32 { shared.value.index.first(query) }

    /// This list and all that it includes, each once.
    func withIncluded(from sets: [String: RuleList]) throws(Misspelling) -> [RuleList] {
        var lists = [self]
        var names: Set<String> = [name]
        var next = 0
        while next < lists.count {
            for inclusion in lists[next].entries.inclusions where names.insert(inclusion.name).inserted {
                guard let list = sets[inclusion.name] else {
                    var refusal = RuleBook.unknown(set: inclusion.name, sets)
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
}

/// What a list is made of.
struct ListEntries: Sendable {
    let name: String
    let file: String?
    let format: RuleList.Format
    var index = ConditionIndex()
    var inclusions: [RuleList.Inclusion] = []
    /// The line of each entry.
    var lines: [UInt32] = []

    init(name: String, file: String?, format: RuleList.Format) {
        self.name = name
        self.file = file
        self.format = format
    }

    mutating func add(_ condition: Condition, line: Int) throws(Misspelling) {
        try index.add(condition, rule: UInt32(lines.count))
        lines.append(UInt32(line))
    }
}
