/// Which name a flow has, where none is trusted, and what is refused.

import Foundation
import TestSupport
import Testing

extension LabTests {
    @Suite("names of flows", .enabled(if: RouteLab.isPossible))
    struct RouteNameTests {
        @Test("B145: a name that only SNI says is not asked for, and a server that speaks first is heard at once")
        func saidNamesAreNotTrusted() throws {
            let routes = try RouteLab()
            let daemon = try routes.start(routes.settings())
            let hello = try routes.device("routes.py", "hello", "198.51.100.10", "443", "www.nonexistent.invalid")
            #expect(hello.hasPrefix("\(RouteLab.proxied) "), "\(hello) \(daemon.program.errors)")
            #expect(routes.proxyWasAsked("198.51.100.10:443"))
            let start = Stopwatch()
            #expect(try routes.device("network.py", "ask", "198.51.100.10", "22") == "SSH-2.0-lab")
            // Python's own start is in it.
            #expect(start.seconds < 2)
            #expect(routes.proxyWasAsked("198.51.100.10:22"))
            #expect(!routes.proxy.output.contains("invalid"))
        }

        @Test("B108: in snoop mode the asked name counts, and SNI decides between names of one address")
        func snoop() throws {
            let routes = try RouteLab()
            let daemon = try routes.start(routes.settings("shop.example", dns: "mode: \"snoop\""))
            // The answer is a CNAME; the other name has the same address.
            #expect(try routes.address(of: "shop.example") == "198.51.100.10")
            #expect(try routes.page("shop.example", at: "198.51.100.10") == "\(RouteLab.proxied) shop.example")
            #expect(try routes.address(of: "news.example") == "198.51.100.10")
            for (name, way) in [("shop.example", RouteLab.proxied), ("news.example", RouteLab.direct)] {
                let hello = try routes.device("routes.py", "hello", "198.51.100.10", "443", name)
                #expect(hello.hasPrefix("\(way) "), "\(name): \(hello) \(daemon.program.errors)")
            }
            #expect(routes.proxyWasAsked("shop.example:443") && !routes.proxy.output.contains("news.example"))
            #expect(try routes.page("socket.example", at: "198.51.100.11") == "\(RouteLab.direct) socket.example")
        }

        @Test("`capture: addresses` catches an app with a resolver of its own, and SNI decides")
        func capturesAddresses() throws {
            let routes = try RouteLab()
            var settings = routes.settings("socket.example")
            settings.profile += ", capture: \"addresses\""
            let daemon = try routes.start(settings)
            let isRouted = try Lab.wait {
                try routes.lab.run(.gateway, ["ip", "route", "show", "table", "10800"]).output.contains(
                    "198.51.100.11 dev")
            }
            #expect(isRouted, "\(daemon.program.errors)")
            for (name, way) in [("socket.example", RouteLab.proxied), ("other.example", RouteLab.direct)] {
                let hello = try routes.device("routes.py", "hello", "198.51.100.11", "443", name)
                #expect(hello.hasPrefix("\(way) "), "\(name): \(hello) \(daemon.program.errors)")
            }
            #expect(try routes.page("news.example", at: "198.51.100.10") == "\(RouteLab.direct) news.example")
            // With the setting goes what it had routed.
            try daemon.reload(routes.settings("socket.example"))
            let isLeft = try Lab.wait {
                try !routes.lab.run(.gateway, ["ip", "route", "show", "table", "10800"]).output.contains(
                    "198.51.100.11 dev")
            }
            #expect(isLeft, "\(daemon.program.errors)")
        }

        @Test(
            "`egress`: what is not proxied leaves by that upstream")
        func egress() throws {
            let routes = try RouteLab()
            let daemon = try routes.start(routes.settings("web.example", more: "egress: \"lab\","))
            for name in ["web.example", "news.example", "socket.example"] {
                #expect(try routes.page(name) == "\(RouteLab.proxied) \(name)", "\(daemon.program.errors)")
            }
            #expect(routes.proxyWasAsked("news.example:80"))
        }

        @Test("`egress`: names that the office's resolver doesn't know get fake addresses", arguments: [true, false])
        func unknownNames(knowsAll: Bool) throws {
            let routes = try RouteLab(knowsAll: knowsAll)
            let local = "local: [\"corp.net\"]"
            let daemon = try routes.start(routes.settings("web.example", dns: local, more: "egress: \"lab\","))
            let fake = try routes.address(of: "www.outside.net")
            #expect(fake.hasPrefix("198.18."))
            #expect(try routes.address(of: "www.outside.net", "AAAA") == "")
            let page = try routes.page("www.outside.net")
            #expect(page == "\(RouteLab.proxied) www.outside.net", "\(daemon.program.errors)")
            #expect(routes.proxyWasAsked("www.outside.net:80"))
            let reverse = try routes.lab.run(.device, ["dig", "+short", "@10.9.0.1", "-x", fake])
            #expect(reverse.output == "www.outside.net.\n")
            // What it knows is real, and what nobody else can know stays unknown.
            #expect(try routes.address(of: "news.example") == "198.51.100.10")
            for name in ["printer", "nas.lan", "typo.example", "intranet.internal", "www.outside.net.corp.net"] {
                #expect(try routes.address(of: name) == "", "\(name)")
            }
            try daemon.reload(routes.settings("web.example", dns: local))
            #expect(try routes.address(of: "www.outside.net") == "", "without an upstream for it nobody knows it")
        }

