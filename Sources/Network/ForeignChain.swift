/// Chains of other people's firewalls that drop what a gateway forwards: Docker's, ufw's, firewalld's, libvirt's,
/// whether made with nft(8) or with either iptables.
///
/// A packet has to pass every chain of a hook, so no rule of ours can make up for them. They are found, named with
/// the commands that mend them, and left alone.

/// A chain that ends in a refusal and knows nothing of our LAN.
public struct ForeignChain: Hashable, Sendable, CustomStringConvertible {
    /// Who has made it.
    public enum Manager: Sendable {
        case docker
        case ufw
        case firewalld
        case libvirt
        case other
    }

    /// Which packets pass it.
    public enum Hook: String, Sendable {
        case forward
        case input
    }

    public let manager: Manager
    public let hook: Hook
    /// The family and the table, `ip filter`.
    public let table: String
    public let chain: String
    /// The commands for a shell.
    public let mending: [String]

    public var description: String {
        let what =
            hook == .forward ? "drops what devices send through the gateway" : "drops what devices ask the gateway"
        return "the firewall's chain \(table) \(chain) \(what); to mend it: \(mending.joined(separator: "; "))"
    }

    /// Finds them in what `nft list ruleset` shows.
    static func find(_ ruleset: String, lan: [String], _ ports: [UInt16]) -> [ForeignChain] {
        find(in: ListedTable.read(ruleset).filter { $0.name != "inet \(NetworkNames.firewallTable)" }, lan: lan, ports)
    }

    /// Finds them in tables; the ports are those of our own that devices ask.
    static func find(in tables: [ListedTable], lan: [String], _ ports: [UInt16]) -> [ForeignChain] {
        var found: [ForeignChain] = []
        for table in tables where !table.name.hasPrefix("arp ") && !table.name.hasPrefix("bridge ") {
            for chain in table.chains where chain.refusesRest {
                guard let hook = chain.hook.flatMap(Hook.init(rawValue:)) else { continue }
                // What is forwarded has no port of ours.
                let asked = hook == .forward ? [0] : ports
                var commands: [String] = []
                for interface in lan {
                    for port in asked where !table.accepts(interface, hook, port) {
                        let more = mending(table.manager, hook, table, chain.name, interface, port)
                        commands += more.filter { !commands.contains($0) }
                    }
                }
                guard !commands.isEmpty else { continue }
                found.append(
                    ForeignChain(
                        manager: table.manager, hook: hook, table: table.name, chain: chain.name, mending: commands))
            }
            found += guests(in: table, lan: lan)
        }
        return found
    }

    private static func mending(
        _ manager: Manager, _ hook: Hook, _ table: ListedTable, _ chain: String, _ lan: String, _ port: UInt16
    ) -> [String] {
        switch (manager, hook) {
        case (.docker, .forward):
            let tool = table.tool ?? (table.name.hasPrefix("ip6 ") ? "ip6tables" : "iptables")
            return ["-i", "-o"].map { "\(tool) -I DOCKER-USER \($0) \(lan) -j ACCEPT" }
        case (.ufw, .forward): return ["in", "out"].map { "ufw route allow \($0) on \(lan)" }
        case (.ufw, .input): return ["ufw allow in on \(lan) to any port \(port)"]
        case (.firewalld, _):
            return ["firewall-cmd --permanent --zone=trusted --change-interface=\(lan)", "firewall-cmd --reload"]
        case (_, .forward):
            if let tool = table.tool { return ["-i", "-o"].map { "\(tool) -I \(chain) \($0) \(lan) -j ACCEPT" } }
            return ["iifname", "oifname"].map { "nft insert rule \(table.name) \(chain) \($0) \(lan) accept" }
        case (_, .input):
            if let tool = table.tool {
                return ["udp", "tcp"].map { "\(tool) -I \(chain) -i \(lan) -p \($0) --dport \(port) -j ACCEPT" }
            }
            return [
                "nft insert rule \(table.name) \(chain) iifname \(lan) meta l4proto { tcp, udp } th dport \(port) accept"
            ]
        }
    }
}

