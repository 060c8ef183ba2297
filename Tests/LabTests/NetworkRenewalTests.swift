/// The machine gets another address while devices are at work.

import Foundation
import TestSupport
import Testing

extension LabTests {
    @Suite("the machine's own addresses", .enabled(if: RouteLab.isPossible))
    struct NetworkRenewalTests {
        @Test("after a new address and a SIGHUP flows live on, and the new address is refused as a target")
        func renews() throws {
            let routes = try RouteLab()
            let settings = routes.settings()
            let daemon = try routes.start(settings)
            let fake = try routes.address(of: "web.example")
            let talk = try routes.lab.start(.device, Lab.python(["routes.py", "talk", fake, "120"]))
            try talk.waitFor(RouteLab.proxied)
            try routes.lab.shell(.gateway, "ip address add 10.77.0.99/24 dev wan; ip link add more type bridge")
            try routes.lab.shell(.gateway, "ip address add 203.0.113.5/24 dev more; ip link set more up")
            // Without a SIGHUP too: the kernel says it.
            let socks = ["routes.py", "socks", Lab.socksAddress, "\(Lab.socksPort)", "10.77.0.99", "80"]
            // RFC 1928, section 6: not allowed by ruleset.
            #expect(try Lab.wait { try routes.lab.program(.device, socks) == "2\n" })
            try daemon.reload(settings)
            let lines = talk.output.split(separator: "\n").count
            #expect(Lab.wait { talk.output.split(separator: "\n").count > lines + 10 }, "\(daemon.program.errors)")
            #expect(talk.isRunning && !talk.output.contains("broken"))
        }
    }
}
