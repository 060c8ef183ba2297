/// What the configuration says of the machine's network, of names and of phones, and how each mistake is named.

import Addresses
import Bytes
import Profiles
import Testing

struct NetworkConfigurationTests {
    @Test("the network's settings reach their places")
    func network() throws {
        let text = minimal(
            """
            network: { setup: 'gateway', lan: ['wlan0', { interface: 'eth0.20', profile: 'a' }, { interface: 'br-lan' }],
              uplink: 'eth0', masquerade: false, whenDown: 'direct' }, ipv6: false, egress: 'a', state: '/var/tmp/s'
            """)
        let found = try configuration(text)
        #expect(found.network.setup == .gateway)
        #expect(found.network.lan.map(\.interface) == ["wlan0", "eth0.20", "br-lan"])
        #expect(found.network.lan.map(\.profile) == [nil, "a", nil])
        #expect(found.network.uplink == "eth0")
        #expect(!found.network.masquerades)
        #expect(found.network.whenDown == .direct)
        #expect(!found.ipv6)
        #expect(found.egress == .profile("a"))
        #expect(found.state == "/var/tmp/s")
        #expect(try configuration(minimal("state: false")).state == nil)
        #expect(try configuration(minimal("network: { uplink: 'auto' }")).network.uplink == nil)
        #expect(try configuration(minimal("network: { setup: 'host' }")).network.setup == .host)
        #expect(try configuration(minimal("network: { setup: 'gateway', lan: ['a'] }")).network.masquerades)
    }

    @Test("one interface may be LAN and uplink")
    func oneArm() throws {
        let text = minimal("network: { setup: 'gateway', lan: ['eth0'], uplink: 'eth0' }")
        #expect(try configuration(text).network.uplink == "eth0")
    }

    @Test("the name service is there when it is asked for, or when the gateway sets up the network")
    func service() throws {
        #expect(try configuration(minimal()).dns.mode == .off)
        #expect(try configuration(minimal("dns: {}")).dns.mode == .fake)
        #expect(try configuration(minimal("dns: { mode: 'snoop' }")).dns.mode == .snoop)
        #expect(try configuration(minimal("network: { setup: 'host' }")).dns.mode == .fake)
        #expect(try configuration(minimal("network: { setup: 'host' }, dns: false")).dns.mode == .off)
        #expect(try configuration(minimal("tun: false, dns: false")).dns.mode == .off)
    }

    @Test("the name service's settings reach their places")
    func names() throws {
        let text = minimal(
            """
            dns: { listen: ['192.0.2.1', '[2001:db8::1]:53'], resolvers: ['system', '192.0.2.53'], order: 'race',
              timeout: '1.5s', cache: 0, maxTTL: '5m', families: 'both', pool: '10.99.0.0/27', pool6: 'fd00:99::/123',
              local: ['Corp.Example.', 'müller.example', 'corp.example'] }
            """)
        let dns = try configuration(text).dns
        #expect(dns.listen.map(\.description) == ["192.0.2.1:10053", "[2001:db8::1]:53"])
        #expect(dns.resolvers.map(\.description) == ["system", "192.0.2.53:53"])
        #expect(dns.order == .race)
        #expect(dns.timeout == .milliseconds(1500))
        #expect(dns.cache == 0)
        #expect(dns.maximumTTL == .seconds(300))
        #expect(dns.families == .both)
        #expect(dns.pool.description == "10.99.0.0/27")
        #expect(dns.pool6.description == "fd00:99::/123")
        #expect(dns.local == ["corp.example", "xn--mller-kva.example"])
        let least = try configuration(minimal("dns: {}")).dns
        #expect(least.pool.description == "198.18.0.0/15")
        #expect(least.pool6.description == "2001:2::/48")
        #expect(least.resolvers == [.system])
        #expect(least.cache == 10_000)
    }

    @Test("without IPv6 fake names have IPv4 addresses alone, whatever else is said")
    func familiesWithoutIPv6() throws {
        #expect(try configuration(minimal("ipv6: false, dns: { families: 'both' }")).dns.families == .ipv4)
    }

