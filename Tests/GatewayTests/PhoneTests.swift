/// What is done for phones: checks that the gateway answers, checks that avoid their upstream, names that aren't there.

import Addresses
import Bytes
import LinuxIO
import Names
import Routing
import Testing
import Upstreams
import Wire

@testable import Gateway

/// The lists of these tests.
private enum Lists {
    static func list(_ name: String, _ text: String) throws -> RuleList {
        try RuleList.parse(Array(text.utf8).span, name: name, file: "\(name).txt", format: .plain)
    }

    static func answers() throws -> CheckAnswers {
        let text = """
            captive.test * 200 <HTML>Success</HTML>
            android.test /generate_204 204
            shared.test /gen_204 204
            ncsi.test dns 131.107.255.255
            """
        return try CheckAnswers.parse(
            Array(text.utf8).span, file: "c.answers", shared: list("shared", "full:shared.test\n"))
    }

    static func phones(answers: Bool = true) throws -> RoutingSettings.Phones {
        var phones = RoutingSettings.Phones()
        phones.direct = [try list("connectivity", "captive.test\nandroid.test\nncsi.test\n")]
        phones.denied = [try list("private-relay", "mask.icloud.com\n")]
        phones.answers = answers ? try self.answers() : nil
        phones.shared = answers ? nil : try list("connectivity-shared", "full:shared.test\n")
        return phones
    }
}

extension WorkerTests {
    @Suite("Checks that are answered")
    struct Checks {
        static let request = "GET /generate_204 HTTP/1.1\r\nHost: android.test\r\n\r\n"
        static let answer = "HTTP/1.1 204 No Content\r\nCache-Control: no-store\r\n\r\n"

        /// A bench whose DNS has given fake addresses, and the address of a name.
        private func bench(
            _ name: String = "android.test", listeners: [GatewaySettings.Listener.Kind] = [],
            _ change: (inout GatewaySettings) -> Void = { _ in }
        ) throws -> (bench: Bench, fake: IPAddress) {
            let names = NameTable(pool: try NameTableTests.pool())
            let phones = try Lists.phones()
            let bench = try Bench(listeners: listeners, names: names) {
                $0.routing.phones = phones
                change(&$0)
            }
            let fake = try #require(names.address(for: name, .ipv4, device: Bench.device, now: bench.now))
            return (bench, fake)
        }

