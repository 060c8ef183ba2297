/// Profiles, their lists and the sets that they name.

import Addresses
import Profiles
import Routing
import Testing

/// A configuration with one profile that has these settings more.
func routed(_ routes: String, _ more: String = "") -> String {
    "{ dns: {}, \(more) profiles: [{ id: 'a', upstream: { type: 'http', host: 'proxy.example', port: 8080 },\n\(routes) }] }"
}

struct RouteConfigurationTests {
    @Test("several profiles have an id each, and one of them is active")
    func profiles() throws {
        let text = """
            { profiles: [{ id: 'a', upstream: { type: 'direct' } }, { id: 'b', name: 'B', upstream: { type: 'direct' } }],
              active: 'b' }
            """
        let found = try configuration(text)
        #expect(found.profiles.map(\.id) == ["a", "b"])
        #expect(found.activeProfile.name == "B")
        #expect(found.profile("a")?.name == "a")
        #expect(found.profile("c") == nil)
    }

    @Test("a profile's routes reach their places, each entry with its own")
    func routes() throws {
        let text = routed(
            """
            domains: ['x.example', '*.y.example'],
            bypass: ['10.0.0.0/8'],
              rules: [
                'MATCH,PROXY',
              ],
            capture: 'addresses', connectName: 'sni', sniff: 'always', udp: 'direct'
            """)
        let routes = try configuration(text).activeProfile.routes
        #expect(routes.domains == [RuleText("x.example"), RuleText("*.y.example")])
        #expect(
            routes.domains.map(\.position) == [TextPosition(line: 2, column: 11), TextPosition(line: 2, column: 24)])
        #expect(routes.rules.map(\.position) == [TextPosition(line: 5, column: 5)])
        #expect(routes.capture == .addresses && routes.connectName == .sni)
        #expect(routes.sniff == .always && routes.udp == .direct)
        let least = try configuration(minimal()).activeProfile.routes
        #expect(least == RouteOptions())
        #expect(least.capture == .auto && least.connectName == .evidence && least.sniff == .needed)
        #expect(least.udp == .reject)
    }

    @Test("the mode is what the domain list makes it, and what forces the capture is said")
    func mode() throws {
        let global = try configuration(routed("")).resolve()
        #expect(global.rules(of: "a").mode == .global)
        guard case .all = global.capture(of: "a") else {
            Issue.record("global mode captures \(global.capture(of: "a"))")
            return
        }
        let domain = try configuration(routed("domains: ['x.example']")).resolve()
        #expect(domain.rules(of: "a").mode == .domain)
        #expect(domain.capture(of: "a") == .names(prefixes: []))
        let squid = try configuration(routed("domains: ['x.example']", "egress: 'a',")).resolve()
        #expect(squid.capture(of: "a") == .all(because: "egress \"a\""))
        for mode in ["snoop", "off"] {
            let text = minimal("dns: { mode: '\(mode)' }")
            guard case .all = try configuration(text).resolve().capture(of: "a") else {
                Issue.record("dns.mode \(mode) does not capture all")
                continue
            }
        }
    }

    @Test("sets are files that are read by others, each once")
    func sets() throws {
        let text = routed(
            "rules: ['RULE-SET,ads,REJECT', 'RULE-SET,more,DIRECT']",
            """
            ruleSets: [{ name: 'ads', file: 'l/ads.txt', format: 'plain' }, { name: 'more', file: '/m.yaml' },
              { name: 'again', file: 'l/ads.txt' }],
            """)
        let found = try configuration(text)
        #expect(found.listFiles == ["l/ads.txt", "/m.yaml"])
        #expect(found.ruleSets.map(\.format) == [.plain, .auto, .auto])
        let files = ["l/ads.txt": "ads.example\n", "/m.yaml": "payload:\n  - '+.more.example'\n"]
        let rules = try found.resolve(files: files.mapValues { Array($0.utf8) }, name: "c.json5").rules(of: "a")
        let decision = rules.decide(RouteQuery(name: "x.ads.example"))
        #expect(decision.verdict == .reject)
        #expect(decision.origin?.file == "l/ads.txt")
        #expect(decision.origin?.line == 1)
        #expect(rules.decide(RouteQuery(name: "more.example")).verdict == .direct)
        #expect(rules.decide(RouteQuery(name: "other.example")).verdict == .proxy)
    }

    @Test("a rule may send flows through another profile")
    func otherProfile() throws {
        let text = """
            { profiles: [{ id: 'a', upstream: { type: 'direct' }, rules: ['DOMAIN,x.example,b'] },
              { id: 'b', upstream: { type: 'direct' } }] }
            """
        let rules = try configuration(text).resolve().rules(of: "a")
        #expect(rules.decide(RouteQuery(name: "x.example")).verdict == .profile("b"))
    }

    @Test("an edit elsewhere changes no rule")
    func equality() throws {
        let one = try configuration(routed("domains: ['x.example']"))
        let other = try configuration("\n\n" + routed("domains: [ 'x.example' ]"))
        #expect(one == other)
    }
}

