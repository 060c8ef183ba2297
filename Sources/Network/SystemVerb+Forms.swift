/// Which texts a verb may have: the forms that `NetworkScript` and `FirewallText` write, and no others.

import Addresses
import LinuxIO

extension SystemVerb {
    /// Whether it is one that we would ask.
    var isSound: Bool {
        switch self {
        case .batch(let lines, _, _): lines.allSatisfy(BatchLine.isSound)
        case .load(let text): FirewallForm.isSound(text)
        case .list, .legacy, .connections: true
        case .setting(let name, let value): SettingForm.isSound(name) && SettingForm.isSound(value: value)
        }
    }
}

/// Lines of ip(8) (`NetworkChanges`, `NetworkSetup.cleanup`).
private enum BatchLine {
    static func isSound(_ line: String) -> Bool {
        // Quotes, comments and a backslash mean something to a batch.
        guard line.utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7f && !"\"'#\\".utf8.contains($0) }) else { return false }
        let words = line.split(separator: " ").map(String.init)
        guard words.count >= 3 else { return false }
        let rest = words.dropFirst(2)
        switch (words[0], words[1]) {
        case ("link", "set"): return isLink(Array(rest))
        case ("address", "add"), ("address", "del"): return isAddress(Array(rest))
        case ("route", "flush"): return rest.count == 2 && rest.first == "table" && isOwnTable(rest.last)
        case ("route", "add"), ("route", "replace"), ("route", "del"): return isRoute(rest)
        case ("rule", "add"), ("rule", "del"): return isRule(rest)
        default: return false
        }
    }

    private static func isLink(_ words: [String]) -> Bool {
        words.count == 5 && words[0] == "dev" && words[2] == "mtu" && UInt32(words[3]) != nil
            && ["up", "down"].contains(words[4])
    }

    private static func isAddress(_ words: [String]) -> Bool {
        guard words.count == 3 || words.count == 4 && words[3] == "nodad" else { return false }
        return IPPrefix(parsing: words[0]) != nil && words[1] == "dev"
    }

    private static let kinds: Set<String> = [
        "local", "broadcast", "anycast", "multicast", "blackhole", "unreachable", "prohibit", "throw",
    ]

    private static func isRoute(_ words: ArraySlice<String>) -> Bool {
        var rest = words
        if let kind = rest.first, kinds.contains(kind) {
            rest.removeFirst()
        }
        guard let destination = rest.popFirst(), destination == "default" || IPPrefix(parsing: destination) != nil
        else {
            return false
        }
        var table: String?
        var maker: String?
        while let key = rest.popFirst() {
            guard let value = rest.popFirst() else { return false }
            switch key {
            case "table": table = value
            case "proto": maker = value
            case "metric": guard UInt32(value) != nil else { return false }
            case "via": guard IPAddress(parsing: value) != nil else { return false }
            case "dev": break
            default: return false
            }
        }
        // Of the main table what leads somewhere else than everywhere, and says that it is ours.
        let isSomewhere = IPPrefix(parsing: destination).map { $0.length > 0 } ?? false
        let isInMain = isSomewhere && table == "\(KernelRoute.mainTable)"
        return maker == nil ? isOwnTable(table) : isInMain && maker == "\(NetworkNames.maker)"
    }

    private static func isRule(_ words: ArraySlice<String>) -> Bool {
        var rest = words
        guard rest.popFirst() == "priority", let priority = rest.popFirst().flatMap({ UInt32($0) }),
            NetworkNames.priorities.contains(priority)
        else { return false }
        let keys = ["from", "to", "iif", "fwmark", "ipproto", "sport", "lookup", "goto", "suppress_prefixlength"]
        while let key = rest.popFirst() {
            if ["nop", "unreachable"].contains(key) { continue }
            guard keys.contains(key), rest.popFirst() != nil else { return false }
        }
        return true
    }

    private static func isOwnTable(_ word: String?) -> Bool {
        word.flatMap { UInt32($0) }.map(NetworkNames.tables.contains) ?? false
    }
}

/// Texts of nft(8): statements about our own table, and no file.
private enum FirewallForm {
    private static let beginnings = [["table"], ["delete", "table"], ["flush", "set"], ["add", "element"]].map {
        ($0 + ["inet", NetworkNames.firewallTable]).map { Substring($0) }
    }

    static func isSound(_ text: String) -> Bool {
        var depth = 0
        var isQuoted = false
        // The statement at the top that is being read, without what is in quotes.
        var statement: [UInt8] = []
        for octet in text.utf8 {
            guard octet >= 0x20 && octet != 0x7f || !isQuoted && (octet == 0x09 || octet == 0x0a) else { return false }
            if octet == UInt8(ascii: "\"") { isQuoted.toggle() }
            if isQuoted { continue }
            guard octet < 0x7f, !"\\#$'`".utf8.contains(octet) else { return false }
            if octet == UInt8(ascii: "{") { depth += 1 }
            if octet == UInt8(ascii: "}") { depth -= 1 }
            guard depth >= 0 else { return false }
            let isEnd = octet == 0x0a || octet == UInt8(ascii: ";")
            if isEnd, depth == 0 {
                guard isOwn(statement) else { return false }
                statement = []
            } else {
                statement.append(isEnd ? UInt8(ascii: " ") : octet)
            }
        }
        return depth == 0 && !isQuoted && isOwn(statement)
    }

    /// Whether a statement is about our table; nft(8) takes an `include` at any depth.
    private static func isOwn(_ statement: [UInt8]) -> Bool {
        let words = String(decoding: statement, as: UTF8.self).split { " \t{},".contains($0) }
        guard !words.isEmpty else { return true }
        return !words.contains("include") && beginnings.contains { words.starts(with: $0) }
    }
}

/// Settings of the kernel (`NetworkScript+Settings`).
private enum SettingForm {
    private static let global: Set<String> = [
        "net/ipv4/ip_forward", "net/ipv4/fwmark_reflect", "net/ipv4/tcp_fwmark_accept", "net/ipv6/fwmark_reflect",
    ]
    private static let ofInterfaces: [String: Set<String>] = [
        "ipv4": ["rp_filter", "forwarding", "send_redirects", "accept_redirects", "src_valid_mark"],
        "ipv6": ["addr_gen_mode", "disable_ipv6", "accept_ra", "forwarding"],
    ]

    static func isSound(_ name: String) -> Bool {
        if global.contains(name) { return true }
        let parts = name.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 5, parts[0] == "net", parts[2] == "conf", parts[3] != ".", parts[3] != "..",
            (1...15).contains(parts[3].utf8.count), parts[3].utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7f })
        else { return false }
        return ofInterfaces[parts[1]]?.contains(parts[4]) ?? false
    }

    static func isSound(value: String) -> Bool {
        let digits = value.hasPrefix("-") ? value.dropFirst() : value[...]
        return (1...10).contains(digits.utf8.count) && digits.utf8.allSatisfy { $0 >= 0x30 && $0 <= 0x39 }
    }
}
