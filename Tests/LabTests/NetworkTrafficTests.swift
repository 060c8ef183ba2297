/// Where packets really go: into the TUN device, or by the uplink.

import Foundation
import TestSupport
import Testing

extension LabTests {
    @Suite("kernel routes")
    struct NetworkTrafficTests {
        static let names = "setup gateway\nlan lan names\n"
        static let all = "setup gateway\nlan lan all\n"

        /// A lab with a server on all addresses of the origin.
        private func labWithServer() throws -> (lab: Lab, server: LabProgram) {
            let lab = try Lab()
            let server = try lab.start(.origin, Lab.python(["network.py", "serve", "7000"]))
            try server.waitFor("ready")
            return (lab, server)
        }

        /// What a client gets from the server, or how it failed.
        private func ask(_ lab: Lab, _ host: String, _ more: [String] = [], from place: Lab.Place = .device) throws
            -> String
        {
            try lab.program(place, ["network.py", "ask", host, "7000"] + more)
        }

        @Test("capture by names: fake addresses and rules' prefixes into the TUN device, all else by the uplink")
        func names() throws {
            let (lab, server) = try labWithServer()
            let driver = try NetworkDriver(
                lab, Self.names + "captured 198.51.100.12/32\ncaptured 2001:db8:51::12/128\n")
            for host in ["198.18.0.16", "198.51.100.12", "2001:2::16", "2001:db8:51::12"] {
                #expect(try ask(lab, host).hasPrefix("failed timeout"))
                #expect(driver.hasPacket("> \(host) tcp 7000"))
            }
            #expect(try ask(lab, "198.51.100.10").hasPrefix("seen 10.77.0.1 "), "masqueraded")
            #expect(try ask(lab, "2001:db8:51::10").hasPrefix("seen fd00:77::1 "), "a LAN without global addresses")
            #expect(!driver.hasPacket("> 198.51.100.10 ", within: 0.2))
            #expect(server.isRunning)
        }

        @Test("capture of everything, but for the LAN itself, upstreams, and what comes from an upstream's machine")
        func all() throws {
            let (lab, server) = try labWithServer()
            let driver = try NetworkDriver(lab, Self.all + "upstream 198.51.100.11\n")
            for host in ["198.51.100.10", "2001:db8:51::10"] {
                #expect(try ask(lab, host).hasPrefix("failed timeout"))
                #expect(driver.hasPacket("> \(host) tcp 7000"))
            }
            #expect(
                driver.lines("packet ").contains { $0.hasPrefix("packet 10.9.0.2 > ") }, "devices keep their addresses")
            #expect(try ask(lab, "198.51.100.11").hasPrefix("seen 10.77.0.1 "))
            // The device becomes an upstream: with all its addresses, because they have one link address.
            try driver.update(Self.all + "upstream 10.9.0.2\n")
            #expect(try ask(lab, "198.51.100.10").hasPrefix("seen 10.77.0.1 "))
            #expect(try ask(lab, "2001:db8:51::10").hasPrefix("seen "))
            #expect(server.isRunning)
        }

        @Test("a device has its own capture, and a lent address is captured for it alone, for its time")
        func devicesAndLent() throws {
            let (lab, server) = try labWithServer()
            try lab.shell(.device, "ip address add 10.9.0.3/24 dev eth0")
            let driver = try NetworkDriver(lab, Self.all + "device 10.9.0.2 names\ndevice 10.9.0.3 none\n")
            #expect(try ask(lab, "198.51.100.10").hasPrefix("seen "))
            #expect(try ask(lab, "198.18.0.16").hasPrefix("failed timeout"))
            #expect(driver.hasPacket("10.9.0.2 > 198.18.0.16 "))
            try driver.update(Self.names + "lent 10.9.0.2 198.51.100.10 4\nlent 10.9.0.3 198.51.100.11 60\n")
            #expect(try ask(lab, "198.51.100.10").hasPrefix("failed timeout"))
            #expect(driver.hasPacket("10.9.0.2 > 198.51.100.10 "))
            #expect(try ask(lab, "198.51.100.11").hasPrefix("seen "), "lent to another device")
            #expect(try Lab.wait { try ask(lab, "198.51.100.10").hasPrefix("seen ") }, "no longer lent")
            #expect(server.isRunning)
        }