        @Test func aCheckIsAnsweredWithoutAnUpstream() throws {
            let (bench, fake) = try bench()
            let client = bench.client(to: SocketAddress(fake, 80))
            try client.sendSYN()
            try client.establish()
            for piece in ["GET /generate_204 HT", "TP/1.1\r\nHost: android.test\r\n", "\r\n"] {
                #expect(client.text == "")
                try client.send(piece)
                bench.settle()
            }
            bench.until("the check is answered") { client.text == Self.answer }
            // Keep-alive, and two requests in one segment.
            try client.send(Self.request + Self.request)
            bench.until("they are answered") { client.text == Self.answer + Self.answer + Self.answer }
            try client.finish()
            bench.until("the end comes") { client.hasEnded }
            bench.expectNothingLeft()
            #expect(bench.nextPeer() == nil && bench.counter(\.checksAnswered) == 3)
            let line = bench.lastFlowLine
            for part in [
                "target=android.test:80", "by=fake-ip", "rule=\"phones: connectivity.answers, c.answers:2\"",
                "reason=\"client closed\"", "down=\(3 * Self.answer.utf8.count)",
            ] { #expect(line.contains(part), "\(part): \(line)") }
        }

        @Test func whoSaysCloseGetsTheEnd() throws {
            let (bench, fake) = try bench("captive.test")
            let client = bench.client(to: SocketAddress(fake, 80))
            try client.sendSYN()
            try client.establish()
            try client.send("GET / HTTP/1.0\r\n\r\n")
            bench.until("the end comes") { client.hasEnded }
            #expect(client.text.hasSuffix("\r\nConnection: close\r\n\r\n<HTML>Success</HTML>"))
            try client.send("what comes late goes nowhere")
            try client.finish()
            bench.expectNothingLeft()
            #expect(!client.wasReset)
        }

        @Test(
            "a client that asks for nothing is bidden farewell after 10 s, and reset 2 s later",
            arguments: [true, false])
        func silence(leaves: Bool) throws {
            let (bench, fake) = try bench()
            let client = bench.client(to: SocketAddress(fake, 80))
            try client.sendSYN()
            try client.establish()
            bench.advance(.milliseconds(9900))
            #expect(!client.hasEnded)
            bench.advance(.milliseconds(200))
            bench.until("the end comes") { client.hasEnded }
            if leaves { try client.finish() } else { bench.advance(.milliseconds(2100)) }
            bench.until("it is over") { bench.machines[0].flows == 0 }
            #expect(client.wasReset != leaves)
            bench.expectNothingLeft()
        }

        @Test func aHeadWithoutEndIsRefused() throws {
            let (bench, fake) = try bench()
            let client = bench.client(to: SocketAddress(fake, 80))
            try client.sendSYN()
            try client.establish()
            for _ in 0..<9 { try client.send("X-Filler: " + String(repeating: "x", count: 990)) }
            bench.until("the end comes") { client.hasEnded }
            #expect(client.text.hasPrefix("HTTP/1.1 431 "))
            try client.finish()
            bench.expectNothingLeft()
        }

        /// A device that sends requests and reads nothing holds one answer, and its own window.
        @Test func whoReadsNothingCostsNothing() throws {
            let (bench, fake) = try bench()
            let client = bench.client(to: SocketAddress(fake, 80))
            try client.sendSYN()
            try client.establish()
            client.acknowledges = false
            client.window = 0
            try client.acknowledge()
            for _ in 0..<20 { try client.send(Self.request) }
            bench.settle()
            #expect(bench.counter(\.checksAnswered) == 1)
            #expect(bench.machines[0].chunksUsed <= 2)
            try client.reset()
            bench.expectNothingLeft()
            #expect(bench.machines[0].reasons == ["client-reset": 1])
        }

        /// Nobody can speak for a host over TLS: refused at once, a device takes the verdict of http.
        @Test func httpsIsRefusedAtOnce() throws {
            let (bench, fake) = try bench()
            let client = bench.client(to: SocketAddress(fake, 443))
            try client.sendSYN()
            bench.until("it is refused") { client.wasReset }
            bench.expectNothingLeft()
            #expect(bench.nextPeer() == nil)
            #expect(bench.machines[0].reasons == ["rejected": 1])
        }

        @Test("a host with a second purpose: its checks are answered, the rest is proxied with every octet")
        func shared() throws {
            let (bench, fake) = try bench("shared.test")
            let check = bench.client(to: SocketAddress(fake, 80))
            try check.sendSYN()
            try check.establish()
            try check.send("GET /gen_204 HTTP/1.1\r\nHost: shared.test\r\n\r\n")
            bench.until("the check is answered") { check.text == Self.answer }
            try check.finish()

            let page = bench.client(to: SocketAddress(fake, 80))
            try page.sendSYN()
            try page.establish()
            #expect(bench.nextPeer() == nil)
            let request = "GET /page HTTP/1.1\r\nHost: shared.test\r\n\r\n"
            try page.send(request)
            let peer = try bench.accept()
            bench.until("the CONNECT is there") { peer.text.hasSuffix("\r\n\r\n") }
            #expect(peer.take().hasPrefix("CONNECT shared.test:80 HTTP/1.1\r\n"))
            peer.send("HTTP/1.1 200 OK\r\n\r\n")
            bench.until("the request is whole") { peer.text == request }
            peer.send("page")
            bench.until("the page comes") { page.text == "page" }
            try page.reset()

            let secure = bench.client(to: SocketAddress(fake, 443))
            try secure.open().close()
            try secure.finish()
            bench.expectNothingLeft()
        }

        @Test("what a rule says of the host counts more")
        func rules() throws {
            let rules = try RuleSet(
                domains: [], bypass: [], rules: [SourceText(text: "DOMAIN,android.test,PROXY")])
            let (bench, fake) = try bench { $0.routing.profiles[0].rules = rules }
            let client = bench.client(to: SocketAddress(fake, 80))
            _ = try client.open()
            try client.reset()
            bench.expectNothingLeft()
            #expect(bench.counter(\.checksAnswered) == 0)
        }

        @Test("a client of SOCKS5 or HTTP is answered too", arguments: ["socks", "connect", "plain"])
        func inbounds(kind: String) throws {
            let (bench, _) = try bench(listeners: [.socks([]), .http([])])
            let client = try bench.inboundClient(kind == "socks" ? 0 : 1)
            switch kind {
            case "socks":
                client.send([5, 1, 0])
                bench.until("the method is chosen") { client.received == [5, 0] }
                _ = client.take()
                client.send([5, 1, 0, 3, 12] + Array("android.test".utf8) + [0, 80])
                bench.until("it is accepted") { client.received.starts(with: [5, 0]) && client.received.count == 10 }
                _ = client.take()
                client.send(Self.request)
            case "connect":
                client.send("CONNECT android.test:80 HTTP/1.1\r\nHost: android.test:80\r\n\r\n" + Self.request)
            default:
                client.send("GET http://android.test/generate_204 HTTP/1.1\r\nHost: android.test\r\n\r\n")
            }
            bench.until("the check is answered") { client.text.hasSuffix(Self.answer) }
            client.finish()
            bench.until("the end comes") { client.isEnded }
            client.close()
            bench.expectNothingLeft()
            #expect(bench.nextPeer() == nil && bench.counter(\.checksAnswered) == 1)
        }

        @Test("a switch that ends the answers resets who waits for one")
        func switched() throws {
            let (bench, fake) = try bench()
            let client = bench.client(to: SocketAddress(fake, 80))
            try client.sendSYN()
            try client.establish()
            var routing = bench.settings.routing
            for (answers, isReset) in [(true, false), (false, true)] {
                routing.phones = try Lists.phones(answers: answers)
                bench.shared.board.replace(by: try Policy(routing, after: bench.shared.policy))
                bench.shared.mailboxes[0].send(.reroute(RerouteOrder(drain: .zero, waking: try WakeUp())))
                bench.settle()
                #expect(client.wasReset == isReset)
            }
            bench.expectNothingLeft()
        }
    }

