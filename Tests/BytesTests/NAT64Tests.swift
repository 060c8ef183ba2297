/// IPv4 addresses inside IPv6 ones.

import Addresses
import Testing

@Suite("NAT64")
struct NAT64Tests {
    private func address(_ text: String) throws -> IPAddress { try #require(IPAddress(parsing: text)) }

    private func prefix(_ text: String) throws -> NAT64Prefix {
        let network = try #require(IPPrefix(parsing: text))
        return try #require(NAT64Prefix(network))
    }

    /// RFC 6052, section 2.4, tables 1 and 2.
    static let examples = [
        ("2001:db8::/32", "2001:db8:c000:221::"),
        ("2001:db8:100::/40", "2001:db8:1c0:2:21::"),
        ("2001:db8:122::/48", "2001:db8:122:c000:2:2100::"),
        ("2001:db8:122:300::/56", "2001:db8:122:3c0:0:221::"),
        ("2001:db8:122:344::/64", "2001:db8:122:344:c0:2:2100::"),
        ("2001:db8:122:344::/96", "2001:db8:122:344::192.0.2.33"),
        ("64:ff9b::/96", "64:ff9b::192.0.2.33"),
    ]

    @Test("the examples of RFC 6052 are read and written", arguments: examples)
    func readsAndWrites(prefix text: String, embedded: String) throws {
        let prefix = try prefix(text)
        let inside = try address("192.0.2.33")
        #expect(prefix.address(for: inside) == (try address(embedded)))
        #expect(prefix.address(inside: try address(embedded)) == inside)
    }

    @Test(
        "a prefix of IPv4 addresses is one of IPv6, whose last octet before the host may stand behind octet 8",
        arguments: zip(
            examples.map(\.0),
            [
                "2001:db8:c000:200::/56", "2001:db8:1c0:2::/64", "2001:db8:122:c000:2::/80",
                "2001:db8:122:3c0:0:200::/88", "2001:db8:122:344:c0:2::/96", "2001:db8:122:344::192.0.2.0/120",
                "64:ff9b::192.0.2.0/120",
            ]))
    func prefixes(text: String, network: String) throws {
        let prefix = try prefix(text)
        let inside = try #require(IPPrefix(parsing: "192.0.2.0/24"))
        #expect(prefix.prefix(for: inside) == IPPrefix(parsing: network))
        #expect(prefix.prefix(for: try #require(IPPrefix(parsing: "0.0.0.0/0"))) == prefix.prefix)
        let host = try #require(IPPrefix(parsing: "192.0.2.33/32"))
        #expect(prefix.prefix(for: host).contains(prefix.address(for: host.base)))
    }

    @Test func theWellKnownPrefixIsKnown() throws {
        #expect(NAT64Prefix.wellKnown == (try prefix("64:ff9b::/96")))
        #expect(NAT64Prefix.wellKnown.address(inside: try address("64:ff9b::808:808")) == (try address("8.8.8.8")))
    }

    @Test(
        "other addresses hold nothing",
        arguments: ["64:ff9b:1::808:808", "2001:db8::808:808", "8.8.8.8", "::8.8.8.8", "64:ff9b:0:0:1::808:808"])
    func others(text: String) throws {
        #expect(NAT64Prefix.wellKnown.address(inside: try address(text)) == nil)
    }

    /// RFC 6052, section 2.2: octet 8 is zero, and what follows the address is passed over.
    @Test func octet8IsZeroAndTheSuffixIsNot() throws {
        let prefix = try prefix("2001:db8:122:344::/64")
        #expect(prefix.address(inside: try address("2001:db8:122:344:1c0:2:2100::")) == nil)
        #expect(prefix.address(inside: try address("2001:db8:122:344:c0:2:21ff:1")) == (try address("192.0.2.33")))
    }

    @Test(
        "what is no such prefix is refused",
        arguments: ["2001:db8::/33", "2001:db8::/128", "::/0", "2001:db8:0:0:ff00::/96", "10.0.0.0/32"])
    func refused(text: String) throws {
        let network = try #require(IPPrefix(parsing: text))
        #expect(NAT64Prefix(network) == nil)
    }

    /// RFC 7050, section 3, and its examples' prefixes in every length of RFC 6052.
    @Test("a prefix is learned from the answer for ipv4only.arpa", arguments: examples.map(\.0))
    func learns(text: String) throws {
        let prefix = try prefix(text)
        for known in [["192.0.0.170"], ["192.0.0.171"], ["192.0.0.170", "192.0.0.171"]] {
            let answers = try known.map { prefix.address(for: try address($0)) }
            #expect(NAT64Prefix.learned(from: answers) == [prefix])
        }
    }

    @Test func severalPrefixesKeepTheirOrder() throws {
        let answers = try ["2001:db8:43::c000:aa", "64:ff9b::c000:aa", "2001:db8:43::c000:ab", "2001:db8::1"]
            .map(address)
        #expect(NAT64Prefix.learned(from: answers) == [try prefix("2001:db8:43::/96"), .wellKnown])
    }

    @Test(
        "an answer that says nothing teaches nothing",
        arguments: [[], ["2001:db8::1"], ["192.0.0.170", "192.0.0.171"], ["2001:db8:122:344:1c0:0:aa00:0"]])
    func teachesNothing(answers: [String]) throws {
        #expect(NAT64Prefix.learned(from: try answers.map(address)).isEmpty)
    }

    /// RFC 7050, section 3: the value must stand there once; else the other one is searched for.
    @Test func aPrefixThatHoldsTheValueItselfIsLearnedFromTheOtherOne() throws {
        let prefix = try prefix("2001:db8:c000:aa::/96")
        let answers = [
            prefix.address(for: try address("192.0.0.170")), prefix.address(for: try address("192.0.0.171")),
        ]
        #expect(NAT64Prefix.learned(from: answers) == [prefix])
        #expect(NAT64Prefix.learned(from: [answers[0]]).isEmpty)
    }
}
