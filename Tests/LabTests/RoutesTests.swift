/// Domain mode and global mode as a device sees them, and the switch between them while it looks.

import Foundation
import TestSupport
import Testing

extension LabTests {
    @Suite("names and routes", .enabled(if: RouteLab.isPossible))
    struct RoutesTests {
        @Test("domain mode: listed sites go through the proxy, by name (B046), the kernel forwards all others")
        func domainMode() throws {
            let routes = try RouteLab()
            let daemon = try routes.start(routes.settings("web.example"))
            #expect(try routes.page("web.example") == "\(RouteLab.proxied) web.example", "\(daemon.program.errors)")
            #expect(routes.proxyWasAsked("web.example:80"))
            #expect(!routes.proxy.output.contains("198.18."))
            // Packets alone say nothing: the kernel itself sends multicast into a new device.
            let carried = try routes.carried(daemon)
            #expect(carried.allSatisfy { $0 > 0 })
            // One of them shares its address with the listed site.
            for name in ["news.example", "socket.example"] {
                #expect(try routes.page(name) == "\(RouteLab.direct) \(name)")
            }
            #expect(try routes.page("news.example", at: "2001:db8:51::10") == "peer fd00:77::1 news.example")
            #expect(try routes.carried(daemon) == carried)
            #expect(!routes.proxy.output.contains("news.example") && !routes.proxy.output.contains("198.51.100.11"))
        }

        @Test("domain mode needs no rule of the kernel's, and the way in is the devices' alone, over switches and back")
        func devicesAlone() throws {
            let routes = try RouteLab()
            let rules = { try routes.lab.run(.gateway, ["sh", "-c", "ip rule; ip -6 rule"]).output }
            let before = try rules()
            let daemon = try routes.start(routes.settings("web.example"))
            #expect(try rules() == before)
            try routes.lab.run(
                .internet,
                ["sh", "-c", "ip route add 198.18.0.0/15 via 10.77.0.1; ip route add 2001:2::/48 via fd00:77::1"])
            #expect(try routes.address(of: "web.example") == "198.18.0.16")
            let listed = ["198.18.0.16", "2001:2::10"]
            let carried = try routes.carried(daemon)
            for place in [Lab.Place.internet, .gateway] {
                for fake in listed {
                    let curl = ["curl", "-sS", "--max-time", "1", "--resolve", "web.example:80:\(fake)"]
                    // Nobody answers, and nobody refuses: 28 is curl's number for that.
                    #expect(try routes.lab.run(place, curl + ["http://web.example/"]).status == 28, "\(place) \(fake)")
                }
            }
            #expect(try routes.carried(daemon) == carried)
            try daemon.reload(routes.settings())
            #expect(try rules() != before)
            let main = ["sh", "-c", "ip route show proto 198; ip -6 route show proto 198"]
            #expect(try routes.lab.run(.gateway, main).output == "")
            try daemon.reload(routes.settings("web.example"))
            #expect(try rules() == before)
            #expect(try routes.page("web.example", at: listed[0]) == "\(RouteLab.proxied) web.example")
            // Another's rule might be asked before the main table: then ours are, before it.
            try routes.lab.run(.gateway, ["ip", "rule", "add", "priority", "20000", "iif", "lan", "lookup", "77"])
            try routes.lab.run(.gateway, ["ip", "route", "add", "unreachable", "default", "table", "77"])
            #expect(Lab.wait(20) { (try? rules().contains("10807")) == true })
            #expect(try routes.page("web.example", at: listed[0]) == "\(RouteLab.proxied) web.example")
        }

        @Test("an address that a rule sends to the proxy is sent there when a device writes it as IPv6 (RFC 6052)")
        func translatedAddress() throws {
            let routes = try RouteLab()
            var settings = routes.settings("web.example")
            settings.profile += ", rules: [\"IP-CIDR,198.51.100.10/32,PROXY\"]"
            let daemon = try routes.start(settings)
            #expect(try routes.device("network.py", "ask", "64:ff9b::198.51.100.10", "22") == "SSH-2.0-lab")
            #expect(routes.proxyWasAsked("198.51.100.10:22"), "\(routes.proxy.output)")
            let carried = try routes.carried(daemon)
            // What no rule names stays with the kernel, which has no translator here.
            #expect(try routes.device("network.py", "ask", "64:ff9b::198.51.100.11", "22").hasPrefix("failed"))
            #expect(try routes.carried(daemon) == carried)
        }

