/// Interfaces, resolvers and proxies that go away and come back.

import Foundation
import TestSupport
import Testing

extension LabTests {
    @Suite("surroundings that come and go", .enabled(if: EnduranceLab.isPossible))
    struct SurroundingFaultTests {
        @Test("the TUN device is deleted: it ends with 1, and after the restart profile, names and routes are back")
        func tunnelDeleted() throws {
            let endurance = try EnduranceLab()
            let before = try endurance.assign(to: "10.9.0.2")
            let fake = try endurance.routes.address(of: "web.example")
            #expect(
                try Lab.wait(promised: 5) { try endurance.pageComes(at: fake) }, "\(endurance.daemon.program.errors)")
            try endurance.lab.run(.gateway, ["ip", "link", "delete", "starship0"])
            let result = try endurance.daemon.program.wait(within: 30)
            #expect(result.status == 1 && result.errors.contains("event=tunnel-gone level=error"), "\(result.errors)")
            // Meanwhile nothing of what is proxied leaves by another way (DESIGN.md, decision 11).
            #expect(try !endurance.pageComes(at: fake))
            try endurance.restart()
            #expect(
                try Lab.wait(promised: 5) { try endurance.pageComes(at: fake) }, "\(endurance.daemon.program.errors)")
            #expect(try endurance.kept() == before)
            #expect(try endurance.becomes("green"))
        }

        @Test("the LAN interface is deleted and made again: devices get through without a restart")
        func lanDeleted() throws {
            let endurance = try EnduranceLab { $0.socks = "users: []" }
            let fake = try endurance.routes.address(of: "web.example")
            #expect(try endurance.pageComes(at: fake))
            let before = try endurance.assign()
            try endurance.lab.run(.gateway, ["ip", "link", "delete", "lan"])
            #expect(
                Lab.wait {
                    endurance.daemon.events("network").contains { $0.contains("there is no interface lan yet") }
                })
            let notices = try endurance.status()["notices"] as? [String] ?? []
            #expect(notices.contains { $0.contains("there is no interface lan yet") }, "\(notices)")
            #expect(try endurance.kept() == before)
            let device = "\(endurance.lab.name)-device"
            try endurance.lab.shell(
                .gateway,
                """
                ip link add lan type veth peer name eth0 netns \(device)
                ip link set lan up
                ip address add 10.9.0.1/24 dev lan
                ip address add fd00:9::1/64 dev lan nodad
                """)
            try endurance.lab.shell(
                .device,
                """
                ip link set eth0 up
                ip address add 10.9.0.2/24 dev eth0
                ip route add default via 10.9.0.1
                """)
            #expect(try Lab.wait(promised: 10) { try endurance.pageComes(at: fake) })
            #expect(try Lab.wait(promised: 10) { try endurance.pageComes() }, "DNS too")
            #expect(try endurance.routes.page("www.outside.net", at: "198.51.100.11").hasPrefix(RouteLab.direct))
            let left = try endurance.status()["notices"] as? [String] ?? []
            #expect(!left.contains { $0.contains("no interface") }, "\(left)")
            #expect(endurance.daemon.isRunning)
            #expect(try endurance.kept() == before)
            #expect(try endurance.keptByRestart() == before)
        }

        @Test("the resolver dies: proxied names go on, others are told at once, and it is back within seconds")
        func resolverDead() throws {
            let endurance = try EnduranceLab()
            #expect(try endurance.answer(of: "www.google.com") == "NOERROR")
            let before = try endurance.assign()
            endurance.routes.names.signal(.stop)
            // The first questions find out; then nobody waits for it.
            for number in 0..<2 { _ = try endurance.answer(of: "n\(number).outside.net") }
            #expect(Lab.wait(promised: 5) { !endurance.daemon.events("dns-resolver-dead").isEmpty })
            let said = endurance.daemon.events("dns-resolver-dead").first ?? ""
            #expect(said.contains("level=warning") && said.contains("\(RouteLab.resolver):53"), "\(said)")
            #expect(try endurance.kept() == before)
            let asked = Stopwatch()
            #expect(try endurance.answer(of: "late.outside.net") == "SERVFAIL")
            #expect(asked.seconds < 1)
            #expect(try endurance.pageComes())
            endurance.routes.names.signal(.goOn)
            #expect(Lab.wait(promised: 10) { !endurance.daemon.events("dns-resolver-alive").isEmpty })
            #expect(try Lab.wait(promised: 5) { try endurance.answer(of: "new.outside.net") != "SERVFAIL" })
            #expect(endurance.daemon.events("dns-resolver-dead").count == 1)
            #expect(try endurance.kept() == before)
            #expect(try endurance.keptByRestart() == before)
        }

        @Test("an upstream that flaps every second is used whenever it is there, and the colour doesn't flap with it")
        func flapping() throws {
            let endurance = try EnduranceLab { $0.upstream = Daemon.Settings.http(Upstream.embedded.port) }
            var proxy = try Upstream.embedded.start(in: endurance.lab)
            #expect(try endurance.becomes("green"))
            let fake = try endurance.routes.address(of: "web.example")
            let before = try endurance.assign()
            let (lines, colours) = (endurance.lines, endurance.daemon.events("health").count)
            let began = Date()
            var served = 0
            for round in 0..<15 {
                proxy.end(.kill)
                // What nobody wants meanwhile need not be noticed.
                if round == 0 { for _ in 0..<3 { #expect(try !endurance.pageComes(at: fake)) } }
                _ = Lab.wait(1) { false }
                proxy = try Upstream.embedded.start(in: endurance.lab)
                if try Lab.wait(promised: 1, until: { try endurance.pageComes(at: fake) }) { served += 1 }
                _ = Lab.wait(0.5) { false }
            }
            let seconds = Date().timeIntervalSince(began)
            #expect(served == 15)
            let said = endurance.daemon.events("health").dropFirst(colours)
            let changes = said.count
            // The first time that it is gone is told, with the reason; the other profile has its first look, too.
            let first = try #require(said.first { $0.contains(" profile=lab ") }, "\(endurance.daemon.program.errors)")
            #expect(first.contains(/profile=lab colour=(yellow|red) was=green cause=[a-z_]+ what=/), "\(first)")
            // Thirty times it went or came.
            #expect(changes <= 15 && Double(changes) < seconds / 2, "\(changes) in \(seconds) s")
            #expect(endurance.lines - lines < 100, "\(endurance.lines - lines)")
            #expect(try endurance.becomes("green"))
            #expect(endurance.daemon.events("health").last?.contains("colour=green") == true)
            #expect(try endurance.kept() == before)
            #expect(try endurance.keptByRestart() == before)
            withExtendedLifetime(proxy) {}
        }
    }
}
