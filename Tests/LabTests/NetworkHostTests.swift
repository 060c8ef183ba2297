/// The machine's own traffic, and the administrator's session that has to live through it.

import Foundation
import TestSupport
import Testing

extension LabTests {
    @Suite("kernel routes of the machine itself")
    struct NetworkHostTests {
        static let all = "setup host\nown all\ndns 10053\nupstream 10.77.0.2\n"

        @Test("sessions from outside live through the start, a kill and the end, whoever speaks first (B198)")
        func keepsSessions() throws {
            let lab = try Lab()
            let echo = try lab.start(.gateway, Lab.python(["network.py", "serve", "22"]))
            try echo.waitFor("ready")
            let talker = try lab.start(.gateway, Lab.python(["network.py", "talk", "2022", "120"]))
            try talker.waitFor("ready")
            // From behind the uplink's router, not from a connected network.
            var sessions = [
                try lab.start(.origin, Lab.python(["network.py", "session", "10.77.0.1", "22", "120"])),
                try lab.start(.origin, Lab.python(["network.py", "session", "fd00:77::1", "22", "120"])),
                try lab.start(.origin, Lab.python(["network.py", "listen", "10.77.0.1", "2022", "120"])),
                try lab.start(.origin, Lab.python(["network.py", "listen", "fd00:77::1", "2022", "120"])),
            ]
            for session in sessions { try session.waitFor("5\n") }
            let driver = try NetworkDriver(lab, Self.all)
            sessions.append(try lab.start(.origin, Lab.python(["network.py", "session", "10.77.0.1", "22", "120"])))
            try expectAlive(sessions)
            driver.kill()
            sessions.append(try lab.start(.origin, Lab.python(["network.py", "session", "10.77.0.1", "22", "120"])))
            try expectAlive(sessions)
            let second = try NetworkDriver(lab, Self.all)
            try expectAlive(sessions)
            try second.stop()
            try expectAlive(sessions)
        }

        /// Whether each session has moved on by ten echoes in a while.
        private func expectAlive(_ sessions: [LabProgram], source: SourceLocation = #_sourceLocation) throws {
            let before = sessions.map { count($0) }
            let moved = Lab.wait { zip(sessions, before).allSatisfy { count($0) >= $1 + 10 } }
            #expect(moved, "\(sessions.map { $0.output.suffix(30) })", sourceLocation: source)
        }

        private func count(_ session: LabProgram) -> Int {
            session.output.split(separator: "\n").last.flatMap { Int($0) } ?? 0
        }

        @Test(
            "what has our mark never enters the TUN device, everything else does; the LAN and upstreams stay outside (B192)"
        )
        func leavesMarkedAlone() throws {
            let lab = try Lab()
            let server = try lab.start(.origin, Lab.python(["network.py", "serve", "7000"]))
            try server.waitFor("ready")
            let near = try lab.start(.internet, Lab.python(["network.py", "serve", "7000"]))
            try near.waitFor("ready")
            let driver = try NetworkDriver(lab, Self.all)
            for host in ["198.51.100.10", "2001:db8:51::10"] {
                for _ in 0..<20 {
                    let answer = try lab.program(.gateway, ["network.py", "ask", host, "7000", "tcp", "0x53000000"])
                    #expect(answer.hasPrefix("seen "), "\(answer)")
                }
                #expect(!driver.lines("packet ").contains { $0.contains("> \(host) ") })
                #expect(try lab.program(.gateway, ["network.py", "ask", host, "7000"]).hasPrefix("failed timeout"))
                #expect(driver.hasPacket("> \(host) tcp 7000"))
            }
            for host in ["10.77.0.2", "fd00:77::2"] {
                #expect(try lab.program(.gateway, ["network.py", "ask", host, "7000"]).hasPrefix("seen "))
            }
            // By names alone only fake addresses are captured.
            try driver.update("setup host\nown names\n")
            #expect(try lab.program(.gateway, ["network.py", "ask", "198.51.100.10", "7000"]).hasPrefix("seen "))
            #expect(
                try lab.program(.gateway, ["network.py", "ask", "198.18.0.16", "7000"]).hasPrefix("failed timeout"))
            #expect(driver.hasPacket("198.18.0.1 > 198.18.0.16 tcp 7000"))
        }

        @Test("port 53 of unmarked sockets goes to our DNS service, marked ones go out")
        func redirectsDNS() throws {
            let lab = try Lab()
            let service = try lab.start(.gateway, Lab.python(["network.py", "serve", "10053"]))
            try service.waitFor("ready")
            let resolver = try lab.start(.origin, Lab.python(["network.py", "serve", "53"]))
            try resolver.waitFor("ready")
            let driver = try NetworkDriver(lab, Self.all)
            for (host, own) in [("198.51.100.10", "10.77.0.1"), ("2001:db8:51::10", "fd00:77::1")] {
                for kind in ["tcp", "udp"] {
                    let unmarked = try lab.program(.gateway, ["network.py", "ask", host, "53", kind])
                    #expect(unmarked.hasPrefix("seen ") && !unmarked.contains(own), "\(unmarked)")
                    let marked = try lab.program(.gateway, ["network.py", "ask", host, "53", kind, "0x53000000"])
                    #expect(marked.hasPrefix("seen \(own) "), "\(marked)")
                }
            }
            #expect(!driver.lines("packet ").contains { $0.hasSuffix(" 53") })
        }

        @Test("while the gateway is dead, the machine's own traffic is refused at once (B216)")
        func blocks() throws {
            let lab = try Lab()
            let server = try lab.start(.origin, Lab.python(["network.py", "serve", "7000"]))
            try server.waitFor("ready")
            try NetworkDriver(lab, Self.all).kill()
            for host in ["198.51.100.10", "2001:db8:51::10", "198.18.0.16"] {
                let answer = try lab.program(.gateway, ["network.py", "ask", host, "7000"])
                #expect(answer.hasPrefix("failed OSError 1"), "\(answer)")
            }
            try NetworkDriver.cleanup(lab)
            #expect(try lab.program(.gateway, ["network.py", "ask", "198.51.100.10", "7000"]).hasPrefix("seen "))
        }
    }
}