        @Test(
            "while the gateway is dead, captured traffic is refused at once and none of it is on the uplink (B216)",
            arguments: ["setup gateway\nlan lan names\n", "setup gateway\nlan lan all\n"])
        func block(plan: String) throws {
            let (lab, server) = try labWithServer()
            let driver = try NetworkDriver(lab, plan + "dns 10053\n")
            driver.kill()
            let capture = try lab.start(
                .internet,
                [
                    "tcpdump", "--immediate-mode", "-lnni", "eth0",
                    "net 198.18.0.0/15 or net 2001:2::/48 or port 53 or port 7000",
                ])
            try capture.waitFor("listening on")
            let hosts =
                plan == Self.all ? ["198.18.0.16", "198.51.100.10", "2001:db8:51::10"] : ["198.18.0.16", "2001:2::16"]
            for host in hosts {
                for kind in ["tcp", "udp"] {
                    let answer = try ask(lab, host, [kind])
                    #expect(answer.hasPrefix("failed OSError 1"), "\(host) \(kind): \(answer)")
                    // Linux may miss the error of an IPv6 SYN that comes back sooner than connect() returns.
                    let patience = host.contains(":") ? 1500 : 500
                    #expect(milliseconds(answer) < patience, "\(host) \(kind): \(answer)")
                }
            }
            #expect(
                try lab.program(.device, ["network.py", "ask", "198.51.100.10", "53", "udp"]).hasPrefix("failed Conn"))
            #expect(capture.output.isEmpty, "\(capture.output)")
            if plan == Self.names { #expect(try ask(lab, "198.51.100.10").hasPrefix("seen ")) }
            try NetworkDriver.cleanup(lab)
            #expect(try ask(lab, "198.51.100.10").hasPrefix("seen "))
            #expect(server.isRunning)
        }

        private func milliseconds(_ answer: String) -> Int {
            answer.split(separator: " ").dropLast().last.flatMap { Int($0) } ?? 9999
        }

        @Test("with whenDown direct a dead gateway is none")
        func direct() throws {
            let (lab, server) = try labWithServer()
            try NetworkDriver(lab, Self.all + "whenDown direct\n").kill()
            #expect(try ask(lab, "198.51.100.10").hasPrefix("seen "))
            #expect(server.isRunning)
        }

