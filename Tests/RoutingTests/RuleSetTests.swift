/// The order of the lists, the notation of rules, and what they say of names and of capture.

import Addresses
import Routing
import Testing

struct RuleSetTests {
    @Test("rules come before bypass, bypass before domains, and the mode last")
    func order() throws {
        let rules = try ruleSet(
            domains: ["example.com", "10.0.0.0/8"], bypass: ["intranet.example.com", "10.1.0.0/16"],
            rules: ["DOMAIN,a.intranet.example.com,REJECT"])
        #expect(rules.mode == .domain)
        #expect(rules.decide(try to("a.intranet.example.com")).verdict == .reject)
        #expect(rules.decide(try to("b.intranet.example.com")).origin?.list == "bypass")
        #expect(rules.decide(try to("www.example.com")).origin?.list == "domains")
        #expect(rules.decide(try to("other.example")) == Decision(verdict: .direct))
        #expect(rules.decide(RouteQuery(address: try address("10.1.2.3"))).verdict == .direct)
        #expect(rules.decide(RouteQuery(address: try address("10.2.2.3"))).verdict == .proxy)
    }

    @Test("an empty domain list proxies all but what bypass and rules say")
    func global() throws {
        let rules = try ruleSet(bypass: ["*.lab.example"], rules: ["DST-PORT,25,REJECT"])
        #expect(rules.mode == .global)
        #expect(rules.decide(try to("anything.example")) == Decision(verdict: .proxy))
        #expect(rules.decide(try to("a.lab.example")).verdict == .direct)
        #expect(rules.decide(RouteQuery(name: "a.example", port: 25)).verdict == .reject)
    }

    @Test(
        "every type of rule matches what it says, and nothing else",
        arguments: [
            ("DOMAIN,a.example,PROXY", "a.example", nil, 443, nil, "tcp", true),
            ("DOMAIN,a.example,PROXY", "b.a.example", nil, 443, nil, "tcp", false),
            ("DOMAIN-SUFFIX,a.example,PROXY", "b.a.example", nil, 443, nil, "tcp", true),
            ("DOMAIN-KEYWORD,EXAM,PROXY", "b.example", nil, 443, nil, "tcp", true),
            ("IP-CIDR,192.0.2.0/24,PROXY,no-resolve", nil, "192.0.2.255", 443, nil, "tcp", true),
            ("IP-CIDR,192.0.2.0/24,PROXY", nil, "192.0.3.0", 443, nil, "tcp", false),
            ("IP-CIDR,192.0.2.0/24,PROXY", "a.example", nil, 443, nil, "tcp", false),
            ("IP-CIDR6,2001:db8::/32,PROXY", nil, "2001:db8::1", 443, nil, "tcp", true),
            ("IP-CIDR,2001:db8::/32,PROXY", nil, "2001:db8::1", 443, nil, "tcp", true),
            ("SRC-IP-CIDR,10.9.0.2/32,PROXY", nil, "192.0.2.1", 443, "10.9.0.2", "tcp", true),
            ("SRC-IP-CIDR,10.9.0.2/32,PROXY", nil, "10.9.0.2", 443, "10.9.0.3", "tcp", false),
            ("DST-PORT,443,PROXY", nil, "192.0.2.1", 443, nil, "tcp", true),
            ("DST-PORT,440-443,PROXY", nil, "192.0.2.1", 443, nil, "tcp", true),
            ("DEST-PORT,444-500,PROXY", nil, "192.0.2.1", 443, nil, "tcp", false),
            ("NETWORK,UDP,PROXY", nil, "192.0.2.1", 443, nil, "udp", true),
            ("NETWORK,udp,PROXY", nil, "192.0.2.1", 443, nil, "tcp", false),
            ("MATCH,PROXY", nil, nil, 443, nil, "tcp", true), ("FINAL,PROXY", nil, nil, 443, nil, "tcp", true),
            (" DOMAIN , a.example , PROXY ", "a.example", nil, 443, nil, "tcp", true),
        ] as [(String, String?, String?, UInt16, String?, String, Bool)])
    func types(
        rule: String, name: String?, target: String?, port: UInt16, source: String?, network: String, matches: Bool
    ) throws {
        let rules = try ruleSet(domains: ["never.invalid"], rules: [rule])
        let query = RouteQuery(
            name: name, address: try target.map(address), port: port, source: try source.map(address),
            network: Network(rawValue: network))
        #expect(rules.decide(query).verdict == (matches ? .proxy : .direct))
        #expect(rules.verdict(query) == rules.decide(query).verdict)
    }

