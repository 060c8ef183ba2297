/// What a device sends elsewhere than its profile says, and how names are grouped.

import Addresses
import Routing
import Testing

struct DeviceRulesTests {
    private func rules(direct: [String] = [], proxied: [String] = []) throws(RoutingError) -> DeviceRules {
        try DeviceRules(direct: direct, proxied: proxied)
    }

    @Test("what is in neither list is the profile's, in both modes of thinking")
    func others() throws {
        for own in [try rules(), try rules(direct: ["a.example"]), try rules(proxied: ["b.example"])] {
            #expect(own.decide(name: "other.example") == nil)
            #expect(own.decide(RouteQuery(address: try address("192.0.2.1"), port: 443)) == nil)
        }
    }

    @Test("direct is asked before proxied, and the entry is named")
    func order() throws {
        let own = try rules(direct: ["cdn.example", "10.0.0.0/8"], proxied: ["example", "192.0.2.0/24"])
        #expect(own.decide(name: "x.cdn.example")?.verdict == .direct)
        #expect(own.decide(name: "shop.example")?.verdict == .proxy)
        #expect(own.decide(RouteQuery(address: try address("10.1.2.3")))?.verdict == .direct)
        #expect(own.decide(RouteQuery(address: try address("192.0.2.9")))?.verdict == .proxy)
        let origin = try #require(own.decide(name: "x.cdn.example")?.origin)
        #expect(DeviceRules.words(origin) == "this phone's own list: cdn.example")
    }

    @Test("entries have one form, so that two that mean the same are one")
    func forms() throws {
        let own = try rules(
            direct: [" WWW.Example.COM. ", "www.example.com", "FULL:A.example", "*.B.example", "10.0.0.0/8"],
            proxied: ["keyword:SHOP", "bücher.example"])
        #expect(own.direct == ["www.example.com", "full:a.example", "*.b.example", "10.0.0.0/8"])
        // The A-label of RFC 3492, section 7, for "bücher".
        #expect(own.proxied == ["keyword:shop", "xn--bcher-kva.example"])
    }

    @Test(
        "a wrong entry is refused by its list and its number",
        arguments: [
            (["a.example", "http://b.example/"], [], "direct", 2), ([], ["a b"], "proxied", 1),
            (["a.example", ""], [], "direct", 2), ([], [".example"], "proxied", 1),
            (["a.example"], ["x.example", "A.example."], "proxied", 2),
            ([String](repeating: "a.example", count: 65), [], "direct", 65),
        ] as [([String], [String], String, Int)])
    func refuses(direct: [String], proxied: [String], list: String, number: Int) throws {
        let error = try #require(refusal { () throws(RoutingError) in try rules(direct: direct, proxied: proxied) })
        #expect(error.list == list && error.line == number, "\(error)")
        #expect(!error.found.isEmpty && !error.expected.isEmpty)
    }

    @Test("networks that are proxied are to be captured, and nothing else")
    func capture() throws {
        #expect(try rules().prefixes == [])
        #expect(try rules(direct: ["10.0.0.0/8", "a.example"]).prefixes == [])
        let own = try rules(direct: ["10.0.0.0/8"], proxied: ["a.example", "192.0.2.0/24", "2001:db8::/32"])
        #expect(own.prefixes == [try prefix("192.0.2.0/24"), try prefix("2001:db8::/32")])
    }

    @Test("a name matters where it could change what the profile decides without one")
    func names() throws {
        let query = RouteQuery(address: try address("192.0.2.1"), port: 443)
        let (direct, proxied) = (try rules(direct: ["a.example"]), try rules(proxied: ["a.example"]))
        #expect(direct.nameMatters(query, beside: .proxy) && !direct.nameMatters(query, beside: .direct))
        #expect(!proxied.nameMatters(query, beside: .proxy) && proxied.nameMatters(query, beside: .direct))
        #expect(try !rules(direct: ["10.0.0.0/8"]).nameMatters(query, beside: .proxy))
        // The address is direct already, and direct comes first.
        let settled = try rules(direct: ["192.0.2.0/24", "b.example"], proxied: ["a.example"])
        #expect(!settled.nameMatters(query, beside: .proxy))
    }

    @Test("what a wider direct entry hides is said")
    func shadows() throws {
        let own = try rules(direct: ["example.com"], proxied: ["full:api.example.com", "other.example"])
        #expect(own.shadowed.map(\.proxied) == ["full:api.example.com"])
        #expect(own.shadowed.map(\.by) == ["example.com"])
    }
}

struct NameGroupTests {
    @Test(
        "a suffix is two labels, or three under what looks like co.uk",
        arguments: [
            ("www.example.com", "example.com"), ("example.com", "example.com"), ("a.b.c.example.com", "example.com"),
            ("news.bbc.co.uk", "bbc.co.uk"), ("co.uk", "co.uk"), ("shop.example.com.au", "example.com.au"),
            ("api.hp.com", "hp.com"), ("cdn.example.de", "example.de"), ("localhost", "localhost"),
        ])
    func suffix(name: String, suffix: String) { #expect(NameGroup.suffix(of: name) == suffix) }

    @Test("the largest group comes first, and each name once")
    func groups() {
        let groups = NameGroup.groups(of: ["b.one.com", "x.two.com", "a.two.com", "x.two.com", "a.net"])
        #expect(groups.map(\.suffix) == ["two.com", "a.net", "one.com"])
        #expect(groups[0].names == ["a.two.com", "x.two.com"])
    }
}