    @Suite("Checks that avoid their upstream")
    struct AvoidedUpstreams {
        /// Nobody listens there, and nothing else is on it.
        static let host = Bench.address("127.77.0.1", 443)

        private func bench(
            kind: UpstreamSettings.Kind? = nil, domains: [String] = [], rules: [String] = []
        ) throws -> Bench {
            let names = NameTable(pool: try NameTableTests.pool())
            let phones = try Lists.phones(answers: false)
            let rules = try RuleSet(
                domains: domains.map { SourceText(text: $0) }, bypass: [], rules: rules.map { SourceText(text: $0) })
            let bench = try Bench(kind: kind, names: names) {
                $0.routing.phones = phones
                $0.routing.profiles[0].rules = rules
            }
            names.note(
                name: "shared.test", addresses: [Self.host.address], device: Bench.device, ttl: .seconds(86400),
                now: bench.now)
            return bench
        }

        /// A flow that is refused; its line says by whom.
        private func refusal(_ bench: Bench, to target: SocketAddress = host) throws -> String {
            let client = bench.client(to: target)
            try client.sendSYN()
            bench.until("it is refused") { client.wasReset }
            bench.settle()
            return bench.lastFlowLine
        }

        @Test(
            "while its upstream is lost a check's host is dialled directly, unless a rule names it",
            arguments: [
                ([], [], true), (["shared.test"], [], true), ([], ["MATCH,PROXY"], true),
                ([], ["DOMAIN,shared.test,PROXY"], false),
            ] as [([String], [String], Bool)])
        func lost(domains: [String], rules: [String], goesDirect: Bool) throws {
            let dead = UpstreamSettings.Kind.http(server: Target(Bench.address("127.77.0.2", 1)))
            let bench = try bench(kind: dead, domains: domains, rules: rules)
            for _ in 0..<2 {
                let line = try refusal(bench)
                #expect(
                    line.contains("target=shared.test:443") && line.contains("no connection to the proxy"), "\(line)")
            }
            let line = try refusal(bench)
            let rule = "rule=\"phones: connectivity-shared, the upstream is lost\""
            #expect(line.contains("target=127.77.0.1:443") == goesDirect, "\(line)")
            #expect(line.contains(rule) == goesDirect && line.contains("name=shared.test"), "\(line)")
            if domains.isEmpty {
                #expect(try refusal(bench, to: Bench.target).contains("no connection to the proxy"))
            }
            bench.expectNothingLeft()
        }

        @Test("while its upstream decrypts a check's host is dialled directly, for 600 s")
        func decrypts() throws {
            let bench = try bench()
            let client = bench.client(to: Self.host)
            let peer = try client.open()
            try client.send([22, 3, 1, 0, 4, 1, 0, 0, 0])
            bench.until("the hello arrives") { peer.received.count == 9 }
            peer.send([22, 3, 3, 0, 4, 2, 0, 0, 0] + [22, 3, 3, 0, 4, 11, 0, 0, 0])
            bench.until("the answer arrives") { client.received.count == 18 }
            // A fatal alert: unknown_ca (RFC 8446, section 6.2).
            try client.send([21, 3, 3, 0, 2, 2, 48])
            try client.finish()
            bench.until("the end arrives") { peer.isEnded }
            peer.close()
            bench.expectNothingLeft()

            let line = try refusal(bench)
            #expect(line.contains("rule=\"phones: connectivity-shared, the upstream decrypts\""), "\(line)")
            #expect(line.contains("target=127.77.0.1:443") && bench.nextPeer() == nil)
            // Plain http isn't decrypted, and other hosts have nothing to do with it.
            for target in [SocketAddress(Self.host.address, 80), Bench.target] {
                let other = bench.client(to: target)
                _ = try other.open()
                try other.reset()
            }
            bench.advance(.seconds(601))
            let later = bench.client(to: Self.host)
            _ = try later.open()
            try later.reset()
            bench.expectNothingLeft()
        }

