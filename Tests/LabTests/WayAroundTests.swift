/// A router beside the gateway, by which devices may leave: seen in every place that shows a colour.

import Foundation
import TestSupport
import Testing

extension LabTests {
    @Suite("ways around the gateway", .enabled(if: EnduranceLab.isPossible))
    struct WayAroundTests {
        private static let words = "devices may leave by IPv6 through fe80::"

        private func cause(_ endurance: EnduranceLab) throws -> String {
            let health = try endurance.status()["health"] as? [String: Any]
            return (health?["cause"] as? [String: Any])?["text"] as? String ?? ""
        }

        @Test("another router on the LAN turns green yellow with the reason, and the colour is back when it is gone")
        func otherRouter() throws {
            let endurance = try EnduranceLab { $0.more += "metrics: { listen: \"127.0.0.1:10800\" }, page: {}," }
            #expect(try endurance.becomes("green"))
            #expect(try endurance.control("status").status == 0)
            _ = try endurance.lab.program(.device, ["network.py", "advertise", "eth0"])
            #expect(try Lab.wait(promised: 5) { try endurance.colour() == "yellow" })
            #expect(try cause(endurance).contains("another router on lan: \(Self.words)"))

            let card = try endurance.control("status")
            #expect(card.status == 1, "\(card)")
            // What is long goes on in the next line.
            let line = card.output.split(whereSeparator: \.isWhitespace).joined(separator: " ")
            #expect(line.hasPrefix("● YELLOW") && line.contains(Self.words), "\(card)")
            let event = try #require(endurance.daemon.events("health").last)
            #expect(event.contains("colour=yellow was=green cause=way_around"), "\(event)")
            let figures = try endurance.lab.run(.gateway, ["curl", "-sS", "http://127.0.0.1:10800/metrics"]).output
            #expect(figures.contains(#"starship_upstream_colour{profile="lab",colour="yellow"} 1"#), "\(figures)")
            #expect(figures.contains(#"starship_upstream_cause{profile="lab",cause="way_around"} 1"#), "\(figures)")
            let page = try endurance.lab.run(.device, ["curl", "-sS", "--max-time", "5", "http://10.9.0.1/"]).output
            #expect(page.contains("Trouble") && page.contains(Self.words), "\(page)")
            #expect(try endurance.pageComes(), "what comes here is served")

            // Red is the nearer trouble.
            endurance.routes.proxy.signal(.stop)
            #expect(try Lab.wait(promised: 30) { try endurance.colour() == "red" })
            #expect(try endurance.control("status").status == 2)
            endurance.routes.proxy.signal(.goOn)
            #expect(try Lab.wait(promised: 30) { try endurance.colour() == "yellow" })
            #expect(try cause(endurance).contains(Self.words))

            // The neighbour is forgotten, as it is when the router has been away for long.
            try endurance.lab.run(.gateway, ["ip", "-6", "neigh", "flush", "dev", "lan"])
            #expect(try Lab.wait(promised: 5) { try endurance.colour() == "green" })
            #expect(try endurance.control("status").status == 0)
        }

        @Test("so does an IPv6 default route into the LAN")
        func routeIntoTheLAN() throws {
            // Without `uplink` the LAN would be one by that route.
            let endurance = try EnduranceLab { $0.network = "setup: \"gateway\", lan: [\"lan\"], uplink: \"wan\"" }
            #expect(try endurance.becomes("green"))
            try endurance.lab.run(
                .gateway, ["ip", "-6", "route", "add", "default", "via", "fd00:9::99", "dev", "lan", "metric", "5000"])
            #expect(try Lab.wait(promised: 5) { try endurance.colour() == "yellow" })
            #expect(try cause(endurance).contains("leads around the gateway: default via fd00:9::99 dev lan"))
            try endurance.lab.run(
                .gateway, ["ip", "-6", "route", "del", "default", "via", "fd00:9::99", "dev", "lan"])
            let isBack = try Lab.wait(promised: 5) { try endurance.colour() == "green" }
            let status = try endurance.status()
            #expect(isBack, "\(status) \(endurance.daemon.program.errors)")
        }
    }
}
