/// A laptop among the devices that is the proxy of all of them: what it opens itself goes directly, or it would be fed
/// its own requests.

import Foundation
import TestSupport
import Testing

extension LabTests {
    @Suite("a laptop that is the proxy", .enabled(if: RouteLab.isPossible))
    struct LaptopProxyTests {
        private static let port = 8899

        @Test("global mode: it has real answers and direct pages at each of its addresses, others go through it")
        func isDirect() throws {
            let routes = try RouteLab()
            let lab = routes.lab
            try lab.addLaptop()
            let file = lab.directory.appending(path: "laptop.conf")
            try "Port \(Self.port)\nTimeout 600\nMaxClients 50\nAllow 10.9.0.0/24\n"
                .write(to: file, atomically: true, encoding: .utf8)
            let proxy = try lab.start(.laptop, ["tinyproxy", "-d", "-c", file.path])
            try lab.waitForPort(Self.port, of: "0.0.0.0", in: .laptop)
            var settings = routes.settings(dns: "families: \"both\"")
            settings.upstream = "{ type: \"http\", host: \"10.9.0.4\", port: \(Self.port) }"
            let daemon = try routes.start(settings)

            // Another device's page goes through it, and on from there as anything that the laptop opens.
            #expect(try routes.address(of: "web.example").hasPrefix("198.18."))
            #expect(try routes.page("web.example") == "\(RouteLab.direct) web.example", "\(daemon.program.errors)")
            let asked = { (name: String) in proxy.output.contains(": CONNECT \(name):80 HTTP/") }
            #expect(asked("web.example"), "\(proxy.output)")

            let more = "ip address add 10.9.0.44/24 dev eth0; ip address add fd00:9::44/64 dev eth0 nodad"
            try lab.shell(.laptop, more)
            for (own, server, type, real, peer) in [
                ("10.9.0.4", "10.9.0.1", "A", "198.51.100.10", RouteLab.direct),
                ("10.9.0.44", "10.9.0.1", "A", "198.51.100.10", RouteLab.direct),
                ("fd00:9::4", "fd00:9::1", "AAAA", "2001:db8:51::10", "peer fd00:77::1"),
                ("fd00:9::44", "fd00:9::1", "AAAA", "2001:db8:51::10", "peer fd00:77::1"),
            ] {
                // Who comes to a LAN asks for the gateway first.
                try lab.shell(.laptop, "ping -c 1 -W 2 -I \(own) \(server)")
                let dig = ["dig", "+short", "+time=3", "+tries=1", "-b", own, "@\(server)", "news.example", type]
                #expect(try lab.run(.laptop, dig).output == "\(real)\n", "\(own)")
                let shown = real.contains(":") ? "[\(real)]" : real
                let curl = ["curl", "-sS", "--max-time", "5", "--interface", own]
                let page = try lab.run(
                    .laptop, curl + ["--resolve", "news.example:80:\(shown)", "http://news.example/"])
                #expect(page.output == "\(peer) news.example\n", "\(own): \(page)")
            }
            #expect(!asked("news.example"), "\(proxy.output)")
            #expect(!daemon.events("flow").contains { $0.contains("news.example") })
            withExtendedLifetime(proxy) {}
        }
    }
}