        @Test("emptying and filling the list switches between the modes, without a restart")
        func switchesLive() throws {
            let routes = try RouteLab()
            let daemon = try routes.start(routes.settings("web.example"))
            let pid = daemon.program.pid
            for _ in 0..<2 {
                #expect(try routes.page("web.example") == "\(RouteLab.proxied) web.example")
                #expect(try routes.page("socket.example") == "\(RouteLab.direct) socket.example")
                try daemon.reload(routes.settings())
                // Both addresses that the device may hold, and those of nobody's name.
                for address in ["198.51.100.11", try routes.address(of: "socket.example")] {
                    #expect(
                        try routes.page("socket.example", at: address) == "\(RouteLab.proxied) socket.example",
                        "\(address): \(daemon.program.errors)")
                }
                #expect(try routes.page("web.example") == "\(RouteLab.proxied) web.example")
                #expect(try routes.device("network.py", "ask", "2001:db8:51::10", "22") == "SSH-2.0-lab")
                #expect(routes.proxyWasAsked("[2001:db8:51::10]:22"))
                try daemon.reload(routes.settings("web.example"))
            }
            #expect(routes.proxyWasAsked("socket.example:80"))
            #expect(daemon.isRunning && daemon.program.pid == pid)
            #expect(daemon.events("ready").count == 1 && daemon.events("switch").count == 4)
        }

        @Test("a device that insists on a resolver of its own is refused at once, and named with what to change")
        func insistentDevice() throws {
            let routes = try RouteLab()
            let daemon = try routes.start(routes.settings("web.example"))
            let uplink = try routes.watch(.gateway, "wan", "port 853")
            // Android's automatic mode asks the gateway itself; a fixed name leads elsewhere.
            for (host, kind) in [
                ("10.9.0.1", "tcp"), ("198.51.100.11", "tcp"), ("198.51.100.11", "udp"), ("2001:db8:51::10", "tcp"),
            ] {
                let answer = try routes.device("network.py", "ask", host, "853", kind)
                #expect(answer.hasPrefix("failed ConnectionRefusedError"), "\(host) \(kind): \(answer)")
            }
            let dig = ["dig", "+short", "+time=2", "+tries=1", "@198.51.100.53", "web.example"]
            #expect(try routes.lab.run(.device, dig).output.hasPrefix("198.18."))
            let shown = try daemon.snapshot().description
            for (resolver, words) in [
                ("198.51.100.11:853", "insists on the private DNS of"), ("198.51.100.53:53", "asks"),
                ("[2001:db8:51::10]:853", "insists on the private DNS of"),
            ] {
                #expect(shown.contains("\(words) \(resolver)"), "\(shown)")
            }
            #expect(shown.contains("10.9.0.2 insists") && !shown.contains("10.9.0.1:853"), "\(shown)")
            #expect(!uplink.output.contains("853"), "\(uplink.output)")
            // Who switches that off has it forwarded like everything else.
            try daemon.reload(routes.settings("web.example", more: "phones: { dot: \"allow\" },"))
            _ = try routes.device("network.py", "ask", "198.51.100.11", "853")
            #expect(Lab.wait { uplink.output.contains("198.51.100.11.853") }, "\(uplink.output)")
            #expect(try !daemon.snapshot().description.contains("insists on"))
        }

