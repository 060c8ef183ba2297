/// Who may do what with a link, until when and where.

import Bytes
import Profiles
import TestSupport
import Testing

private let day: Int64 = 86_400
private let now: Int64 = 1_790_000_000

private func key(
    _ id: String = "beetle", hosts: [String]? = ["*.qa.example", "10.0.0.0/8"], scope: Set<LinkKey.Scope> = [.links],
    until: Int64? = nil
) throws -> LinkKey {
    try LinkKey(id: id, secret: [UInt8](repeating: 7, count: 32), hosts: hosts, scope: scope, until: until)
}

private func proxy(_ host: String = "whistle.qa.example") throws -> LinkedProxy {
    let url = try ProxyURL.parse("http://\(host):8899")
    guard let server = url.upstream.server else { throw ProxyURLError.scheme }
    return LinkedProxy(name: "QA", server: server)
}

/// A link that ends in a day, or otherwise.
private func link(
    _ host: String = "whistle.qa.example", expires: Int64 = now + day, gateway: String? = nil, once: String? = nil,
    signedBy key: LinkKey? = nil
) throws -> Link {
    // The key of the one who signs has no bounds: those that count are the gateway's.
    let key = try key ?? LinkKey(id: "beetle", secret: [UInt8](repeating: 7, count: 32))
    let grant = LinkGrant(key: key.id, expires: expires, gateway: gateway, once: once)
    return try Link(proxy: proxy(host), grant: grant, key: key)
}

private func verifier(_ keys: [LinkKey]) -> LinkVerifier {
    LinkVerifier(keys: keys, gateway: "lab-1", built: now - 30 * day, profiles: ["whistle-qa": true, "staging": false])
}

private func clock(_ seconds: Int64 = now, isSynchronised: Bool = true) -> LinkVerifier.Clock {
    LinkVerifier.Clock(now: UnixTime(seconds: seconds), isSynchronised: isSynchronised)
}

private func refusal(_ verifier: LinkVerifier, _ link: Link, _ clock: LinkVerifier.Clock = clock()) -> LinkError.Code? {
    do throws(LinkError) {
        _ = try verifier.check(link, at: clock)
        return nil
    } catch {
        #expect(!error.description.contains("\n"))
        return error.code
    }
}

struct LinkVerifierTests {
    @Test("a link is good until its end, and 120 s more for clocks that differ")
    func expiry() throws {
        let verifier = verifier([try key()])
        let link = try link(expires: now)
        #expect(refusal(verifier, link) == nil)
        #expect(refusal(verifier, link, clock(now + 120)) == nil)
        #expect(refusal(verifier, link, clock(now + 121)) == .expired)
    }

