/// A switch is felt by the flows whose way has changed, and by no other (B160).

import Addresses
import Bytes
import LinuxIO
import Routing
import Testing
import Upstreams
import Wire

@testable import Gateway

extension WorkerTests {
    @Suite("Switch")
    struct Switch {
        private func switchTo(_ bench: Bench, _ change: (inout RoutingSettings) throws -> Void) throws {
            var routing = bench.shared.policy.settings
            try change(&routing)
            bench.shared.board.replace(by: try Policy(routing, after: bench.shared.policy))
            for mailbox in bench.shared.mailboxes {
                mailbox.send(.reroute(RerouteOrder(drain: .zero, waking: try WakeUp())))
            }
            bench.settle()
        }

        private func prefix(_ text: String) throws -> IPPrefix { try #require(IPPrefix(parsing: text)) }

        /// A renewed lease, a timeout, a name, a profile more: none of them is another upstream.
        @Test("a flow lives on while its upstream is the same, whatever this machine's addresses and its limits are")
        func livesOn() throws {
            let bench = try Bench(upstreamSettings: {
                $0.user = "ada"
                $0.password = "secret"
            })
            let client = bench.client()
            let peer = try client.open()
            let before = bench.shared.policy.active
            try switchTo(bench) { $0.refuse(own: [Bench.address("192.0.2.7", 0).address]) }
            try switchTo(bench) {
                $0.profiles[0].upstream.connectTimeout = .seconds(1)
                $0.profiles[0].upstream.overallTimeout = .seconds(2)
                $0.profiles[0].upstream.attemptDelay = .milliseconds(10)
                $0.profiles[0].upstream.credentialRest = .seconds(3)
                $0.profiles[0].upstream.policy.refused = [try prefix("198.18.0.0/15")]
                $0.direct.connectTimeout = .seconds(1)
            }
            try switchTo(bench) {
                $0.profiles[0].id = "renamed"
                $0.profiles.insert(.init(id: "first", upstream: UpstreamSettings(.direct), rules: .everything), at: 0)
                $0.active = 1
            }
            try client.send("still here")
            bench.until("the bytes arrive") { peer.text.hasSuffix("still here") }
            #expect(!client.wasReset)
            let after = bench.shared.policy.active
            #expect(after.settings.policy.own == [try prefix("192.0.2.7/32")])
            #expect(after.isSame(as: before) && after.settings != before.settings)
            try client.reset()
            bench.expectNothingLeft()
        }

        @Test("what was learned about an upstream stays with it under other settings")
        func remembers() throws {
            let bench = try Bench()
            let before = bench.shared.policy.active
            for _ in 0..<2 { before.noteFailure(.proxySilent) }
            try switchTo(bench) { $0.refuse(own: [Bench.address("192.0.2.7", 0).address]) }
            #expect(bench.shared.policy.active !== before && bench.shared.policy.active.isLost(at: bench.now))
            bench.shared.policy.active.noteProbe(getsThrough: true)
            #expect(!before.isLost(at: bench.now))
        }

        @Test(
            "a flow is reset when its upstream is another one",
            arguments: ["server", "kind", "user", "password", "identify", "absolute", "hold"])
        func isReset(change: String) throws {
            let bench = try Bench(upstreamSettings: {
                $0.user = "ada"
                $0.password = "secret"
            })
            let client = bench.client()
            _ = try client.open()
            try switchTo(bench) {
                let server = Target(Bench.address("127.0.0.1", 9))
                switch change {
                case "server": $0.profiles[0].upstream.kind = .http(server: server)
                case "kind": $0.profiles[0].upstream.kind = .direct
                case "user": $0.profiles[0].upstream.user = "eve"
                case "password": $0.profiles[0].upstream.password = "changed"
                case "identify": $0.profiles[0].upstream.identify = true
                case "absolute": $0.profiles[0].upstream.plainHTTP = .absolute
                default: $0.profiles[0].upstream.halfClose = .hold
                }
            }
            bench.until("the flow is reset") { client.wasReset }
            bench.expectNothingLeft()
        }

        @Test("a profile that is direct and what a rule sends direct are one way, at the start as after a switch")
        func directIsDirect() throws {
            let direct = UpstreamSettings(.direct)
            var routing = RoutingSettings(profile: "plain", upstream: direct)
            routing.dnsService = Bench.address("127.0.0.1", 53)
            let first = try Policy(routing)
            let second = try Policy(routing, after: first)
            #expect(first.active.isSame(as: first.direct) && first.active === second.active)
            #expect(second.direct.isSame(as: first.direct))
            // Our own DNS service may be dialled, and nothing else on this machine.
            let door = try #require(second.dnsService)
            #expect(!door.isSame(as: second.direct) && door === first.dnsService)
        }

        @Test("a LAN's profile is found by its id: others may come before it, and it may go")
        func lansKeepTheirProfile() throws {
            var routing = RoutingSettings(profile: "b", upstream: UpstreamSettings(.direct))
            #expect(routing.position(of: "b") == 0)
            routing.profiles.insert(.init(id: "a", upstream: UpstreamSettings(.direct), rules: .everything), at: 0)
            #expect(routing.position(of: "b") == 1 && routing.position(of: "c") == nil)
        }
    }
}