        @Test("port 53 of the LAN goes to the DNS service, whatever the address, UDP and TCP, IPv4 and IPv6")
        func redirectsDNS() throws {
            let (lab, server) = try labWithServer()
            let service = try lab.start(.gateway, Lab.python(["network.py", "serve", "10053"]))
            try service.waitFor("ready")
            let driver = try NetworkDriver(lab, Self.all + "dns 10053\n")
            for host in ["8.8.8.8", "10.9.0.1", "198.18.0.1", "2001:4860:4860::8888", "fd00:9::1"] {
                for kind in ["tcp", "udp"] {
                    let answer = try lab.program(.device, ["network.py", "ask", host, "53", kind])
                    #expect(
                        answer.hasPrefix(host.contains(":") ? "seen fd00:9::2 " : "seen 10.9.0.2 "),
                        "\(host): \(answer)")
                }
            }
            #expect(driver.lines("packet ").allSatisfy { !$0.contains(" 53") })
            #expect(server.isRunning)
        }

        @Test("the MSS of a direct connection is what the LAN's path takes")
        func clamps() throws {
            let (lab, server) = try labWithServer()
            // The far end has no way to know: its own link takes 1500.
            try lab.shell(.gateway, "ip link set lan mtu 1400")
            _ = try NetworkDriver(lab, Self.names)
            #expect(try lab.program(.device, ["network.py", "mss", "198.51.100.10", "7000"]) == "1348\n")
            #expect(try lab.program(.device, ["network.py", "mss", "2001:db8:51::10", "7000"]) == "1328\n")
            #expect(server.isRunning)
        }

        @Test(
            "a flow that the kernel forwarded and that is captured now is reset at its next packet, and so is one back")
        func resets() throws {
            let (lab, server) = try labWithServer()
            let driver = try NetworkDriver(lab, Self.names)
            let direct = try lab.start(.device, Lab.python(["network.py", "session", "198.51.100.10", "7000", "120"]))
            try direct.waitFor("5\n")
            try driver.update(Self.all)
            try direct.waitFor("lost ConnectionResetError")
            #expect(
                !driver.lines("packet ").contains { $0.contains("10.77.0.1 >") }, "none came with the uplink's address")

            // A connection into the TUN device that never gets an answer there, and then would leave by the uplink.
            let captured = try lab.start(.device, Lab.python(["network.py", "ask", "198.51.100.10", "7000"]))
            #expect(driver.hasPacket("> 198.51.100.10 tcp 7000"))
            try driver.update(Self.names)
            try captured.waitFor("failed Connection")
            #expect(try ask(lab, "198.51.100.10").hasPrefix("seen "))
            #expect(server.isRunning)
        }

        @Test("UDP from one port and a ping follow a switch at once, in both directions, though they have no reset")
        func datagramsFollow() throws {
            let (lab, server) = try labWithServer()
            let driver = try NetworkDriver(lab, Self.names)
            let direct = try lab.start(.device, Lab.python(["network.py", "datagrams", "198.51.100.10", "7000", "60"]))
            let ping = try lab.start(.device, ["ping", "-n", "-i", "0.1", "198.51.100.11"])
            try direct.waitFor("seen 10.77.0.1 ")
            try ping.waitFor("icmp_seq=2")
            for _ in 0..<2 {
                try driver.update(Self.all)
                #expect(driver.hasPacket("10.9.0.2 > 198.51.100.10 udp 7000"), "\(direct.output.suffix(200))")
                #expect(driver.hasPacket("10.9.0.2 > 198.51.100.11 icmp"))
                #expect(driver.lines("packet ").allSatisfy { !$0.contains("10.77.0.1 >") })
                let (answers, replies) = (seen(direct), replies(ping))
                try driver.update(Self.names)
                #expect(Lab.wait { seen(direct) > answers + 2 }, "\(direct.output.suffix(200))")
                #expect(Lab.wait { self.replies(ping) > replies + 2 })
            }
            // For one address that a device holds, and for nobody else.
            try driver.update(Self.names + "lent 10.9.0.2 198.51.100.10 60\n")
            let captured = driver.lines("packet ").count
            #expect(Lab.wait { driver.lines("packet ").count > captured + 2 })
            let replies = replies(ping)
            #expect(Lab.wait { self.replies(ping) > replies + 2 })
            #expect(server.isRunning)
        }

        private func seen(_ program: LabProgram) -> Int {
            program.output.split(separator: "\n").filter { $0.hasPrefix("seen ") }.count
        }

        private func replies(_ program: LabProgram) -> Int {
            program.output.split(separator: "\n").filter { $0.contains("icmp_seq=") && $0.contains("time=") }.count
        }

        @Test("one arm: the LAN is on the uplink's own interface")
        func oneArm() throws {
            let (lab, server) = try labWithServer()
            try lab.shell(
                .gateway,
                "ip link del lan; sysctl -qw net.ipv4.conf.all.send_redirects=1 net.ipv4.conf.wan.send_redirects=1")
            // The "internet" namespace stands in for a device: it is a neighbour on the uplink.
            try lab.shell(
                .internet,
                """
                ip address add 10.77.0.50/24 dev eth0; ip address add fd00:77::50/64 dev eth0 nodad
                ip rule add priority 100 from 10.77.0.50 lookup 100; ip route add default via 10.77.0.1 table 100
                ip -6 rule add priority 100 from fd00:77::50 lookup 100; ip -6 route add default via fd00:77::1 table 100
                ip route add 198.18.0.0/15 via 10.77.0.1 src 10.77.0.50
                """)
            let redirects = try lab.start(.internet, ["tcpdump", "-lnni", "eth0", "icmp[0] = 5 or icmp6[0] = 137"])
            try redirects.waitFor("listening on")
            let driver = try NetworkDriver(lab, "setup gateway\nlan wan names\n")
            try lab.shell(
                .internet,
                "ping -c 2 -i 0.2 -W 1 -I 10.77.0.50 198.51.100.10; ping -c 2 -i 0.2 -W 1 -I fd00:77::50 2001:db8:51::10"
            )
            #expect(try ask(lab, "198.18.0.16", from: .internet).hasPrefix("failed timeout"))
            #expect(driver.hasPacket("10.77.0.50 > 198.18.0.16 "))
            try driver.update("setup gateway\nlan wan all\n")
            _ = try? lab.shell(.internet, "ping -c 1 -W 1 -I 10.77.0.50 198.51.100.11")
            #expect(driver.hasPacket("10.77.0.50 > 198.51.100.11 icmp"))
            #expect(redirects.output.isEmpty, "\(redirects.output)")
            #expect(server.isRunning)
        }

        @Test("without masquerading a device keeps its address on the way out, until that is changed")
        func routed() throws {
            let (lab, server) = try labWithServer()
            try lab.shell(
                .internet, "ip route add 10.9.0.0/24 via 10.77.0.1; ip route add fd00:9::/64 via fd00:77::1")
            let driver = try NetworkDriver(lab, Self.names + "masquerade false\n")
            #expect(try ask(lab, "198.51.100.10").hasPrefix("seen 10.9.0.2 "))
            #expect(try ask(lab, "2001:db8:51::10").hasPrefix("seen fd00:9::2 "))
            try driver.update(Self.names)
            #expect(try ask(lab, "198.51.100.10").hasPrefix("seen 10.77.0.1 "))
            #expect(try ask(lab, "2001:db8:51::10").hasPrefix("seen fd00:77::1 "))
            #expect(server.isRunning)
        }
    }
}
