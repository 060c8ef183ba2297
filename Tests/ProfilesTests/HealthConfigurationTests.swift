/// What a configuration says about probes, groups and figures, and how each mistake in it is named.

import Addresses
import Bytes
import Health
import Profiles
import Testing

/// A configuration whose first profile is a group; b and c are proxies, d is direct, e is not probed, f is a group.
func grouped(_ group: String, _ more: String = "") -> String {
    """
    { profiles: [{ id: 'a', upstream: { type: 'group', \(group) } \(more) },
      { id: 'b', upstream: { type: 'http', host: 'b.example', port: 1 } },
      { id: 'c', upstream: { type: 'socks5', host: 'c.example', port: 1 } },
      { id: 'd', upstream: { type: 'direct' } },
      { id: 'e', upstream: { type: 'http', host: 'e.example', port: 1 }, health: false },
      { id: 'f', upstream: { type: 'group', members: ['b', 'c'] } }] }
    """
}

/// A configuration whose only profile says this about its probes.
private func probed(_ keys: String, top: String = "", type: String = "http") -> String {
    let place = type == "direct" ? "" : ", host: 'h.example', port: 1"
    return "{ profiles: [{ id: 'a', upstream: { type: '\(type)'\(place) }, health: \(keys) }], health: { \(top) } }"
}

private func health(_ text: String) throws -> HealthOptions? {
    let read = try configuration(text)
    return read.health(of: read.profiles[0])
}

struct HealthConfigurationTests {
    @Test("without a word a connection is tried every 30 s, and nothing is verified")
    func defaults() throws {
        let options = try #require(try health(minimal()))
        #expect(options == HealthOptions())
        #expect(options.page == nil && options.giveUp == .seconds(600) && !options.settings.hasPage)
        let times = [options.interval, options.timeout, options.slow, options.settings.retry]
        #expect(times == [.seconds(30), .seconds(10), .seconds(2), .seconds(3)])
    }

