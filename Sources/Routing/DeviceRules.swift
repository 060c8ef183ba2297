/// # What one device sends elsewhere than its profile says
///
/// Two short lists that a device has for a while: names that go direct, and names that are proxied. They are asked
/// before every rule of its profile, whose tables are neither copied nor made anew for them:
///
///     flow of a device ──▶ its own `direct` ──▶ its own `proxied` ──▶ rules ──▶ bypass ──▶ domains ──▶ the mode

public import Addresses

public struct DeviceRules: Sendable {
    /// The most entries of each list.
    public static let limit = 64
    /// What the lists are called where somebody asks which rule decided.
    public static let name = "this phone's own list"

    /// The entries as they are compared, each once.
    public let direct: [String]
    public let proxied: [String]
    private let rules: RuleSet

    /// Reads two lists of entries as `domains` and `bypass` have them, or says what is wrong with the first that is.
    ///
    /// An entry is in one of both. The error's list is `direct` or `proxied`, and its line the entry's number, from 1.
    public init(direct: [String], proxied: [String]) throws(RoutingError) {
        self.direct = try Self.normal(direct, list: "direct")
        self.proxied = try Self.normal(proxied, list: "proxied")
        if let both = self.proxied.firstIndex(where: self.direct.contains) {
            throw Misspelling(
                .ambiguous, found: Shown.text(self.proxied[both]) + ", which is in direct too",
                expected: "each entry in one of both"
            )
            .at(list: "proxied", file: nil, line: both + 1)
        }
        rules = try RuleSet(
            domains: self.proxied.map { SourceText(text: $0) }, bypass: self.direct.map { SourceText(text: $0) },
            rules: [])
    }

    public var isEmpty: Bool { direct.isEmpty && proxied.isEmpty }

    /// The entry that matches what is known of a flow, and what it says; nil where the profile decides.
    public func decide(_ query: RouteQuery) -> Decision? {
        let decision = rules.decide(query)
        return decision.origin == nil ? nil : decision
    }

    /// What the lists say about every flow to a name; nil where the profile decides.
    public func decide(name: String) -> Decision? { decide(RouteQuery(name: name)) }

    /// Whether a name could change what is decided without one: `verdict`.
    public func nameMatters(_ query: RouteQuery, beside verdict: Verdict) -> Bool {
        var nameless = query
        nameless.name = nil
        if decide(nameless)?.verdict == .direct { return false }
        let hasNames = { (list: [String]) in list.contains { IPPrefix(parsing: $0) == nil } }
        return verdict != .direct && hasNames(direct) || verdict != .proxy && hasNames(proxied)
    }

    /// The networks that have to be routed into the TUN device; names get fake addresses.
    public var prefixes: [IPPrefix] {
        guard case .names(let prefixes) = rules.capture else { return [] }
        return prefixes
    }

    /// The entry of a decision as it is shown: `this phone's own list: example.com`.
    public static func words(_ origin: RuleOrigin) -> String { "\(name): \(origin.text)" }

    /// Those names of `proxied` that a wider entry of `direct` keeps from being proxied, with that entry.
    public var shadowed: [(proxied: String, by: String)] {
        proxied.compactMap { entry in
            let name = entry.hasPrefix("full:") ? String(entry.dropFirst(5)) : entry
            guard let decision = decide(name: name), decision.verdict == .direct else { return nil }
            return decision.origin.map { (entry, $0.text) }
        }
    }

    /// The form in which an entry is compared: two that mean the same are the same.
    public static func normal(_ entry: String) throws(RoutingError) -> String {
        try normal([entry], list: "entry").first ?? entry
    }

    private static func normal(_ entries: [String], list: String) throws(RoutingError) -> [String] {
        guard entries.count <= limit else {
            throw Misspelling(.tooLarge, found: "\(entries.count) entries", expected: "at most \(limit)")
                .at(list: list, file: nil, line: limit + 1)
        }
        var normal: [String] = []
        for (index, entry) in entries.enumerated() {
            do throws(Misspelling) {
                let text = try Self.text(of: try Spelling.entry(Array(entry.utf8)[...].trimmed))
                if !normal.contains(text) { normal.append(text) }
            } catch {
                throw error.at(list: list, file: nil, line: index + 1)
            }
        }
        return normal
    }

    private static func text(of condition: Condition) throws(Misspelling) -> String {
        switch condition {
        case .name(let name, let kind):
            let prefix =
                switch kind {
                case .exact: "full:"
                case .below: "*."
                case .suffix: ""
                case .child: preconditionFailure("an entry of a list in the notation of Clash")
                }
            do throws(DomainNameError) {
                return prefix + (try DomainName.normalise(String(decoding: name, as: UTF8.self)))
            } catch {
                throw Misspelling(.name, found: "\(error)", expected: Spelling.name)
            }
        case .keyword(let text): return "keyword:" + String(decoding: text, as: UTF8.self)
        case .target(let prefix): return prefix.description
        case .pattern, .source, .ports, .network, .set, .always:
            preconditionFailure("an entry of a list that looks at more than a name or an address")
        }
    }
}

extension DeviceRules: Equatable {
    /// Whether both say the same, in the same order.
    public static func == (left: DeviceRules, right: DeviceRules) -> Bool {
        left.direct == right.direct && left.proxied == right.proxied
    }
}