    @Test(
        "B170: a resolver is an address, with its port or on 53",
        arguments: [
            ("8.8.8.8", "8.8.8.8:53"), ("8.8.8.8:5353", "8.8.8.8:5353"), ("[2001:db8::53]:53", "[2001:db8::53]:53"),
            ("2001:db8::53", "[2001:db8::53]:53"), ("[2001:db8::53]", "[2001:db8::53]:53"), ("system", "system"),
        ])
    func resolver(text: String, meaning: String) throws {
        let found = try configuration(minimal("dns: { resolvers: ['\(text)'] }")).dns.resolvers
        #expect(found.map(\.description) == [meaning])
    }

    @Test(
        "B170: any other spelling of a resolver is refused with an example, and with what was meant where that is clear",
        arguments: [
            ("tcp://8.8.8.8", "found a URL", "write \"8.8.8.8\""),
            ("udp://8.8.8.8:5353", "found a URL", "write \"8.8.8.8:5353\""),
            ("tls://[2001:db8::53]:853", "found a URL", "write \"[2001:db8::53]:853\"; resolvers are asked by plain"),
            ("https://dns.google/dns-query", "found a URL", "resolvers are asked by plain DNS"),
            ("8.8.8.8:", "bad port", "1 to 65535"), ("8.8.8.8:0", "bad port", "1 to 65535"),
            ("8.8.8.8:65536", "bad port", "1 to 65535"), (" 8.8.8.8 ", "blanks around it", "leave them out"),
            ("8.8.8.256", "no IPv4 address", "up to 255"), ("010.8.8.8", "no IPv4 address", "up to 255"),
            ("dns.example.test", "a name", "has an address"), ("dns.example.test:53", "a name", "has an address"),
            ("localhost", "a name", "has an address"), ("0.0.0.0", "every address", "such as"),
            ("255.255.255.255", "a group address", "such as"), ("224.0.0.1", "a group address", "such as"),
            ("fe80::1%eth0", "a zone", "not supported"), ("fe80::1", "link-local", "zone"),
            ("", "an empty text", "such as"), ("8.8.8.0/24", "a prefix length", "such as"),
            (":53", "without an address", "such as"), ("System", "a name", "has an address"),
        ])
    func wrongResolver(text: String, found: String, advice: String) throws {
        let error = try #require(refusal(minimal("dns: { resolvers: ['192.0.2.1', '\(text)'] }")))
        #expect(error.path == "dns.resolvers")
        #expect(error.code == .badValue)
        #expect(error.description.contains(found), "\(error)")
        #expect(error.description.contains(advice), "\(error)")
        #expect(error.description.contains("\"8.8.8.8\""), "\(error)")
        // The place is that of the entry, not of the list.
        #expect(error.position == TextPosition(line: 1, column: 125))
    }

    @Test("what phones need can be switched off, one by one")
    func phones() throws {
        let text = minimal(
            """
            phones: { connectivity: 'upstream', push: false, ntp: false, ike: false, privateRelay: true, doh: 'allow',
              dot: 'allow', lists: 'lists/phones' }
            """)
        let phones = try configuration(text).phones
        #expect(phones.connectivity == .upstream)
        #expect(!phones.push && !phones.ntp && !phones.ike && phones.privateRelay)
        #expect(phones.doh == .allow && phones.dot == .allow)
        #expect(phones.lists == "lists/phones")
        #expect(try configuration(minimal("phones: { connectivity: 'answer' }")).phones.connectivity == .answer)
        let least = try configuration(minimal()).phones
        #expect(least == PhoneOptions())
        #expect(least.connectivity == .direct && least.push && least.ntp && least.ike && !least.privateRelay)
        #expect(least.doh == .refuse && least.dot == .refuse && least.lists == nil)
    }