    @Test("B152: every setting reaches its place, in the unit that is written")
    func everything() throws {
        let options = try #require(
            try health(
                probed(
                    """
                    { url: 'http://Intranet.example:8080/ok?a=1', status: [200, 204], body: 'all * well', via: 'absolute',
                      interval: '1m', timeout: '15s', slow: '1500ms', giveUp: false }
                    """)))
        let page = try #require(options.page)
        #expect(page.url.description == "http://intranet.example:8080/ok?a=1")
        #expect(page.url.authority == "intranet.example:8080" && page.url.target == "/ok?a=1" && page.url.port == 8080)
        #expect(page.statuses == [200, 204] && page.body == "all * well" && options.via == .absolute)
        #expect(options.giveUp == nil)
        var settings = HealthSettings()
        settings.interval = .seconds(60)
        settings.timeout = .seconds(15)
        settings.slow = .milliseconds(1500)
        settings.hasPage = true
        #expect(options.settings == settings)
    }

    @Test(
        "a profile's keys are laid over those at the top; another url has another answer; a short time shortens others")
    func laid() throws {
        let top =
            "url: 'http://top/', status: 204, interval: '1m', timeout: '40s', slow: '9s', via: 'connect', giveUp: '1h'"
        func times(_ keys: String) throws -> [Interval?] {
            let options = try health(probed(keys, top: top))
            return [options?.interval, options?.timeout, options?.slow, options?.giveUp]
        }
        func page(_ keys: String) throws -> String {
            let page = try health(probed(keys, top: top))?.page
            return page.map { "\($0.url) \($0.statuses) \($0.body ?? "-")" } ?? "none"
        }
        #expect(try times("{}") == [.seconds(60), .seconds(40), .seconds(9), .hours(1)])
        #expect(try times("{ interval: '5s', giveUp: false }") == [.seconds(5), .seconds(5), .seconds(5), nil])
        #expect(try times("{ timeout: '1s' }") == [.seconds(60), .seconds(1), .seconds(1), .hours(1)])
        let pages = try ["{}", "{ url: 'http://own' }", "{ status: 200 }", "{ status: [200, 204], body: 'x' }"].map(
            page)
        #expect(
            pages == ["http://top/ [204] -", "http://own/ [200] -", "http://top/ [200] -", "http://top/ [200, 204] x"])
        #expect(try health(probed("{}", top: top))?.via == .connect)
        #expect(try health(probed("false", top: top)) == nil)
    }

    @Test(
        "B152: a probe that can't be is refused at load, with what would be right",
        arguments: [
            Refused(probed("{ url: 'https://h/' }"), .badValue, "profiles[0].health.url", "an https URL", "no TLS"),
            Refused(probed("{ url: 'h.example/ok' }"), .badValue, "profiles[0].health.url", "it begins with http://"),
            Refused(probed("{ url: 'ftp://h/' }"), .badValue, "profiles[0].health.url", "probes speak http"),
            Refused(probed("{ url: 'http://' }"), .badValue, "profiles[0].health.url", "a URL without a host"),
            Refused(probed("{ url: 'http:///ok' }"), .badValue, "profiles[0].health.url", "a URL without a host"),
            Refused(probed("{ url: 'http://h:0/' }"), .badValue, "profiles[0].health.url", "a bad port"),
            Refused(probed("{ url: 'http://h:65536/' }"), .badValue, "profiles[0].health.url", "from 1 to 65535"),
            Refused(probed("{ url: 'http://h:/' }"), .badValue, "profiles[0].health.url", "a bad port"),
            Refused(probed("{ url: 'http://h/#top' }"), .badValue, "profiles[0].health.url", "a fragment"),
            Refused(probed("{ url: 'http://h/a b' }"), .badValue, "profiles[0].health.url", "with blanks"),
            Refused(probed("{ url: 'http://h/größe' }"), .badValue, "profiles[0].health.url", "outside ASCII"),
            Refused(probed("{ url: 'http://h/%zz' }"), .badValue, "profiles[0].health.url", "hexadecimal"),
            Refused(probed("{ url: 'http://h/{x}' }"), .badValue, "profiles[0].health.url", "percent-encode"),
            Refused(probed("{ url: 'http://10.0.0.256/' }"), .badValue, "profiles[0].health.url", "no IPv4 address"),
            Refused(probed("{ url: 'http://[10.0.0.1]/' }"), .badValue, "profiles[0].health.url", "brackets"),
            Refused(probed("{ url: 'http://[::1' }"), .badValue, "profiles[0].health.url", "brackets"),
            Refused(probed("{ url: 'http://2001:db8::1:80/' }"), .badValue, "profiles[0].health.url", "in brackets"),
            // As it is written again it has a slash more.
            Refused(
                probed("{ url: 'http://h?\(String(repeating: "q", count: 1015))' }"), .badValue,
                "profiles[0].health.url", "a URL of 1025 octets"),
            Refused(probed("{ url: 'http://0.0.0.0/' }"), .badValue, "profiles[0].health.url", "every address"),
            Refused(probed("{ url: 80 }"), .wrongType, "profiles[0].health.url", "found a number"),
            Refused(
                "{ profiles: [{ id: 'a', upstream: { type: 'direct' }, health: { url: 'http://198.18.0.77/' } }], dns: {} }",
                .conflict, "profiles[0].health.url", "a fake address"),
            Refused(
                minimal("dns: {}, health: { url: 'http://198.18.0.77/' }"), .conflict, "health.url", "a fake address"),
            Refused(probed("{ url: 'http://h/', status: 199 }"), .badValue, "profiles[0].health.status", "200 to 599"),
            Refused(probed("{ url: 'http://h/', status: [200, 600] }"), .badValue, "profiles[0].health.status", "600"),
            Refused(
                probed("{ url: 'http://h/', status: [200, 200] }"), .badValue, "profiles[0].health.status", "twice"),
            Refused(probed("{ url: 'http://h/', status: 200.5 }"), .badValue, "profiles[0].health.status", "200.5"),
            Refused(probed("{ url: 'http://h/', status: '200' }"), .wrongType, "profiles[0].health.status", "quotes"),
            Refused(
                probed("{ url: 'http://h/', status: [] }"), .badValue, "profiles[0].health.status", "an empty list"),
            Refused(probed("{ url: 'http://h/', body: '' }"), .badValue, "profiles[0].health.body", "an empty text"),
            Refused(probed("{ url: 'http://h/', body: '**' }"), .badValue, "profiles[0].health.body", "every page"),
            Refused(
                probed("{ url: 'http://h/', body: '\(String(repeating: "x", count: 257))' }"), .badValue,
                "profiles[0].health.body", "at most 256"),
            Refused(probed("{ interval: '0s' }"), .badValue, "profiles[0].health.interval", "from \"5s\" to \"60m\""),
            Refused(
                probed("{ interval: '-30s' }"), .badValue, "profiles[0].health.interval", "one number and one unit"),
            Refused(probed("{ interval: 30 }"), .wrongType, "profiles[0].health.interval", "with its unit"),
            Refused(probed("{ timeout: '0s' }"), .badValue, "profiles[0].health.timeout", "from \"1s\" to \"60s\""),
            Refused(probed("{ timeout: '-1s' }"), .badValue, "profiles[0].health.timeout"),
            Refused(probed("{ slow: '0s' }"), .badValue, "profiles[0].health.slow"),
            Refused(probed("{ giveUp: '0s' }"), .badValue, "profiles[0].health.giveUp", "from \"30s\" to \"24h\""),
            Refused(probed("{ giveUp: true }"), .wrongType, "profiles[0].health.giveUp"),
            Refused(probed("{ via: 'socks' }"), .badValue, "profiles[0].health.via", "\"absolute\""),
        ])
    func refused(row: Refused) { expectRefusal(row) }

    @Test(
        "probes that contradict themselves, their upstream or the defaults are refused, and slips are understood",
        arguments: [
            Refused(probed("{ timeout: '31s' }"), .conflict, "profiles[0].health.timeout", "with interval \"30s\""),
            Refused(
                probed("{ timeout: '10s' }", top: "interval: '5s'"), .conflict, "profiles[0].health.timeout",
                "at most the interval"),
            Refused(probed("{ slow: '11s' }"), .conflict, "profiles[0].health.slow", "with timeout \"10s\""),
            Refused(probed("{}", top: "timeout: '10s', interval: '5s'"), .conflict, "health.timeout"),
            Refused(probed("{}", top: "slow: '10.001s'"), .conflict, "health.slow", "at most the timeout"),
            Refused(probed("{ status: 204 }"), .conflict, "profiles[0].health.status", "a status and no url"),
            Refused(probed("{}", top: "body: 'x'"), .conflict, "health.body", "a body and no url"),
            Refused(
                probed("{ url: 'http://h/', status: [204, 304], body: 'x' }"), .conflict, "profiles[0].health.body"),
            Refused(
                probed("{ status: 204 }", top: "url: 'http://h/', body: 'x'"), .conflict, "profiles[0].health.status",
                "another status"),
            Refused(
                probed("{ via: 'connect' }", type: "socks5"), .conflict, "profiles[0].health.via", "type \"socks5\""),
            Refused(probed("{ via: 'auto' }", type: "direct"), .conflict, "profiles[0].health.via"),
            Refused(minimal("health: false"), .wrongType, "health", "says so itself"),
            Refused(minimal("health: { statuses: 200 }"), .unknownKey, "health.statuses", "did you mean `status`?"),
            Refused(minimal("health: { contains: 'x' }"), .unknownKey, "health.contains", "did you mean `body`?"),
            Refused(minimal("health: { giveup: '1m' }"), .unknownKey, "health.giveup", "did you mean `giveUp`?"),
            Refused(minimal(upstream: "health: {}"), .unknownKey, "profiles[0].upstream.health", "in `profiles[]`"),
            Refused(minimal("interval: '30s'"), .unknownKey, "interval", "belongs in `health`"),
            Refused(minimal("prometheus: {}"), .unknownKey, "prometheus", "did you mean `metrics`?"),
        ])
    func contradictions(row: Refused) { expectRefusal(row) }

    @Test("a user and a password in a page's URL are not shown")
    func secrets() throws {
        for url in ["http://qa:S3cr3t-Zq@h/", "http://qa:S3cr3t-Zq/x@h/", "qa:S3cr3t-Zq@h", "x://qa:S3cr3t-Zq@h"] {
            let error = try #require(refusal(probed("{ url: '\(url)' }")))
            #expect(!error.description.contains("S3cr3t"), "\(error)")
        }
    }

    @Test("a URL that is read by itself is refused in the same words, and written as it is read")
    func urls() throws {
        #expect(throws: PageURLError(found: "a URL without a host")) { try PageURL.parse("http://") }
        let error =
            "found a URL without a host; expected the URL of an http page, such as \"http://intranet.example/ok\""
        #expect("\(PageURLError(found: "a URL without a host"))" == error)
        let rows = [
            ("http://h", "http://h/"), ("HTTP://H.example.:80/A", "http://h.example/A"),
            ("http://[2001:DB8::1]", "http://[2001:db8::1]/"), ("http://[::1]:81?q", "http://[::1]:81/?q"),
            ("http://10.0.0.1:8080/a@b:c/%41?d=e/?", "http://10.0.0.1:8080/a@b:c/%41?d=e/?"),
        ]
        for (text, written) in rows {
            let url = try PageURL.parse(text)
            #expect(url.description == written)
            #expect(try PageURL.parse(written) == url)
        }
    }
}

