/// One line of each format.

import Addresses

extension ListEntries {
    /// What a domain list of a profile may hold.
    mutating func readPlain(_ line: ArraySlice<UInt8>, _ number: Int) throws(Misspelling) {
        let text = line.withoutComment
        guard !text.isEmpty else { return }
        try add(try Spelling.entry(text), line: number)
    }

    /// An address and the names that have it (hosts(5)); the address says nothing here.
    mutating func readHosts(_ line: ArraySlice<UInt8>, _ number: Int) throws(Misspelling) {
        let text = line.withoutComment
        guard !text.isEmpty else { return }
        let fields = text.split { $0 == 0x20 || $0 == 0x09 }
        guard Self.isAddress(fields[0]), fields.count > 1 else {
            throw Misspelling(.spelling, found: text, expected: "an address and at least one name")
        }
        for name in fields.dropFirst() where !Self.isOwn(name) {
            try add(.name(try Spelling.host(name, in: name), .exact), line: number)
        }
    }

    /// An address, of IPv6 with a zone perhaps: `fe80::1%lo0`.
    static func isAddress(_ field: ArraySlice<UInt8>) -> Bool {
        guard field.count <= 64 else { return false }
        let text = field.prefix { $0 != UInt8(ascii: "%") }
        return IPAddress(parsing: String(decoding: text, as: UTF8.self)) != nil
    }

    /// Names with which every hosts file begins: they mean the machine itself, and nobody lists them on purpose.
    private static func isOwn(_ name: ArraySlice<UInt8>) -> Bool {
        guard name.count <= 24 else { return false }
        switch String(decoding: name, as: UTF8.self) {
        case "localhost", "localhost.localdomain", "local", "broadcasthost", "ip6-localhost", "ip6-loopback",
            "ip6-localnet", "ip6-mcastprefix", "ip6-allnodes", "ip6-allrouters", "ip6-allhosts", "0.0.0.0":
            return true
        default: return false
        }
    }

    /// `domain:`, `full:`, `keyword:` or nothing before the value, attributes behind it.
    ///
    /// Attributes (`@ads`) and affiliations (`&other`) divide a list for other programs: here all of it counts.
    mutating func readV2fly(_ line: ArraySlice<UInt8>, _ number: Int) throws(Misspelling) {
        let text = line.withoutComment
        guard !text.isEmpty else { return }
        let fields = text.split { $0 == 0x20 || $0 == 0x09 }
        let (value, marks) = (fields[0], fields.dropFirst())
        for mark in marks {
            guard mark.count > 1, mark.first == UInt8(ascii: "@") || mark.first == UInt8(ascii: "&") else {
                throw Misspelling(.spelling, found: mark, expected: "an attribute such as @ads, or one entry on a line")
            }
        }
        if let other = value.dropping("include:") {
            guard marks.isEmpty else {
                throw Misspelling(
                    .unsupported, found: text, expected: "include: and a name",
                    hint: "only whole sets are included, not those of their entries that have an attribute")
            }
            inclusions.append(RuleList.Inclusion(name: String(decoding: other, as: UTF8.self), line: number))
            return
        }
        if let rest = value.dropping("full:") {
            return try add(.name(try Spelling.host(rest, in: text), .exact), line: number)
        }
        if let rest = value.dropping("keyword:") { return try add(.keyword(try Spelling.keyword(rest)), line: number) }
        if value.dropping("regexp:") != nil || value.dropping("regex:") != nil {
            throw Misspelling(
                .unsupported, found: text, expected: "domain:, full:, keyword: or include:",
                hint: "regular expressions are not read: write what this one matches, or leave it out")
        }
        let name = value.dropping("domain:") ?? value
        try add(.name(try Spelling.host(name, in: text), .suffix), line: number)
    }

    /// A payload: YAML as Clash's rule providers write it, or the same entries line by line.
    mutating func readClash(_ line: ArraySlice<UInt8>, _ number: Int) throws(Misspelling) {
        var text = Self.withoutYAMLComment(line)
        guard !text.isEmpty, !text.elementsEqual("payload:".utf8), !text.elementsEqual("---".utf8) else { return }
        if text.starts(with: "- ".utf8) { text = text.dropFirst(2).trimmed }
        if text.count > 1, let quote = text.first, quote == text.last, quote == 0x22 || quote == 0x27 {
            text = text.dropFirst().dropLast().trimmed
        }
        if text.contains(UInt8(ascii: ",")) { return try add(try RuleNotation.listed(text), line: number) }
        if let prefix = try Spelling.network(text) { return try add(.target(prefix), line: number) }
        try add(try Self.clashName(text), line: number)
    }

    /// `+.x` is x and all below, `.x` all below, `*` one label; the bare name is it alone.
    static func clashName(_ text: ArraySlice<UInt8>) throws(Misspelling) -> Condition {
        if let rest = text.dropping("+.") { return .name(try Spelling.host(rest, in: text), .suffix) }
        if text.first == DomainName.dot { return .name(try Spelling.host(text.dropFirst(), in: text), .below) }
        let labels = text.split(separator: DomainName.dot, omittingEmptySubsequences: false)
        let wildcards = labels.count { $0.elementsEqual("*".utf8) }
        guard wildcards > 0 else { return .name(try Spelling.host(text, in: text), .exact) }
        for label in labels where !label.elementsEqual("*".utf8) { _ = try Spelling.host(label + [0x61], in: text) }
        if wildcards == 1, let rest = text.dropping("*."), !rest.isEmpty {
            return .name(try Spelling.host(rest, in: text), .child)
        }
        return .pattern(text)
    }

    /// A rule set or a domain set: rules without outbound, names, or names with a dot in front.
    mutating func readSurge(_ line: ArraySlice<UInt8>, _ number: Int) throws(Misspelling) {
        var text = line.withoutComment
        if text.first == UInt8(ascii: ";") { return }
        for mark in ["//", " ;"] {
            // Nothing of this notation has two slashes in it.
            if let start = text.firstRange(of: Array(mark.utf8)[...]) { text = text[..<start].trimmed }
        }
        guard !text.isEmpty else { return }
        if text.contains(UInt8(ascii: ",")) { return try add(try RuleNotation.listed(text), line: number) }
        if let prefix = try Spelling.network(text) { return try add(.target(prefix), line: number) }
        if text.first == DomainName.dot {
            return try add(.name(try Spelling.host(text.dropFirst(), in: text), .suffix), line: number)
        }
        try add(.name(try Spelling.host(text, in: text), .exact), line: number)
    }

    /// YAML's comments begin a line or follow a blank.
    private static func withoutYAMLComment(_ line: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var text = line.trimmed
        if text.first == UInt8(ascii: "#") { return [] }
        if let start = text.firstRange(of: Array(" #".utf8)[...]) { text = text[..<start].trimmed }
        return text
    }
}

extension ArraySlice<UInt8> {
    /// Where some octets stand for the first time.
    func firstRange(of wanted: ArraySlice<UInt8>) -> Int? {
        guard count >= wanted.count else { return nil }
        for start in startIndex...(endIndex - wanted.count) where self[start...].starts(with: wanted) { return start }
        return nil
    }
}
