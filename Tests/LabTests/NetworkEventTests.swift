/// Interfaces that come, go and change; managers and routers that get in the way.

import Foundation
import TestSupport
import Testing

extension LabTests {
    @Suite("kernel routes follow the machine")
    struct NetworkEventTests {
        private func reaches(_ driver: NetworkDriver, _ lab: Lab, _ host: String) -> Bool {
            Lab.wait {
                _ = try? lab.run(.device, ["ping", "-c", "1", "-W", "1", host])
                return driver.lines("packet ").contains { $0.contains("> \(host) icmp") }
            }
        }

        @Test("a LAN interface that comes late, changes its address or bounces is followed")
        func follows() throws {
            let lab = try Lab()
            try lab.shell(
                .gateway,
                "ip link set lan name late0 2>/dev/null || { ip link set lan down; ip link set lan name late0; ip link set late0 up; }"
            )
            try lab.shell(.gateway, "ip link set late0 down; ip address flush dev late0")
            let driver = try NetworkDriver(
                lab, "setup gateway\nlan lan all\nuplink wan\n".replacing("uplink wan\n", with: ""))
            #expect(driver.hasNotice("there is no interface lan yet"))
            try lab.shell(
                .gateway,
                "ip link set late0 name lan; ip link set lan up; ip address add 10.9.0.1/24 dev lan; ip address add fd00:9::1/64 dev lan nodad"
            )
            #expect(reaches(driver, lab, "198.51.100.10"))
            #expect(Lab.wait { driver.lines("done: sysctl net/ipv4/conf/lan/rp_filter=2").count == 1 })

            try lab.shell(.gateway, "ip address add 10.8.0.1/24 dev lan; ip address del 10.9.0.1/24 dev lan")
            #expect(
                Lab.wait {
                    driver.lines("done: ").contains { $0.contains("route replace throw 10.8.0.0/24 table 10801") }
                })
            #expect(
                Lab.wait {
                    driver.lines("done: ").contains { $0.contains("route del throw 10.9.0.0/24 table 10801") }
                })
            try lab.shell(
                .gateway,
                "ip address add 10.9.0.1/24 dev lan; ip link set lan down; ip link set lan up; ip address replace fd00:9::1/64 dev lan nodad"
            )
            #expect(reaches(driver, lab, "198.51.100.11"))
            #expect(reaches(driver, lab, "2001:db8:51::11"))
        }

        @Test(
            "a manager that resets what is ours is undone within five seconds (B197)",
            arguments: [
                "ip address flush dev starship0", "ip link set starship0 down", "ip rule del priority 10806",
                "ip route flush table 10801",
                "nft flush ruleset", "sysctl -qw net.ipv4.ip_forward=0", "ip -6 address flush dev starship0",
            ])
        func repairs(command: String) throws {
            let lab = try Lab()
            let driver = try NetworkDriver(lab, "setup gateway\nlan lan all\ndns 10053\n")
            let before = try lab.listings()
            try lab.shell(
                .gateway, command)
            if command.hasPrefix("sysctl") {
                try lab.shell(.gateway, "ip address add 192.0.2.1/32 dev lo; ip address del 192.0.2.1/32 dev lo")
            }
            let isBack = try Lab.wait(promised: 5) { withoutNumbers(try lab.listings()) == withoutNumbers(before) }
            #expect(isBack, "\(command)\n\(driver.program.output.suffix(1000))")
            #expect(reaches(driver, lab, "198.51.100.10"))
        }

        @Test("what the kernel refuses is tried again after pauses that grow, and done when it may be")
        func refusedForAWhile() throws {
            let lab = try Lab()
            let tools = lab.directory.appending(path: "tools")
            try FileManager.default.createDirectory(at: tools, withIntermediateDirectories: true)
            let refused = tools.appending(path: "refused")
            let places = "/usr/sbin:/usr/bin:/sbin:/bin"
            // A step that is taken back behind the one that fails is news of the kernel's, which is followed.
            let script = tools.appending(path: "ip")
            try """
            #!/bin/bash
            case "$*" in *-batch*) lines=$(cat)
                if [[ -e \(refused.path) && $lines == *"rule add"* ]]; then lines+=$'\\nrule add priority x'; fi
                PATH=\(places) exec ip "$@" <<<"$lines";;
            esac
            PATH=\(places) exec ip "$@"

            """.write(to: script, atomically: true, encoding: .utf8)
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: script.path)
            var settings = Daemon.Settings {
                $0.network = "setup: \"gateway\", lan: [\"lan\"]"
                $0.more = "dns: { resolvers: [\"10.77.0.2:53\"] },"
            }
            settings.wrapper = ["env", "PATH=\(tools.path):\(places)"]
            let daemon = try Daemon(lab, settings, routed: false)
            try Data().write(to: refused)
            try lab.shell(.gateway, "ip -4 rule del priority 10806")
            let refusals = { daemon.events("network").filter { $0.contains("cause=") }.count }
            #expect(Lab.wait { refusals() >= 2 })
            _ = Lab.wait(4) { false }
            // At 0, 1, 3 and 7 seconds, and what was on its way already.
            #expect((2...5).contains(refusals()), "\(daemon.program.errors)")
            try FileManager.default.removeItem(at: refused)
            #expect(try Lab.wait { try lab.shell(.gateway, "ip -4 rule").contains("10806:") })
            #expect(daemon.isRunning)
        }

        /// Objects that were made again have other numbers.
        private func withoutNumbers(_ text: String) -> String {
            text.replacing(/"handle": \d+/, with: "").replacing(/"protocol":"[a-z]+",?/, with: "")
        }

        @Test("an uplink that comes late is found")
        func findsUplinks() throws {
            let lab = try Lab()
            try lab.shell(.gateway, "ip route del default; ip -6 route del default")
            let driver = try NetworkDriver(lab, "setup gateway\nlan lan names\n")
            #expect(driver.hasNotice("no default route"))
            try lab.shell(.gateway, "ip route add default via 10.77.0.2")
            #expect(Lab.wait { driver.lines("done: nft").count == 2 })
            #expect(try lab.run(.device, ["ping", "-c", "1", "-W", "2", "198.51.100.10"]).status == 0)
            #expect(try lab.shell(.gateway, "nft list chain inet starship uplink").contains("oifname \"wan\""))
        }

        @Test("another router on the LAN is noticed by its advertisement")
        func noticesRouters() throws {
            let lab = try Lab()
            let driver = try NetworkDriver(lab, "setup gateway\nlan lan names\n")
            _ = try lab.program(.device, ["network.py", "advertise", "eth0"])
            #expect(driver.hasNotice("another router on lan: devices may leave by IPv6 through fe80::"))
        }

        @Test("a firewall that drops what devices send is named with the command that mends it, and left alone")
        func namesForeignChains() throws {
            let lab = try Lab()
            let driver = try NetworkDriver(lab, "setup gateway\nlan lan names\n")
            try lab.shell(
                .gateway,
                "nft add table ip filter; nft add chain ip filter FORWARD '{ type filter hook forward priority 0; policy drop; }'; nft add chain ip filter DOCKER-USER; nft add rule ip filter FORWARD jump DOCKER-USER"
            )
            #expect(
                driver.hasNotice("iptables -I DOCKER-USER -i lan -j ACCEPT; iptables -I DOCKER-USER -o lan -j ACCEPT"))
            #expect(try lab.run(.device, ["ping", "-c", "1", "-W", "1", "198.51.100.10"]).status != 0)
            // iptables writes these rules in nft's words.
            try lab.shell(
                .gateway,
                "nft add rule ip filter DOCKER-USER iifname lan counter accept; nft add rule ip filter DOCKER-USER oifname lan counter accept"
            )
            #expect(try lab.run(.device, ["ping", "-c", "1", "-W", "1", "198.51.100.10"]).status == 0)
        }

        @Test(
            "and so is one of the older iptables, where the kernel still has it",
            .enabled(if: Lab.has("iptables-legacy")))
        func namesLegacyChains() throws {
            let lab = try Lab()
            guard try lab.run(.gateway, ["iptables-legacy", "-P", "FORWARD", "DROP"]).status == 0 else {
                return Lab.leaveOut("chains of the older iptables", because: "\(Lab.kernelLacks)its tables")
            }
            let driver = try NetworkDriver(lab, "setup gateway\nlan lan names\n")
            let mending = "iptables-legacy -I FORWARD -i lan -j ACCEPT; iptables-legacy -I FORWARD -o lan -j ACCEPT"
            #expect(driver.hasNotice(mending))
            #expect(try lab.run(.device, ["ping", "-c", "1", "-W", "1", "198.51.100.10"]).status != 0)
            try lab.shell(.gateway, mending)
            #expect(try lab.run(.device, ["ping", "-c", "1", "-W", "1", "198.51.100.10"]).status == 0)
            // Nobody is told of such a change: the next look finds it.
            let named = driver.lines("notice: ").filter { $0.contains("iptables-legacy") }.count
            try driver.update("setup gateway\nlan lan all\n")
            #expect(driver.lines("notice: ").filter { $0.contains("iptables-legacy") }.count == named)
        }

        @Test("a second machine's address with an upstream's link address is exempt as soon as it is seen (B192)")
        func learnsAddresses() throws {
            let lab = try Lab()
            let driver = try NetworkDriver(lab, "setup gateway\nlan lan all\nupstream 10.9.0.2\n")
            try lab.shell(
                .device,
                "ping -c 1 10.9.0.1; ip address add 10.9.0.44/24 dev eth0; ping -c 1 -W 1 -I 10.9.0.44 10.9.0.1")
            #expect(
                Lab.wait { driver.lines("done: ").contains { $0.contains("from 10.9.0.44 iif lan goto 10819") } })
        }
    }
}