struct GroupConfigurationTests {
    @Test("a group has its members, its way to choose, and what it does when all are red")
    func everything() throws {
        let usual = try configuration(grouped("members: ['c', 'b']")).profiles[0].upstream
        #expect(usual.type == .group && usual.server == nil && usual.group == GroupOptions(members: ["c", "b"]))
        let text = "choose: 'fastest', members: ['b', 'c'], tolerance: '0.2s', whenDown: 'direct'"
        var group = GroupOptions(members: ["b", "c"])
        group.choose = .fastest
        group.tolerance = .milliseconds(200)
        group.whenDown = .direct
        #expect(try configuration(grouped(text)).profiles[0].upstream.group == group)
        let last = try configuration(grouped("members: ['b', 'd'], returnAfter: '5m'", ", health: { giveUp: '1m' }"))
        #expect(last.profiles[0].upstream.group?.returnAfter == .seconds(300))
        #expect(last.health(of: last.profiles[0])?.giveUp == .seconds(60))
        #expect(
            last.groups(with: "b") == ["a", "f"] && last.groups(with: "d") == ["a"] && last.groups(with: "a").isEmpty)
    }

    @Test(
        "a group that can't be is refused, with what would be right",
        arguments: [
            Refused(grouped(""), .missingKey, "profiles[0].upstream.members", "2 to 16 profiles' ids"),
            Refused(grouped("members: []"), .badValue, "profiles[0].upstream.members", "an empty list"),
            Refused(grouped("members: ['b']"), .badValue, "profiles[0].upstream.members", "needs no group"),
            Refused(grouped("members: 'b'"), .wrongType, "profiles[0].upstream.members", "found a text"),
            Refused(grouped("members: ['b', 5]"), .wrongType, "profiles[0].upstream.members[1]"),
            Refused(grouped("members: ['b', 'c d']"), .badValue, "profiles[0].upstream.members[1]", "a short name"),
            Refused(grouped("members: ['b', 'c', 'b']"), .badValue, "profiles[0].upstream.members[2]", "again"),
            Refused(
                grouped("members: [\(repeatElement("'b'", count: 17).joined(separator: ","))]"), .badValue,
                "profiles[0].upstream.members", "at most 16"),
            Refused(grouped("members: ['b', 'x']"), .conflict, "profiles[0].upstream.members[1]", "one of \"a\""),
            Refused(
                grouped("members: ['b', 'cc']"), .conflict, "profiles[0].upstream.members[1]", "did you mean \"c\"?"),
            Refused(grouped("members: ['b', 'a']"), .conflict, "profiles[0].upstream.members[1]", "the group itself"),
            Refused(grouped("members: ['b', 'f']"), .conflict, "profiles[0].upstream.members[1]", "a group too"),
            Refused(grouped("members: ['b', 'e']"), .conflict, "profiles[0].upstream.members[1]", "health is false"),
            Refused(grouped("members: ['d', 'b']"), .conflict, "profiles[0].upstream.members[0]", "whenDown"),
            Refused(
                grouped("members: ['b', 'd'], choose: 'balance'"), .conflict, "profiles[0].upstream.members[1]",
                "the last member of a fallback"),
            Refused(
                grouped("members: ['b', 'c'], choose: 'falback'"), .badValue, "profiles[0].upstream.choose",
                "did you mean \"fallback\"?"),
            Refused(
                grouped("members: ['b', 'c'], tolerance: '50ms'"), .conflict, "profiles[0].upstream.tolerance",
                "choose \"fastest\""),
            Refused(
                grouped("members: ['b', 'c'], choose: 'fastest', returnAfter: '60s'"), .conflict,
                "profiles[0].upstream.returnAfter", "choose \"fallback\""),
            Refused(
                grouped("members: ['b', 'c'], choose: 'fastest', tolerance: '0s'"), .badValue,
                "profiles[0].upstream.tolerance", "from \"1ms\""),
            Refused(
                grouped("members: ['b', 'c'], returnAfter: '-1s'"), .badValue, "profiles[0].upstream.returnAfter"),
            Refused(
                grouped("members: ['b', 'c'], host: 'h'"), .conflict, "profiles[0].upstream.host", "with type \"group\""
            ),
            Refused(grouped("members: ['b', 'c'], kind: 'squid'"), .conflict, "profiles[0].upstream.kind"),
            Refused(grouped("members: ['b', 'c'], halfClose: 'hold'"), .conflict, "profiles[0].upstream.halfClose"),
            Refused(
                minimal(upstream: "members: ['b', 'c']"), .conflict, "profiles[0].upstream.members", "type \"http\""),
            Refused(grouped("proxies: ['b']"), .unknownKey, "profiles[0].upstream.proxies", "did you mean `members`?"),
            Refused(grouped("members: ['b', 'c']", ", health: false"), .conflict, "profiles[0].health", "members are"),
            Refused(
                grouped("members: ['b', 'c']", ", health: { url: 'http://h/' }"), .conflict, "profiles[0].health.url",
                "members are probed"),
        ])
    func refused(row: Refused) { expectRefusal(row) }

    @Test("a group and its members are laid over the file together, and left out together")
    func stored() throws {
        func profile(_ id: String, _ text: String) throws -> Profile {
            let bytes = Array(text.utf8)
            return try Profile.parse(bytes.span, id: id)
        }
        var lab = LabState()
        lab.profiles = [
            try profile("g", "{ upstream: { type: 'group', members: ['m', 'a'] } }"),
            try profile("m", "{ upstream: { type: 'http', host: 'm.example', port: 1 } }"),
        ]
        let file = try configuration(minimal())
        let (whole, _) = try EffectiveConfiguration.fitting(file: file, lab: lab)
        #expect(whole.storedProfiles == ["g", "m"] && whole.notices.isEmpty)
        #expect(whole.configuration.groups(with: "a") == ["g"])

        lab.profiles[1].routes.rules = [RuleText("RULE-SET,gone,PROXY")]
        let (rest, _) = try EffectiveConfiguration.fitting(file: file, lab: lab)
        #expect(rest.storedProfiles.isEmpty)
        #expect(rest.notices.count == 2 && rest.notices[1].contains("found \"m\""), "\(rest.notices)")
        lab.profiles.removeLast()
        #expect(throws: ConfigurationError.self) { try EffectiveConfiguration(file: file, lab: lab) }
    }
}

