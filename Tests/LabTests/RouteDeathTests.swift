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

        @Test("killed with a device in each mode: nothing that was to be proxied leaves, and what was direct goes on")
        func killedWithBothModes() throws {
            let routes = try RouteLab()
            let lab = routes.lab
            try lab.addTablet()
            var settings = routes.settings(
                "web.example", more: "devices: [{ name: \"tablet\", mac: \"02:00:00:00:00:03\", profile: \"all\" }],")
            settings.profiles = """
                { id: "all", upstream: \(Daemon.Settings.http(Upstream.tinyproxy.port)), health: false, domains: [] }
                """
            let daemon = try routes.start(settings)
            // Both of the tablet's addresses have been seen.
            try lab.shell(.tablet, "ping -c 1 -W 2 10.9.0.1; ping -c 1 -W 2 fd00:9::1")
            let isKnown = try Lab.wait { try lab.shell(.gateway, "ip -6 rule").contains("fd00:9::3") }
            #expect(isKnown, "\(daemon.program.errors)")
            // The device by its list, the tablet whole, each with a flow; and the device with one that goes directly.
            let fake = try routes.address(of: "web.example")
            let dig = ["dig", "+short", "+time=2", "+tries=1", "@10.9.0.1", "news.example", "A"]
            let other = try lab.run(.tablet, dig).output.trimmingCharacters(in: .whitespacesAndNewlines)
            #expect(fake.hasPrefix("198.18.") && other.hasPrefix("198.18.") && fake != other)
            #expect(try !routes.address(of: "news.example").hasPrefix("198.18."))
            func talk(_ place: Lab.Place, _ address: String, _ way: String) throws -> LabProgram {
                let program = try lab.start(place, Lab.python(["routes.py", "talk", address, "120"]))
                try program.waitFor(way)
                return program
            }
            let listed = try talk(.device, fake, RouteLab.proxied)
            let captured = try talk(.tablet, other, RouteLab.proxied)
            let unnamed = try talk(.tablet, "198.51.100.11", RouteLab.proxied)
            let direct = try talk(.device, "198.51.100.11", RouteLab.direct)

            daemon.program.end(.kill)
            // The ends of its own connections leave first.
            _ = Lab.wait(1) { false }
            let uplink = try routes.watch(.gateway, "wan", "not arp and not icmp6")
            let before = direct.output.split(separator: "\n").count
            for host in [fake, "2001:2::10"] { expectRefused(try routes.device("network.py", "ask", host, "443")) }
            for host in [other, fake, "198.51.100.10", "198.51.100.12", "2001:db8:51::10"] {
                // Its old flows have been told already, and the kernel tells one device so often only
                // (net.ipv4.route.error_burst): then it is silent, and what counts is below.
                let ask = try lab.program(.tablet, ["network.py", "ask", host, "443"])
                #expect(ask.hasPrefix("failed OSError") || ask.hasPrefix("failed timeout"), "\(host) \(ask)")
            }
            _ = try routes.address(of: "web.example")
            _ = try lab.run(.tablet, dig)
            #expect(try routes.page("socket.example", at: "198.51.100.11") == "\(RouteLab.direct) socket.example")
            #expect(Lab.wait { direct.output.split(separator: "\n").count > before + 20 })
            #expect(direct.isRunning && !direct.output.contains("broken"), "\(direct.output.suffix(300))")
            for program in [listed, captured, unnamed] {
                #expect(Lab.wait { program.output.contains("broken") || !program.isRunning })
            }
            // The tablet's flow to the same host had the port of its own that the direct one has not.
            let strays = uplink.output.split(separator: "\n").filter { !$0.contains("198.51.100.11.") }
            #expect(strays == [], "\(strays)")
            let ports = Set(
                uplink.output.split(separator: "\n").compactMap { line in
                    line.split(separator: " ").first { $0.hasPrefix("10.77.0.1.") }.map { $0.filter { $0 != ":" } }
                })
            // The one that goes on, and the page.
            #expect(ports.count == 2, "\(ports)")
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
