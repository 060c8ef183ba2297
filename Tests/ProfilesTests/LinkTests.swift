/// Links: what is read, and what every other text is refused for.

import Bytes
import Profiles
import Testing

/// The name, or whatever else, of a link to a proxy.
private func proxy(_ text: String) throws -> LinkedProxy {
    guard case .proxy(let proxy, _) = try Link.parse(text).request else { throw NoProxy() }
    return proxy
}

private struct NoProxy: Error {}

/// A well-formed signature, of nothing.
private let signature = String(repeating: "A", count: 43)
private let grant = "exp=4102444800&kid=beetle&sig=\(signature)"
private let minimalLink = "starship://activate?v=1&host=h.example&port=1&\(grant)"

/// A link with one parameter put in the place of another, or added.
private func link(_ parameter: String) -> String {
    let name = parameter.prefix { $0 != "=" }
    var pieces = minimalLink.dropFirst("starship://activate?".count).split(separator: "&").map(String.init)
    if let index = pieces.firstIndex(where: { $0.hasPrefix("\(name)=") }) {
        pieces[index] = parameter
    } else {
        pieces.append(parameter)
    }
    return "starship://activate?" + pieces.joined(separator: "&")
}

struct LinkReadingTests {
    @Test("a link with an address brings a profile along")
    func address() throws {
        let link = try Link.parse(
            "starship://activate?v=1&name=Whistle%20QA&host=Whistle.QA.Example&port=8899&domains=a.example,*.b.example&gw=lab-1"
                + "&once=n1&\(grant)")
        let server = Upstream.Server(host: .name("whistle.qa.example"), port: 8899)
        let proxy = LinkedProxy(name: "Whistle QA", server: server, domains: ["a.example", "*.b.example"])
        let right = LinkGrant(key: "beetle", expires: 4_102_444_800, gateway: "lab-1", once: "n1")
        #expect(link.request == .proxy(proxy, right))
        let profile = proxy.profile(id: "scanned")
        #expect(profile.upstream == Upstream(type: .http, server: server) && profile.name == "Whistle QA")
        #expect(profile.routes.domains.map(\.text) == ["a.example", "*.b.example"])
    }

    @Test("a link with a profile's id has no secret, no signature and no expiry")
    func profile() throws {
        let link = try Link.parse("http://10.9.0.1/a?v=1&profile=whistle-qa")
        #expect(link.request == .profile("whistle-qa") && link.form == .page(gateway: "10.9.0.1"))
        #expect(Link(profile: "whistle-qa", form: .page(gateway: "10.9.0.1")) == link)
        #expect(Link(profile: "whistle-qa", form: .starship).text == "starship://activate?v=1&profile=whistle-qa")
        #expect(link.signedMessage == nil)
    }

    @Test(
        "the same parameters work on the page of any gateway",
        arguments: [
            ("http://10.9.0.1/a?", "10.9.0.1"), ("http://10.9.0.1:10080/a?", "10.9.0.1:10080"),
            ("http://starship.internal/a/?", "starship.internal"), ("HTTP://Starship.Internal/A?", "starship.internal"),
            ("http://[2001:db8::1]/a?", "[2001:db8::1]"),
        ])
    func forms(head: String, gateway: String) throws {
        let link = try Link.parse("\(head)v=1&profile=qa")
        #expect(link.form == .page(gateway: gateway) && link.text == "http://\(gateway)/a?v=1&profile=qa")
        #expect(Link.isGateway(gateway))
    }