    @Test("bounds of datagrams, sniffing and fake addresses have the defaults of the design")
    func limits() throws {
        let least = try configuration(minimal()).limits
        #expect(least.udpFlowsInAll == 2048)
        #expect(least.udpFlows == 64 && least.udpIdle == .seconds(30) && least.dnsIdle == .seconds(10))
        #expect(least.sniffBytes == 8192 && least.sniffTime == .milliseconds(300))
        #expect(least.sniffPorts == [80, 443, 8080, 8443])
        #expect(least.fakePerDevice == 8192)
        #expect(least.fragments == 1 << 20 && least.fragmentTime == .seconds(30))
        let text = minimal(
            "limits: { udpFlows: 1, udpFlowsInAll: 9, flowsPerDevice: 8, udpIdle: '1h', dnsIdle: '1s', sniffBytes: '64KiB', sniffTime: '10s', sniffPorts: [] }"
        )
        let changed = try configuration(text).limits
        #expect(changed.udpFlowsInAll == 9 && changed.flowsPerDevice == 8)
        #expect(changed.udpFlows == 1 && changed.udpIdle == .hours(1) && changed.dnsIdle == .seconds(1))
        #expect(changed.sniffBytes == 65536 && changed.sniffTime == .seconds(10) && changed.sniffPorts.isEmpty)
    }
}

extension NetworkConfigurationTests {
    @Test(
        "wrong values of the network are named",
        arguments: [
            Refused(minimal("network: { setup: 'router' }"), .badValue, "network.setup", "\"gateway\", \"host\""),
            Refused(minimal("network: { setup: 'gatway' }"), .badValue, "network.setup", "did you mean \"gateway\"?"),
            Refused(minimal("network: { setup: true }"), .wrongType, "network.setup", "found true"),
            Refused(minimal("network: { lan: 'wlan0' }"), .wrongType, "network.lan", "a list of interfaces"),
            Refused(minimal("network: { lan: [1] }"), .wrongType, "network.lan[0]", "found a number"),
            Refused(minimal("network: { lan: ['wlan 0'] }"), .badValue, "network.lan[0]", "1 to 15 letters"),
            Refused(minimal("network: { lan: [''] }"), .badValue, "network.lan[0]", "1 to 15 letters"),
            Refused(minimal("network: { lan: ['-x'] }"), .badValue, "network.lan[0]", "1 to 15 letters"),
            Refused(minimal("network: { lan: [{}] }"), .missingKey, "network.lan[0].interface", "no such key"),
            Refused(
                minimal("network: { lan: [{ iface: 'x' }] }"), .unknownKey, "network.lan[0].iface",
                "one of interface, profile"),
            Refused(
                minimal("network: { lan: ['x', { interface: 'x' }] }"), .duplicateKey, "network.lan[1]", "\"x\" twice"),
            Refused(minimal("network: { uplink: 'eth 0' }"), .badValue, "network.uplink", "1 to 15 letters"),
            Refused(minimal("network: { uplink: ['eth0'] }"), .wrongType, "network.uplink", "found a list"),
            Refused(minimal("network: { whenDown: 'open' }"), .badValue, "network.whenDown", "\"block\", \"direct\""),
            Refused(minimal("network: { ipv6: false }"), .unknownKey, "network.ipv6", "`ipv6` stands at the top"),
            Refused(
                minimal("network: { interfaces: ['x'] }"), .unknownKey, "network.interfaces", "did you mean `lan`?"),
            Refused(minimal("ipv6: 'off'"), .wrongType, "ipv6", "true or false"),
            Refused(minimal("state: 'state'"), .badValue, "state", "absolute path"),
            Refused(minimal("state: true"), .wrongType, "state", "absolute path"),
            Refused(minimal("egress: true"), .wrongType, "egress", "\"direct\" or the id of a profile"),
        ])
    func wrongNetwork(row: Refused) { expectRefusal(row) }