    @Test("outbounds are PROXY, DIRECT, REJECT and the profiles' ids")
    func outbounds() throws {
        let rules = try ruleSet(
            rules: ["DOMAIN,a,whistle-qa", "DOMAIN,b,DIRECT", "DOMAIN,c,REJECT"], profiles: ["whistle-qa", "x"])
        #expect(rules.decide(try to("a")).verdict == .profile("whistle-qa"))
        #expect(rules.decide(try to("b")).verdict == .direct)
        #expect(rules.decide(try to("c")).verdict == .reject)
    }

    @Test(
        "a wrong rule is refused with its line, what was found and what would be right",
        arguments: [
            ("", RoutingError.Code.spelling), ("DOMAIN", .spelling), ("DOMAIN,a.example", .spelling),
            ("DOMAIN,a.example,NOWHERE", .unknownOutbound), ("DOMAIN,a.example,proxy", .unknownOutbound),
            ("DOMAIN,,PROXY", .spelling), ("DOMAIN,a b,PROXY", .name), ("DOMAIN,a..b,PROXY", .name),
            ("DOMAIN,*.a.example,PROXY", .name), ("DOMAIN,192.0.2.1,PROXY", .name),
            ("DOMAIN-SUFFIX,.a.example,PROXY", .name), ("DOMAIN-KEYWORD,ü,PROXY", .spelling),
            ("DOMAIN,a.example,PROXY,no-resolve", .spelling), ("domain,a.example,PROXY", .spelling),
            ("IP-CIDR,192.0.2.1/24,PROXY", .prefix), ("IP-CIDR,192.0.2.0/33,PROXY", .prefix),
            ("IP-CIDR,a.example,PROXY", .prefix), ("IP-CIDR6,192.0.2.0/24,PROXY", .prefix),
            ("SRC-IP-CIDR,x,PROXY", .prefix), ("DST-PORT,0,PROXY", .spelling), ("DST-PORT,65536,PROXY", .spelling),
            ("DST-PORT,9-8,PROXY", .spelling), ("DST-PORT,1-2-3,PROXY", .spelling), ("DST-PORT,-,PROXY", .spelling),
            ("NETWORK,icmp,PROXY", .spelling), ("RULE-SET,nobody,PROXY", .unknownSet),
            ("RULE-SET,/etc/passwd,PROXY", .unknownSet), ("MATCH", .spelling), ("MATCH,a,PROXY", .spelling),
            ("GEOIP,CN,DIRECT", .unsupported), ("PROCESS-NAME,curl,DIRECT", .unsupported), ("WHAT,a,PROXY", .spelling),
            ("DOMAIN,a.example,PROXY # why", .unknownOutbound), ("- DOMAIN,a.example,PROXY", .spelling),
        ])
    func refused(rule: String, code: RoutingError.Code) throws {
        let error = refusal { () throws(RoutingError) in
            try ruleSet(domains: ["a.example"], rules: ["DOMAIN,ok.example,PROXY", rule])
        }
        #expect(error?.code == code)
        #expect(error?.list == "rules")
        #expect(error?.line == 2)
    }

    @Test("a wrong entry of domains or bypass is refused with its list, file and line")
    func refusedEntry() throws {
        let wrong = SourceText(text: "10.0.0.1/8", line: 12, file: "starship.json5")
        let error = refusal { () throws(RoutingError) in
            try RuleSet(domains: [], bypass: [wrong], rules: [])
        }
        #expect(
            error?.description == "bypass, starship.json5:12: found \"10.0.0.1/8\"; expected a network such as "
                + "192.0.2.0/24 or 2001:db8::/32 (bits beyond the length must be zero: 10.0.0.0/8)")
        #expect(refusal { () throws(RoutingError) in try ruleSet(domains: ["+.a.example"]) }?.list == "domains")
        #expect(
            refusal { () throws(RoutingError) in try ruleSet(domains: ["a\u{a0}.example"]) }?.found.contains("U+00A0")
                == true)
    }

    @Test("an entry of a set is named with its file and line, and with the rule that names the set")
    func origins() throws {
        let rules = try ruleSet(
            domains: ["x.example"], rules: ["DOMAIN,z,DIRECT", "RULE-SET,ads,REJECT", "RULE-SET,more,DIRECT"],
            sets: [
                "ads": list("# ads\nads.example\n192.0.2.0/24\n", name: "ads"),
                "more": list("more.example", name: "more"),
            ])
        let decision = rules.decide(try to("cdn.ads.example"))
        #expect(decision.verdict == .reject)
        #expect(
            decision.origin?.description == "ads, ads.txt:2: ads.example (by line 2: RULE-SET,ads,REJECT)")
        #expect(rules.decide(RouteQuery(address: try address("192.0.2.9"))).origin?.line == 3)
        #expect(rules.decide(try to("more.example")).origin?.through?.line == 3)
        #expect(rules.decide(try to("x.example")).origin?.through == nil)
    }

    @Test("a set counts at the place of its rule, among the others in their order")
    func setOrder() throws {
        let both = try list("a.example", name: "both")
        let early = try ruleSet(rules: ["RULE-SET,both,REJECT", "DOMAIN,a.example,DIRECT"], sets: ["both": both])
        let late = try ruleSet(rules: ["DOMAIN,a.example,DIRECT", "RULE-SET,both,REJECT"], sets: ["both": both])
        #expect(early.decide(try to("a.example")).verdict == .reject)
        #expect(late.decide(try to("a.example")).verdict == .direct)
        #expect(late.decide(try to("b.a.example")).verdict == .reject)
    }
}