    // B180: what is encoded arrives whole; what isn't never becomes a shorter link.
    @Test("B180: an encoded & belongs to its value, and a bare one begins a parameter that nobody knows")
    func ampersand() throws {
        let encoded = "https%3A%2F%2Fcfg.example.test%2Fhello%3Falpha%3D1%26beta%3D2"
        #expect(try proxy(link("name=\(encoded)")).name == "https://cfg.example.test/hello?alpha=1&beta=2")
        let foo = link("name=https%3A%2F%2Fcfg.example.test%2Fa%3Fx%3D1%26name%3Dfoo")
        #expect(try proxy(foo).name == "https://cfg.example.test/a?x=1&name=foo")
        let error = try #require(throws: LinkError.self) {
            try Link.parse("starship://ACTIVATE?v=1&name=https://cfg.example.test/hello?alpha=1&beta=2&\(grant)")
        }
        #expect(error.code == .unknownParameter && error.hint == "an & within a value is %26")
        let fetched = try #require(throws: LinkError.self) {
            try Link.parse("starship://ACTIVATE?url=https%3A%2F%2Fcfg.example.test%2Fhello%3Falpha%3D1%26beta%3D2")
        }
        #expect(fetched.code == .forbiddenParameter && fetched.parameter == "url")
    }

    // B182: capitals, lower-case escapes, blanks around, a slash before the question mark and a fragment.
    @Test(
        "B182: a link in capitals, with blanks around it or a fragment is the same link",
        arguments: [
            "starship://activate?v=1&name=https%3a%2f%2fc&host=h&port=1&GRANT",
            "STARSHIP://ACTIVATE?v=1&name=https%3A%2F%2Fc&host=h&port=1&GRANT",
            "  starship://activate?v=1&name=https%3A%2F%2Fc&host=h&port=1&GRANT\n",
            "\t starship://activate/?v=1&name=https://c&host=h&port=1&GRANT#frag\r\n",
        ])
    func spellings(text: String) throws {
        let link = try Link.parse(text.replacing("GRANT", with: grant))
        #expect(link.text == "starship://activate?v=1&name=https://c&host=h&port=1&\(grant)")
    }

    @Test("values are decoded once, and a plus is a plus")
    func once() throws {
        #expect(try proxy(link("name=100%2525+%2B")).name == "100%25++")
        #expect(try proxy(link("name=Gr%C3%BC%C3%9Fe")).name == "Grüße")
        #expect(try proxy(link("name=Grüße")).name == "Grüße")
    }
}