    @Test(
        "wrong values of the name service are named",
        arguments: [
            Refused(minimal("dns: true"), .wrongType, "dns", "found true; expected an object"),
            Refused(minimal("dns: { mode: 'fakeip' }"), .badValue, "dns.mode", "did you mean \"fake-ip\"?"),
            Refused(minimal("dns: { enable: true }"), .unknownKey, "dns.enable", "one of mode, listen"),
            Refused(minimal("dns: { nameservers: [] }"), .unknownKey, "dns.nameservers", "did you mean `resolvers`?"),
            Refused(minimal("dns: { maxTtl: '1s' }"), .unknownKey, "dns.maxTtl", "did you mean `maxTTL`?"),
            Refused(minimal("dns: { listen: 53 }"), .wrongType, "dns.listen", "127.0.0.1:10053"),
            Refused(minimal("dns: { listen: 'lan:53' }"), .badValue, "dns.listen", "listeners have addresses"),
            Refused(minimal("dns: { listen: ['192.0.2.1', '192.0.2.1:10053'] }"), .badValue, "dns.listen", "twice"),
            Refused(minimal("dns: { resolvers: 'system' }"), .wrongType, "dns.resolvers", "a list of \"system\""),
            Refused(minimal("dns: { resolvers: [] }"), .badValue, "dns.resolvers", "an empty list"),
            Refused(minimal("dns: { resolvers: [53] }"), .wrongType, "dns.resolvers", "a number in the list"),
            Refused(
                minimal("dns: { resolvers: ['8.8.8.8', '8.8.8.8:53'] }"), .badValue, "dns.resolvers",
                "8.8.8.8:53 twice"),
            Refused(minimal("dns: { order: 'random' }"), .badValue, "dns.order", "\"ordered\", \"race\""),
            Refused(minimal("dns: { timeout: '31s' }"), .badValue, "dns.timeout", "from \"100ms\" to \"30s\""),
            Refused(minimal("dns: { timeout: 2 }"), .wrongType, "dns.timeout", "with its unit"),
            Refused(minimal("dns: { cache: -1 }"), .badValue, "dns.cache", "from 0 to 1000000"),
            Refused(minimal("dns: { maxTTL: '0s' }"), .badValue, "dns.maxTTL", "from \"1s\" to \"60m\""),
            Refused(minimal("dns: { families: 'ipv6' }"), .badValue, "dns.families", "\"ipv4\", \"both\""),
            Refused(minimal("dns: { local: 'x' }"), .wrongType, "dns.local", "a list of names"),
            Refused(minimal("dns: { local: ['a..b'] }"), .badValue, "dns.local[0]", "an empty label"),
            Refused(minimal("dns: { local: ['ok', '*.x'] }"), .badValue, "dns.local[1]", "the character *"),
        ])
    func wrongNames(row: Refused) { expectRefusal(row) }