        @Test("an upstream that works, and certificates of other hosts, change nothing")
        func works() throws {
            let bench = try bench()
            for target in [Self.host, Bench.target, Self.host] {
                let client = bench.client(to: target)
                let peer = try client.open()
                try client.send([22, 3, 1, 0, 4, 1, 0, 0, 0])
                bench.until("the hello arrives") { peer.received.count == 9 }
                peer.send([22, 3, 3, 0, 4, 2, 0, 0, 0])
                bench.until("the answer arrives") { client.received.count == 9 }
                let isRefused = target == Bench.target
                try client.send(isRefused ? [21, 3, 3, 0, 2, 2, 48] : [UInt8](repeating: 23, count: 100))
                try client.finish()
                bench.until("the end arrives") { peer.isEnded }
                peer.close()
                bench.until("it is over") { bench.machines[0].flows == 0 }
            }
            #expect(bench.machines[0].reasons["client-refused-certificate"] == 1)
            bench.expectNothingLeft()
        }

        @Test("a route knows both ways, so a switch leaves flows alone that avoid their upstream")
        func bothWays() throws {
            let bench = try bench()
            bench.shared.policy.upstreams[0].noteRefusedCertificate(at: bench.now)
            var route = bench.shared.policy.route(
                to: Destination(Target(host: .name("shared.test"), port: 443), name: "shared.test", source: .fake),
                from: Bench.device)
            route.avoidUpstream(port: 443, at: bench.now)
            guard case .upstream(let upstream) = route.way else {
                Issue.record("\(route)")
                return
            }
            #expect(upstream === bench.shared.policy.direct && route.standIn === upstream)
        }
    }
}

@Suite("Names for phones")
struct PhoneNameTests {
    private func policy(
        answers: Bool = true, domains: [String] = [], rules: [String] = []
    ) throws -> Policy {
        var settings = RoutingSettings(
            profile: "a", upstream: UpstreamSettings(.http(server: Target(Bench.address("192.0.2.1", 8080)))))
        settings.phones = try Lists.phones(answers: answers)
        settings.profiles[0].rules = try RuleSet(
            domains: domains.map { SourceText(text: $0) }, bypass: [], rules: rules.map { SourceText(text: $0) })
        settings.fakesNames = true
        return try Policy(settings)
    }

    /// In both modes, so that their flows reach us whatever the resolvers say.
    @Test(
        "names of checks that are answered have fake addresses, or those that their checks want",
        arguments: [
            [], ["other.test"],
        ])
    func answered(domains: [String]) throws {
        let policy = try policy(domains: domains)
        for name in ["captive.test", "android.test", "shared.test"] {
            #expect(policy.nameVerdict(name, for: Bench.device) == .fake)
        }
        let ncsi = try #require(IPAddress(parsing: "131.107.255.255"))
        #expect(policy.nameVerdict("ncsi.test", for: Bench.device) == .addresses([ncsi]))
        let direct = try self.policy(answers: false, domains: domains)
        let maximumTTL: UInt32? = domains.isEmpty ? nil : 60
        #expect(direct.nameVerdict("captive.test", for: Bench.device) == .real(maximumTTL: maximumTTL))
    }

    /// B094: a MATCH, or rules about ports, say nothing of the name; a rule that names it does.
    @Test(
        "iCloud Private Relay does not exist here, unless a rule names it",
        arguments: [
            ([], [], .nonexistent), (["other.test"], [], .nonexistent), ([], ["MATCH,PROXY"], .nonexistent),
            ([], ["DST-PORT,22,DIRECT"], .nonexistent), ([], ["DST-PORT,22,DIRECT", "MATCH,PROXY"], .nonexistent),
            ([], ["DOMAIN,mask.icloud.com,DIRECT"], .real(maximumTTL: nil)), (["icloud.com"], [], .fake),
            ([], ["DST-PORT,22,DIRECT", "DOMAIN-SUFFIX,icloud.com,PROXY"], .fake),
        ] as [([String], [String], NameVerdict)])
    func privateRelay(domains: [String], rules: [String], verdict: NameVerdict) throws {
        let policy = try policy(domains: domains, rules: rules)
        #expect(policy.nameVerdict("mask.icloud.com", for: Bench.device) == verdict)
    }
}