        @Test("a switch is felt: the next request of a held connection is in the proxy's log within 2 s")
        func switchIsFelt() throws {
            let routes = try RouteLab()
            let daemon = try routes.start(routes.settings("socket.example"))
            func browse(_ name: String) throws -> LabProgram {
                try routes.lab.start(.device, Lab.python(["routes.py", "browse", name, "10.9.0.1", "120"]))
            }
            let (listed, other) = (try browse("web.example"), try browse("news.example"))
            for program in [listed, other] { try program.waitFor(RouteLab.direct) }
            // The same name by IPv6; its address was asked for over IPv4.
            #expect(try routes.address(of: "web.example", "AAAA") == "2001:db8:51::10")
            let talk = try routes.lab.start(.device, Lab.python(["routes.py", "talk", "2001:db8:51::10", "120"]))
            let bystander = try routes.lab.start(.device, Lab.python(["routes.py", "talk", "198.51.100.11", "120"]))
            // Its way stays the same.
            let kept = try routes.lab.start(
                .device, Lab.python(["routes.py", "talk", try routes.address(of: "socket.example"), "120"]))
            for program in [talk, bystander, kept] { try program.waitFor("peer ") }

            try daemon.reload(routes.settings("socket.example", "web.example"))
            #expect(Lab.wait(promised: 2) { routes.proxyWasAsked("web.example:80") }, "\(listed.output.suffix(300))")
            #expect(
                Lab.wait(promised: 2) { talk.output.contains("broken ConnectionResetError") },
                "\(talk.output.suffix(300))")
            #expect(Lab.wait(promised: 2) { listed.output.hasSuffix("\(RouteLab.proxied) web.example\n") })
            // Its answers still hold the real addresses; so does the browser that shares one of them.
            #expect(try routes.page("web.example", at: "198.51.100.10") == "\(RouteLab.proxied) web.example")
            let hello = try routes.device("routes.py", "hello", "2001:db8:51::10", "443", "web.example")
            #expect(hello.hasPrefix("\(RouteLab.proxied) "), "\(hello) \(daemon.program.errors)")
            let lines = other.output.split(separator: "\n").count
            #expect(Lab.wait { other.output.split(separator: "\n").count > lines + 10 })
            #expect(other.output.hasSuffix("\(RouteLab.direct) news.example\n"))
            #expect(!other.output.contains(RouteLab.proxied) && !routes.proxy.output.contains("news.example"))

            try daemon.reload(routes.settings("socket.example"))
            // A flow of ours that moves has two seconds to fall idle, and the client opens a new one then.
            #expect(Lab.wait(promised: 4) { listed.output.hasSuffix("\(RouteLab.direct) web.example\n") })
            for program in [bystander, kept] {
                #expect(program.isRunning && !program.output.contains("broken"), "\(daemon.program.errors)")
            }
            #expect(kept.output.hasSuffix("\(RouteLab.proxied)\n"))
        }

        @Test(
            "no name of a proxied site leaves to a resolver, and none of our own packets enters the TUN device (B192)")
        func nothingLeaks() throws {
            let routes = try RouteLab()
            let daemon = try routes.start(routes.settings("web.example"))
            let own = "(ip and not net 10.9.0.0/24) or (ip6 and not net fd00:9::/64 and not ip6 multicast)"
            let tunnel = try routes.watch(.gateway, "starship0", own)
            let questions = try routes.watch(.internet, "eth0", "port 53")
            for type in ["A", "AAAA", "HTTPS", "TXT"] { _ = try routes.address(of: "web.example", type) }
            _ = try routes.lab.run(.device, ["dig", "+tcp", "+time=2", "@\(RouteLab.resolver)", "web.example"])
            _ = try routes.page("web.example")
            try daemon.reload(routes.settings())
            let curl = "curl -s --max-time 9 -o /dev/null"
            let many = """
                for number in $(seq 20); do
                    \(curl) http://198.51.100.11/ & \(curl) --resolve web.example:80:198.18.0.16 http://web.example/ &
                done
                wait
                """
            try routes.lab.run(.device, ["bash", "-c", many])
            let socks = "\(Lab.socksAddress):\(Lab.socksPort)"
            try routes.lab.run(.device, ["curl", "-s", "--socks5-hostname", socks, "http://web.example/"])
            #expect(daemon.descriptors < 120)
            #expect(try routes.address(of: "nobody.example", "TXT") == "")
            // What is direct does leave, so the watch has seen all that went before.
            try daemon.reload(routes.settings("web.example"))
            _ = try routes.address(of: "socket.example")
            #expect(Lab.wait { questions.output.contains("socket.example") }, "\(questions.output)")
            #expect(!questions.output.contains("web.example"), "\(questions.output)")
            #expect(!routes.names.errors.contains("query[A] web.example"))
            #expect(tunnel.output == "")
        }
    }
}
