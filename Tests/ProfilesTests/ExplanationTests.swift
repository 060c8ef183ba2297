/// What `starshipd explain` says of a flow.

import Addresses
import Profiles
import Routing
import Testing

struct ExplanationTests {
    /// Two profiles with rules of each kind, in domain mode and in global mode.
    private static let text = """
        { network: { setup: 'gateway', lan: ['wlan0', { interface: 'eth0.20', profile: 'all' }] },
          dns: { local: ['corp.example'] },
          profiles: [
            { id: 'shop', upstream: { type: 'http', host: 'proxy.example', port: 8080 },
              domains: ['shop.example'],
              bypass: ['static.shop.example'],
              rules: ['DOMAIN,ads.shop.example,REJECT', 'DOMAIN,other.example,all', 'IP-CIDR,192.0.2.0/24,PROXY'] },
            { id: 'all', upstream: { type: 'socks5', host: '198.51.100.7', port: 1080 },
              rules: ['DST-PORT,22,DIRECT', 'SRC-IP-CIDR,192.168.50.9/32,REJECT'], udp: 'direct', sniff: 'off' },
          ] }
        """

    private func explain(
        _ arguments: String..., on interface: String? = nil, special: NameAnswer? = nil, answersChecks: Bool = false,
        lists: DeviceRules? = nil, of text: String = text
    ) throws -> Explanation {
        let options = try CommandLineOptions.parse(["explain", "--config", "c"] + arguments)
        var surroundings = Surroundings()
        surroundings.interface = interface
        surroundings.special = special
        surroundings.lists = lists
        surroundings.direct = [try list("push", "courier.push.example\n")]
        surroundings.denied = [try list("encrypted-dns", "doh.example\n")]
        if answersChecks {
            let answers = "captive.example * 204\nshared.example /gen_204 204\nncsi.example dns 192.0.2.77\n"
            surroundings.answers = try CheckAnswers.parse(
                Array(answers.utf8).span, file: "c.answers", shared: list("shared", "shared.example\n"))
        } else {
            surroundings.shared = try list("connectivity-shared", "shared.example\n")
        }
        let resolved = try configuration(text).resolve(name: "c.json5")
        return try resolved.explain(#require(options.question), in: surroundings)
    }

    private func list(_ name: String, _ text: String) throws -> RuleList {
        let bytes = Array(text.utf8)
        return try RuleList.parse(bytes.span, name: name, file: "\(name).txt", format: .plain)
    }

    @Test("a device's own lists are asked before the rules, and named")
    func ownLists() throws {
        let lists = try DeviceRules(
            direct: ["www.shop.example", "ads.shop.example", "captive.example"],
            proxied: ["static.shop.example", "doh.example", "203.0.113.0/24"])
        let own = "this phone's own list"
        for name in ["www.shop.example", "ads.shop.example"] {
            let direct = try explain("\(name):443", lists: lists)
            #expect(direct["rule"] == "\(own): \(name)")
            #expect(direct["dns"] == "the real answer, TTL at most 60s: it is direct, by \(own)")
            #expect(direct["outbound"] == "direct, forwarded by the kernel")
        }
        for name in ["static.shop.example", "doh.example"] {
            let proxied = try explain("\(name):443", lists: lists)
            #expect(proxied["rule"] == "\(own): \(name)")
            #expect(proxied["dns"]?.hasSuffix(": it is proxied, by \(own)") == true)
            #expect(proxied["outbound"]?.hasPrefix("the upstream of shop") == true)
        }
        let network = try explain("203.0.113.7:443", lists: lists)
        #expect(network["rule"] == "\(own): 203.0.113.0/24")
        #expect(network["name"]?.contains("not in the TUN device") == false)
        let check = try explain("captive.example:80", answersChecks: true, lists: lists)
        #expect(check["rule"] == "\(own): captive.example")
        #expect(try explain("www.shop.example:443")["rule"] == "domains, c.json5:5: shop.example")
    }

    @Test("a listed name: the rule with its line, a fake address, the profile's upstream")
    func listed() throws {
        let expected = """
            flow      www.shop.example:443, TCP
            profile   shop, active
            mode      domain: 1 entry in domains
            capture   fake addresses, 192.0.2.0/24
            dns       A from 198.18.0.0/15, TTL 1; AAAA empty: it is proxied
            name      the fake address, which stands for it
            rule      domains, c.json5:5: shop.example
            outbound  the upstream of shop: http proxy.example:8080, half-close pass, http80 auto

            """
        #expect(try explain("www.shop.example:443").description == expected)
    }

    @Test("a name that is not listed: its real address, and the kernel forwards it")
    func unlisted() throws {
        let found = try explain("news.example:443")
        #expect(found["rule"] == "none matches: domain mode leaves the rest alone")
        #expect(found["dns"] == "the real answer, TTL at most 60s: it is direct")
        #expect(found["name"] == "nobody needs it: the flow is not in the TUN device")
        #expect(found["outbound"] == "direct, forwarded by the kernel")
    }

    @Test("bypass and rules come before domains, each with its line")
    func order() throws {
        let bypassed = try explain("static.shop.example:443")
        #expect(bypassed["rule"] == "bypass, c.json5:6: static.shop.example")
        #expect(bypassed["outbound"] == "direct, forwarded by the kernel")
        let refused = try explain("ads.shop.example:443")
        #expect(refused["rule"] == "rules, c.json5:7: DOMAIN,ads.shop.example,REJECT")
        #expect(refused["dns"]?.hasSuffix("it is refused") == true)
        #expect(refused["outbound"] == "refused: RST")
        let other = try explain("other.example")
        #expect(other["outbound"] == "the upstream of all: socks5 198.51.100.7:1080, half-close pass")
    }

    @Test("an address has no name and asks no name service; where a name could matter it is read from the flow")
    func address() throws {
        let found = try explain("192.0.2.9:443")
        #expect(found["dns"] == nil)
        #expect(found["rule"] == "rules, c.json5:7: IP-CIDR,192.0.2.0/24,PROXY")
        #expect(found["outbound"]?.hasPrefix("the upstream of shop") == true)
        #expect(found["name"]?.contains("SNI or Host is read for it") == true)
        #expect(try explain("192.0.2.9:25")["name"] == "none: the address is all that is known")
    }

    @Test("an address that nothing captures is the kernel's; a fake one says nothing by itself")
    func uncaptured() throws {
        let found = try explain("203.0.113.5:443")
        #expect(found["name"] == "nobody needs one: the flow is not in the TUN device")
        #expect(found["outbound"] == "direct, forwarded by the kernel")
        let fake = try explain("198.18.0.77:443")
        #expect(fake["rule"] == "none: a fake address; only a running gateway knows which name it stands for, if any")
        #expect(fake["outbound"] == "refused: RST")
    }

    @Test("a device has the profile of its interface, and what a rule says of its address")
    func device() throws {
        let found = try explain("x.example:443", "--from", "192.168.50.9", on: "eth0.20")
        #expect(found["profile"] == "all, of the devices on eth0.20")
        #expect(found["mode"] == "global: domains is empty")
        #expect(found["capture"]?.hasPrefix("all: ") == true)
        #expect(found["rule"]?.hasSuffix("SRC-IP-CIDR,192.168.50.9/32,REJECT") == true)
        #expect(found["outbound"] == "refused: RST")
        #expect(try explain("x.example:443", on: "wlan0")["profile"] == "shop, active")
    }

    @Test("what the question leaves open is said")
    func doubt() throws {
        let open = try explain("x.example", on: "eth0.20")
        #expect(open["but"] == "an earlier rule looks at the port or the device (--from)")
        let settled = try explain("x.example:22", "--from", "192.168.50.1", on: "eth0.20")
        #expect(settled["but"] == nil)
        #expect(settled["outbound"] == "direct, dialled by the gateway")
    }

    @Test(
        "names that are never faked",
        arguments: [
            ("printer", "the real answer: a single label is never faked"),
            ("nas.lan", "the real answer: names in lan are never faked"),
            ("git.corp.example", "the real answer: names in corp.example are never faked"),
            ("proxy.example", "the real answer: it is the upstream of shop"),
        ])
    func answers(name: String, answer: String) throws {
        #expect(try explain(name)["dns"] == answer)
    }

    @Test("what a name means by itself comes first")
    func special() throws {
        #expect(
            try explain("mask.icloud.com", special: .nonexistent)["dns"]
                == "no such name: the name means something by itself")
        let own = NameAnswer.addresses([IPAddress(v4: 0xc612_0001)])
        #expect(
            try explain("starship.internal", special: own)["dns"] == "198.18.0.1: the name means something by itself")
    }

    @Test("what is done for phones stands in where no rule matches")
    func phones() throws {
        let push = try explain("courier.push.example:5223", on: "eth0.20")
        #expect(push["rule"] == "phones: push")
        #expect(push["outbound"] == "direct, dialled by the gateway")
        let doh = try explain("doh.example:443")
        #expect(doh["rule"] == "phones: encrypted-dns")
        #expect(doh["dns"] == "no such name: phones: encrypted-dns")
        #expect(doh["outbound"] == "refused: RST")
        let listed = "{ dns: {}, profiles: [{ id: 'a', upstream: { type: 'direct' }, domains: ['doh.example'] }] }"
        #expect(try explain("doh.example:443", of: listed)["rule"] == "domains, c.json5:1: doh.example")
    }

    @Test("connectivity checks that the gateway answers itself")
    func answeredChecks() throws {
        func explain(_ flow: String, of text: String = Self.text) throws -> Explanation {
            try self.explain(flow, answersChecks: true, of: text)
        }
        let check = try explain("captive.example:80")
        #expect(check["dns"]?.hasSuffix("AAAA empty: phones: connectivity.answers, c.answers:1") == true)
        #expect(check["name"] == "the fake address, which stands for it")
        #expect(check["rule"] == "phones: connectivity.answers, c.answers:1")
        #expect(check["outbound"] == "the gateway's own answer: 204 for every path")
        #expect(try explain("captive.example:443")["outbound"] == "refused: RST, as only http is answered")
        #expect(
            try explain("captive.example")["outbound"]
                == "the gateway's own answer: 204 for every path; but for port 80 refused: RST")
        #expect(
            try explain("shared.example:80")["outbound"]
                == "the gateway's own answer: 204 for /gen_204; the rest: direct, dialled by the gateway")
        #expect(try explain("shared.example:443")["outbound"] == "direct, dialled by the gateway")
        #expect(try explain("ncsi.example")["dns"] == "192.0.2.77: phones: connectivity.answers, c.answers:3")
        let listed = "{ dns: {}, profiles: [{ id: 'a', upstream: { type: 'direct' }, domains: ['captive.example'] }] }"
        #expect(try explain("captive.example:80", of: listed)["rule"] == "domains, c.json5:1: captive.example")
    }

    @Test("a check's host that is proxied, and when it isn't")
    func exceptions() throws {
        let words = "the upstream is lost, or decrypts port 443: then it is direct (phones: connectivity-shared)"
        let global = "{ dns: {}, profiles: [{ id: 'a', upstream: { type: 'http', host: 'p.example', port: 1 } }] }"
        #expect(try explain("shared.example:443", of: global)["unless"] == words)
        #expect(try explain("x.example:443", of: global)["unless"] == nil)
        #expect(try explain("shared.example:443")["unless"] == nil)
    }

    @Test("datagrams: exceptions, the profile's policy, and never an upstream")
    func datagrams() throws {
        #expect(
            try explain("192.0.2.9:123", "--udp")["outbound"] == "direct, dialled by the gateway: phones.ntp")
        #expect(
            try explain("192.0.2.9:4500", "--udp")["outbound"] == "direct, dialled by the gateway: phones.ike")
        #expect(try explain("192.0.2.9:53", "--udp")["outbound"] == "the gateway's name service")
        #expect(
            try explain("www.shop.example:443", "--udp")["outbound"]
                == "refused: port unreachable, as upstreams take no datagrams")
        #expect(
            try explain("x.example:443", "--udp", "--from", "192.168.50.1", on: "eth0.20")["outbound"]
                == "direct, dialled by the gateway: udp \"direct\"")
        #expect(try explain("ads.shop.example:123", "--udp")["outbound"] == "refused: port unreachable")
        #expect(try explain("192.0.2.9:853")["rule"] == "none: phones.dot \"refuse\"")
    }

    @Test("an upstream's machine is direct, whatever the rules say, to it and from it")
    func upstream() throws {
        let words = "none: the machine of all's upstream is always direct"
        #expect(try explain("198.51.100.7:22")["rule"] == words)
        let own = try explain("www.shop.example:443", "--from", "198.51.100.7")
        #expect(own["rule"] == words)
        #expect(own["dns"] == "the real answer: the device is the upstream of all")
    }

    @Test("without a name service a name is read from the flow, or told by a client of the proxies")
    func unserved() throws {
        let text = minimal("")
        #expect(try explain("x.example:443", of: text)["dns"] == "none: dns.mode \"off\"")
        #expect(
            try explain("x.example:443", of: text)["name"] == "a SOCKS5 or HTTP client alone; in the TUN device nobody")
        let listed = "{ profiles: [{ id: 'a', upstream: { type: 'direct' }, domains: ['x.example'] }] }"
        #expect(try explain("x.example:443", of: listed)["name"] == "SNI or Host is read for it")
    }

    @Test("what isn't proxied leaves through the egress upstream where there is one")
    func egress() throws {
        let text = """
            { egress: 'squid', dns: {}, profiles: [
              { id: 'a', upstream: { type: 'http', host: 'w.example', port: 1 }, domains: ['x.example'] },
              { id: 'squid', upstream: { type: 'http', host: 's.example', port: 3128 } }] }
            """
        let found = try explain("other.example:443", of: text)
        #expect(found["capture"] == "all: egress \"squid\"")
        #expect(found["outbound"] == "egress, the upstream of squid: http s.example:3128, half-close pass, http80 auto")
        let real = "the real answer, TTL at most 60s"
        let fake = "A from 198.18.0.0/15, TTL 1; AAAA empty"
        #expect(found["dns"] == "\(real); where no resolver knows it, \(fake): it is direct")
        let onlyReal = text.replacing("dns: {}", with: "dns: { mode: 'snoop' }")
        #expect(try explain("other.example:443", of: onlyReal)["dns"] == "\(real): it is direct")
    }
}
