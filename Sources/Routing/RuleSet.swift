/// # Which rule decides about a flow
///
/// Three lists can answer, and the first entry that matches does: `rules`, then `bypass`, then `domains`. Behind the
/// last one stands the mode: an empty domain list proxies everything, a populated one nothing else. All entries have
/// one row of numbers, and each thing that an entry can look at has an index that says the lowest number that matches:
///
///     name    ──▶ NameIndex, KeywordIndex ──┐
///     address ──▶ PrefixTable               ├──▶ the lowest number ──▶ RuleTable: verdict, file, line
///     device, port, network ──▶ …           │
///     sets with a lower number, in order ───┘
///
/// So a million entries cost what one costs, and the order still decides. A rule never resolves a name: one that
/// looks at an address matches where the address is known, as if it ended in `no-resolve`.

public import Addresses

public struct RuleSet: Sendable {
    /// A rule that names a set: the set's list, and those that it includes.
    struct Reference: Sendable {
        var rule: UInt32
        var lists: [RuleList]
    }

    public let mode: Mode
    var index = ConditionIndex()
    var references: [Reference] = []
    var table = RuleTable()
    /// The rules that look at names, at devices, and at what else a flow has.
    var nameRules = Earliest()
    var deviceRules = Earliest()
    var flowRules = Earliest()
    /// The networks that rules send to anything but DIRECT, in the order of rules.
    var prefixes: [(prefix: IPPrefix, rule: UInt32)] = []

    /// Reads all three lists, or says what is wrong with the first entry that is.
    ///
    /// `sets` are the sets that the configuration declares, by the names by which rules know them, `profiles` the
    /// profiles that a rule may send flows to.
    public init(
        domains: [SourceText], bypass: [SourceText], rules: [SourceText], sets: [String: RuleList] = [:],
        profiles: Set<String> = []
    ) throws(RoutingError) {
        mode = domains.isEmpty ? .global : .domain
        let count = rules.count + bypass.count + domains.count
        table.reserve(count)
        if count > 1024 { index.reserve(names: count, octets: count * 16) }
        for source in rules {
            do throws(Misspelling) {
                let noted = try RuleNotation.rule(Array(source.text.utf8)[...].trimmed)
                let verdict = try Self.verdict(noted.outbound ?? [], profiles)
                try add(noted.condition, source, verdict, sets)
            } catch { throw error.at(list: "rules", file: source.file, line: source.line) }
        }
        table.bypassStart = table.count
        try add(bypass, list: "bypass", .direct)
        table.domainsStart = table.count
        try add(domains, list: "domains", .proxy)
        index.seal()
    }

    /// The first entry that matches what is known of a flow, and what it says; the mode where none does.
    public func decide(_ query: RouteQuery) -> Decision {
        let rule = first(query)
        guard rule != noRule else { return Decision(verdict: ofMode) }
        return Decision(verdict: table.verdict(of: rule), origin: origin(of: rule, query))
    }

    /// What is decided, without the reason: no text is made.
    public func verdict(_ query: RouteQuery) -> Verdict {
        let rule = first(query)
        return rule == noRule ? ofMode : table.verdict(of: rule)
    }

    /// What a name alone says about every flow to it, `device` being the one that asks.
    ///
    /// Rules that look at addresses do not count: a name that is not direct gets a fake address, which says nothing,
    /// and the real address of a direct one is looked at when a flow to it arrives.
    public func verdict(forName name: String, device: IPAddress? = nil) -> NameOutcome {
        let query = RouteQuery(name: name, source: device)
        let rule = first(query)
        let verdict = verdictNumber(of: rule)
        if flowRules.first(but: verdict) < rule { return .open }
        if device == nil, deviceRules.first(but: verdict) < rule { return .open }
        return .settled(decide(query))
    }

    /// Whether a name could change what is decided without one.
    public func nameMatters(_ query: RouteQuery) -> Bool {
        var nameless = query
        nameless.name = nil
        let rule = first(nameless)
        return nameRules.first(but: verdictNumber(of: rule)) < rule
    }

    var ofMode: Verdict { mode == .global ? .proxy : .direct }
}

