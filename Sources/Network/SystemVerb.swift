/// # What is asked of the system: fixed verbs
///
/// Everything that needs a tool of the system, or a setting of the kernel, is one of these. The daemon's companion does
/// them (`Companion`), and a program without one does them itself. No program's name and no argument crosses the line
/// between the two, only a verb and its texts, and each text has a form that leads to nothing but its verb: lines of
/// ip(8) without `netns exec` or objects to load, tables of nft(8) without files, settings that are ours.

import LinuxIO

enum SystemVerb: Equatable, Sendable {
    /// `ip -4|-6 [-force] -batch -`.
    case batch([String], isIPv4: Bool, isForced: Bool)
    /// `nft -f -`.
    case load(String)
    /// `nft [-t] list …`.
    case list(ListedPart, withElements: Bool)
    /// `iptables-save -t filter` and its kind.
    case legacy(LegacyTool)
    /// `ss -Htan`.
    case connections
    /// A file below /proc/sys, and what is written into it.
    case setting(String, value: String)

    /// What is looked at of the firewall.
    enum ListedPart: UInt8, CaseIterable, Sendable {
        case ruleset = 1
        case ownTable
        case insistsIPv4
        case insistsIPv6

        var words: [String] {
            switch self {
            case .ruleset: ["ruleset"]
            case .ownTable: ["table", "inet", NetworkNames.firewallTable]
            case .insistsIPv4: ["set", "inet", NetworkNames.firewallTable, "\(Insistence.name)_ipv4"]
            case .insistsIPv6: ["set", "inet", NetworkNames.firewallTable, "\(Insistence.name)_ipv6"]
            }
        }
    }

    /// Who knows what is in the tables of the older iptables.
    enum LegacyTool: String, CaseIterable, Sendable {
        case iptables
        case ip6tables
        case iptablesLegacy = "iptables-legacy"
        case ip6tablesLegacy = "ip6tables-legacy"
    }

    /// Does it, in the network namespace of the calling thread.
    func perform() throws(SystemCallError) -> Tool.Outcome {
        switch self {
        case .batch(let lines, let isIPv4, let isForced):
            let arguments = [isIPv4 ? "-4" : "-6"] + (isForced ? ["-force"] : []) + ["-batch", "-"]
            return try Tool.run("ip", arguments, input: lines.map { "\($0)\n" }.joined())
        case .load(let text): return try Tool.run("nft", ["-f", "-"], input: text)
        case .list(let part, let withElements):
            return try Tool.run("nft", (withElements ? [] : ["-t"]) + ["list"] + part.words, input: "")
        case .legacy(let tool): return try Tool.run("\(tool.rawValue)-save", ["-t", "filter"], input: "")
        case .connections: return try Tool.run("ss", ["-Htan"], input: "")
        case .setting(let name, let value):
            try Sysctl.set(name, to: value)
            return Tool.Outcome(status: 0, output: "", errors: "")
        }
    }
}