struct LinkRefusalTests {
    static let texts: [(text: String, code: LinkError.Code, parameter: String?)] = [
        ("x" + String(repeating: "x", count: 5000), .tooLong, nil), ("", .scheme, nil), ("activate?v=1", .scheme, nil),
        ("https://10.9.0.1/a?v=1&profile=qa", .scheme, nil), ("ftp://activate?v=1", .scheme, nil),
        ("http://u:p@10.9.0.1/a?v=1&profile=qa", .scheme, nil), ("http:///a?v=1&profile=qa", .scheme, nil),
        ("starship://activat?v=1", .action, nil), ("starship://import?v=1", .action, nil),
        ("starship://?v=1", .action, nil),
        ("starship://activate//?v=1", .action, nil), ("starship://activate/x?v=1", .action, nil),
        ("http://10.9.0.1/b?v=1", .action, nil), ("http://10.9.0.1?v=1", .action, nil),
        ("starship://activate", .missingParameter, "v"), ("starship://activate?", .missingParameter, "v"),
        ("starship://activate#v=1", .missingParameter, "v"), ("starship://activate?profile=qa", .missingParameter, "v"),
        ("starship://activate?v=1", .missingParameter, "host"),
        ("starship://activate?v=1&host=h", .missingParameter, "port"),
        ("starship://activate?v=1&host=h&port=1", .missingParameter, "exp"),
        ("starship://activate?v=1&host=h&port=1&exp=4102444800", .missingParameter, "kid"),
        ("starship://activate?v=1&host=h&port=1&exp=4102444800&kid=beetle", .missingParameter, "sig"),
        (link("v=2"), .version, "v"), (link("v=01"), .version, "v"),
        (link("colour=red"), .unknownParameter, nil), (link("V=1"), .unknownParameter, nil),
        (link("n%61me=x"), .unknownParameter, nil), (link("prot=1"), .unknownParameter, nil),
        (minimalLink + "&port=1", .repeatedParameter, "port"),
        (minimalLink + "&sig=\(signature)", .repeatedParameter, "sig"),
        (minimalLink + "&", .emptyParameter, nil), (minimalLink + "&&v=1", .emptyParameter, nil),
        (minimalLink + "&name", .emptyParameter, nil), (minimalLink + "&=x", .emptyParameter, nil),
        (link("name="), .emptyParameter, "name"), (link("domains="), .emptyParameter, "domains"),
        (link("name=a b"), .encoding, nil), (link("name=a\u{a0}b"), .encoding, nil),
        (link("name=a\nb"), .encoding, nil),
        (link("name=%"), .encoding, "name"), (link("name=%4"), .encoding, "name"),
        (link("name=%zz"), .encoding, "name"),
        (link("name=%ff"), .encoding, "name"), (link("name=a%0Ab"), .encoding, "name"),
        (link("name=%00"), .encoding, "name"),
        (link("profile=qa"), .conflict, "host"), ("starship://activate?v=1&profile=qa&name=QA", .conflict, "name"),
        ("starship://activate?v=1&profile=qa&exp=4102444800", .conflict, "exp"),
        ("starship://activate?v=1&profile=qa&sig=x", .conflict, "sig"),
        ("starship://activate?v=1&profile=a%20b", .badProfile, "profile"),
        ("starship://activate?v=1&profile=../etc", .badProfile, "profile"),
        (link("name=" + String(repeating: "x", count: 256)), .badName, "name"),
        (link("type=https"), .badType, "type"), (link("type=direct"), .badType, "type"),
        (link("type=HTTP"), .badType, "type"),
        (link("host=http://h:1"), .badHost, "host"), (link("host=h:1"), .badHost, "host"),
        (link("host=a..b"), .badHost, "host"),
        (link("host=0.0.0.0"), .badHost, "host"), (link("host=[::1]"), .badHost, "host"),
        (link("host=/etc/passwd"), .badHost, "host"),
        (link("host=h%0d"), .encoding, "host"), (link("host=$(reboot)"), .badHost, "host"),
        (link("port=0"), .badPort, "port"), (link("port=65536"), .badPort, "port"), (link("port=+1"), .badPort, "port"),
        (link("port=080"), .badPort, "port"), (link("port=80a"), .badPort, "port"), (link("port=٣"), .badPort, "port"),
        (link("port=99999999999999999999"), .badPort, "port"), (link("port=-1"), .badPort, "port"),
        (link("domains=a.example,"), .badDomains, "domains"), (link("domains=a..b"), .badDomains, "domains"),
        (link("domains=/etc/hosts"), .badDomains, "domains"), (link("domains=+.a.example"), .badDomains, "domains"),
        (link("gw=a/b"), .badGateway, "gw"), (link("once=a%20b"), .badOnce, "once"),
        (link("exp=0"), .badExpiry, "exp"), (link("exp=-1"), .badExpiry, "exp"), (link("exp=1e9"), .badExpiry, "exp"),
        (link("exp=2030-01-01"), .badExpiry, "exp"), (link("exp=253402300800"), .badExpiry, "exp"),
        (link("kid=../key"), .badKey, "kid"), (link("kid=%C3%A9"), .badKey, "kid"),
        // B186: the reader of signatures is strict: one alphabet, no padding, no bits left over, 32 octets.
        (link("sig=" + signature + "="), .malformedSignature, "sig"),
        (link("sig=" + signature.dropLast()), .malformedSignature, "sig"),
        (link("sig=+" + signature.dropFirst()), .malformedSignature, "sig"),
        (link("sig=/" + signature.dropFirst()), .malformedSignature, "sig"),
        (link("sig=" + signature.dropLast() + "B"), .malformedSignature, "sig"),
        (link("sig=" + signature + "A"), .malformedSignature, "sig"),
    ]

    @Test("every other text has an error of its own, in one line that says where", arguments: texts)
    func refuses(text: String, code: LinkError.Code, parameter: String?) throws {
        let error = try #require(throws: LinkError.self) { try Link.parse(text) }
        #expect(error.code == code && error.parameter == parameter, "\(error)")
        #expect(!error.description.contains("\n") && error.description.utf8.count < 600)
        #expect(!error.found.isEmpty && !error.expected.isEmpty)
    }

    @Test(
        "a link never names a file, a secret, a command or a place to fetch from",
        arguments: [
            "password", "passwordFile", "user", "token", "file", "path", "url", "subscription", "config", "command",
            "exec", "script",
            "KEY", "secret",
        ])
    func forbidden(parameter: String) throws {
        let error = try #require(throws: LinkError.self) { try Link.parse(link("\(parameter)=x")) }
        #expect(error.code == .forbiddenParameter && error.parameter == parameter, "\(error)")
    }

