/// The names that decrypting proxies answer themselves, and what a configuration makes of them.

import Profiles
import Routing
import Testing

struct CertificateSourceTests {
    /// One profile of a kind in domain mode, and one of another.
    private static func text(_ kind: String, _ more: String = "") -> String {
        """
        { dns: {}, tun: {}, profiles: [
            { id: 'a', upstream: { type: 'http', host: 'proxy.example', port: 8080, kind: '\(kind)' },
              domains: ['shop.example'], bypass: ['it', 'pro', 'man', 'com'] },
            { id: 'b', upstream: { type: 'http', host: 'proxy.example', port: 3128 } }, \(more)
          ] }
        """
    }

    private func decision(_ name: String, _ profile: String, of text: String) throws -> Decision {
        try configuration(text).resolve().rules(of: profile).decide(RouteQuery(name: name))
    }

    @Test(
        "the names of each kind go to its upstream, whatever is listed",
        arguments: [
            ("mitmproxy", ["mitm.it"]), ("charles", ["chls.pro", "charlesproxy.com"]),
            ("whistle", ["rootca.pro", "local.whistlejs.com"]), ("proxyman", ["proxy.man"]),
        ])
    func names(kind: String, names: [String]) throws {
        for name in names {
            let found = try decision(name, "a", of: Self.text(kind))
            #expect(found.verdict == .proxy)
            #expect(found.origin?.description == "certificate hosts of \(kind): \(name)")
            for other in ["other", "squid", "tinyproxy"] {
                let decision = try decision(name, "a", of: Self.text(other))
                #expect(decision.verdict == .direct && decision.origin?.list == "bypass")
            }
            #expect(try decision(name, "b", of: Self.text(kind)).origin == nil)
        }
    }

    @Test(
        "each kind's certificate is on a page of its own names, and only kinds that decrypt have one",
        arguments: Upstream.Kind.allCases)
    func pages(kind: Upstream.Kind) {
        let pages = [
            "mitmproxy": "http://mitm.it/cert/pem", "charles": "http://chls.pro/ssl", "whistle": "http://rootca.pro/",
            "proxyman": "http://proxy.man/ssl",
        ]
        #expect(kind.certificateSource?.url == pages[kind.rawValue])
        #expect(Upstream.Kind.decrypting.contains(kind) == (pages[kind.rawValue] != nil))
    }

    @Test("a group has the names of its members")
    func groups() throws {
        let group = "{ id: 'g', upstream: { type: 'group', members: ['b', 'a'] }, domains: ['shop.example'] }"
        let found = try decision("mitm.it", "g", of: Self.text("mitmproxy", group))
        #expect(found.verdict == .proxy && found.origin?.list == "certificate hosts of mitmproxy")
        #expect(try decision("mitm.it", "g", of: Self.text("squid", group)).verdict == .direct)
    }

    @Test("another kind makes other rules, where all else is taken over")
    func reused() throws {
        let former = try configuration(Self.text("squid")).resolve()
        let now = try configuration(Self.text("mitmproxy")).resolve(reusing: former)
        #expect(now.rules(of: "a").decide(RouteQuery(name: "mitm.it")).origin?.isImplied == true)
    }

    @Test("explain names the list, the fake address and the form of the request")
    func explained() throws {
        let options = try CommandLineOptions.parse(["explain", "--config", "c", "mitm.it:80"])
        let resolved = try configuration(Self.text("mitmproxy")).resolve()
        let found = resolved.explain(try #require(options.question))
        #expect(found["rule"] == "certificate hosts of mitmproxy: mitm.it")
        #expect(found["dns"]?.hasPrefix("A from 198.18.0.0/15") == true)
        #expect(found["outbound"]?.hasPrefix("the upstream of a: ") == true)
        #expect(found["form"] == "absolute: the proxy answers this name itself")
        let secure = try CommandLineOptions.parse(["explain", "--config", "c", "mitm.it:443"])
        #expect(resolved.explain(try #require(secure.question))["form"] == nil)
    }

    @Test(
        "the steps name the certificate and its page, trust is a step of its own, and removing is told",
        arguments: [
            CertificateSteps.System.iOS, .android,
        ])
    func steps(system: CertificateSteps.System) {
        let steps = CertificateSteps(system, certificate: "mitmproxy", from: "http://mitm.it/cert/pem")
        let all = (steps.install + steps.trust + steps.remove).joined(separator: "\n")
        #expect(steps.install.first?.contains("http://mitm.it/cert/pem") == true)
        #expect(steps.remove.joined().contains("\"mitmproxy\""))
        let menus =
            system == .iOS
            ? ["General → VPN & Device Management", "General → About → Certificate Trust Settings"]
            : ["Encryption & credentials → Install a certificate → CA certificate", "network_security_config"]
        for menu in menus { #expect(all.contains(menu)) }
    }
}
