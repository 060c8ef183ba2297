/// Pure parts of dialling: order of addresses, forbidden targets, credentials, causes.

import Addresses
import Bytes
import LinuxIO
import Testing
import Wire

@testable import Upstreams

@Suite struct PolicyTests {
    private func address(_ text: String) throws -> IPAddress { try #require(IPAddress(parsing: text)) }

    @Test(
        "B214: the gateway and its links are no targets of direct dials",
        arguments: [
            "127.0.0.1", "0.0.0.0", "0.1.2.3", "169.254.169.254", "10.9.0.1", "::1", "::ffff:127.0.0.1", "::",
            "fe80::1",
            "224.0.0.1", "ff02::1", "255.255.255.255", "198.18.0.5", "198.19.255.255",
        ])
    func forbids(text: String) throws {
        var policy = DirectPolicy()
        policy.own = [try #require(IPPrefix(parsing: "10.9.0.1"))]
        policy.refused = [try #require(IPPrefix(parsing: "198.18.0.0/15"))]
        #expect(policy.refusesDirect(try address(text)))
        policy.allowed = [try #require(IPPrefix(parsing: "0.0.0.0/0")), try #require(IPPrefix(parsing: "::/0"))]
        #expect(!policy.refusesDirect(try address(text)))
    }

    @Test func allowsTheRest() throws {
        var policy = DirectPolicy()
        policy.own = [try #require(IPPrefix(parsing: "10.9.0.1"))]
        for text in ["10.9.0.2", "192.0.2.1", "2001:db8::1", "198.18.0.1", "fd00::1"] {
            #expect(!policy.refusesDirect(try address(text)))
        }
        #expect(policy.refusesAnyWay(try address("10.9.0.1")))
        #expect(!policy.refusesAnyWay(try address("127.0.0.1")))
    }

    @Test("B046: nobody's addresses are no targets through any upstream")
    func refusesNobodys() throws {
        var policy = DirectPolicy()
        policy.refused = [try #require(IPPrefix(parsing: "198.18.0.0/15"))]
        #expect(policy.refusesAnyWay(try address("198.18.0.1")))
        #expect(policy.refusesDirect(try address("198.19.255.255")))
        #expect(!policy.refusesAnyWay(try address("198.20.0.1")))
    }

    @Test("families alternate, and what worked last comes first (RFC 8305, section 4)")
    func order() throws {
        let texts = ["2001:db8::1", "2001:db8::2", "2001:db8::3", "192.0.2.1", "192.0.2.2"]
        let all = try texts.map(address)
        let expected = ["2001:db8::1", "192.0.2.1", "2001:db8::2", "192.0.2.2", "2001:db8::3"]
        #expect(AddressOrder.interleaved(all, first: nil) == (try expected.map(address)))
        let known = ["192.0.2.2", "2001:db8::1", "192.0.2.1", "2001:db8::2", "2001:db8::3"]
        #expect(AddressOrder.interleaved(all, first: try address("192.0.2.2")) == (try known.map(address)))
        #expect(AddressOrder.interleaved(all, first: try address("203.0.113.1")) == (try expected.map(address)))
        #expect(AddressOrder.interleaved([], first: nil).isEmpty)
    }

    @Test("one dial tries the credentials; after a rejection nobody does for 15 minutes")
    func gate() {
        let gate = CredentialGate()
        let start = Instant(nanoseconds: 5_000_000_000)
        #expect(gate.ask(at: start) == .claimed)
        #expect(gate.ask(at: start + .seconds(1)) == .busy)
        gate.giveUp()
        #expect(gate.ask(at: start + .seconds(2)) == .claimed)
        gate.reject(at: start + .seconds(3), for: .seconds(900))
        #expect(gate.ask(at: start + .seconds(3)) == .shut)
        #expect(gate.isShut(at: start + .seconds(3 + 899)))
        #expect(gate.ask(at: start + .seconds(3 + 900)) == .claimed)
        #expect(gate.ask(at: start + .seconds(3 + 900)) == .busy)
        gate.accept()
        gate.giveUp()
        #expect(gate.ask(at: start + .seconds(1000)) == .allowed)
    }

    @Test("B054: settings with unusable credentials are refused")
    func settings() {
        var settings = UpstreamSettings(.http(server: Target("p.test:8080")))
        settings.user = "a:b"
        settings.password = "c"
        #expect(throws: UpstreamSettingsError.unusableBasicCredentials) { try Upstream(settings) }
        settings.kind = .socks5(server: Target("p.test:1080"))
        settings.password = String(repeating: "x", count: 256)
        #expect(throws: UpstreamSettingsError.unusableSOCKS5Login) { try Upstream(settings) }
    }

    @Test("B215: neither settings nor an upstream show the password")
    func secrets() throws {
        for kind in [UpstreamSettings.Kind.http(server: Target("p.test:1")), .socks5(server: Target("p.test:1"))] {
            var settings = UpstreamSettings(kind)
            settings.user = "qa"
            settings.password = "S3cr3t-Zq"
            var text = "\(settings) \(String(reflecting: settings))"
            dump(settings, to: &text)
            dump(try Upstream(settings), to: &text)
            // As text, in Base64 and as a list of octets.
            for form in ["S3cr3t", "UzNjcjN0", "83, 51, 99"] { #expect(!text.contains(form)) }
        }
    }

    @Test(
        "B069: each cause has its SOCKS5 reply",
        arguments: [
            (DialFailure.refused(status: 403, text: ""), 2), (.refused(status: 407, text: ""), 2),
            (.credentialsRejected, 2), (.refused(status: 502, text: ""), 5), (.refused(status: 504, text: ""), 4),
            (.refused(status: 503, text: ""), 1), (.refused(status: 200, text: ""), 1), (.proxySilent, 1),
            (.proxyClosed, 1), (.proxyUnreachable(.connectionRefused), 1), (.proxyUnreachable(.timedOut), 1),
            (.forbidden, 2), (.targetUnreachable(.connectionRefused), 5), (.targetUnreachable(.networkUnreachable), 3),
            (.targetUnreachable(.hostUnreachable), 4), (.targetUnreachable(.timedOut), 4),
            (.targetUnknown("a.test"), 4),
            (.socksRefused(code: 3), 3), (.socksRefused(code: 0x5b), 1), (.noDescriptors, 1),
        ])
    func socksReplies(failure: DialFailure, code: Int) {
        #expect(Int(failure.socksReply) == code)
    }

    @Test("B042: the cause names status, target and port, and leaves the upstream's health alone")
    func sentences() {
        let refused = DialFailure.refused(status: 403, text: "Access denied")
        let sentence = refused.sentence(for: Target("www.example.test:80"))
        for word in ["403", "www.example.test:80", "Access denied", "443"] { #expect(sentence.contains(word)) }
        #expect(!refused.concernsUpstream)
        #expect(DialFailure.proxySilent.concernsUpstream)
        #expect(DialFailure.proxySilent.word == "upstream_timeout")
        let schemes = DialFailure.schemesNotSupported(["Negotiate", "NTLM"]).sentence(for: Target("a.test:1"))
        #expect(schemes.contains("Negotiate, NTLM"))
    }
}
