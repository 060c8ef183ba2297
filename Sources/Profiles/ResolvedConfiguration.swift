/// A configuration whose rules can be asked: the second step of reading one, when the files that it names are there.

internal import Addresses
public import Routing

/// A configuration and the rules of each of its profiles.
public struct ResolvedConfiguration: Sendable {
    public let configuration: Configuration
    /// By the profile's `id`.
    let ruleSets: [String: RuleSet]

    init(_ configuration: Configuration, _ ruleSets: [String: RuleSet]) {
        self.configuration = configuration
        self.ruleSets = ruleSets
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
    /// configuration's own file is called in explanations.
    public func resolve(
        files: [String: [UInt8]] = [:], name: String? = nil
    ) throws(ConfigurationError) -> ResolvedConfiguration {
        var sets: [String: RuleList] = [:]
        for (index, set) in ruleSets.enumerated() {
            guard let bytes = files[set.file] else {
                throw ConfigurationError(
                    .badValue, at: set.position, path: "ruleSets[\(index)].file", found: "a list that was not read",
                    expected: "a file that can be read")
            }
            sets[set.name] = try Self.list(set, bytes)
        }
        var resolved: [String: RuleSet] = [:]
        let ids = Set(profiles.map(\.id))
        for (index, profile) in profiles.enumerated() {
            resolved[profile.id] = try profile.routes.ruleSet(
                path: "profiles[\(index)]", name: name, sets: sets, profiles: ids)
        }
        return ResolvedConfiguration(self, resolved)
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
    fileprivate func ruleSet(
        path: String, name: String?, sets: [String: RuleList], profiles: Set<String>
    ) throws(ConfigurationError) -> RuleSet {
        let source = { (entry: RuleText) in SourceText(text: entry.text, line: entry.position?.line, file: name) }
        do throws(RoutingError) {
            return try RuleSet(
                domains: domains.map(source), bypass: bypass.map(source), rules: rules.map(source), sets: sets,
                profiles: profiles)
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
                return ConfigurationError(error, at: entry.position, path: "\(path).\(error.list)[\(index)]")
            }
        }
        return ConfigurationError(
            error, at: error.line.map { TextPosition(line: $0, column: 0) }, path: "\(path).\(error.list)")
    }
}

extension ConfigurationError {
    fileprivate init(_ error: RoutingError, at position: TextPosition?, path: String) {
        self.init(
            .rule, at: position, path: path, found: error.found, expected: error.expected, hint: error.hint)
    }
}
