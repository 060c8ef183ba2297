/// A configuration is read whole: what it may say, and how each mistake is named.

import Addresses
import Bytes
import Profiles
import Testing

/// The least that a configuration says, with room for more keys at the top and in the upstream.
func minimal(_ more: String = "", upstream: String = "") -> String {
    "{ profiles: [{ id: 'a', upstream: { type: 'http', host: 'proxy.example', port: 8080, \(upstream) } }], \(more) }"
}

func configuration(_ text: String) throws(ConfigurationError) -> Configuration {
    try Configuration.parse(Array(text.utf8))
}

/// The error of a text that must be refused, by itself or with the lists that it names.
func refusal(_ text: String, files: [String: String] = [:]) -> ConfigurationError? {
    do throws(ConfigurationError) {
        _ = try configuration(text).resolve(files: files.mapValues { Array($0.utf8) })
        return nil
    } catch {
        return error
    }
}

struct ConfigurationTests {
    @Test("the least configuration has the defaults of the design")
    func defaults() throws {
        let least = try configuration(minimal())
        #expect(least.tunnel?.name == "starship0")
        #expect(least.tunnel?.mtu == 1500)
        #expect(least.tunnel != nil && least.tunnel?.workers == nil, "what the machine is good for")
        #expect(least.network.mark == NetworkOptions.Mark(value: 0x5300_0000, mask: 0xff00_0000))
        #expect(least.socks?.listen.map(\.description) == ["127.0.0.1:10808"])
        #expect(least.http == nil)
        #expect(least.active == "a")
        #expect(least.activeProfile.name == "a")
        #expect(least.activeProfile.upstream.server?.description == "proxy.example:8080")
        let limits = least.limits
        #expect(limits.dial == .seconds(5))
        #expect(limits.connect == .seconds(20))
        #expect(limits.halfOpenPerDevice == 512)
        #expect(limits.halfOpen == 2048)
        #expect(limits.flows == 65536 && limits.flowsPerDevice == 16384)
        #expect(limits.synAck == [.seconds(1), .seconds(2), .seconds(4), .seconds(8)])
        #expect(limits.timeWait == .seconds(10))
        #expect(limits.halfClose == .seconds(60))
        #expect(limits.idle == .hours(24))
        #expect(limits.keepaliveClient == .hours(2))
        #expect(limits.keepaliveUpstream == .seconds(60))
        #expect(limits.flowBuffer == 4_194_304)
        #expect(limits.icmpErrors == 50)
        #expect(limits.credentialRetry == .seconds(900))
        #expect(limits.bufferBudget(memory: 16 << 30) == 256 << 20)
        #expect(limits.bufferBudget(memory: 512 << 20) == 128 << 20)
        #expect(least == Configuration(profiles: least.profiles))
    }

    @Test("every setting reaches its place")
    func everything() throws {
        let full = try configuration(
            """
            { tun: { name: "lab-0", mtu: 9000, workers: 3, offload: "none" },
              network: { setup: "none", mark: "0x10/0xf0" },
              socks: { listen: ["0.0.0.0:1080", "[::1]"], allow: ["10.0.0.0/8"], users: [{ name: "q:a", passwordFile: "x" }] },
              http: { listen: "[2001:db8::1]:3128", allow: ["2001:db8::/32"], outbound: "direct" },
              profiles: [{ id: "p-1", name: "One", upstream: { type: "socks5", host: "2001:DB8::9", port: 0x438, user: "u:v",
                passwordFile: "/p", kind: "charles", halfClose: "hold" } }],
              active: "p-1",
              limits: { dial: "1.5s", connect: "2m", synAck: ["250ms"], buffers: "1GiB", flowBuffer: "64KiB", icmpErrors: 0 },
              log: { level: "debug", format: "journal", flows: "all" } }
            """)
        #expect(full.tunnel?.name == "lab-0")
        #expect(full.tunnel?.offload == TunnelOptions.Offload.none)
        #expect(full.tunnel?.workers == 3)
        #expect(full.network.mark == NetworkOptions.Mark(value: 0x10, mask: 0xf0))
        #expect(full.socks?.listen.map(\.description) == ["0.0.0.0:1080", "[::1]:10808"])
        #expect(full.socks?.users == [InboundOptions.User(name: "q:a", passwordFile: "x")])
        #expect(full.http?.outbound == .direct)
        #expect(full.http?.allow.map(\.description) == ["2001:db8::/32"])
        let upstream = full.activeProfile.upstream
        #expect(upstream.type == .socks5)
        #expect(upstream.server?.description == "[2001:db8::9]:1080")
        #expect(upstream.credentials == CredentialSource(user: "u:v", password: .file("/p")))
        #expect(upstream.kind == .charles)
        #expect(upstream.halfClose == .hold)
        #expect(full.limits.dial == .milliseconds(1500))
        #expect(full.limits.connect == .seconds(120))
        #expect(full.limits.synAck == [.milliseconds(250)])
        #expect(full.limits.bufferBudget(memory: 1 << 20) == 1 << 30)
        #expect(full.limits.icmpErrors == 0)
        #expect(full.log.level == .debug)
        #expect(full.log.flows == .all)
    }