struct MetricsConfigurationTests {
    @Test("figures are served over TCP when they are asked for, to this machine unless others are named")
    func listeners() throws {
        #expect(try configuration(minimal()).metrics == nil)
        #expect(try configuration(minimal("metrics: false")).metrics == nil)
        let usual = try #require(try configuration(minimal("metrics: {}")).metrics)
        #expect(usual.listen.map(\.description) == ["127.0.0.1:10800"])
        let text = "metrics: { listen: ['[::1]:9', '192.168.50.1'], allow: ['192.168.50.9/32'] }"
        let open = try #require(try configuration(minimal(text)).metrics)
        #expect(open.listen.map(\.description) == ["[::1]:9", "192.168.50.1:10800"])
        let clients = ["127.0.0.1", "192.168.50.9", "192.168.50.8"].compactMap {
            Upstream.Server(host: $0, port: 1)?.host
        }
        let allowed = clients.map { client in
            if case .address(let address) = client { open.allows(address) } else { false }
        }
        #expect(allowed == [true, true, false])
    }

    @Test(
        "a listener for figures is held to the rules of every listener",
        arguments: [
            Refused(minimal("metrics: { listen: '0.0.0.0:1' }"), .conflict, "metrics.allow", "and no `allow`"),
            Refused(
                minimal("metrics: { listen: '0.0.0.0:1', allow: ['0.0.0.0/0'] }"), .conflict, "metrics.allow",
                "everybody"),
            Refused(minimal("metrics: { listen: '127.0.0.1:10808' }"), .conflict, "metrics", "where socks listens"),
            Refused(minimal("metrics: { listen: [] }"), .badValue, "metrics.listen", "turns it off"),
            Refused(minimal("metrics: { listen: 'localhost:1' }"), .badValue, "metrics.listen", "a name"),
            Refused(minimal("metrics: true"), .wrongType, "metrics", "found true"),
            Refused(
                minimal("metrics: { listen: '198.18.9.9:1', allow: ['10.0.0.0/8'] }"), .conflict, "dns.pool",
                "the listener 198.18.9.9:1"),
        ])
    func refused(row: Refused) { expectRefusal(row) }

