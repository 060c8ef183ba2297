/// Tables of the older iptables, which nft(8) does not show: Docker's and ufw's where they were set up with it.
///
/// The kernel says whether there are any, and iptables-legacy-save(8) what is in them. Nobody is told when they change,
/// so they are looked at whenever the rest is.

import LinuxIO

enum LegacyTables {
    enum Family: CaseIterable {
        case ipv4
        case ipv6

        /// Where the kernel lists the tables that are in use.
        var list: String { self == .ipv4 ? "/proc/net/ip_tables_names" : "/proc/net/ip6_tables_names" }
        var tool: String { self == .ipv4 ? "iptables" : "ip6tables" }
        /// Who may know what is in it, the more likely one first.
        var savers: [SystemVerb.LegacyTool] {
            self == .ipv4 ? [.iptablesLegacy, .iptables] : [.ip6tablesLegacy, .ip6tables]
        }
        var table: String { self == .ipv4 ? "ip filter" : "ip6 filter" }
    }

    /// The filter tables that are in use, and the tools whose tables cannot be read.
    static func read(by tools: SystemTools) -> (tables: [ListedTable], unread: [String]) {
        var found: (tables: [ListedTable], unread: [String]) = ([], [])
        for family in Family.allCases where isInUse(family) {
            if let listing = listing(family, tools) {
                found.tables.append(parse(listing.text, family, tool: listing.tool))
            } else {
                found.unread.append("\(family.tool)-legacy")
            }
        }
        return found
    }

    private static func isInUse(_ family: Family) -> Bool {
        guard let bytes = try? SmallFile.read(family.list, limit: 1 << 16) else { return false }
        return String(decoding: bytes, as: UTF8.self).split(separator: "\n").contains("filter")
    }

    /// What the table holds, and the tool that changes it; where there is no other iptables, the plain name is the
    /// older.
    private static func listing(_ family: Family, _ tools: SystemTools) -> (text: String, tool: String)? {
        for tool in family.savers {
            guard let outcome = try? tools.run(.legacy(tool)), outcome.status == 0 else { continue }
            // The newer one shows its own rules, and warns that there are others.
            if !outcome.errors.contains("-legacy tables present") { return (outcome.output, tool.rawValue) }
        }
        return nil
    }

    /// Reads the format of iptables-save(8) and gives it in the words of nft(8).
    static func parse(_ text: String, _ family: Family, tool: String) -> ListedTable {
        var table = ListedTable(name: family.table)
        table.tool = tool
        for line in text.split(separator: "\n") {
            let words = line.split(separator: " ")
            if line.hasPrefix(":"), words.count >= 2 {
                let name = String(words[0].dropFirst())
                var chain = ListedTable.Chain(name: name)
                if ["FORWARD", "INPUT", "OUTPUT"].contains(name) { chain.hook = name.lowercased() }
                chain.policyDrops = words[1] == "DROP"
                table.chains.append(chain)
            } else if words.first == "-A", words.count >= 2 {
                guard let index = table.chains.firstIndex(where: { $0.name == words[1] }) else { continue }
                table.chains[index].rules.append(rule(Array(words.dropFirst(2))))
            }
        }
        return table
    }

    private static let keys: [Substring: String] = ["-i": "iifname", "-o": "oifname", "--dport": "dport"]

    private static func rule(_ words: [Substring]) -> Substring {
        var said: [String] = []
        var index = 0
        while index < words.count {
            let word = words[index]
            let next = index + 1 < words.count ? words[index + 1] : ""
            if word == "-j" || word == "-g" {
                said.append(["ACCEPT", "DROP", "REJECT"].contains(next) ? next.lowercased() : "jump \(next)")
                index += 1
            } else if let key = keys[word] {
                said.append("\(key) \(key == "dport" ? String(next) : "\"\(next)\"")")
                index += 1
            } else {
                said.append(String(word))
            }
            index += 1
        }
        return Substring(said.joined(separator: " "))
    }
}
