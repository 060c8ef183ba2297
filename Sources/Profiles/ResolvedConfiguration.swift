/// A configuration whose rules can be asked: the second step of reading one, when the files that it names are there.

internal import Addresses
public import Routing

/// A configuration and the rules of each of its profiles.
public struct ResolvedConfiguration: Sendable {
    public let configuration: Configuration
    /// By the profile's `id`.
    let ruleSets: [String: RuleSet]
    /// The lists that RULE-SET can name, by their names.
    let sets: [String: RuleList]
    /// What the configuration's own file is called in explanations.
    let name: String?

    init(_ configuration: Configuration, like other: ResolvedConfiguration) {
        self.configuration = configuration
        ruleSets = other.ruleSets
        sets = other.sets
        name = other.name
    }

    init(_ configuration: Configuration, _ ruleSets: [String: RuleSet], sets: [String: RuleList], name: String?) {
        self.configuration = configuration
        self.ruleSets = ruleSets
        self.sets = sets
        self.name = name
    }

    /// The rules of a profile.
    ///
    /// Traps on an `id` that the configuration lacks: all of them were checked when it was read.
    public func rules(of profile: String) -> RuleSet {
        guard let rules = ruleSets[profile] else { preconditionFailure("a profile without rules") }
        return rules
    }

    /// What has to be routed into the TUN device for a device with this profile, and what forces it.
    public func capture(of profile: String) -> Capture {
        if case .profile(let id) = configuration.egress { return .all(because: "egress \"\(id)\"") }
        switch configuration.dns.mode {
        case .fake: return rules(of: profile).capture
        case .snoop: return .all(because: "dns.mode \"snoop\": real addresses are given for every name")
        case .off: return .all(because: "no name service: a name is known from its flow alone")
        }
    }
}

extension ResolvedConfiguration {
    /// The rules of a profile as they are, if making them again would give the same.
    fileprivate func rules(
        for profile: Profile, _ implied: [ImpliedNames], among ids: Set<String>, sets: [RuleSetFile]
    ) -> RuleSet? {
        guard let own = configuration.profile(profile.id), own.routes.isSpelled(like: profile.routes),
            configuration.impliedNames(of: own) == implied
        else { return nil }
        // Only `rules` look beyond their own profile: at lists, and at profiles, of which one may be gone.
        let standsAlone = profile.routes.rules.isEmpty
        guard
            standsAlone || configuration.ruleSets == sets && configuration.profiles.allSatisfy({ ids.contains($0.id) })
        else { return nil }
        return ruleSets[profile.id]
    }
}

extension RouteOptions {
    /// Whether both say the same at the same places: an explanation names a rule's line.
    fileprivate func isSpelled(like other: RouteOptions) -> Bool {
        let pairs = [(domains, other.domains), (bypass, other.bypass), (rules, other.rules)]
        return pairs.allSatisfy { left, right in
            left.count == right.count
                && zip(left, right).allSatisfy { $0 == $1 && $0.position?.line == $1.position?.line }
        }
    }
}

extension Configuration {
    /// The files whose bytes `resolve` wants, each once.
    public var listFiles: [String] {
        var files: [String] = []
        for set in ruleSets where !files.contains(set.file) { files.append(set.file) }
        return files
    }

    /// Makes rules of all lists, or says which entry is none.
    ///
    /// `files` has the bytes of `listFiles`, by their path as the configuration has it. `name` is what the
    /// configuration's own file is called in explanations. With `former`, whoever calls says that the files' bytes are
    /// still the same: what it has of their lists, and of profiles whose routes are equal, is taken from there, and
    /// only files that it lacks are looked for in `files`.
    public func resolve(
        files: [String: [UInt8]] = [:], name: String? = nil, reusing former: ResolvedConfiguration? = nil
    ) throws(ConfigurationError) -> ResolvedConfiguration {
        let sets = try lists(files, reusing: former)
        var resolved: [String: RuleSet] = [:]
        let ids = Set(profiles.map(\.id))
        for (index, profile) in profiles.enumerated() {
            let implied = impliedNames(of: profile)
            if former?.name == name, let rules = former?.rules(for: profile, implied, among: ids, sets: ruleSets) {
                resolved[profile.id] = rules
            } else {
                resolved[profile.id] = try profile.routes.ruleSet(
                    path: "profiles[\(index)]", name: name, sets: sets, profiles: ids, implied)
            }
        }
        return ResolvedConfiguration(self, resolved, sets: sets, name: name)
    }

    private func lists(
        _ files: [String: [UInt8]], reusing former: ResolvedConfiguration?
    ) throws(ConfigurationError) -> [String: RuleList] {
        var sets: [String: RuleList] = [:]
        for (index, set) in ruleSets.enumerated() {
            if let former, former.configuration.ruleSets.contains(set), let list = former.sets[set.name] {
                sets[set.name] = list
                continue
            }
            guard let bytes = files[set.file] else {
                throw ConfigurationError(
                    .badValue, at: set.position, path: "ruleSets[\(index)].file", found: "a list that was not read",
                    expected: "a file that can be read")
            }
            sets[set.name] = try Self.list(set, bytes)
        }
        return sets
    }

    private static func list(_ set: RuleSetFile, _ bytes: [UInt8]) throws(ConfigurationError) -> RuleList {
        let format = RuleList.Format(rawValue: set.format.rawValue) ?? .auto
        do throws(RoutingError) {
            return try RuleList.parse(bytes.span, name: set.name, file: set.file, format: format)
        } catch {
            var wrong = ConfigurationError(error, at: error.line.map { TextPosition(line: $0, column: 0) }, path: "")
            wrong.file = set.file
            throw wrong
        }
    }
}

extension RouteOptions {
    /// The three lists as one set of rules.
    func ruleSet(
        path: String, name: String?, sets: [String: RuleList], profiles: Set<String>, _ implied: [ImpliedNames] = []
    ) throws(ConfigurationError) -> RuleSet {
        let source = { (entry: RuleText) in
            SourceText(text: entry.text, line: entry.position?.line, file: entry.position == nil ? nil : name)
        }
        do throws(RoutingError) {
            return try RuleSet(
                domains: domains.map(source), bypass: bypass.map(source), rules: rules.map(source), sets: sets,
                profiles: profiles, implied: implied)
        } catch {
            throw located(error, path: path, sets: sets, profiles: profiles)
        }
    }

    /// The error with the column and the number of the entry: the one in its line that is refused alone too.
    private func located(
        _ error: RoutingError, path: String, sets: [String: RuleList], profiles: Set<String>
    ) -> ConfigurationError {
        let list = ["rules": rules, "bypass": bypass, "domains": domains][error.list] ?? []
        for (index, entry) in list.enumerated() where entry.position?.line == error.line {
            let alone = [SourceText(text: entry.text, line: error.line, file: error.file)]
            do throws(RoutingError) {
                _ = try RuleSet(
                    domains: error.list == "domains" ? alone : [], bypass: error.list == "bypass" ? alone : [],
                    rules: error.list == "rules" ? alone : [], sets: sets, profiles: profiles)
            } catch {
                return ConfigurationError(error, at: entry.position, path: Shown.path(path, error.list) + "[\(index)]")
            }
        }
        return ConfigurationError(
            error, at: error.line.map { TextPosition(line: $0, column: 0) }, path: Shown.path(path, error.list))
    }
}

extension ConfigurationError {
    fileprivate init(_ error: RoutingError, at position: TextPosition?, path: String) {
        self.init(
            .rule, at: position, path: path, found: error.found, expected: error.expected, hint: error.hint)
    }
}
