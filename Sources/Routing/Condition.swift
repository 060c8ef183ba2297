/// What an entry looks at, and the index over all entries of a list.

import Addresses

/// What a flow has to be for an entry to match.
///
/// Names are as they are written: the index brings them into their form.
enum Condition {
    case name(ArraySlice<UInt8>, NameKind)
    /// A name with wildcards for labels.
    case pattern(ArraySlice<UInt8>)
    /// In lower case.
    case keyword([UInt8])
    case target(IPPrefix)
    case source(IPPrefix)
    case ports(ClosedRange<UInt16>)
    case network(Network)
    case set(String)
    case always
}

/// Entries by what they look at; each question is answered with the lowest number.
struct ConditionIndex: Sendable {
    private(set) var names = NameIndex()
    private(set) var keywords = KeywordIndex()
    private(set) var targets = PrefixTable()
    private(set) var sources = PrefixTable()
    private(set) var ports = PortTable()
    private var tcp = noRule
    private var udp = noRule
    private(set) var always = noRule

    var looksAtNames: Bool { !names.isEmpty || !keywords.isEmpty }
    /// Whether an entry looks at what neither a name nor an address says, the device aside.
    var looksAtFlows: Bool { !ports.isEmpty || min(tcp, udp) != noRule }

    mutating func reserve(names count: Int, octets: Int) { names.reserve(names: count, octets: octets) }

    /// Adds an entry; numbers come in ascending order, and sets are somebody else's.
    mutating func add(_ condition: Condition, rule: UInt32) throws(Misspelling) {
        try checkRoom(for: condition)
        do throws(DomainNameError) {
            switch condition {
            case .name(let name, let kind): try names.add(name, kind, rule: rule)
            case .pattern(let name): try names.add(pattern: name, rule: rule)
            case .keyword(let text): keywords.add(text, rule: rule)
            case .target(let prefix): targets.add(prefix, rule: rule)
            case .source(let prefix): sources.add(prefix, rule: rule)
            case .ports(let range): ports.add(range, rule: rule)
            case .network(.tcp): tcp = min(tcp, rule)
            case .network(.udp): udp = min(udp, rule)
            case .always: always = min(always, rule)
            case .set: break
            }
        } catch {
            throw Misspelling(.name, found: "\(error)", expected: Spelling.name)
        }
    }

    /// What is compared one by one has a bound: lists come from others, and every flow waits for its answer.
    private func checkRoom(for condition: Condition) throws(Misspelling) {
        switch condition {
        case .keyword(let text) where !keywords.hasRoom(for: text):
            throw Misspelling(
                .tooLarge, found: "one keyword more", expected: "at most \(KeywordIndex.maximumCount) keywords")
        case .pattern where names.patternCount == NameIndex.maximumPatternCount:
            throw Misspelling(
                .tooLarge, found: "one name more with a wildcard inside",
                expected: "at most \(NameIndex.maximumPatternCount) of them")
        default: break
        }
    }

    /// Comes after the last entry and before the first question.
    mutating func seal() {
        targets.seal()
        sources.seal()
    }

    /// The lowest entry that matches what is known of a flow, or `noRule`.
    func first(_ query: RouteQuery) -> UInt32 {
        var best = always
        if let name = query.name { best = min(best, first(name: name)) }
        if let address = query.address { best = min(best, targets.first(address)) }
        if let source = query.source { best = min(best, sources.first(source)) }
        if let port = query.port { best = min(best, ports.first(port)) }
        switch query.network {
        case .tcp: best = min(best, tcp)
        case .udp: best = min(best, udp)
        case nil: break
        }
        return best
    }

    func first(name: String) -> UInt32 {
        guard looksAtNames else { return noRule }
        let octets = name.utf8.span
        return min(names.first(octets), keywords.first(octets))
    }

    /// How the domain list would spell the entry that matched.
    func spelling(of rule: UInt32, matching query: RouteQuery) -> String? {
        if let name = query.name {
            if let text = names.spelling(of: rule, matching: name.utf8.span) { return text }
            if keywords.first(name.utf8.span) == rule { return keywords.spelling(of: rule) }
        }
        if let address = query.address, let prefix = targets.prefix(of: rule, around: address) {
            return prefix.description
        }
        if let source = query.source, let prefix = sources.prefix(of: rule, around: source) {
            return "SRC-IP-CIDR,\(prefix)"
        }
        if let port = query.port, ports.first(port) == rule { return "DST-PORT,\(port)" }
        if tcp == rule { return "NETWORK,TCP" }
        return udp == rule ? "NETWORK,UDP" : nil
    }
}
