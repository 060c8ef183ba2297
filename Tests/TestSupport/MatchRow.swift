/// The table of spellings: what a name, or an address, is matched by. The library and the daemon are held to it.

/// One row: a rule, what is asked for, and what becomes of it.
public struct MatchRow: Sendable, CustomStringConvertible {
    public enum Outcome: Sendable { case proxied, direct, refused }

    public let id: String
    /// As the domain list spells it.
    public let entry: String
    public let asked: String
    public let outcome: Outcome

    init(_ id: String, _ entry: String, _ asked: String, _ outcome: Outcome) {
        (self.id, self.entry, self.asked, self.outcome) = (id, entry, asked, outcome)
    }

    public var description: String { "\(id): \(asked) by \(entry) is \(outcome)" }

    public static let all = [
        // A name with what is below it: itself, at any depth, and never half a label (B140).
        MatchRow("DM01", "example.com", "example.com", .proxied),
        MatchRow("DM02", "example.com", "a.b.c.example.com", .proxied),
        MatchRow("DM03", "example.com", "notexample.com", .direct),
        MatchRow("DM06", "full:example.org", "www.example.org", .direct),
        // A wildcard wants at least one label in front (B142).
        MatchRow("DM08", "*.example.com", "example.com", .direct),
        MatchRow("DM09", "*.example.com", "api.example.com", .proxied),
        // One name, however it is written (RFC 1034, section 3.1; RFC 4343; RFC 5891).
        MatchRow("DM12", "example.com", "api.example.com.", .proxied),
        MatchRow("DM14", "example.com", "API.Example.COM", .proxied),
        MatchRow("DM16", "bücher.example", "shop.xn--bcher-kva.example", .proxied),
        MatchRow("DM20", "xn--bcher-kva.example", "XN--BCHER-KVA.example", .proxied),
        MatchRow("DM21", "example.com", "xn----99999999.example.com", .proxied),
        // Addresses, to the edge of the network.
        MatchRow("DM23", "203.0.113.0/25", "203.0.113.127", .proxied),
        MatchRow("DM24", "203.0.113.0/25", "203.0.113.128", .direct),
        // What is no host name is refused before any rule sees it (RFC 1035, section 2.3.4).
        MatchRow("DM28", "example.com", String(repeating: "a", count: 64) + ".example.com", .refused),
        MatchRow("DM30", "example.com", "a..example.com", .refused),
        // Neighbours of those rows.
        MatchRow("full", "full:example.org", "example.org", .proxied),
        MatchRow("deep", "*.example.com", "a.b.example.com", .proxied),
        MatchRow("tail", "example.com", "example.com.evil.example", .direct),
        MatchRow("63", "example.com", String(repeating: "a", count: 63) + ".example.com", .proxied),
        MatchRow("underscore", "example.com", "_dmarc.example.com", .proxied),
        MatchRow("IDN", "bücher.example", "BÜCHER.example", .proxied),
        MatchRow("one label", "com", "example.com", .proxied),
        MatchRow("IPv6", "2001:db8::/32", "2001:db8:ffff::1", .proxied),
        MatchRow("not IPv6", "2001:db8::/32", "2001:db9::", .direct),
        MatchRow("one address", "192.0.2.7", "192.0.2.7", .proxied),
        MatchRow("family", "::/0", "192.0.2.7", .direct),
        MatchRow("keyword", "keyword:shop", "my.Bookshops.example", .proxied),
        MatchRow("not keyword", "keyword:shop", "example.com", .direct),
    ]
}