    @Test(
        "B104: a pool that could not be one is refused",
        arguments: [
            Refused(minimal("dns: { pool: 15 }"), .wrongType, "dns.pool", "found a number"),
            Refused(minimal("dns: { pool: '198.18.0.0' }"), .badValue, "dns.pool", "less than 32 addresses"),
            Refused(minimal("dns: { pool: '198.18.0.0/28' }"), .badValue, "dns.pool", "/8 to /27"),
            Refused(minimal("dns: { pool: '198.0.0.0/7' }"), .badValue, "dns.pool", "/8 to /27"),
            Refused(minimal("dns: { pool: '198.18.1.0/15' }"), .badValue, "dns.pool", "lies in is 198.18.0.0/15"),
            Refused(
                minimal("dns: { pool: '198.18.0.1-198.18.0.99' }"), .badValue, "dns.pool", "such as \"198.18.0.0/15\""),
            Refused(minimal("dns: { pool: '198.18.0.0/33' }"), .badValue, "dns.pool"),
            Refused(minimal("dns: { pool: '2001:2::/48' }"), .badValue, "dns.pool", "`pool6`"),
            Refused(minimal("dns: { pool6: '198.18.0.0/15' }"), .badValue, "dns.pool6", "`pool`"),
            Refused(minimal("dns: { pool6: '2001:2::/124' }"), .badValue, "dns.pool6", "less than 32 addresses"),
            Refused(minimal("dns: { pool6: '::/16' }"), .badValue, "dns.pool6", "special addresses"),
            Refused(minimal("dns: { pool6: '64:ff9b::/96' }"), .badValue, "dns.pool6", "NAT64 addresses"),
            Refused(minimal("dns: { pool6: 'ff02::/16' }"), .badValue, "dns.pool6", "multicast addresses"),
            Refused(minimal("dns: { pool: '127.1.0.0/16' }"), .badValue, "dns.pool", "loopback addresses"),
            Refused(minimal("dns: { pool: '169.254.0.0/16' }"), .badValue, "dns.pool", "link-local addresses"),
            Refused(minimal("dns: { pool: '224.0.0.0/8' }"), .badValue, "dns.pool", "multicast addresses"),
            Refused(minimal("dns: { pool: '240.0.0.0/8' }"), .badValue, "dns.pool", "reserved addresses"),
            Refused(
                "{ dns: { pool: '10.0.0.0/8' }, profiles: [{ id: 'a', upstream: { type: 'http', host: '10.1.2.3', port: 1 } }] }",
                .conflict, "dns.pool", "the upstream 10.1.2.3:1 of \"a\" in it"),
            Refused(
                minimal("dns: { pool6: '2001:db8::/32', resolvers: ['2001:db8::53'] }"), .conflict, "dns.pool6",
                "the resolver [2001:db8::53]:53 in it"),
            Refused(
                minimal("dns: { pool: '10.0.0.0/8' }, socks: { listen: '10.0.0.16:1', allow: ['10.0.0.0/8'] }"),
                .conflict, "dns.pool", "the listener 10.0.0.16:1 in it", "first 16 of them"),
        ])
    func wrongPool(row: Refused) { expectRefusal(row) }

    @Test("the gateway may listen on its own addresses of a pool")
    func ownAddresses() throws {
        let dns = try configuration(minimal("dns: { pool: '10.0.0.0/8', listen: '10.0.0.15:53' }")).dns
        #expect(dns.listen.map(\.description) == ["10.0.0.15:53"])
    }

    @Test(
        "settings of the network that contradict each other are refused",
        arguments: [
            Refused(minimal("network: { setup: 'gateway' }"), .conflict, "network.lan", "such as [\"wlan0\"]"),
            Refused(minimal("network: { lan: ['wlan0'] }"), .conflict, "network.lan", "setup \"gateway\""),
            Refused(
                minimal("network: { setup: 'host', lan: ['wlan0'] }"), .conflict, "network.lan", "machine's own traffic"
            ),
            Refused(minimal("network: { uplink: 'eth0' }"), .conflict, "network.uplink", "with setup \"none\""),
            Refused(minimal("network: { masquerade: false }"), .conflict, "network.masquerade", "with setup \"none\""),
            Refused(
                minimal("network: { setup: 'host', masquerade: false }"), .conflict, "network.masquerade", "gateway"),
            Refused(minimal("network: { whenDown: 'direct' }"), .conflict, "network.whenDown", "with setup \"none\""),
            Refused(
                minimal("network: { setup: 'gateway', lan: ['lo'] }"), .conflict, "network.lan[0]", "\"lo\", loopback"),
            Refused(
                minimal("network: { setup: 'gateway', lan: ['w', { interface: 'starship0' }] }"), .conflict,
                "network.lan[1]", "the TUN device"),
            Refused(
                minimal("tun: { name: 'x' }, network: { setup: 'host', uplink: 'x' }"), .conflict, "network.uplink",
                "the TUN device"),
            Refused(minimal("tun: false, network: { setup: 'host' }"), .conflict, "network.setup", "tun: false"),
            Refused(minimal("tun: false, dns: {}"), .conflict, "dns.mode", "tun: false"),
            Refused(
                minimal("network: { setup: 'gateway', lan: [{ interface: 'w', profile: 'b' }] }"), .conflict,
                "network.lan[0].profile", "found \"b\"; expected one of \"a\""),
            Refused(minimal("egress: 'Direct'"), .conflict, "egress", "did you mean \"direct\"?"),
            Refused(
                "{ egress: 'd', profiles: [{ id: 'd', upstream: { type: 'direct' } }] }", .conflict, "egress",
                "whose upstream is direct"),
            Refused(
                minimal("dns: { listen: '127.0.0.1:10808' }"), .conflict, "dns.listen",
                "127.0.0.1:10808, where socks listens"),
            Refused(
                minimal("dns: { listen: '0.0.0.0:10808' }"), .conflict, "dns.listen",
                "0.0.0.0:10808, where socks listens"),
            Refused(
                minimal("dns: { resolvers: ['127.0.0.1:10053'] }"), .conflict, "dns.resolvers",
                "where this gateway itself answers"),
            Refused(
                minimal("dns: { listen: '0.0.0.0:53', resolvers: ['127.0.0.1'] }"), .conflict, "dns.resolvers",
                "127.0.0.1:53, where this gateway itself answers"),
        ])
    func conflicts(row: Refused) { expectRefusal(row) }