    @Test(
        "a refusal reads like this",
        arguments: [
            (link("port=0"), "the link's `port`: found \"0\"; expected a whole number from 1 to 65535"),
            (
                link("prot=1"),
                "the link: found the unknown parameter `prot`; expected v, profile, name, type, host, port, domains, gw, once,"
                    + " exp, kid or sig (did you mean `port`?)"
            ),
            (minimalLink + "&v=1", "the link's `v`: found it twice; expected each parameter once"),
            (
                "starship://activat?v=1",
                "the link: found the action \"activat\"; expected activate (did you mean activate?)"
            ),
        ])
    func words(text: String, words: String) throws {
        let error = try #require(throws: LinkError.self) { try Link.parse(text) }
        #expect(error.description == words)
    }

    @Test(
        "B215: no refusal repeats a secret",
        arguments: SecretRedactionTests.secrets.flatMap { secret in
            [
                link("password=\(secret)"), "starship://qa:\(secret)@activate?v=1",
                "http://qa:\(secret)@10.9.0.1/a?v=1",
                link("host=http://qa:\(secret)@h:1"), link("host=qa:\(secret)@h"), link("domains=qa:\(secret)@h"),
                link("domains=http://qa:\(secret)@h/"), link("type=qa:\(secret)@h"), link("kid=qa:\(secret)@h"),
                link("port=qa:\(secret)@h"), link("sig=\(secret)"), "starship://activate?\(secret)",
                "http://qa:\(secret)@h",
                "http://qa:\(secret)@h/a", "wifi:T:WPA;S:lab;P:\(secret);;", "otpauth://totp/x?secret=\(secret)",
                "https://qa:\(secret)@h:1",
            ]
        })
    func secrets(text: String) throws {
        let error = try #require(throws: ConfigURLError.self) { try ConfigURL.parse(text, from: .control) }
        #expect(!SecretRedactionTests.shows(error.description), "\(error)")
        #expect(!SecretRedactionTests.shows(String(reflecting: error)), "\(error)")
    }
}

struct ConfigURLTests {
    @Test("links and plain proxy URLs are read; a device may only say links")
    func reads() throws {
        #expect(try ConfigURL.parse(" \(minimalLink)\n", from: .device) == .link(Link.parse(minimalLink)))
        let page = "http://10.9.0.1/a?v=1&profile=qa"
        #expect(try ConfigURL.parse(page, from: .device) == .link(Link.parse(page)))
        for url in ["http://qa:pw@proxy:8080#QA", "socks5://proxy:1080", "http://proxy:8080/", "HTTP://proxy:8080"] {
            #expect(try ConfigURL.parse(url, from: .control) == .proxy(ProxyURL.parse(url)))
            #expect(throws: ConfigURLError.controlOnly) { try ConfigURL.parse(url, from: .device) }
        }
        #expect(throws: ConfigURLError.proxy(.port)) { try ConfigURL.parse("http://proxy", from: .control) }
        #expect(throws: ConfigURLError.proxy(.encryptedProxy)) {
            try ConfigURL.parse("https://qa@proxy:1", from: .control)
        }
    }

    // B185: what was scanned by mistake is named by its looks. B184, B189: nothing is ever fetched for a link.
    @Test(
        "B185: a foreign text is refused by what it looks like",
        arguments: [
            ("", ForeignText.nothing), (" \n", .nothing), ("WIFI:T:WPA;S:lab;P:pw;;", .wifi),
            ("https://cfg.example.test/c.json", .web),
            ("http://cfg.example.test/c.json", .web), ("https://proxy.example", .web),
            ("vmess://eyJ2IjoiMiJ9", .otherTool),
            ("ss://YWVzOnB3@h:1", .otherTool), ("clash://install-config?url=https%3A%2F%2Fh", .otherTool),
            ("dm1lc3M6Ly9leGFtcGxl", .base64), ("proxies:\n  - name: a\n", .yaml), ("{ profiles: [] }", .object),
            ("[1]", .object),
            ("mailto:a@b", .contact), ("BEGIN:VCARD", .contact), ("otpauth://totp/x", .contact), ("hello", .other),
        ])
    func foreign(text: String, looks: ForeignText) throws {
        let error = try #require(throws: ConfigURLError.self) { try ConfigURL.parse(text, from: .control) }
        #expect(error == .foreign(looks))
        #expect(error.description.contains("looks like \(looks.rawValue), not a config URL"))
        #expect(!error.description.contains("\n"))
    }
}
