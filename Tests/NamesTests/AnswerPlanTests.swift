/// What is answered to which name, and how the answers look.

import Addresses
import Bytes
import TestSupport
import Testing

@testable import Names
@testable import Wire

@Suite("answers of our own")
struct AnswerPlanTests {
    /// Everything below example.test and icloud.com is proxied, 198.18.0.0/15 is the fake range.
    static func rules(_ change: (inout AnswerSettings) -> Void = { _ in }) -> AnswerRules {
        var settings = AnswerSettings()
        settings.gateway = [IPAddress("198.18.0.1")]
        change(&settings)
        let fake = IPPrefix(parsing: "198.18.0.0/15")
        return AnswerRules(settings) { fake?.contains($0) ?? false }
    }

    static func verdict(_ name: String) -> NameVerdict {
        name.hasSuffix("example.test") || name.hasSuffix("icloud.com") ? .fake : .real(maximumTTL: 60)
    }

    static func plan(_ message: [UInt8], _ rules: AnswerRules = rules()) throws -> AnswerPlan {
        rules.plan(for: try parse(message), verdict: verdict)
    }

    static func plan(_ name: String, _ type: DNSType = .address4, _ rules: AnswerRules = rules()) throws -> AnswerPlan {
        try plan(query(name, type), rules)
    }

    /// The name exists, it just has no AAAA (B083); the answer never has a record of another type (B093).
    @Test func aProxiedNameHasAnAddressAndNoOther() throws {
        #expect(try Self.plan("app.example.test") == .fake(.address4))
        #expect(try Self.plan("app.example.test", .address6) == .empty)
        let both = Self.rules { $0.families = .both }
        #expect(try Self.plan("app.example.test", .address6, both) == .fake(.address6))
        let six = Self.rules { $0.families = .ipv6 }
        #expect(try Self.plan("app.example.test", .address4, six) == .empty)
    }

    /// HTTPS and SVCB hold addresses and would lead to QUIC (B084); TXT, MX, ANY and so on name the real servers.
    @Test("a proxied name has nothing else", arguments: [64, 65, 2, 6, 15, 16, 28, 33, 99, 255, 257, 65280])
    func nothingElse(type: UInt16) throws {
        #expect(try Self.plan("app.example.test", DNSType(rawValue: type)) == .empty)
        let scheme = "_8443._https.app.example.test"
        #expect(try Self.plan(scheme, DNSType(rawValue: type)) == .empty)
    }

    /// It cannot be CONNECTed to, and it must not leave to a resolver either.
    @Test func aProxiedNameThatIsNoHostIsEmpty() throws {
        #expect(try Self.plan(#"a\032b.example.test"#) == .empty)
    }

    @Test func otherNamesAreTheResolvers() throws {
        #expect(try Self.plan("www.other.test") == .forward(maximumTTL: 60))
        #expect(try Self.plan("www.other.test", .https) == .forward(maximumTTL: 60))
        #expect(try Self.plan("www.other.test", DNSType(rawValue: 65280)) == .forward(maximumTTL: 60))
        #expect(try Self.plan("", DNSType(rawValue: 2)) == .forward(maximumTTL: nil))
    }

    /// B106, first row to last; the reverse name is about an address that is not ours.
    @Test(
        "names of the LAN are never fake",
        arguments: [
            "nas.lan", "h3c-ap", "router.home.arpa", "1.168.192.in-addr.arpa", "home.arpa", "pool.ntp.org",
            "0.pool.ntp.org", "time.apple.com", "build.corp.example", "corp.example",
        ])
    func lanNames(name: String) throws {
        let rules = Self.rules { $0.localNames = ["corp.example"] }
        let everything = rules.plan(for: try parse(query(name))) { _ in .fake }
        #expect(everything == .forward(maximumTTL: nil))
    }

    /// A proxy may be named after the very domain that is proxied.
    @Test func anUpstreamsNameIsItsOwn() throws {
        let rules = Self.rules { $0.ownHosts = ["example.test"] }
        #expect(try Self.plan("example.test", .address4, rules) == .forward(maximumTTL: nil))
        #expect(try Self.plan("www.example.test", .address4, rules) == .fake(.address4))
    }

    /// RFC 6762, section 22.1 (B106); RFC 6761 and RFC 7686 for the others.
    @Test("names that nobody has do not exist", arguments: ["printer.local", "local.invalid", "abc.onion"])
    func nobodysNames(name: String) throws {
        #expect(try Self.plan(name) == .nonexistent)
    }

    /// Where the office's own names end in `.local`, they are asked for like any other.
    @Test func anOfficeMayUseLocal() throws {
        let rules = Self.rules { $0.localNames = ["corp.local"] }
        #expect(try Self.plan("mail.corp.local", .address4, rules) == .forward(maximumTTL: nil))
        #expect(try Self.plan("corporate.local", .address4, rules) == .nonexistent)
    }

    /// B094: at once and for every type.
    @Test func aNameThatDoesNotExistHereHasNoTypeAtAll() throws {
        for type in [DNSType.address4, .address6, .https] {
            let plan = Self.rules().plan(for: try parse(query("mask.icloud.com", type)), verdict: { _ in .nonexistent })
            #expect(plan == .nonexistent)
        }
    }