    @Test(
        "wrong values for phones and limits are named",
        arguments: [
            Refused(minimal("phones: true"), .wrongType, "phones", "expected an object"),
            Refused(
                minimal("phones: { connectivity: 'off' }"), .badValue, "phones.connectivity",
                "\"direct\", \"upstream\", \"answer\""
            ),
            Refused(minimal("phones: { push: 'direct' }"), .wrongType, "phones.push", "true or false"),
            Refused(minimal("phones: { ntp: 1 }"), .wrongType, "phones.ntp", "true or false"),
            Refused(minimal("phones: { ike: null }"), .wrongType, "phones.ike", "true or false"),
            Refused(minimal("phones: { privateRelay: 'no' }"), .wrongType, "phones.privateRelay", "true or false"),
            Refused(minimal("phones: { doh: 'deny' }"), .badValue, "phones.doh", "\"refuse\", \"allow\""),
            Refused(minimal("phones: { dot: false }"), .wrongType, "phones.dot", "\"refuse\", \"allow\""),
            Refused(minimal("phones: { lists: [] }"), .wrongType, "phones.lists", "the path of a directory"),
            Refused(minimal("phones: { list: 'x' }"), .unknownKey, "phones.list", "did you mean `lists`?"),
            Refused(minimal("limits: { udpFlows: 0 }"), .badValue, "limits.udpFlows", "from 1 to 65536"),
            Refused(minimal("limits: { udpIdle: '4s' }"), .badValue, "limits.udpIdle", "from \"5s\" to \"60m\""),
            Refused(minimal("limits: { dnsIdle: '0s' }"), .badValue, "limits.dnsIdle", "from \"1s\""),
            Refused(minimal("limits: { sniffBytes: '65KiB' }"), .badValue, "limits.sniffBytes", "to \"64KiB\""),
            Refused(minimal("limits: { sniffTime: '11s' }"), .badValue, "limits.sniffTime", "to \"10s\""),
            Refused(minimal("limits: { sniffPorts: 443 }"), .wrongType, "limits.sniffPorts", "a list of up to 16"),
            Refused(minimal("limits: { sniffPorts: ['443'] }"), .wrongType, "limits.sniffPorts", "a text in the list"),
            Refused(minimal("limits: { sniffPorts: [443, 0] }"), .badValue, "limits.sniffPorts", "0 in the list"),
            Refused(minimal("limits: { sniffPorts: [443, 443] }"), .badValue, "limits.sniffPorts", "each once"),
            Refused(minimal("limits: { fakePerDevice: 15 }"), .badValue, "limits.fakePerDevice", "from 16"),
            Refused(minimal("limits: { fragments: '1KiB' }"), .badValue, "limits.fragments", "from \"64KiB\""),
            Refused(minimal("limits: { fragmentTime: '3m' }"), .badValue, "limits.fragmentTime", "to \"2m\""),
            Refused(minimal("limits: { names: 5 }"), .unknownKey, "limits.names"),
        ])
    func wrongPhonesAndLimits(row: Refused) { expectRefusal(row) }
}