struct NameOutcomeTests {
    private func outcome(_ name: String, domains: [String] = [], bypass: [String] = [], _ rules: [String]) throws
        -> NameOutcome
    {
        try ruleSet(domains: domains, bypass: bypass, rules: rules).verdict(forName: name)
    }

    @Test("a name is settled when no rule before its own looks at the flow")
    func settled() throws {
        let rules = [
            "DOMAIN,a.example,DIRECT", "DST-PORT,22,PROXY", "DOMAIN,b.example,DIRECT", "DOMAIN,c.example,PROXY",
        ]
        let first = try outcome("a.example", domains: ["x"], rules)
        #expect(
            first == .settled(Decision(verdict: .direct, origin: RuleOrigin(list: "rules", line: 1, text: rules[0]))))
        #expect(try outcome("b.example", domains: ["x"], rules) == .open)
        #expect(try outcome("d.example", domains: ["x"], rules) == .open)
        // Every flow to it is proxied, by one rule or the other.
        #expect(try outcome("c.example", domains: ["x"], rules) != .open)
    }

    @Test("rules about addresses leave a name settled: its address is looked at when the flow comes")
    func addresses() throws {
        #expect(
            try outcome("a.example", domains: ["x"], ["IP-CIDR,192.0.2.0/24,PROXY"])
                == .settled(Decision(verdict: .direct)))
        #expect(try outcome("x", domains: ["x"], ["IP-CIDR,192.0.2.0/24,REJECT"]) != .open)
    }

    @Test("rules about devices are open until the device is known")
    func devices() throws {
        let rules = try ruleSet(domains: ["x"], rules: ["SRC-IP-CIDR,10.9.0.2/32,PROXY"])
        #expect(rules.verdict(forName: "a.example") == .open)
        #expect(rules.verdict(forName: "x") != .open)
        let other = rules.verdict(forName: "a.example", device: try address("10.9.0.3"))
        #expect(other == .settled(Decision(verdict: .direct)))
        guard case .settled(let decision) = rules.verdict(forName: "a.example", device: try address("10.9.0.2")) else {
            Issue.record("open although the device is known")
            return
        }
        #expect(decision.verdict == .proxy)
    }

    @Test("in global mode a name that nothing lists is proxied, and a bypassed one is direct")
    func global() throws {
        #expect(try outcome("a.example", []) == .settled(Decision(verdict: .proxy)))
        #expect(try outcome("a.example", bypass: ["a.example"], []) != .open)
    }

    @Test("MATCH settles what stands behind it")
    func match() throws {
        guard case .settled(let decision) = try outcome("x", domains: ["x"], ["MATCH,DIRECT", "DST-PORT,1,PROXY"])
        else {
            Issue.record("open behind MATCH")
            return
        }
        #expect(decision.origin?.line == 1)
    }

    @Test("a name matters where a name rule before the match decides otherwise")
    func matters() throws {
        let rules = try ruleSet(
            domains: ["x.example"], rules: ["DST-PORT,25,REJECT", "DOMAIN,y.example,DIRECT", "DST-PORT,26,DIRECT"])
        #expect(!rules.nameMatters(RouteQuery(port: 25)))
        #expect(!rules.nameMatters(RouteQuery(port: 26)))
        #expect(rules.nameMatters(RouteQuery(port: 443)))
        #expect(rules.nameMatters(RouteQuery(name: "y.example", port: 443)))
        #expect(!(try ruleSet().nameMatters(RouteQuery(port: 443))))
        #expect(try ruleSet(bypass: ["a"]).nameMatters(RouteQuery(port: 443)))
        let set = try list("a.example\n")
        #expect(try ruleSet(rules: ["RULE-SET,s,DIRECT"], sets: ["s": set]).nameMatters(RouteQuery(port: 443)))
    }
}