    @Test func aNameMayHaveTheAddressesThatAreWantedOfIt() throws {
        let address = IPAddress("131.107.255.255")
        let plan = Self.rules().plan(
            for: try parse(query("dns.msftncsi.com", .address4)), verdict: { _ in .addresses([address]) })
        #expect(plan == .addresses([address]))
    }

    /// What the network here does not know an upstream may know, with or without a resolver's word for it.
    @Test func aNameThatIsUnknownHereMayBeKnownElsewhere() throws {
        func plan(_ name: String, _ type: DNSType, _ rules: AnswerRules = Self.rules()) throws -> AnswerPlan {
            rules.plan(for: try parse(query(name, type))) { _ in .real(maximumTTL: 60, fakesUnknown: true) }
        }
        for name in ["www.outside.net", "outside.net", "xn--bcher-kva.de", "a.b.c.outside.com"] {
            for type in [DNSType.address4, .address6, .https, .pointer] {
                #expect(try plan(name, type) == .forward(maximumTTL: 60, fakesUnknown: true))
            }
        }
        let rules = Self.rules()
        #expect(rules.plan(forUnknown: try parse(query("www.outside.net"))) == .fake(.address4))
        for type in [DNSType.address6, .https, .service, DNSType(rawValue: 16)] {
            #expect(rules.plan(forUnknown: try parse(query("www.outside.net", type))) == .empty)
        }
        let both = Self.rules { $0.families = .both }
        #expect(both.plan(forUnknown: try parse(query("www.outside.net", .address6))) == .fake(.address6))
        // With real addresses alone there is nothing to fake.
        for mode in [AnswerMode.snoop, .off] {
            let found = try plan("www.outside.net", .address4, Self.rules { $0.mode = mode })
            #expect(found == .forward(maximumTTL: mode == .off ? nil : 60))
        }
    }

