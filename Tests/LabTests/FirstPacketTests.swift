/// The first packets of a device, while the gateway has not read the kernel's news of whose address they bear.

import TestSupport
import Testing

extension LabTests {
    @Suite("first packets", .enabled(if: RouteLab.isPossible))
    struct FirstPacketTests {
        @Test("a known phone's first question and first flow from an address have its profile, over both families")
        func beforeTheNews() throws {
            let routes = try RouteLab()
            let lab = routes.lab
            try lab.addTablet()
            try lab.shell(.device, "ip link set eth0 address 02:00:00:00:00:02")
            var settings = routes.settings(
                "news.example", dns: "families: \"both\"",
                more: """
                    newDevices: "block",
                    devices: [{ name: "phone", mac: "02:00:00:00:00:02", profile: "own" }],
                    """)
            settings.profiles = """
                { id: "own", upstream: \(Daemon.Settings.http(Upstream.tinyproxy.port)), health: false,
                  domains: ["web.example"] }
                """
            let daemon = try routes.start(settings)
            // Who reads the news is the first thread; those who judge are others.
            let hold = ["hold_thread.py", "\(daemon.program.pid)", "starshipd", "60"]
            let holder = try lab.start(.gateway, Lab.python(hold))
            try holder.waitFor("held")
            for (own, length, gateway, type, pool) in [
                ("10.9.0.22", 24, "10.9.0.1", "A", "198.18."), ("fd00:9::22", 64, "fd00:9::1", "AAAA", "2001:2:"),
            ] {
                try lab.shell(.device, "ip address add \(own)/\(length) dev eth0")
                let dig = ["dig", "+short", "+time=5", "+tries=1", "-b", own, "@\(gateway)", "web.example", type]
                let answer = try lab.run(.device, dig).output.split(separator: "\n").last ?? "nothing"
                #expect(answer.hasPrefix(pool), "\(own): \(answer)")
                // Another address, whose first packet is one of a flow; who comes to a LAN asks for the gateway first.
                let other = own + "2"
                try lab.shell(.device, "ip address add \(other)/\(length) dev eth0; ip neigh flush dev eth0")
                let shown = answer.contains(":") ? "[\(answer)]" : "\(answer)"
                let curl = ["curl", "-sS", "--max-time", "10", "--interface", other]
                let page = try lab.run(
                    .device, curl + ["--resolve", "web.example:80:\(shown)", "http://web.example/"])
                #expect(page.output.hasPrefix(RouteLab.proxied), "\(other): \(page)")
            }
            // Nobody knows the tablet.
            let stranger = try lab.run(.tablet, ["curl", "-sS", "--max-time", "10", "http://198.51.100.10/"])
            // Refused, or reset when it has said for which name it is; not left waiting.
            #expect([7, 56].contains(stranger.status), "\(stranger)")
            #expect(holder.isRunning, "the news were not held back all the time")
            holder.end(.kill)
            for address in ["10.9.0.222", "fd00:9::222"] {
                #expect(daemon.flow(with: ["profile=own", address, "web.example"]))
            }
        }
    }
}
