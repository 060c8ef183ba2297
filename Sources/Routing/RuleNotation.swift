/// Rules as Surge and Clash write them: `TYPE,value,outbound`, blanks around commas allowed.

import Addresses

/// One line of that notation; in a list there is no outbound, since the rule that names the list has it.
struct NotedRule {
    var condition: Condition
    /// As it is written; nil in a list.
    var outbound: ArraySlice<UInt8>?
}

enum RuleNotation {
    static let rule = "TYPE,value,outbound, such as \"DOMAIN-SUFFIX,example.com,PROXY\""

    private enum Kind: String, CaseIterable {
        case domain = "DOMAIN"
        case suffix = "DOMAIN-SUFFIX"
        case keyword = "DOMAIN-KEYWORD"
        case target = "IP-CIDR"
        case target6 = "IP-CIDR6"
        case source = "SRC-IP-CIDR"
        case port = "DST-PORT"
        case network = "NETWORK"
        case set = "RULE-SET"
        case match = "MATCH"
        // Surge's words for the same.
        case final = "FINAL"
        case sourceOfSurge = "SRC-IP"
        case portOfSurge = "DEST-PORT"
        case networkOfSurge = "PROTOCOL"

        static let listed = allCases.prefix(11).map(\.rawValue).joined(separator: ", ")
        static let inLists = allCases.prefix(8).map(\.rawValue).joined(separator: ", ")

        /// Whether `no-resolve` may follow: our rules never resolve a name, so it is what happens anyway.
        var knowsNoResolve: Bool { self == .target || self == .target6 || self == .set || self == .source }
    }

    /// Whether a line begins with a type of this notation, known to us or not.
    static func looksLikeRule(_ text: ArraySlice<UInt8>) -> Bool {
        guard let comma = text.firstIndex(of: UInt8(ascii: ",")) else { return false }
        return text[..<comma].allSatisfy { $0 >= 0x41 && $0 <= 0x5a || $0 == 0x2d || $0 >= 0x30 && $0 <= 0x39 }
    }

    /// A rule of the configuration, with its outbound.
    static func rule(_ text: ArraySlice<UInt8>) throws(Misspelling) -> NotedRule {
        var fields = text.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false).map(\.trimmed)
        let kind = try kind(fields[0], in: text, expected: Kind.listed)
        try dropOption(&fields, kind, text)
        let isMatch = kind == .match || kind == .final
        guard fields.count == (isMatch ? 2 : 3) else {
            throw Misspelling(
                .spelling, found: text, expected: isMatch ? "\(kind.rawValue),outbound" : rule,
                hint: fields.count > 3 ? "of the options no-resolve alone is known, behind networks and sets" : nil)
        }
        let condition = isMatch ? .always : try condition(kind, fields[1], in: text)
        return NotedRule(condition: condition, outbound: fields.last)
    }

    /// A line of a list, without an outbound.
    static func listed(_ text: ArraySlice<UInt8>) throws(Misspelling) -> Condition {
        var fields = text.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false).map(\.trimmed)
        let kind = try kind(fields[0], in: text, expected: Kind.inLists)
        guard kind != .set, kind != .match, kind != .final else {
            throw Misspelling(
                .unsupported, found: text, expected: "one of \(Kind.inLists)",
                hint: "\(kind.rawValue) stands in rules, not in a list")
        }
        try dropOption(&fields, kind, text)
        guard fields.count == 2 else {
            throw Misspelling(
                .spelling, found: text, expected: "TYPE,value",
                hint: fields.count == 3 ? "the rule that names the list has the outbound" : nil)
        }
        return try condition(kind, fields[1], in: text)
    }

    private static func kind(
        _ word: ArraySlice<UInt8>, in text: ArraySlice<UInt8>, expected: String
    ) throws(Misspelling) -> Kind {
        let word = String(decoding: word.prefix(40), as: UTF8.self)
        if let kind = Kind(rawValue: word) { return kind }
        if let kind = Kind(rawValue: word.uppercased()) {
            throw Misspelling(.spelling, found: text, expected: rule, hint: "\(kind.rawValue) in capitals")
        }
        throw Misspelling(
            foreign.contains(word) ? .unsupported : .spelling, found: text, expected: "one of \(expected)",
            hint: foreign.contains(word) ? "\(word) is known to other programs, not here" : nil)
    }

    private static func dropOption(
        _ fields: inout [ArraySlice<UInt8>], _ kind: Kind, _ text: ArraySlice<UInt8>
    ) throws(Misspelling) {
        guard fields.count > 2, fields[fields.count - 1].elementsEqual("no-resolve".utf8) else { return }
        guard kind.knowsNoResolve else {
            throw Misspelling(.spelling, found: text, expected: "no-resolve behind networks and sets only")
        }
        fields.removeLast()
    }

    private static func condition(
        _ kind: Kind, _ value: ArraySlice<UInt8>, in text: ArraySlice<UInt8>
    ) throws(Misspelling) -> Condition {
        guard !value.isEmpty else {
            throw Misspelling(.spelling, found: text, expected: "\(kind.rawValue) and a value")
        }
        switch kind {
        case .domain: return .name(try Spelling.host(value, in: text), .exact)
        case .suffix: return .name(try Spelling.host(value, in: text), .suffix)
        case .keyword: return .keyword(try Spelling.keyword(value))
        case .target: return .target(try Spelling.prefix(value))
        case .target6:
            let prefix = try Spelling.prefix(value)
            guard !prefix.base.isIPv4 else {
                throw Misspelling(.prefix, found: text, expected: "an IPv6 network", hint: "IP-CIDR takes both")
            }
            return .target(prefix)
        case .source, .sourceOfSurge: return .source(try Spelling.prefix(value))
        case .port, .portOfSurge: return .ports(try ports(value, in: text))
        case .network, .networkOfSurge:
            guard let network = Network(rawValue: String(decoding: value, as: UTF8.self).lowercased()) else {
                throw Misspelling(.spelling, found: text, expected: "\(kind.rawValue),tcp or \(kind.rawValue),udp")
            }
            return .network(network)
        case .set: return .set(String(decoding: value, as: UTF8.self))
        case .match, .final: return .always
        }
    }

    /// A port, or the first and the last of several.
    private static func ports(
        _ value: ArraySlice<UInt8>, in text: ArraySlice<UInt8>
    ) throws(Misspelling) -> ClosedRange<UInt16> {
        let ends = value.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false).map(port)
        guard ends.count <= 2, let first = ends[0], let last = ends[ends.count - 1], first <= last else {
            throw Misspelling(.spelling, found: text, expected: "a port from 1 to 65535, or two with '-' between them")
        }
        return first...last
    }

    private static func port(_ text: ArraySlice<UInt8>) -> UInt16? {
        guard (1...5).contains(text.count), text.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }), text.first != 0x30 else {
            return nil
        }
        return UInt16(String(decoding: text, as: UTF8.self))
    }

    /// Types of Surge, Clash and their kin for which there is nothing here to look at.
    private static let foreign: Set<String> = [
        "AND", "DOMAIN-REGEX", "DOMAIN-SET", "DOMAIN-WILDCARD", "DSCP", "GEOIP", "GEOSITE", "IN-NAME", "IN-PORT",
        "IN-TYPE", "IN-USER", "IP-ASN", "IP-SUFFIX", "NOT", "OR", "PROCESS-NAME", "PROCESS-PATH", "SCRIPT",
        "SRC-GEOIP", "SRC-PORT", "SUB-RULE", "SUBNET", "UID", "URL-REGEX", "USER-AGENT",
    ]
}
