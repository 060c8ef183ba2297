/// Names that pass before any rule is asked.

import Addresses
import Routing
import Testing

struct ImpliedNameTests {
    private static let implied = [
        ImpliedNames(list: "certificate hosts of charles", names: ["chls.pro", "charles.test"])
    ]

    private func rules(
        domains: [String] = [], bypass: [String] = [], rules: [String] = []
    ) throws(RoutingError) -> RuleSet {
        let texts = { (list: [String]) in list.map { SourceText(text: $0, line: 7) } }
        return try RuleSet(
            domains: texts(domains), bypass: texts(bypass), rules: texts(rules), implied: Self.implied)
    }

    @Test("they are proxied in both modes, whatever a list says, and their list is named")
    func proxied() throws {
        let refusing = ["MATCH,REJECT"]
        for set in [
            try rules(), try rules(domains: ["shop.example"]), try rules(bypass: ["pro", "charles.test"]),
            try rules(rules: ["DOMAIN,chls.pro,DIRECT", "DOMAIN-SUFFIX,test,REJECT"]), try rules(rules: refusing),
        ] {
            for name in ["chls.pro", "CHLS.pro.", "charles.test"] {
                let decision = set.decide(try to(name))
                #expect(decision.verdict == .proxy && !decision.isByDefault)
                #expect(decision.origin?.isImplied == true)
                #expect(decision.origin?.list == "certificate hosts of charles")
            }
            #expect(set.decide(try to("chls.pro")).origin?.description == "certificate hosts of charles: chls.pro")
            #expect(set.verdict(forName: "chls.pro") == .settled(set.decide(try to("chls.pro"))))
        }
    }

    @Test("what is below them, and everything else, is decided as before, and says its own list and line")
    func others() throws {
        let set = try rules(domains: ["shop.example"], bypass: ["x.shop.example"], rules: ["DOMAIN,a.example,REJECT"])
        #expect(set.mode == .domain)
        let rows: [(String, Verdict, String?)] = [
            ("www.chls.pro", .direct, nil), ("example.com", .direct, nil), ("a.example", .reject, "rules, line 7"),
            ("x.shop.example", .direct, "bypass, line 7"), ("shop.example", .proxy, "domains, line 7"),
        ]
        for (name, verdict, place) in rows {
            let decision = set.decide(try to(name))
            #expect(decision.verdict == verdict && decision.origin?.isImplied ?? false == false, "\(name)")
            #expect(decision.origin.map { "\($0.list), line \($0.line ?? 0)" } == place, "\(name)")
        }
        #expect(try rules().mode == .global)
    }

    @Test("they force nothing into the TUN device, and leave no name open")
    func capture() throws {
        let listed = try rules(domains: ["shop.example"])
        #expect(listed.capture == .names(prefixes: []))
        let ports = try rules(domains: ["shop.example"], rules: ["DST-PORT,22,REJECT"])
        #expect(ports.verdict(forName: "chls.pro") == .settled(ports.decide(try to("chls.pro"))))
        #expect(ports.verdict(forName: "shop.example") == .open)
    }
}
