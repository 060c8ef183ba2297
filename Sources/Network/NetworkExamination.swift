/// What there is of ours against what should be, by somebody who changes nothing.

public import LinuxIO

/// The difference between a plan and the machine, with the commands that mend it.
public struct NetworkExamination: Equatable, Sendable {
    /// A setting of the kernel that is not as it should be; the name is a path below /proc/sys.
    public struct Setting: Hashable, Sendable {
        public var name: String
        public var found: String
        public var wanted: String

        public init(name: String, found: String, wanted: String) {
            self.name = name
            self.found = found
            self.wanted = wanted
        }

        /// sysctl(8) takes slashes too, and an interface's name may hold dots.
        public var command: String { "sysctl -w \(name)=\(wanted)" }
    }

    /// Our table of the firewall.
    public enum Firewall: Equatable, Sendable {
        case right
        /// Nobody told what it should be, or it may not be looked at; with the reason.
        case unseen(String)
        case gone
        /// Lines that are missing, and lines that are not ours.
        case changed(missing: [String], added: [String])
    }

    public var settings: [Setting] = []
    /// What is missing: lines of ip(8), ready for a shell.
    public var missing: [String] = []
    /// What is in our place and not ours: the lines that take it away.
    public var strange: [String] = []
    public var firewall = Firewall.right

    public init() {}

    /// Compares; `settings` says what the kernel's settings are now, nil for one that is not there.
    ///
    /// `saved` are lines of the file that holds what settings were before us, empty where it could not be read.
    public init(
        _ plan: NetworkPlan, on machine: KernelNetwork, wanted: String?, listing: Listing, saved: String = "",
        setting: (String) -> String?
    ) {
        guard plan.setup != .none else { return }
        let script = NetworkScript(plan, on: machine)
        let state = (try? SavedState(parsing: saved, path: "")) ?? SavedState()
        settings = Self.pending(script.settings, state, setting)
        let changes = NetworkChanges(from: machine, to: script)
        missing = changes.preparation.map(\.command)
        // Rules for connections that were there before `host` are known to the daemon alone.
        let rules = changes.rules.filter { !$0.line.contains(" sport ") }
        missing += rules.filter { $0.line.hasPrefix("rule add") }.map(\.command)
        strange = rules.filter { $0.line.hasPrefix("rule del") }.map(\.command) + changes.removal.map(\.command)
        firewall = Self.compare(wanted, listing)
    }

    private static func pending(
        _ settings: [NetworkScript.Setting], _ saved: SavedState, _ value: (String) -> String?
    ) -> [Setting] {
        settings.compactMap { setting in
            guard let current = value(setting.name), current != setting.value else { return nil }
            // Whether these are wanted depends on what was there before us: what was changed is noted.
            let isConditional = setting.onlyFrom != nil || setting.unless != nil
            guard !isConditional || saved.original(of: setting.name) != nil else { return nil }
            return Setting(name: setting.name, found: current, wanted: setting.value)
        }
    }

    // The firewall

    /// What nft(8) shows of our table.
    public enum Listing: Equatable, Sendable {
        case text(String)
        case none
        case unreadable(String)
    }

    private static func compare(_ wanted: String?, _ listing: Listing) -> Firewall {
        guard let wanted else { return .unseen("the daemon has not said what it should be") }
        switch listing {
        case .unreadable(let reason): return .unseen(reason)
        case .none: return .gone
        case .text(let text):
            let (was, now) = (lines(wanted), lines(text))
            let missing = was.filter { !now.contains($0) }
            let added = now.filter { !was.contains($0) }
            return missing.isEmpty && added.isEmpty ? .right : .changed(missing: missing, added: added)
        }
    }

    /// Without the figures of counters, which move.
    private static func lines(_ text: String) -> [String] {
        text.split(separator: "\n").map { line in
            String(line.drop { $0 == "\t" || $0 == " " }).replacing(/counter packets \d+ bytes \d+/, with: "counter")
        }
    }
}

extension NetworkChange {
    /// As a shell takes it.
    fileprivate var command: String { "ip \(isIPv4 ? "-4" : "-6") \(line)" }
}

// MARK: Reading

extension NetworkExamination {
    /// What nft(8) shows of our table, without the elements of its sets.
    public static func ownTable() -> Listing { listing(["-t", "list", "table", "inet", NetworkNames.firewallTable]) }

    /// What nft(8) shows of everybody's rules.
    public static func ruleset() -> Listing { listing(["-t", "list", "ruleset"]) }

    private static func listing(_ arguments: [String]) -> Listing {
        do throws(SystemCallError) {
            let outcome = try Tool.run("nft", arguments, input: "")
            if outcome.status == 0 { return .text(outcome.output) }
            if outcome.errors.contains("No such file") { return .none }
            let first =
                outcome.errors.split(separator: "\n").first.map(String.init) ?? "nft ended with \(outcome.status)"
            return .unreadable(first)
        } catch {
            return .unreadable("\(error)")
        }
    }

    /// Chains of others that drop what devices send or ask, with what could not be read of the older iptables.
    public static func foreignChains(
        _ ruleset: String, lan: [String], ports: [UInt16]
    ) -> (chains: [ForeignChain], unread: [String]) {
        let legacy = LegacyTables.read(by: SystemTools())
        let chains = ForeignChain.find(ruleset, lan: lan, ports) + ForeignChain.find(in: legacy.tables, lan: lan, ports)
        return (chains, legacy.unread)
    }

    /// What the kernel's state alone shows to be in the way.
    public static func notices(_ plan: NetworkPlan, _ machine: KernelNetwork) -> [NetworkNotice] {
        NetworkNotice.of(plan, machine)
    }

    /// Whether a text is what a daemon says of the network around it, perhaps some time ago: who looks by themselves
    /// knows better.
    public static func isNotice(_ text: String) -> Bool {
        [
            "there is no interface ", "no default route", "the TUN device ", "the firewall's chain ",
            "there are rules of ", "another router on ", "an IPv6 route leads around ", "the fake addresses ",
        ].contains(where: text.hasPrefix)
    }
}
