/// A gateway that dies leaves nothing open, and one that ends leaves nothing behind.

import Foundation
import TestSupport
import Testing

extension LabTests {
    @Suite("names and routes without their gateway", .enabled(if: RouteLab.isPossible))
    struct RouteDeathTests {
        @Test("killed in domain mode: proxied names are refused at once, all others go on")
        func killedInDomainMode() throws {
            let routes = try RouteLab()
            let daemon = try routes.start(routes.settings("web.example"))
            let fake = try routes.address(of: "web.example")
            #expect(fake == "198.18.0.16")
            daemon.program.end(.kill)
            let uplink = try routes.watch(.gateway, "wan", "net 198.18.0.0/15 or port 53 or host 198.51.100.10")
            expectRefused(try routes.device("network.py", "ask", fake, "80"))
            expectRefused(try routes.device("network.py", "ask", "2001:2::10", "80"))
            _ = try routes.address(of: "web.example")
            #expect(try routes.page("socket.example", at: "198.51.100.11") == "\(RouteLab.direct) socket.example")
            #expect(uplink.output == "")
        }

        @Test("killed in global mode: nothing of the device's leaves")
        func killedInGlobalMode() throws {
            let routes = try RouteLab()
            let daemon = try routes.start(routes.settings())
            let fake = try routes.address(of: "web.example")
            let held = try routes.lab.start(.device, Lab.python(["routes.py", "talk", fake, "120"]))
            try held.waitFor(RouteLab.proxied)
            daemon.program.end(.kill)
            // The ends of its own connections leave first.
            _ = Lab.wait(1) { false }
            let uplink = try routes.watch(.gateway, "wan", "not arp and not icmp6")
            for host in [fake, "198.51.100.10", "2001:db8:51::10"] {
                expectRefused(try routes.device("network.py", "ask", host, "443"))
            }
            _ = try routes.address(of: "web.example")
            #expect(uplink.output == "", "\(uplink.output)")
        }

        /// A Linux client on a veth may miss the first refusal of IPv6, because its socket is still in connect(2).
        private func expectRefused(_ answer: String, source: SourceLocation = #_sourceLocation) {
            let milliseconds = answer.split(separator: " ").dropLast().last.flatMap { Int($0) } ?? .max
            #expect(answer.hasPrefix("failed OSError"), "\(answer)", sourceLocation: source)
            #expect(milliseconds < 1500, "\(answer)", sourceLocation: source)
        }

        @Test(
            "B190: the machine is what it was: after the end, after a kill and cleanup, after a kill, a start and an end"
        )
        func leavesNothing() throws {
            let routes = try RouteLab()
            let before = try routes.listing()
            let modes = [routes.settings("web.example"), routes.settings()]
            for settings in modes {
                let daemon = try routes.start(settings)
                #expect(try routes.listing() != before)
                #expect(try daemon.stop() == 0)
                expectSame(try routes.listing(), before)
            }
            for settings in modes {
                try routes.start(settings).program.end(.kill)
                let cleanup = try routes.lab.run(.gateway, ["\(Lab.binaries)/starshipd", "cleanup"])
                #expect(cleanup.status == 0, "\(cleanup.errors)")
                expectSame(try routes.listing(), before)
                try routes.start(settings).program.end(.kill)
                let second = try routes.start(settings)
                #expect(try routes.page("web.example") == "\(RouteLab.proxied) web.example")
                #expect(try second.stop() == 0)
                expectSame(try routes.listing(), before)
            }
        }

        private func expectSame(_ now: String, _ before: String, source: SourceLocation = #_sourceLocation) {
            let difference = now.split(separator: "\n").difference(from: before.split(separator: "\n"))
            #expect(difference.isEmpty, "\(difference)", sourceLocation: source)
        }

        @Test(
            "B102: a device that kept a fake address reaches the same site after a restart", arguments: [true, false])
        func restartKeepsMap(isKilled: Bool) throws {
            let routes = try RouteLab()
            let first = try routes.start(routes.settings("example"))
            let fakes = try ["web.example", "socket.example"].map { ($0, try routes.address(of: $0)) }
            first.program.end(isKilled ? .kill : .terminate)
            let second = try routes.start(routes.settings("example"))
            for (name, fake) in fakes {
                #expect(try routes.page(name, at: fake) == "\(RouteLab.proxied) \(name)", "\(second.program.errors)")
                #expect(routes.proxyWasAsked("\(name):80"))
            }
            // A name that was not asked for has another address.
            let other = try routes.address(of: "news.example")
            #expect(!fakes.contains { $0.1 == other } && other.hasPrefix("198.18."))
            withExtendedLifetime(second) {}
        }

        @Test("host mode: the machine's own traffic goes by name, and a session from outside lives on (B198)")
        func host() throws {
            let routes = try RouteLab()
            let before = try routes.listing()
            let echo = try routes.lab.start(.gateway, Lab.python(["network.py", "serve", "2222"]))
            try echo.waitFor("ready")
            let session = try routes.lab.start(
                .origin, Lab.python(["network.py", "session", "10.77.0.1", "2222", "120"]))
            try session.waitFor("5\n")
            var settings = routes.settings("web.example")
            settings.network = "setup: \"host\""
            let daemon = try routes.start(settings)
            func page(_ name: String, _ address: String) throws -> String {
                let curl = ["curl", "-sS", "--max-time", "5", "--resolve", "\(name):80:\(address)", "http://\(name)/"]
                return try routes.lab.run(.gateway, curl).output
            }
            let dig = ["dig", "+short", "+time=2", "+tries=1", "@\(RouteLab.resolver)", "web.example"]
            let fake = try routes.lab.run(.gateway, dig).output.dropLast()
            #expect(try page("web.example", String(fake)) == "\(RouteLab.proxied) web.example\n", "\(fake)")
            #expect(try page("news.example", "198.51.100.10") == "\(RouteLab.direct) news.example\n")
            settings.profile = "domains: []"
            try daemon.reload(settings)
            #expect(try page("news.example", "198.51.100.10") == "\(RouteLab.proxied) news.example\n")
            #expect(try daemon.stop() == 0)
            expectSame(try routes.listing(), before)
            let count = session.output.split(separator: "\n").count
            #expect(Lab.wait { session.output.split(separator: "\n").count > count + 10 })
        }
    }
}
