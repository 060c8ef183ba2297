/// Chains that refuse what goes to and from one bridge: libvirt's, for its virtual machines.
///
/// They harm nobody else. Where that bridge is a LAN of ours, its devices get out by libvirt's own masquerading alone,
/// and nobody else's answers come in.

extension ForeignChain {
    /// The refusals of a table that name a LAN and nothing else besides it.
    static func guests(in table: ListedTable, lan: [String]) -> [ForeignChain] {
        table.chains.compactMap { chain in
            guard chain.hook == nil || chain.hook == Hook.forward.rawValue else { return nil }
            var commands: [String] = []
            for rule in chain.rules {
                guard let (key, interface) = refused(rule), lan.contains(interface),
                    !chain.rules.contains(where: { isAcceptance($0, key, interface) })
                else { continue }
                commands.append(mending(table, chain.name, key, interface))
            }
            guard !commands.isEmpty else { return nil }
            return ForeignChain(
                manager: .libvirt, hook: .forward, table: table.name, chain: chain.name, mending: commands)
        }
    }

    private static let keys: [Substring] = ["iif", "oif", "iifname", "oifname"]

    /// The key and the interface of a rule that is nothing but `iif "virbr0" counter packets 0 bytes 0 reject`.
    private static func refused(_ rule: Substring) -> (key: Substring, interface: String)? {
        let words = rule.split(separator: " ")
        guard words.count >= 3, keys.contains(words[0]) else { return nil }
        let verdict = ListedTable.plain(words.dropFirst(2).joined(separator: " ")[...])
        guard verdict == "drop" || verdict.hasPrefix("reject") else { return nil }
        return (words[0], words[1].filter { $0 != "\"" })
    }

    private static func isAcceptance(_ rule: Substring, _ key: Substring, _ interface: String) -> Bool {
        let words = rule.split(separator: " ")
        guard words.count >= 3, words[0].prefix(3) == key.prefix(3), words[1].filter({ $0 != "\"" }) == interface else {
            return false
        }
        return ListedTable.plain(words.dropFirst(2).joined(separator: " ")[...]) == "accept"
    }

    private static func mending(_ table: ListedTable, _ chain: String, _ key: Substring, _ lan: String) -> String {
        // Chains with names in capitals are those of iptables, in whose tables nft(8) must not write.
        guard let tool = table.tool ?? (chain.hasPrefix("LIBVIRT_") ? iptables(table) : nil) else {
            return "nft insert rule \(table.name) \(chain) \(key.hasPrefix("i") ? "iifname" : "oifname") \(lan) accept"
        }
        return "\(tool) -I \(chain) \(key.hasPrefix("i") ? "-i" : "-o") \(lan) -j ACCEPT"
    }

    private static func iptables(_ table: ListedTable) -> String {
        table.name.hasPrefix("ip6 ") ? "ip6tables" : "iptables"
    }
}
