/// # Which rule decides about a flow
///
/// Three lists can answer, and the first entry that matches does: `rules`, then `bypass`, then `domains`. Before them
/// stand names that nobody has written down and that have to pass (`ImpliedNames`), behind the last one the mode: an
/// empty domain list proxies everything, a populated one nothing else. All entries have one row of numbers, and each
/// thing that an entry can look at has an index that says the lowest number that matches:
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
    let shared: Shared<RuleBook>

    /// Reads all three lists, or says what is wrong with the first entry that is.
    ///
    /// `sets` are the sets that the configuration declares, by the names by which rules know them, `profiles` the
    /// profiles that a rule may send flows to. `implied` come before all three.
    public init(
        domains: [SourceText], bypass: [SourceText], rules: [SourceText], sets: [String: RuleList] = [:],
        profiles: Set<String> = [], implied: [ImpliedNames] = []
    ) throws(RoutingError) {
        shared = Shared(
            try RuleBook(
                domains: domains, bypass: bypass, rules: rules, sets: sets, profiles: profiles, implied: implied))
    }

    public var mode: Mode { shared.value.mode }

    /// The first entry that matches what is known of a flow, and what it says; the mode where none does.
    ///
    /// No text is made: the origin says in words what it is when it is asked.
    public func decide(_ query: RouteQuery) -> Decision {
        decision(shared.value.find(query), query)
    }

    private func decision(_ match: RuleBook.Match, _ query: RouteQuery) -> Decision {
        guard match.rule != noRule else { return Decision(verdict: shared.value.ofMode) }
        let origin = RuleOrigin(match, of: shared, matching: query)
        return Decision(verdict: shared.value.table.verdict(of: match.rule), origin: origin)
    }

    /// What is decided, without the reason.
    public func verdict(_ query: RouteQuery) -> Verdict {
        let rule = shared.value.find(query).rule
        return rule == noRule ? shared.value.ofMode : shared.value.table.verdict(of: rule)
    }

    /// What a name alone says about every flow to it, `device` being the one that asks.
    ///
    /// Rules that look at addresses do not count: a name that is not direct gets a fake address, which says nothing,
    /// and the real address of a direct one is looked at when a flow to it arrives.
    public func verdict(forName name: String, device: IPAddress? = nil) -> NameOutcome {
        let query = RouteQuery(name: name, source: device)
        let match = shared.value.find(query)
        if shared.value.isOpen(behind: match.rule, knowsDevice: device != nil) { return .open }
        return .settled(decision(match, query))
    }

    /// The profiles that rules send flows to, by their ids.
    public var profiles: [String] {
        shared.value.table.verdicts.compactMap { verdict in
            if case .profile(let id) = verdict { return id }
            return nil
        }
    }

    /// Whether a name could change what is decided without one.
    public func nameMatters(_ query: RouteQuery) -> Bool { shared.value.nameMatters(query) }

    /// What has to be routed for a device of which nothing is known: a rule about any device's address counts.
    public var capture: Capture { shared.value.capture }

    /// What has to be routed for one device: of the rules about devices' addresses those count that match it.
    public func capture(for device: IPAddress) -> Capture { shared.value.capture(for: device) }
}
