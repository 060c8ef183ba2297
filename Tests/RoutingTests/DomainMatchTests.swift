/// What a name, or an address, is matched by: the table of spellings, row by row.

import Addresses
import Routing
import TestSupport
import Testing

struct DomainMatchTests {
    @Test("B140, B142: each row of the table of names", arguments: MatchRow.all)
    func row(_ row: MatchRow) throws {
        let rules = try ruleSet(domains: [row.entry])
        guard row.outcome != .refused else {
            #expect(throws: DomainNameError.self) { try DomainName.normalise(row.asked) }
            return
        }
        let address = IPAddress(parsing: row.asked)
        let query = try address.map { RouteQuery(address: $0) } ?? to(row.asked)
        #expect(rules.decide(query).verdict == (row.outcome == .proxied ? .proxy : .direct))
        #expect((rules.decide(query).origin == nil) == (row.outcome == .direct))
    }

    @Test("B140: a longer name that does not match hides no shorter one that does")
    func noHiding() throws {
        let rules = try ruleSet(domains: ["example.com", "x.example.com", "y.x.example.com", "xexample.com"])
        #expect(rules.decide(try to("notexample.com")).verdict == .direct)
        #expect(rules.decide(try to("a.example.com")).origin?.text == "example.com")
        #expect(rules.decide(try to("a.xexample.com")).origin?.text == "xexample.com")
        #expect(rules.decide(try to("z.x.example.com")).origin?.text == "example.com")
    }

    @Test(
        "B142: what a spelling means in each format",
        arguments: [
            (RuleList.Format.plain, "x.example", "+++"), (.plain, "*.x.example", "-++"),
            (.plain, "full:x.example", "+--"),
            (.v2fly, "x.example", "+++"), (.v2fly, "domain:x.example", "+++"), (.v2fly, "full:x.example", "+--"),
            (.clash, "x.example", "+--"), (.clash, ".x.example", "-++"), (.clash, "*.x.example", "-+-"),
            (.clash, "+.x.example", "+++"), (.clash, "*.*.x.example", "--+"), (.clash, "a.*.x.example", "---"),
            (.clash, "b.*.x.example", "--+"), (.surge, "x.example", "+--"), (.surge, ".x.example", "+++"),
            (.hosts, "0.0.0.0 x.example", "+--"),
        ])
    func spellings(format: RuleList.Format, text: String, matches: String) throws {
        let list = try list(text, format: format)
        let names = ["x.example", "a.x.example", "b.a.x.example"]
        let found = try names.map { list.contains(try to($0)) ? "+" : "-" }.joined()
        #expect(found == matches)
        #expect(!list.contains(try to("nox.example")))
    }

    @Test(
        "B142: a spelling of another format is refused, not taken for a name",
        arguments: [
            (RuleList.Format.plain, ".x.example"), (.plain, "+.x.example"), (.plain, "domain:x.example"),
            (.plain, "*"), (.plain, "a.*.example"), (.plain, "*x.example"), (.plain, "||x.example^"),
            (.plain, "x.example/"),
            (.plain, "https://x.example/"), (.plain, "x.example:443"), (.plain, "x example"),
            (.plain, "x.example,PROXY"),
            (.v2fly, "*.x.example"), (.v2fly, ".x.example"), (.v2fly, "regexp:^x"), (.v2fly, "x.example y.example"),
            (.clash, "x*.example"), (.clash, "a.+.example"), (.clash, "full:x.example"), (.clash, "+."), (.clash, "."),
            (.surge, "*.x.example"), (.surge, "+.x.example"), (.hosts, "x.example"), (.hosts, "0.0.0.0"),
            (.hosts, "0.0.0.0 *.x.example"),
        ])
    func refused(format: RuleList.Format, text: String) {
        let error =
            refusal { () throws(RoutingError) in try list("ok.example\n" + text, format: format) }
            ?? refusal { () throws(RoutingError) in try list(text, format: format) }
        #expect(error != nil, "\(format) accepts \(text)")
    }

    @Test("B144: the first rule that matches decides, however exact a later one is, and the answer names it")
    func firstMatch() throws {
        let rules = try ruleSet(rules: ["DOMAIN-SUFFIX,example.com,PROXY", "DOMAIN-SUFFIX,internal.example.com,DIRECT"])
        let decision = rules.decide(try to("internal.example.com"))
        #expect(decision.verdict == .proxy)
        #expect(decision.origin == RuleOrigin(list: "rules", line: 1, text: "DOMAIN-SUFFIX,example.com,PROXY"))
        #expect(decision.origin?.description == "rules, line 1: DOMAIN-SUFFIX,example.com,PROXY")
        let turned = try ruleSet(
            rules: ["DOMAIN-SUFFIX,internal.example.com,DIRECT", "DOMAIN-SUFFIX,example.com,PROXY"])
        #expect(turned.decide(try to("internal.example.com")).verdict == .direct)
        #expect(turned.decide(try to("example.com")).origin?.line == 2)
    }
}