    @Test("B057: an HTTP upstream says when credentials go out, and how this proxy likes to be talked to")
    func proxyManners() throws {
        let text = minimal(
            upstream:
                "user: 'u', passwordFile: 'p', auth: 'challenge', identify: true, http80: 'absolute', kind: 'whistle'")
        let configuration = try configuration(text)
        let upstream = configuration.activeProfile.upstream
        #expect(upstream.authentication == .challenge)
        #expect(upstream.identify)
        #expect(upstream.plainHTTP == .absolute)
        #expect(
            try Profiles.Configuration.parse(Array(minimal().utf8)).activeProfile.upstream.authentication == .preemptive
        )
        let summary = """
            profile     a (a), active
              upstream  http proxy.example:8080, whistle, user "u", password from "p", auth challenge, identify, \
            half-close pass, http80 absolute
              routes    global mode, sniff needed, udp reject
              health    connections alone: without a url nothing is verified, every 30s within 10s, slow from 2s, \
            given up after 10m of red
              capture   all: no name service: a name is known from its flow alone
            egress      direct
            tun         starship0, mtu 1500, a worker for two processors, offload full
            network     none: routes are made by others
            ipv6        on
            dns         off
            phones      connectivity direct, push direct, ntp direct, ike direct, private relay refuse, doh refuse, \
            dot refuse
            socks       127.0.0.1:10808
            http        off
            state       "/var/lib/starship"
            new devices default
            lease       12h
            control     "/run/starship/control.sock"
            log         info, auto, flows failed

            """
        #expect(try configuration.resolve().summary == summary)
    }

    @Test("an inbound lets in itself and its networks")
    func allows() throws {
        let text = minimal("socks: { listen: '192.168.50.1:1080', allow: ['192.168.50.0/24'] }")
        let socks = try #require(configuration(text).socks)
        let verdicts = ["192.168.50.77", "127.0.0.1", "::1", "192.168.51.1", "2001:db8::1"].map { text in
            IPAddress(parsing: text).map(socks.allows)
        }
        #expect(verdicts == [true, true, true, false, false])
    }

    @Test("each way in can be turned off, but not all of them")
    func waysIn() throws {
        let translator = try configuration(minimal("tun: false"))
        #expect(translator.tunnel == nil)
        let tunnelAlone = try configuration(minimal("socks: false, http: false"))
        #expect(tunnelAlone.socks == nil)
        expectRefusal(Refused(minimal("tun: false, socks: false"), .conflict, "tun", "at least one way in"))
    }

    @Test("settings of later versions may be there if they say nothing")
    func emptyLater() throws {
        let text = """
            { devices: [], keys: [], network: { dhcp: false }, profiles: [{ id: 'a', selfService: false,
              upstream: { type: 'direct' } }] }
            """
        #expect(try configuration(text).activeProfile.upstream.server == nil)
    }

    @Test("another upstream takes the active profile's place, unless it is the gateway itself")
    func replacement() throws {
        let base = try configuration(minimal())
        let url = try ProxyURL.parse("socks5://192.0.2.7:1080")
        let changed = try base.replacingUpstream(by: url.upstream)
        #expect(changed.activeProfile.upstream == url.upstream)
        #expect(changed.activeProfile.id == "a")
        let own = try ProxyURL.parse("socks5://127.0.0.1:10808")
        #expect(throws: ConfigurationError.self) { try base.replacingUpstream(by: own.upstream) }
    }
}
