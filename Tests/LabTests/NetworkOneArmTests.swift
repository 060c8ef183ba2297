/// One arm: the gateway is one more machine on the devices' own network, beside the router that it sends by.
///
///     device ─┐
///             ├─ one segment ── router (internet: resolver, proxy) ── origin
///     gateway ┘

import Foundation
import TestSupport
import Testing

extension LabTests {
    @Suite("one arm", .enabled(if: RouteLab.isPossible))
    struct NetworkOneArmTests {
        /// Moves the device to the uplink's segment, where the router and the gateway are its neighbours.
        private func joinSegment(_ routes: RouteLab) throws {
            let lab = routes.lab
            // The SOCKS port keeps its address.
            try lab.shell(.gateway, "ip link del lan; ip address add 10.9.0.1/32 dev lo")
            try lab.shell(
                .internet,
                """
                ip link add segment type bridge mcast_snooping 0; ip link set segment up
                ip link add port type veth peer name eth0 netns \(lab.name)-device
                ip address flush dev eth0; ip link set eth0 master segment; ip link set port master segment; ip link set port up
                ip address add 10.77.0.2/24 dev segment; ip address add fd00:77::2/64 dev segment nodad
                ip route replace default via 10.77.0.1; ip -6 route replace default via fd00:77::1
                """)
            try lab.shell(
                .device,
                """
                sysctl -qw net.ipv4.conf.all.accept_redirects=0 net.ipv4.conf.eth0.accept_redirects=0 \
                    net.ipv6.conf.eth0.accept_redirects=0
                ip link set eth0 up; ip address add 10.77.0.50/24 dev eth0; ip address add fd00:77::50/64 dev eth0 nodad
                ip route add default via 10.77.0.1; ip -6 route add default via fd00:77::1
                """)
            try lab.shell(
                .gateway, "sysctl -qw net.ipv4.conf.all.send_redirects=1 net.ipv4.conf.wan.send_redirects=1")
        }

        private func ping(_ routes: RouteLab, _ host: String) throws {
            _ = try routes.lab.run(.device, ["ping", "-n", "-c", "3", "-i", "0.2", "-W", "1", host])
        }

        private static let redirects = "icmp[0] = 5 or (icmp6 and ip6[40] = 137)"

        @Test(
            "a device on the uplink's own segment: direct is masqueraded, proxied goes by the proxy, nobody is redirected"
        )
        func oneArm() throws {
            let routes = try RouteLab()
            try joinSegment(routes)
            // What any other forwarding machine would do here.
            let plain = try routes.watch(.device, "eth0", Self.redirects)
            try ping(routes, "198.51.100.10")
            try ping(routes, "2001:db8:51::10")
            #expect(Lab.wait { plain.output.contains("redirect") }, "\(plain.output)")
            plain.end(.terminate)

            var settings = routes.settings("web.example")
            settings.network = "setup: \"gateway\", lan: [\"wan\"]"
            let daemon = try routes.start(settings)
            let watch = try routes.watch(.device, "eth0", Self.redirects)
            func address(_ name: String) throws -> String {
                let dig = ["dig", "+short", "+time=2", "+tries=1", "@10.77.0.1", name, "A"]
                return try routes.lab.run(.device, dig).output.split(separator: "\n").last.map(String.init) ?? ""
            }
            let fake = try address("web.example")
            #expect(fake == "198.18.0.16")
            #expect(
                try routes.page("web.example", at: fake) == "\(RouteLab.proxied) web.example",
                "\(daemon.program.errors)")
            #expect(routes.proxyWasAsked("web.example:80"))
            let real = try address("news.example")
            #expect(real == "198.51.100.10")
            #expect(try routes.page("news.example", at: real) == "\(RouteLab.direct) news.example")
            #expect(try routes.page("news.example", at: "2001:db8:51::10") == "peer fd00:77::1 news.example")
            try ping(routes, "198.51.100.11")
            try ping(routes, "2001:db8:51::11")
            settings.profile = "domains: []"
            try daemon.reload(settings)
            #expect(try routes.page("news.example", at: real) == "\(RouteLab.proxied) news.example")
            #expect(watch.output == "", "\(watch.output)")
            #expect(try daemon.stop() == 0)
        }
    }
}