        @Test("B146: our own listeners are no targets, and asking for them leaves nothing open")
        func ownListeners() throws {
            let routes = try RouteLab()
            let daemon = try routes.start(routes.settings())
            let before = daemon.descriptors
            let socks = ["\(Lab.socksAddress)", "\(Lab.socksPort)"]
            for (host, port) in [("10.9.0.1", socks[1]), ("10.77.0.1", socks[1]), ("198.18.0.1", "10053")] {
                let reply = try routes.device("routes.py", "socks", socks[0], socks[1], host, port)
                #expect(reply == "2", "\(host): \(reply)")
            }
            // Of any other port of its loopback, a proxy knows more than we.
            #expect(try routes.device("routes.py", "socks", socks[0], socks[1], "127.0.0.1", "9") != "0")
            // The proxy itself may be asked for.
            #expect(try routes.device("routes.py", "socks", socks[0], socks[1], "10.77.0.2", "8888") == "0")
            // The page is at port 80 of the LAN's address and of `starship.internal`, and nowhere else.
            for (host, port) in [("10.77.0.1", "80"), ("198.18.0.1", "81"), ("198.18.9.9", "80")] {
                let answer = try routes.device("network.py", "ask", host, port)
                #expect(answer.hasPrefix("failed ConnectionRefusedError"), "\(host): \(answer)")
            }
            #expect(Lab.wait { daemon.descriptors <= before + 6 })
            #expect(!routes.proxy.output.contains("10.9.0.1:") && !routes.proxy.output.contains("198.18."))
        }

        @Test("B216: with a dead proxy a proxied name is reset at once, and nothing goes direct")
        func deadProxy() throws {
            let routes = try RouteLab()
            let daemon = try routes.start(routes.settings("web.example"))
            routes.proxy.end(.kill)
            let uplink = try routes.watch(.gateway, "wan", "not arp and not icmp6 and not (tcp and port 8888)")
            let fake = try routes.address(of: "web.example")
            let answer = try routes.device("network.py", "ask", fake, "443")
            #expect(answer.hasPrefix("failed ConnectionRefusedError"), "\(answer)")
            let socks = [Lab.socksAddress, "\(Lab.socksPort)"]
            #expect(try routes.device("routes.py", "socks", socks[0], socks[1], "web.example") != "0")
            #expect(daemon.flow(with: ["name=web.example", "no connection to the proxy"]))
            // The gateway's own question about NAT64 (RFC 7050) comes at any time, and so do the kernel's reports of
            // groups, which stand behind an option that a filter doesn't look past.
            let lines = uplink.output.split(separator: "\n").filter {
                !$0.contains("10.77.0.2.53") && !$0.contains("multicast listener report")
            }
            #expect(lines.isEmpty && !uplink.output.contains("web.example"), "\(uplink.output)")
        }

        @Test("B100: with a small pool, an address with a live flow is nobody else's")
        func smallPool() throws {
            let routes = try RouteLab()
            let pools = "pool: \"198.51.99.0/24\", pool6: \"2001:db8:99::/120\""
            let daemon = try routes.start(routes.settings("example", dns: pools))
            let fake = try routes.address(of: "web.example")
            #expect(fake.hasPrefix("198.51.99."))
            let held = try routes.lab.start(.device, Lab.python(["routes.py", "talk", fake, "120"]))
            try held.waitFor(RouteLab.proxied)
            let given = try routes.device("routes.py", "many", "1000", "10.9.0.1").split(separator: "\n")
            #expect(given.count == 1000 && !given.contains(Substring(fake)))
            let addresses = given.filter { $0 != "none" }
            #expect(addresses.count > 200 && Set(addresses).count == addresses.count, "no name shares an address")
            #expect(try routes.page("web.example", at: fake) == "\(RouteLab.proxied) web.example")
            #expect(held.isRunning && !held.output.contains("broken"), "\(daemon.program.errors)")
        }