    /// RFC 6761, RFC 6762 with its appendix G, RFC 7686, RFC 9476; search domains; what is no name.
    @Test(
        "a name that nobody else can know stays unknown",
        arguments: [
            "printer", "nas.lan", "printer.local", "router.home.arpa", "9.2.0.192.in-addr.arpa", "www.outside.test",
            "www.example", "intranet.internal", "mail.corp", "pc.home", "x.mail", "x.intranet", "x.private", "x.alt",
            "x.localdomain", "abc.onion", "x.invalid", "x.localhost", "www.outside.net.corp.net", "corp.net",
            "pool.ntp.org", #"a\032b.outside.net"#, "192.0.2.9", "proxy.outside.net", "",
        ])
    func staysUnknown(name: String) throws {
        let rules = Self.rules {
            $0.localNames = ["corp.net"]
            $0.ownHosts = ["proxy.outside.net"]
        }
        let plan = rules.plan(for: try parse(query(name))) { _ in .real(maximumTTL: 60, fakesUnknown: true) }
        if case .forward(_, let fakesUnknown) = plan { #expect(!fakesUnknown) }
        if case .fake = plan { Issue.record("\(name)") }
    }

    /// RFC 9462, section 6.4 (B094).
    @Test func thereIsNoResolverToDiscover() throws {
        #expect(try Self.plan("_dns.resolver.arpa", .service) == .empty)
    }

    @Test func someNamesAreOurs() throws {
        #expect(try Self.plan("starship.internal") == .addresses([IPAddress("198.18.0.1")]))
        #expect(try Self.plan("intranet.internal") == .forward(maximumTTL: 60))
        #expect(try Self.plan("notstarship.internal") == .forward(maximumTTL: 60))
        #expect(try Self.plan("localhost") == .addresses([IPAddress("127.0.0.1"), IPAddress("::1")]))
        // RFC 7050, section 3: the addresses are known, the prefix is the resolver's to say.
        let known = ["192.0.0.170", "192.0.0.171"].map { IPAddress($0) }
        #expect(try Self.plan("ipv4only.arpa") == .addresses(known))
        #expect(try Self.plan("ipv4only.arpa", .address6) == .forward(maximumTTL: nil))
    }

    /// One label in front, whatever it is and whatever else is settled; RFC 8020 forbids NXDOMAIN above names that
    /// exist.
    @Test func namesOfSelfChecksAreOurs() throws {
        let ours = AnswerPlan.addresses([IPAddress("198.18.0.1")])
        for mode in [AnswerMode.fakeIP, .snoop, .off] {
            let rules = Self.rules {
                $0.mode = mode
                $0.localNames = ["internal"]
            }
            for type in [DNSType.address4, .address6, .https] {
                #expect(try Self.plan("x1y2.check.starship.internal", type, rules) == ours)
                #expect(try Self.plan("check.starship.internal", type, rules) == .empty)
                for name in ["a.x1y2.check.starship.internal", "x1y2.starship.internal", "k.starship.internal"] {
                    #expect(try Self.plan(name, type, rules) == .nonexistent, "\(name)")
                }
            }
            #expect(try Self.plan("starship.internal", .address4, rules) == ours)
        }
        #expect(DNSSpecialNames.checkLabel(of: "x1y2.check.starship.internal") == "x1y2")
        for name in ["check.starship.internal", ".check.starship.internal", "a.b.check.starship.internal", "a.check"] {
            #expect(DNSSpecialNames.checkLabel(of: name) == nil, "\(name)")
        }
    }

    @Test func reverseNamesOfFakeAddressesAreOurs() throws {
        #expect(try Self.plan("5.0.19.198.in-addr.arpa", .pointer) == .pointer(IPAddress("198.19.0.5")))
        #expect(try Self.plan("5.0.0.192.in-addr.arpa", .pointer) == .forward(maximumTTL: nil))
        let six = String(repeating: "0.", count: 20) + "0.0.0.0.2.0.0.0.1.0.0.2.ip6.arpa"
        #expect(AnswerRules.address(inReverse: "1.0" + six.dropFirst(3)) == IPAddress("2001:2::1"))
        #expect(AnswerRules.address(inReverse: "256.0.19.198.in-addr.arpa") == nil)
    }

    @Test func whatIsBetweenServersIsRefused() throws {
        #expect(try Self.plan("example.test", DNSType(rawValue: 252)) == .refused)
        var chaos = query("version.bind", DNSType(rawValue: 16))
        chaos[chaos.count - 1] = 3
        #expect(try Self.plan(chaos) == .refused)
    }

    /// In snooping mode the addresses are real, but nothing may hide the name (B084) or lead around us.
    @Test func snoopingGivesRealAddresses() throws {
        let rules = Self.rules { $0.mode = .snoop }
        #expect(try Self.plan("app.example.test", .address4, rules) == .forward(maximumTTL: 60))
        #expect(try Self.plan("app.example.test", .address6, rules) == .empty)
        #expect(try Self.plan("app.example.test", .https, rules) == .empty)
        #expect(try Self.plan("app.example.test", DNSType(rawValue: 16), rules) == .forward(maximumTTL: nil))
    }

    @Test func withoutAModeEverythingIsTheResolvers() throws {
        let rules = Self.rules { $0.mode = .off }
        #expect(try Self.plan("app.example.test", .address4, rules) == .forward(maximumTTL: nil))
        #expect(try Self.plan("app.example.test", .https, rules) == .forward(maximumTTL: nil))
    }

    /// TTL 1 (B110), the question octet for octet (B098), nothing but the asked type (B093), DO echoed (B082).
    @Test func aFakeAnswerRepeatsTheQuestion() throws {
        var writer = AnswerWriter()
        for name in ["aPP.ExamPle.tEST", "APP.EXAMPLE.TEST", "app.example.test"] {
            let asked = query(name, edns: true)
            let parsed = try parse(asked)
            #expect(parsed.name == "app.example.test")
            writer.answer(asked.span, parsed, address: IPAddress("198.18.0.16"))
            #expect(writer.bytes[12..<parsed.questionEnd] == asked[12..<parsed.questionEnd])
            #expect(code(writer.bytes) == 0)
            let found = try records(writer.bytes)
            #expect(found.map(\.type) == [.address4, .options])
            #expect(found.map(\.ttl) == [1, 0x8000])
            #expect(try addresses(writer.bytes) == ["198.18.0.16"])
        }
    }

    /// NOERROR and NXDOMAIN with an SOA that lets them be kept for a second (B083, B095).
    @Test func negativeAnswersSayHowLongTheyHold() throws {
        var writer = AnswerWriter()
        let asked = query("app.example.test", .address6)
        let parsed = try parse(asked)
        writer.answerEmpty(asked.span, parsed)
        #expect(code(writer.bytes) == 0)
        let empty = try parseAnswer(writer.bytes, to: question("app.example.test", .address6))
        #expect(empty.isNegative && empty.lifetime == 1)
        writer.answerNonexistent(asked.span, parsed)
        #expect(code(writer.bytes) == 3)
        #expect(try parseAnswer(writer.bytes, to: question("app.example.test", .address6)).lifetime == 1)
        writer.answer(asked.span, parsed, addresses: [IPAddress("192.0.2.1")])
        #expect(try records(writer.bytes).map(\.type) == [.authority])
    }

    @Test func failuresHaveACodeAndNothingElse() throws {
        var writer = AnswerWriter()
        let asked = query("app.example.test", edns: true)
        writer.answer(asked.span, try parse(asked), failure: .badVersion)
        // BADVERS is 16: its lower four bits in the header, the upper eight in OPT (RFC 6891, section 6.1.3).
        #expect(code(writer.bytes) == 0)
        #expect(try records(writer.bytes).map(\.ttl) == [0x0100_8000])
        writer.refuse(asked.span, .formatError)
        #expect(writer.bytes == hex("000181010000000000000000"))
    }

    @Test func suffixesAreComparedByLabel() {
        let set = DNSSuffixes(["example.com", "lan"])
        #expect(set.contains("example.com") && set.contains("a.b.example.com") && set.contains("lan"))
        #expect(!set.contains("notexample.com") && !set.contains("com") && !set.contains("xlan") && !set.contains(""))
    }
}