extension RuleSet {
    /// The lowest rule that matches, or `noRule`.
    func first(_ query: RouteQuery) -> UInt32 {
        let best = index.first(query)
        for reference in references {
            guard reference.rule < best else { break }
            if reference.lists.contains(where: { $0.index.first(query) != noRule }) { return reference.rule }
        }
        return best
    }

    /// The number of what a rule says, or of what the mode does.
    func verdictNumber(of rule: UInt32) -> Int {
        guard rule == noRule else { return table.verdictNumber(of: rule) }
        return mode == .global ? 0 : 1
    }

    /// Where a rule is written; for a set where its entry is, and through which rule.
    func origin(of rule: UInt32, _ query: RouteQuery) -> RuleOrigin {
        for reference in references where reference.rule == rule {
            for list in reference.lists {
                guard var origin = list.match(query) else { continue }
                origin.through = table.source(of: rule)
                return origin
            }
        }
        return table.origin(of: rule)
    }

    private mutating func add(_ list: [SourceText], list name: String, _ verdict: Verdict) throws(RoutingError) {
        for source in list {
            do throws(Misspelling) {
                try add(try Spelling.entry(Array(source.text.utf8)[...].trimmed), source, verdict, [:])
            } catch { throw error.at(list: name, file: source.file, line: source.line) }
        }
    }

    private mutating func add(
        _ condition: Condition, _ source: SourceText, _ verdict: Verdict, _ sets: [String: RuleList]
    ) throws(Misspelling) {
        let rule = table.count
        let number = table.number(of: verdict)
        guard rule < noRule - 1, number < Int(UInt16.max) else {
            throw Misspelling(.tooLarge, found: "one rule more", expected: "fewer rules")
        }
        switch condition {
        case .name, .pattern, .keyword: nameRules.note(rule, verdict: number)
        case .target(let prefix): if verdict != .direct { prefixes.append((prefix, rule)) }
        case .source: deviceRules.note(rule, verdict: number)
        case .ports, .network: flowRules.note(rule, verdict: number)
        case .always: break
        case .set(let name): try add(set: name, rule, number, sets)
        }
        try index.add(condition, rule: rule)
        table.append(source, verdict: number)
    }

    private mutating func add(
        set name: String, _ rule: UInt32, _ verdict: Int, _ sets: [String: RuleList]
    ) throws(Misspelling) {
        guard let list = sets[name] else { throw Self.unknown(set: name, sets) }
        let lists = try list.withIncluded(from: sets)
        for list in lists {
            if list.index.looksAtNames { nameRules.note(rule, verdict: verdict) }
            if !list.index.sources.isEmpty { deviceRules.note(rule, verdict: verdict) }
            if list.index.looksAtFlows { flowRules.note(rule, verdict: verdict) }
            if table.verdicts[verdict] != .direct { prefixes += list.index.targets.all.map { ($0.prefix, rule) } }
        }
        references.append(Reference(rule: rule, lists: lists))
    }

    static func unknown(set name: String, _ sets: [String: RuleList]) -> Misspelling {
        let declared = sets.keys.sorted().prefix(8).joined(separator: ", ")
        var hint = declared.isEmpty ? "no sets are declared" : "declared are \(declared)"
        if name.contains("/") { hint = "a rule names a set; its file is said where the set is declared" }
        return Misspelling(.unknownSet, found: Shown.text(name), expected: "the name of a declared set", hint: hint)
    }

    private static func verdict(_ word: ArraySlice<UInt8>, _ profiles: Set<String>) throws(Misspelling) -> Verdict {
        let name = String(decoding: word, as: UTF8.self)
        switch name {
        case "PROXY": return .proxy
        case "DIRECT": return .direct
        case "REJECT": return .reject
        case _ where profiles.contains(name): return .profile(name)
        default:
            let known = profiles.sorted().prefix(8).joined(separator: ", ")
            throw Misspelling(
                .unknownOutbound, found: Shown.text(name), expected: "PROXY, DIRECT, REJECT or a profile's id",
                hint: known.isEmpty ? nil : "profiles are \(known)")
        }
    }
}
