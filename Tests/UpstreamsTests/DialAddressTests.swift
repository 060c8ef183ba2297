/// Where dials go: several addresses, names, and targets that are refused.

import Addresses
import Bytes
import LinuxIO
import Testing
import Upstreams
import Wire

@Suite struct DialAddressTests {
    private static let target = Target("api.example.test:443")
    private static let ok: [Step] = [.expect("\r\n\r\n"), .send("HTTP/1.1 200 OK\r\n\r\n")]

    private func address(_ host: UInt32) -> IPAddress { IPAddress(v4: host) }

    private func named(_ port: UInt16) throws -> Upstream {
        try Upstream(UpstreamSettings(.http(server: Target(host: .name("proxy.example.test"), port: port))))
    }

    @Test("a silent address gets company after 250 ms, and the one that answered goes first the next time (RFC 8305)")
    func silentAddress() throws {
        let silent = try SilentServer(on: 0x7f00_0002)
        let server = try ScriptedServer(on: 0x7f00_0003, port: silent.address.port)
        try server.playing([Self.ok, Self.ok]) {
            var caller = try Caller()
            caller.names = ["proxy.example.test": [address(0x7f00_0002), address(0x7f00_0003)]]
            let proxy = try named(silent.address.port)
            let first = try caller.open(Self.target, through: proxy)
            #expect(first.asked == ["proxy.example.test"])
            #expect(first.server == server.address)
            #expect(first.registered == 2)
            #expect(first.took >= .milliseconds(250) && first.took < .seconds(2))
            let second = try caller.open(Self.target, through: proxy)
            #expect(second.asked.isEmpty)
            #expect(second.registered == 1)
            #expect(second.server == server.address)
            #expect(caller.memory.lastGood == address(0x7f00_0003))
        }
    }

    @Test("a refused address is followed by the next at once")
    func refusedAddress() throws {
        let server = try ScriptedServer(on: 0x7f00_0003)
        try server.playing([Self.ok]) {
            var caller = try Caller()
            caller.names = ["proxy.example.test": [address(0x7f00_0002), address(0x7f00_0003)]]
            let outcome = try caller.open(Self.target, through: try named(server.address.port))
            #expect(outcome.opening != nil)
            #expect(outcome.timeouts == 0)
        }
    }

    @Test("when no address answers, the name is resolved anew the next time")
    func forgets() throws {
        let server = try ScriptedServer(on: 0x7f00_0003)
        try server.playing([Self.ok]) {
            var caller = try Caller()
            let proxy = try named(server.address.port)
            caller.names = ["proxy.example.test": [address(0x7f00_0002)]]
            #expect(try caller.open(Self.target, through: proxy).failure == .proxyUnreachable(.connectionRefused))
            caller.names = ["proxy.example.test": [address(0x7f00_0003)]]
            let outcome = try caller.open(Self.target, through: proxy)
            #expect(outcome.asked == ["proxy.example.test"])
            #expect(outcome.opening != nil)
        }
    }

    @Test("an unknown proxy and a silent one are told apart")
    func causes() throws {
        var caller = try Caller()
        #expect(try caller.open(Self.target, through: try named(1)).failure == .proxyUnknown("proxy.example.test"))
        let silent = try SilentServer()
        let proxy = try upstream(at: silent.address) { $0.connectTimeout = .milliseconds(100) }
        let outcome = try caller.open(Self.target, through: proxy)
        #expect(outcome.failure == .proxyUnreachable(.timedOut))
        #expect(outcome.took >= .milliseconds(100) && outcome.took < .seconds(2))
    }