extension RouteConfigurationTests {
    @Test(
        "wrong profiles and routes are named",
        arguments: [
            Refused(
                "{ profiles: [{ id: 'a', upstream: { type: 'direct' } }, { id: 'a', upstream: { type: 'direct' } }] }",
                .duplicateKey, "profiles[1].id", "which profiles[0] has"),
            Refused("{ profiles: [{ id: 'Direct' }] }", .badValue, "profiles[0].id", "use this word"),
            Refused("{ profiles: [{ id: 'PROXY' }] }", .badValue, "profiles[0].id", "another name"),
            Refused("{ profiles: [{ id: 'reject' }] }", .badValue, "profiles[0].id"),
            Refused(minimal("active: 'A1'"), .conflict, "active", "did you mean \"a\"?"),
            Refused(routed("domains: 'x'"), .wrongType, "profiles[0].domains", "a list such as"),
            Refused(routed("domains: [1]"), .wrongType, "profiles[0].domains[0]", "found a number; expected a text"),
            Refused(routed("bypass: ['']"), .badValue, "profiles[0].bypass[0]", "an empty text"),
            Refused(routed("rules: ['a\\nb']"), .badValue, "profiles[0].rules[0]", "one line"),
            Refused(routed("rules: { a: 1 }"), .wrongType, "profiles[0].rules", "DOMAIN-SUFFIX"),
            Refused(routed("capture: 'all'"), .badValue, "profiles[0].capture", "\"auto\", \"addresses\""),
            Refused(routed("connectName: 'host'"), .badValue, "profiles[0].connectName", "\"evidence\", \"sni\""),
            Refused(routed("sniff: 'allways'"), .badValue, "profiles[0].sniff", "did you mean \"always\"?"),
            Refused(routed("udp: 'proxy'"), .badValue, "profiles[0].udp", "\"reject\", \"direct\""),
            Refused(routed("sniff: 'off', connectName: 'sni'"), .conflict, "profiles[0].connectName", "sniff \"off\""),
            Refused(routed("ruleSets: []"), .unknownKey, "profiles[0].ruleSets", "`ruleSets` stands at the top"),
            Refused(minimal("domains: []"), .unknownKey, "domains", "`domains` belongs in `profiles[]`"),
            Refused(routed("proxyDomains: []"), .unknownKey, "profiles[0].proxyDomains", "did you mean `domains`?"),
            Refused(minimal("ruleSets: {}"), .wrongType, "ruleSets", "a list of { name, file, format }"),
            Refused(minimal("ruleSets: [{ file: 'x' }]"), .missingKey, "ruleSets[0].name"),
            Refused(minimal("ruleSets: [{ name: 'x' }]"), .missingKey, "ruleSets[0].file", "the path of a list"),
            Refused(minimal("ruleSets: [{ name: 'a/b' }]"), .badValue, "ruleSets[0].name", "a short name"),
            Refused(
                minimal("ruleSets: [{ name: 'x', file: 'https://h/l.txt' }]"), .badValue, "ruleSets[0].file",
                "download it first"),
            Refused(minimal("ruleSets: [{ name: 'x', file: 'l/' }]"), .badValue, "ruleSets[0].file", "a directory"),
            Refused(
                minimal("ruleSets: [{ name: 'x', file: 'l', format: 'yaml' }]"), .badValue, "ruleSets[0].format",
                "\"clash\""),
            Refused(
                minimal("ruleSets: [{ name: 'x', file: 'l' }, { name: 'x', file: 'm' }]"), .duplicateKey,
                "ruleSets[1].name", "each name once"),
            Refused(
                minimal("ruleSets: [{ name: 'x', path: 'l' }]"), .unknownKey, "ruleSets[0].path", "did you mean `file`?"
            ),
            Refused(
                "{ profiles: [{ id: 'a', upstream: { type: 'direct' }, domains: ['x.example'], sniff: 'off' }] }",
                .conflict, "profiles[0].sniff", "without a name service", "x.example"),
        ])
    func wrong(row: Refused) { expectRefusal(row) }

    @Test(
        "a wrong rule is refused with its own place, also where several share a line",
        arguments: [
            ("domains: ['ok.example', 'a b.example']", "profiles[0].domains[1]", 2, 25),
            ("bypass: ['10.0.0.1/8']", "profiles[0].bypass[0]", 2, 10),
            ("rules: [\n  'MATCH,DIRECT',\n  'DOMAIN,x.example'\n]", "profiles[0].rules[1]", 4, 3),
            ("rules: ['DOMAIN,x.example,b']", "profiles[0].rules[0]", 2, 9),
            ("rules: ['RULE-SET,ads,PROXY']", "profiles[0].rules[0]", 2, 9),
            ("rules: ['RULE-SET,/etc/passwd,PROXY']", "profiles[0].rules[0]", 2, 9),
            ("rules: ['MATCH,PROXY', 'SOMETHING,x,PROXY']", "profiles[0].rules[1]", 2, 24),
        ])
    func wrongRule(routes: String, path: String, line: Int, column: Int) throws {
        let error = try #require(refusal(routed(routes)))
        #expect(error.code == .rule, "\(error)")
        #expect(error.path == path, "\(error)")
        #expect(error.position == TextPosition(line: line, column: column), "\(error)")
        #expect(error.file == nil)
    }

    @Test("a wrong list is refused with its own file and line")
    func wrongList() throws {
        let text = routed(
            "rules: ['RULE-SET,ads,REJECT']", "ruleSets: [{ name: 'ads', file: 'ads.txt', format: 'plain' }],")
        let error = try #require(refusal(text, files: ["ads.txt": "one.example\ntwo.example\nthree example\n"]))
        #expect(error.file == "ads.txt")
        #expect(error.code == .rule)
        #expect(error.description.hasPrefix("line 3: found "), "\(error)")
        let unread = try #require(refusal(text))
        #expect(unread.path == "ruleSets[0].file")
        #expect(unread.position == TextPosition(line: 1, column: 44))
    }
}
