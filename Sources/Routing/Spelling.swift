/// How entries are spelled: each function reads one way of writing, and refuses everything else by name.
///
/// | written in | `example.com` | `.example.com` | `*.example.com` | `+.example.com` |
/// |---|---|---|---|---|
/// | `domains`, `bypass`, plain lists | it and all below | refused | all below | refused |
/// | v2fly lists | it and all below | refused | refused | refused |
/// | Clash payloads | it alone | all below | one label more | it and all below |
/// | Surge lists | it alone | it and all below | refused | refused |
/// | hosts files | it alone | refused | refused | refused |

import Addresses

enum Spelling {
    static let name = "letters, digits, '-', '_' and dots, labels of 1 to 63 octets, 253 in all"
    static let entry = "a name, \"*.\" and a name, \"full:\" and a name, \"keyword:\" and a text, or a network"

    /// An entry of `domains`, of `bypass` or of a plain list.
    static func entry(_ text: ArraySlice<UInt8>) throws(Misspelling) -> Condition {
        guard let first = text.first else { throw Misspelling(.spelling, found: "nothing", expected: entry) }
        if let rest = text.dropping("full:") { return .name(try host(rest, in: text), .exact) }
        if let rest = text.dropping("keyword:") { return .keyword(try keyword(rest)) }
        if let rest = text.dropping("*.") { return .name(try host(rest, in: text), .below) }
        if let prefix = try network(text) { return .target(prefix) }
        if first == DomainName.dot || first == UInt8(ascii: "+") {
            throw Misspelling(
                .spelling, found: text, expected: entry,
                hint: "\"example.com\" is the name and all below it, \"*.example.com\" all below it")
        }
        for word in ["domain:", "geosite:", "regexp:", "geoip:"] where text.dropping(word) != nil {
            throw Misspelling(
                .unsupported, found: text, expected: entry,
                hint: word == "domain:" ? "the name alone means the same" : "\(word) is no part of this notation")
        }
        return .name(try host(text, in: text), .suffix)
    }

    /// A name that can be a host's; what is wrong with it is said with the whole entry.
    static func host(_ name: ArraySlice<UInt8>, in entry: ArraySlice<UInt8>) throws(Misspelling) -> ArraySlice<UInt8> {
        // The index checks the rest: only what a name can be mistaken for is looked for here.
        if let last = name.last, last >= 0x30, last <= 0x39, isNumber(name.lastLabel) {
            throw Misspelling(
                .name, found: entry, expected: "a name, the last label of which is no number",
                hint: "networks are written as 192.0.2.0/24")
        }
        guard let stray = name.first(where: { $0 < 0x80 && $0 != DomainName.dot && DomainName.folded($0) == 0 }) else {
            return name
        }
        throw Misspelling(.name, found: entry, expected: Self.name, hint: hint(stray, in: name))
    }

    private static func hint(_ stray: UInt8, in name: ArraySlice<UInt8>) -> String {
        switch stray {
        case UInt8(ascii: "/") where name.contains(UInt8(ascii: ":")):
            "the host of a URL alone, without scheme and path"
        case UInt8(ascii: ":"): "a name without scheme and port"
        case UInt8(ascii: "*"): "a wildcard stands in front, as in \"*.example.com\""
        case UInt8(ascii: " "), 0x09: "one entry on a line"
        default: "\(Unicode.Scalar(stray).visible) stands in no name"
        }
    }

    /// A text to be found in names.
    static func keyword(_ text: ArraySlice<UInt8>) throws(Misspelling) -> [UInt8] {
        guard !text.isEmpty, text.count <= DomainName.maximumLength else {
            throw Misspelling(.spelling, found: text, expected: "a keyword of 1 to 253 octets")
        }
        var folded: [UInt8] = []
        for octet in text {
            let letter = octet == DomainName.dot ? octet : DomainName.folded(octet)
            guard letter != 0 else {
                throw Misspelling(
                    .spelling, found: text, expected: "a keyword of letters, digits, '-', '_' and dots",
                    hint: octet < 0x80 ? nil : "names are compared as A-labels, in which no such letter stands")
            }
            folded.append(letter)
        }
        return folded
    }

    /// A network, nil when the text is rather a name, an error when it is one with a slip.
    static func network(_ text: ArraySlice<UInt8>) throws(Misspelling) -> IPPrefix? {
        guard text.count <= 50 else { return nil }
        let isNumeric = text.allSatisfy { $0 >= 0x30 && $0 <= 0x39 || $0 == DomainName.dot || $0 == UInt8(ascii: "/") }
        let isHexadecimal = text.allSatisfy { octet in
            switch octet {
            case 0x2e...0x3a, 0x41...0x46, 0x61...0x66: true
            default: false
            }
        }
        let colons = text.count { $0 == UInt8(ascii: ":") }
        guard isNumeric || isHexadecimal && colons > 1 else { return nil }
        return try prefix(text)
    }

    /// A network where nothing else can stand.
    static func prefix(_ text: ArraySlice<UInt8>) throws(Misspelling) -> IPPrefix {
        let written = String(decoding: text.prefix(64), as: UTF8.self)
        if let prefix = IPPrefix(parsing: written) { return prefix }
        var hint: String?
        if let slash = written.firstIndex(of: "/"), let address = IPAddress(parsing: written[..<slash]),
            let length = Int(written[written.index(after: slash)...]),
            let meant = IPPrefix(address, length: length)
        {
            hint = "bits beyond the length must be zero: \(meant)"
        }
        throw Misspelling(
            .prefix, found: text, expected: "a network such as 192.0.2.0/24 or 2001:db8::/32", hint: hint)
    }

    private static func isNumber(_ label: ArraySlice<UInt8>) -> Bool {
        label.allSatisfy { $0 >= 0x30 && $0 <= 0x39 }
    }
}

extension ArraySlice<UInt8> {
    /// What stands behind a word, or nil when it doesn't begin so; letters in either case.
    func dropping(_ word: String) -> ArraySlice<UInt8>? {
        guard count >= word.utf8.count else { return nil }
        for (octet, wanted) in zip(self, word.utf8) where DomainName.lower(octet) != wanted { return nil }
        return dropFirst(word.utf8.count)
    }

    /// Without blanks and tabs at both ends.
    var trimmed: ArraySlice<UInt8> {
        var text = self
        while let last = text.last, last == 0x20 || last == 0x09 { text.removeLast() }
        while let first = text.first, first == 0x20 || first == 0x09 { text.removeFirst() }
        return text
    }

    /// What stands before a `#`, without blanks at its ends.
    var withoutComment: ArraySlice<UInt8> {
        guard let hash = firstIndex(of: UInt8(ascii: "#")) else { return trimmed }
        return self[..<hash].trimmed
    }

    /// What stands behind the last dot.
    var lastLabel: ArraySlice<UInt8> {
        guard let dot = lastIndex(of: DomainName.dot) else { return self }
        return self[(dot + 1)...]
    }

    var isASCII: Bool { allSatisfy { $0 < 0x80 } }
}

extension DomainName {
    /// An ASCII letter in lower case, anything else as it is.
    static func lower(_ octet: UInt8) -> UInt8 {
        octet >= UInt8(ascii: "A") && octet <= UInt8(ascii: "Z") ? octet | 0x20 : octet
    }
}