        @Test("B111: a fake name has no AAAA, and IPv6 that reaches the TUN device is carried")
        func carriesIPv6() throws {
            let routes = try RouteLab()
            let daemon = try routes.start(routes.settings())
            #expect(try routes.address(of: "web.example", "AAAA") == "")
            #expect(try routes.page("web.example", at: "2001:db8:51::10") == "peer fd00:78::1 web.example")
            #expect(routes.proxyWasAsked("[2001:db8:51::10]:80"), "\(daemon.program.errors)")
        }

        @Test("B111, B116: with `ipv6: false` a SYN over IPv6 is refused within 100 ms", arguments: [true, false])
        func refusesIPv6(isGlobal: Bool) throws {
            let routes = try RouteLab()
            var settings = routes.settings(more: "ipv6: false,")
            if !isGlobal { settings.profile = "domains: [\"web.example\"]" }
            let daemon = try routes.start(settings)
            #expect(try routes.address(of: "web.example", "AAAA") == "")
            let filter = "ip6 and (tcp or (icmp6 and ip6[40] == 1))"
            // In domain mode only fake addresses are ours.
            let host = isGlobal ? "2001:db8:51::10" : "2001:2::20"
            var lines: [Substring] = []
            // A busy machine makes one refusal slow, a fault each.
            for _ in 0..<5 where lines.count < 2 || !lines[1].contains("00:00:00.0") {
                let packets = try routes.watch(.device, "eth0", filter, ["-ttt"])
                #expect(try routes.device("network.py", "ask", host, "443").hasPrefix("failed "))
                let isSeen = Lab.wait {
                    lines = packets.output.split(separator: "\n")
                    return lines.count >= 2
                }
                try #require(isSeen, "\(daemon.program.errors)")
            }
            // The time since the packet before, and what it is: an ICMPv6 error or a reset.
            #expect(lines[1].contains("unreachable") || lines[1].contains("[R"), "\(lines)")
            #expect(lines[1].contains("00:00:00.0"), "\(lines)")
            #expect(!routes.proxy.output.contains("2001:"))
        }

        @Test("a wrong configuration is refused with file and line, and what runs goes on")
        func wrongConfiguration() throws {
            let routes = try RouteLab()
            let daemon = try routes.start(routes.settings("web.example"))
            let browser = try routes.lab.start(
                .device, Lab.python(["routes.py", "browse", "web.example", "10.9.0.1", "120"]))
            try browser.waitFor(RouteLab.proxied)
            let before = try routes.listing()
            var wrong = routes.settings("bad..name")
            for keys in [wrong.profile, "rules: [\"DOMAIN-SUFIX,web.example,PROXY\"]", "domans: []"] {
                wrong.profile = keys
                try daemon.reload(wrong, until: "reload")
                let line = try #require(daemon.events("reload").last)
                #expect(line.contains("starshipd.json5: line ") && line.contains("found"), "\(line)")
            }
            #expect(daemon.events("switch").isEmpty)
            #expect(try routes.listing() == before)
            let count = browser.output.split(separator: "\n").count
            #expect(Lab.wait { browser.output.split(separator: "\n").count > count + 10 })
            #expect(!browser.output.contains("broken") && !browser.output.contains(RouteLab.direct))
            #expect(try routes.page("socket.example") == "\(RouteLab.direct) socket.example")
        }

        /// What cannot be in a SOCKS5 request or on the wire is left to the library's own test: names in Unicode.
        @Test("B140, B142: each row of the table of names, by SOCKS5 and by DNS")
        func matchRows() throws {
            let routes = try RouteLab()
            let proxy = try routes.lab.start(.internet, Lab.python(["routes.py", "proxy", "10.77.0.2", "8899"]))
            try proxy.waitFor("ready")
            var settings = routes.settings()
            settings.upstream = Daemon.Settings.http(8899)
            settings.limits = "dial: \"1s\""
            let daemon = try routes.start(settings)
            for row in MatchRow.all where row.asked.utf8.allSatisfy({ $0 < 0x80 }) {
                settings.profile = "domains: [\"\(row.entry)\"]"
                try daemon.reload(settings)
                let before = proxy.output.split(separator: "\n").count
                let socks = [Lab.socksAddress, "\(Lab.socksPort)"]
                let reply = try routes.lab.run(
                    .device, Lab.python(["routes.py", "socks", socks[0], socks[1], row.asked])
                ).output
                let wasAsked = proxy.output.split(separator: "\n").count > before
                #expect(wasAsked == (row.outcome == .proxied), "\(row): \(reply)")
                #expect(reply != "0\n", "\(row)")
                guard row.outcome != .refused, !row.asked.contains(":"), !row.asked.hasPrefix("203."),
                    !row.asked.hasPrefix("192.")
                else { continue }
                let fake = try routes.address(of: row.asked)
                #expect(fake.hasPrefix("198.18.") == (row.outcome == .proxied), "\(row): \(fake)")
            }
        }
    }
}