/// A table as `nft list ruleset` shows it.
struct ListedTable {
    struct Chain {
        let name: String
        var hook: String?
        var policyDrops = false
        var rules: [Substring] = []

        /// Whether a packet that no rule names is dropped or refused.
        var refusesRest: Bool {
            guard hook != nil else { return false }
            if policyDrops { return true }
            // firewalld accepts by policy and refuses in its last rule.
            let last = rules.last.map(ListedTable.plain) ?? ""
            return last == "drop" || last.hasPrefix("reject")
        }
    }

    let name: String
    var chains: [Chain] = []
    /// The iptables that made it; nil where nft(8) can change it as well.
    var tool: String?

    init(name: String) { self.name = name }

    static func read(_ text: String) -> [ListedTable] {
        var tables: [ListedTable] = []
        var chain: Chain?
        for line in text.split(separator: "\n") {
            let depth = line.prefix { $0 == "\t" }.count
            let content = line.dropFirst(depth)
            if depth == 0, content.hasPrefix("table "), content.hasSuffix(" {") {
                tables.append(ListedTable(name: String(content.dropFirst(6).dropLast(2))))
            } else if depth == 1, content.hasPrefix("chain "), content.hasSuffix(" {") {
                chain = Chain(name: String(content.dropFirst(6).dropLast(2)))
            } else if depth == 1, content == "}", let whole = chain {
                if !tables.isEmpty { tables[tables.count - 1].chains.append(whole) }
                chain = nil
            } else if depth == 2, chain != nil {
                if content.hasPrefix("type ") {
                    let words = content.split(separator: " ")
                    chain?.hook = words.firstIndex(of: "hook").flatMap { words[($0 + 1)...].first.map(String.init) }
                    chain?.policyDrops = content.contains("policy drop")
                } else {
                    chain?.rules.append(content)
                }
            }
        }
        return tables
    }

    /// A rule without its counter.
    static func plain(_ rule: Substring) -> String {
        let words = rule.split(separator: " ")
        guard words.first == "counter" else { return words.joined(separator: " ") }
        return words.dropFirst(words.count > 4 && words[1] == "packets" ? 5 : 1).joined(separator: " ")
    }

    /// The ports that a rule is about, as `dport 53`, `dport { 53, 10000-10100 }`; nil where it looks at none.
    static func ports(of rule: Substring) -> [ClosedRange<UInt16>]? {
        guard let start = rule.firstRange(of: "dport ")?.upperBound else { return nil }
        let list = rule[start...].prefix { $0.isNumber || "-{}, ".contains($0) }
        return list.split { !$0.isNumber && $0 != "-" }.compactMap { item in
            let ends = item.split(separator: "-").compactMap { UInt16($0) }
            guard let first = ends.first, let last = ends.last, first <= last else { return nil }
            return first...last
        }
    }

    var manager: ForeignChain.Manager {
        if name.hasSuffix(" firewalld") { return .firewalld }
        if chains.contains(where: { $0.name == "DOCKER-USER" }) { return .docker }
        return chains.contains { $0.name.hasPrefix("ufw") } ? .ufw : .other
    }

    /// Whether some rule of the table lets the interface's packets pass, both ways where they are forwarded.
    ///
    /// firewalld sorts interfaces into zones, and its trusted zone accepts.
    func accepts(_ interface: String, _ hook: ForeignChain.Hook, _ port: UInt16) -> Bool {
        let rules = chains.flatMap(\.rules)
        func allows(_ key: String) -> Bool {
            rules.contains { rule in
                guard rule.contains("\(key) \"\(interface)\"") || rule.contains("\(key) \(interface) ") else {
                    return false
                }
                let ports = hook == .input ? Self.ports(of: rule) : nil
                if let ports { return ports.contains { $0.contains(port) } }
                return rule.contains("accept") || rule.contains("trusted")
            }
        }
        return hook == .input ? allows("iifname") : allows("iifname") && (allows("oifname") || manager == .firewalld)
    }
}