    @Test("while the clock isn't set, that is the reason, whatever the link says")
    func unsetClock() throws {
        let verifier = verifier([try key()])
        for expires in [now - 365 * day, now, now + 365 * day] {
            let link = try link(expires: expires)
            #expect(refusal(verifier, link, clock(0)) == .clock, "before the program was built")
            #expect(refusal(verifier, link, clock(now - 31 * day)) == .clock)
            #expect(refusal(verifier, link, clock(now, isSynchronised: false)) == .clock)
        }
        let error = try #require(throws: LinkError.self) { try verifier.check(link(), at: clock(0)) }
        #expect(error.hint?.contains("the gateway's clock isn't set") == true)
        #expect(
            try verifier.check(Link.parse("starship://activate?v=1&profile=whistle-qa"), at: clock(0))
                == .profile("whistle-qa"))
    }

    @Test("keys are revoked one by one")
    func revocation() throws {
        var verifier = verifier([try key(), try key("wasp")])
        let (beetle, wasp) = (try link(), try link(signedBy: key("wasp")))
        #expect(refusal(verifier, beetle) == nil && refusal(verifier, wasp) == nil)
        verifier.keys[0].isRevoked = true
        #expect(refusal(verifier, beetle) == .revokedKey && refusal(verifier, wasp) == nil)
        verifier.keys.removeFirst()
        #expect(refusal(verifier, beetle) == .unknownKey && refusal(verifier, wasp) == nil)
    }

    @Test("a signature under another key, or over anything else, is wrong")
    func signature() throws {
        let other = try LinkKey(id: "beetle", secret: [UInt8](repeating: 8, count: 32))
        #expect(refusal(verifier([other]), try link()) == .wrongSignature)
        let text = try link().text
        let moved = try Link.parse(text.replacing("port=8899", with: "port=8898"))
        #expect(refusal(verifier([try key()]), moved) == .wrongSignature)
        #expect(refusal(verifier([try key()]), moved, clock(0)) == .wrongSignature, "before anything else is told")
    }

    @Test(
        "a key signs for its hosts alone",
        arguments: [
            ("whistle.qa.example", nil), ("a.b.qa.example", nil), ("WHISTLE.QA.EXAMPLE", nil), ("10.1.2.3", nil),
            ("qa.example", LinkError.Code.hostNotAllowed), ("evilqa.example", .hostNotAllowed),
            ("192.0.2.1", .hostNotAllowed),
            ("[2001:db8::1]", .hostNotAllowed), ("whistle.qa.example.evil.example", .hostNotAllowed),
        ])
    func hosts(host: String, code: LinkError.Code?) throws {
        #expect(refusal(verifier([try key()]), try link(host)) == code)
        #expect(refusal(verifier([try key(hosts: nil)]), try link(host)) == nil)
        #expect(refusal(verifier([try key(hosts: [])]), try link(host)) == .hostNotAllowed)
        guard let code else { return }
        let error = #expect(throws: LinkError.self) { try link(host, signedBy: key()) }
        #expect(error?.code == code, "nor is such a link made")
    }

    @Test("a key has an end and a scope of its own")
    func rights() throws {
        #expect(refusal(verifier([try key(until: now - 121)]), try link()) == .expiredKey)
        #expect(refusal(verifier([try key(until: now)]), try link()) == nil)
        #expect(refusal(verifier([try key(scope: [.push])]), try link()) == .scope)
        #expect(throws: LinkError.self) { try link(expires: now + 2, signedBy: key(until: now + 1)) }
        #expect(throws: LinkError.self) { try link(signedBy: key(scope: [.push])) }
    }

    @Test("a link for one gateway works there alone, and one with a nonce once")
    func narrow() throws {
        var verifier = verifier([try key()])
        #expect(refusal(verifier, try link(gateway: "lab-1")) == nil)
        #expect(refusal(verifier, try link(gateway: "lab-2")) == .otherGateway)
        #expect(refusal(verifier, try link(once: "n1")) == nil)
        verifier.spent.insert(LinkVerifier.Nonce(key: "beetle", once: "n1"))
        #expect(refusal(verifier, try link(once: "n1")) == .spent)
        #expect(refusal(verifier, try link(once: "n2")) == nil)
        #expect(refusal(verifier, try link()) == nil)
    }

    @Test("profiles are open to everybody when they are marked so, and only then")
    func selfService() throws {
        let verifier = verifier([])
        #expect(refusal(verifier, Link(profile: "whistle-qa", form: .starship)) == nil)
        #expect(refusal(verifier, Link(profile: "staging", form: .starship)) == .notSelfService)
        #expect(refusal(verifier, Link(profile: "nobody", form: .starship)) == .unknownProfile)
        let error = #expect(throws: LinkError.self) {
            try verifier.check(Link(profile: "whistle-q", form: .starship), at: clock())
        }
        #expect(error?.hint == "did you mean whistle-qa?")
    }

    @Test("B215: a key file is hexadecimal digits in one line, and no description shows a key")
    func keys() throws {
        let digits = String(repeating: "0aF9", count: 16)
        for text in [digits, digits + "\n", digits + "\r\n"] {
            let bytes = Array(text.utf8)
            #expect(try LinkKey.secret(file: bytes.span) == hex(digits))
        }
        for (text, error) in [
            ("", LinkKeyFileError.size), (String(digits.dropLast()), .size), (digits + digits + digits, .size),
            ("0a", .size),
            (digits + "\n\n", .character), ("0x" + digits, .character), (digits.dropLast() + "g", .character),
        ] {
            let bytes = Array(text.utf8)
            #expect(throws: error) { try LinkKey.secret(file: bytes.span) }
        }
        var dumped = ""
        dump(try key(), to: &dumped)
        dumped += "\(try key())" + String(reflecting: try key())
        #expect(!dumped.contains("7, 7") && dumped.contains("beetle"))
    }
}