    @Test("probes and groups are followed while the gateway runs, a listener for figures with the next start")
    func sections() throws {
        let plain = try configuration(minimal())
        let probing = try configuration(minimal("health: { url: 'http://h/' }, metrics: {}"))
        #expect(probing.sections(differingFrom: plain) == ["metrics"])
        let differences = probing.differences(from: plain).map(\.description)
        #expect(
            differences == [
                "health: not in the file, running {\"url\":\"http://h/\"}", "metrics: not in the file, running {}",
            ])
        #expect(probing.health != plain.health)
    }
}

struct HealthSummaryTests {
    @Test("a summary says what is probed, how a group chooses, and where figures are")
    func words() throws {
        let text = """
            { profiles: [{ id: 'a', upstream: { type: 'group', members: ['b', 'c'] } },
              { id: 'b', upstream: { type: 'http', host: 'h', port: 1 }, health: { status: [200, 204], body: 'ok' } },
              { id: 'c', upstream: { type: 'socks5', host: 'h', port: 1 }, health: { giveUp: false } }],
              health: { url: 'http://x/' }, metrics: {} }
            """
        let summary = try configuration(text).resolve().summary
        let lines = [
            "  upstream  group of b c, fallback, back after 60s, when down block",
            "  health    that of its members, given up after 10m of red",
            "  health    http://x/ answers 200 or 204 with \"ok\", via auto, every 30s within 10s, slow from 2s, given up "
                + "after 10m of red",
            "  health    http://x/ answers 200, every 30s within 10s, slow from 2s, never given up",
            "metrics     127.0.0.1:10800",
        ]
        for line in lines { #expect(summary.contains(line + "\n"), "\(summary)") }
    }
}
