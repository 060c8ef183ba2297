/// What is routed into the TUN device.

import Addresses
import Routing
import Testing

struct CaptureTests {
    private func forced(_ capture: Capture) -> String? {
        guard case .all(let reason) = capture else { return nil }
        return reason
    }

    @Test("names alone capture nothing but the fake range")
    func names() throws {
        let rules = try ruleSet(
            domains: ["a.example", "keyword:b"], bypass: ["c.example", "10.0.0.0/8"], rules: ["DOMAIN,d,REJECT"])
        #expect(rules.capture == .names(prefixes: []))
    }

    @Test("networks that go anywhere but DIRECT are captured, each once and in order")
    func prefixes() throws {
        let set = try list("203.0.113.0/24\n2001:db8::/32\n203.0.113.128/25\n")
        let rules = try ruleSet(
            domains: ["198.51.100.0/24", "a.example"], bypass: ["10.0.0.0/8"],
            rules: [
                "IP-CIDR,192.0.2.0/25,REJECT", "IP-CIDR,192.0.2.0/24,p", "RULE-SET,s,PROXY", "IP-CIDR,1.0.0.0/8,DIRECT",
            ],
            sets: ["s": set], profiles: ["p"])
        let expected = ["192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24", "2001:db8::/32"]
        #expect(rules.capture == .names(prefixes: try expected.map(prefix)))
    }

    @Test(
        "a rule that looks at the flow and can give anything but DIRECT forces everything, and is named",
        arguments: [
            "DST-PORT,443,PROXY", "NETWORK,udp,REJECT", "SRC-IP-CIDR,10.9.0.0/24,PROXY", "MATCH,PROXY", "MATCH,REJECT",
        ])
    func all(rule: String) throws {
        let rules = try ruleSet(domains: ["a.example"], rules: ["DOMAIN,b,DIRECT", rule])
        #expect(forced(rules.capture) == "rules, line 2: \(rule)")
    }

    @Test(
        "the same rule to DIRECT forces nothing",
        arguments: ["DST-PORT,443,DIRECT", "NETWORK,udp,DIRECT", "SRC-IP-CIDR,10.9.0.0/24,DIRECT", "MATCH,DIRECT"])
    func direct(rule: String) throws {
        #expect(try ruleSet(domains: ["a.example"], rules: [rule]).capture == .names(prefixes: []))
    }

    @Test("global mode captures everything")
    func global() throws {
        #expect(forced(try ruleSet().capture)?.contains("global") == true)
        #expect(forced(try ruleSet(bypass: ["a"]).capture(for: try address("10.9.0.2")))?.contains("global") == true)
    }

    @Test("what stands behind MATCH is never asked and forces nothing")
    func behindMatch() throws {
        let rules = try ruleSet(
            domains: ["192.0.2.0/24"], rules: ["IP-CIDR,198.51.100.0/24,PROXY", "MATCH,DIRECT", "DST-PORT,1,PROXY"])
        #expect(rules.capture == .names(prefixes: [try prefix("198.51.100.0/24")]))
    }

    @Test("for each device the rules about devices count that match it")
    func devices() throws {
        let rules = try ruleSet(
            domains: ["a.example", "192.0.2.0/24"],
            rules: ["SRC-IP-CIDR,10.9.0.2/32,PROXY", "SRC-IP-CIDR,10.9.0.3/32,DIRECT"])
        #expect(forced(rules.capture)?.contains("10.9.0.2") == true)
        #expect(forced(rules.capture(for: try address("10.9.0.2"))) == "rules, line 1: SRC-IP-CIDR,10.9.0.2/32,PROXY")
        #expect(rules.capture(for: try address("10.9.0.3")) == .names(prefixes: []))
        #expect(rules.capture(for: try address("10.9.0.4")) == .names(prefixes: [try prefix("192.0.2.0/24")]))
        let set = try list("SRC-IP-CIDR,10.9.0.5/32")
        let listed = try ruleSet(domains: ["a"], rules: ["RULE-SET,s,PROXY"], sets: ["s": set])
        #expect(forced(listed.capture(for: try address("10.9.0.5"))) == "rules, line 1: RULE-SET,s,PROXY")
        #expect(listed.capture(for: try address("10.9.0.6")) == .names(prefixes: []))
    }
}
