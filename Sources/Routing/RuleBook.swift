/// All rules of a set, read and indexed: what `RuleSet` asks.

import Addresses

struct RuleBook: Sendable {
    /// A rule that names a set: the set's list, and those that it includes.
    struct Reference: Sendable {
        var rule: UInt32
        var lists: [RuleList]
    }

    let mode: Mode
    var index = ConditionIndex()
    var references: [Reference] = []
    var table = RuleTable()
    /// The rules that look at names, at devices, and at what else a flow has.
    var nameRules = Earliest()
    var deviceRules = Earliest()
    var flowRules = Earliest()
    /// The networks that rules send to anything but DIRECT, in the order of rules.
    var prefixes: [(prefix: IPPrefix, rule: UInt32)] = []

    init(
        domains: [SourceText], bypass: [SourceText], rules: [SourceText], sets: [String: RuleList],
        profiles: Set<String>, implied: [ImpliedNames]
    ) throws(RoutingError) {
        mode = domains.isEmpty ? .global : .domain
        let count = rules.count + bypass.count + domains.count
        table.reserve(count)
        if count > 1024 { index.reserve(names: count, octets: count * 16) }
        for list in implied { try add(list) }
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

    /// Whether a rule before this one, with another verdict, looks at what a name does not say.
    func isOpen(behind rule: UInt32, knowsDevice: Bool) -> Bool {
        let verdict = verdictNumber(of: rule)
        return flowRules.first(but: verdict) < rule || !knowsDevice && deviceRules.first(but: verdict) < rule
    }

    /// Whether a name could change what is decided without one.
    func nameMatters(_ query: RouteQuery) -> Bool {
        var nameless = query
        nameless.name = nil
        let rule = find(nameless).rule
        return nameRules.first(but: verdictNumber(of: rule)) < rule
    }

    var ofMode: Verdict { mode == .global ? .proxy : .direct }
}

extension RuleBook {
    /// Which rule decides, and through which entry of which set if it names one.
    struct Match {
        /// The lowest rule that matches, or `noRule`.
        var rule: UInt32
        /// The set's list, by the positions of its rule among those that name sets and of the list in that set.
        var list: (reference: Int, position: Int)?
        var entry = noRule
    }

    func find(_ query: RouteQuery) -> Match {
        let rule = index.first(query)
        for reference in references.indices {
            guard references[reference].rule < rule else { break }
            for position in references[reference].lists.indices {
                let entry = references[reference].lists[position].first(query)
                guard entry == noRule else {
                    return Match(rule: references[reference].rule, list: (reference, position), entry: entry)
                }
            }
        }
        return Match(rule: rule)
    }

    /// The number of what a rule says, or of what the mode does.
    func verdictNumber(of rule: UInt32) -> Int {
        guard rule == noRule else { return table.verdictNumber(of: rule) }
        return mode == .global ? 0 : 1
    }

    private mutating func add(_ implied: ImpliedNames) throws(RoutingError) {
        for name in implied.names {
            do throws(Misspelling) {
                try add(.name(Array(name.utf8)[...], .exact), SourceText(text: name), .proxy, [:])
            } catch { throw error.at(list: implied.list, file: nil, line: nil) }
        }
        table.endImplied(implied.list)
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
            let index = list.entries.index
            if index.looksAtNames { nameRules.note(rule, verdict: verdict) }
            if !index.sources.isEmpty { deviceRules.note(rule, verdict: verdict) }
            if index.looksAtFlows { flowRules.note(rule, verdict: verdict) }
            if table.verdicts[verdict] != .direct { prefixes += index.targets.all.map { ($0.prefix, rule) } }
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