    /// Direct dials with loopback allowed, or not.
    private func direct(allowingLoopback: Bool) throws -> Upstream {
        var settings = UpstreamSettings(.direct)
        settings.connectTimeout = .milliseconds(200)
        settings.policy.own = [try #require(IPPrefix(parsing: "10.9.0.1"))]
        if allowingLoopback { settings.policy.allowed = [try #require(IPPrefix(parsing: "127.0.0.0/8"))] }
        return try Upstream(settings)
    }

    @Test("a direct dial goes to the target itself, also by name")
    func direct() throws {
        let server = try ScriptedServer()
        try server.playing([[.expect("hi"), .send("ho")], [.expect("hi"), .send("ho")]]) {
            var caller = try Caller()
            caller.names = ["server.test": [server.address.address]]
            let way = try direct(allowingLoopback: true)
            for host in [Host.address(server.address.address), .name("server.test")] {
                var outcome = try caller.open(Target(host: host, port: server.address.port), through: way)
                _ = outcome.socket?.write(Array("hi".utf8).span)
                #expect(outcome.readAll() == "ho")
            }
        }
    }

    @Test(
        "B214: direct dials to the gateway's own places are refused before a socket is opened, by name too",
        arguments: [
            "127.0.0.1:22", "0.0.0.0:22", "169.254.169.254:80", "10.9.0.1:1080", "[::1]:22", "[::ffff:127.0.0.1]:22",
            "[::]:22", "localhost:22", "own.test:80", "[fe80::1]:80",
        ])
    func refusesOwnPlaces(text: String) throws {
        var caller = try Caller()
        caller.names = [
            "localhost": [IPAddress(high: 0, low: 1), address(0x7f00_0001)], "own.test": [address(0x0a09_0001)],
        ]
        let outcome = try caller.open(Target(text), through: try direct(allowingLoopback: false))
        #expect(outcome.failure == .forbidden)
        #expect(outcome.failure?.socksReply == 2)
        #expect(outcome.registered == 0)
    }

    @Test("B214: of a name's addresses only those that are allowed are tried")
    func filtersAddresses() throws {
        var caller = try Caller()
        caller.names = ["mixed.test": [address(0x7f00_0001), address(0xc000_0201)]]
        let outcome = try caller.open(Target("mixed.test:9"), through: try direct(allowingLoopback: false))
        // 192.0.2.1 (RFC 5737) is not there: refused, unreachable or silent, but never our own loopback.
        guard case .targetUnreachable = outcome.failure else {
            Issue.record("not unreachable")
            return
        }
    }

    @Test("the gateway itself is no target through a proxy either")
    func refusesOwnAddressThroughProxy() throws {
        var caller = try Caller()
        let proxy = try upstream(at: SocketAddress(address(0x7f00_0001), 9)) {
            $0.policy.own = [IPPrefix(parsing: "10.9.0.1")].compactMap { $0 }
        }
        #expect(try caller.open(Target("10.9.0.1:80"), through: proxy).failure == .forbidden)
    }

    @Test("B069: the causes of direct dials have their own replies")
    func directReplies() throws {
        var caller = try Caller()
        let way = try direct(allowingLoopback: true)
        let free = try ScriptedServer().address
        let refused = try caller.open(Target(free), through: way)
        #expect(refused.failure == .targetUnreachable(.connectionRefused))
        #expect(refused.failure?.socksReply == 5)
        let unknown = try caller.open(Target("nowhere.test:80"), through: way)
        #expect(unknown.failure?.socksReply == 4)
        let silent = try SilentServer()
        let timeout = try caller.open(Target(silent.address), through: way)
        #expect(timeout.failure == .targetUnreachable(.timedOut))
        #expect(timeout.failure?.socksReply == 4)
    }

    @Test("letting go of a dial closes its sockets and its claim on the credentials")
    func cancel() throws {
        let server = try ScriptedServer()
        try server.playing([[.expectEnd], [.expect("Basic"), .send("HTTP/1.1 200 OK\r\n\r\n")]]) {
            var caller = try Caller()
            let proxy = try upstream(at: server.address) {
                $0.user = "u"
                $0.password = "p"
                $0.overallTimeout = .milliseconds(100)
            }
            #expect(try caller.open(Self.target, through: proxy).failure == .proxySilent)
            #expect(try caller.open(Self.target, through: proxy).opening != nil)
        }
    }
}
