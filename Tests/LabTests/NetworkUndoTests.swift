/// What is set up is taken back, whatever happened in between.

import Foundation
import TestSupport
import Testing

extension LabTests {
    @Suite("kernel set-up and its undoing")
    struct NetworkUndoTests {
        /// A plan for each way that the set-up can look.
        static let plans = [
            "setup gateway\nlan lan names\ncaptured 203.0.113.0/24\nupstream 10.77.0.2\ndns 10053\n",
            "setup gateway\nlan lan all\ndevice 10.9.0.2 names\ndevice fd00:9::2 none\nlent 10.9.0.2 198.51.100.10 60\n",
            "setup gateway\nlan lan all\nlan later0 names\nwhenDown direct\nipv6 false\n",
            "setup gateway\nlan wan all\ndns 10053\n",
            "setup host\nown all\ndns 10053\n",
            "setup host\nown names\nfake 198.19.0.0/16 2001:2:0:1::/64\n",
        ]

        /// A lab whose gateway forwards nothing yet, as a fresh machine.
        private func freshLab() throws -> Lab {
            let lab = try Lab()
            try lab.shell(
                .gateway,
                """
                sysctl -qw net.ipv4.ip_forward=0 net.ipv6.conf.all.forwarding=0 net.ipv4.conf.wan.rp_filter=1 \
                    net.ipv6.conf.lo.forwarding=1 net.ipv4.conf.all.send_redirects=1 net.ipv4.conf.wan.send_redirects=1
                """)
            return lab
        }

        @Test("a clean stop leaves every listing as it was", arguments: plans)
        func stops(plan: String) throws {
            let lab = try freshLab()
            let before = try lab.listings()
            let driver = try NetworkDriver(lab, plan)
            #expect(try lab.listings() != before)
            try driver.stop()
            #expect(try lab.listings() == before)
        }

        @Test("two gateways' networks on one machine are each taken back by their own, whatever happens to the other")
        func twoAtATime() throws {
            let (first, second) = (try freshLab(), try Lab())
            let before = (try first.listings(), try second.listings())
            let settings = Daemon.Settings { $0.network = "setup: \"gateway\", lan: [\"lan\"]" }
            let killed = try Daemon(first, settings, routed: false)
            let stopped = try Daemon(second, settings, routed: false)
            killed.program.end(.kill)
            #expect(try stopped.stop() == 0)
            #expect(try second.listings() == before.1)
            #expect(try first.listings() != before.0)
            let cleanup = try first.run(.gateway, ["\(Lab.binaries)/starshipd", "cleanup"])
            #expect(cleanup.status == 0, "\(cleanup)")
            #expect(try first.listings() == before.0)
        }

        @Test("after kill -9, a second start and a stop everything is as before the first (B190)", arguments: plans)
        func startsAfterAKill(plan: String) throws {
            let lab = try freshLab()
            let before = try lab.listings()
            try NetworkDriver(lab, plan).kill()
            #expect(try lab.listings() != before)
            let second = try NetworkDriver(lab, plan)
            try second.stop()
            #expect(try lab.listings() == before)
        }

        @Test("cleanup removes what kill -9 has left, twice over (B190)", arguments: plans)
        func cleansUp(plan: String) throws {
            let lab = try freshLab()
            let before = try lab.listings()
            try NetworkDriver(lab, plan).kill()
            try NetworkDriver(lab, plan).kill()
            try NetworkDriver.cleanup(lab)
            #expect(try lab.listings() == before)
            try NetworkDriver.cleanup(lab)
            #expect(try lab.listings() == before)
        }

        @Test("a start with another plan leaves nothing of the former one's behind")
        func startsOtherwise() throws {
            let lab = try freshLab()
            let before = try lab.listings()
            for plan in Self.plans { try NetworkDriver(lab, plan).kill() }
            let last = try NetworkDriver(lab, Self.plans[0])
            let rules = try lab.shell(.gateway, "ip rule; ip -6 rule")
            #expect(!rules.contains("later0") && !rules.contains("iif lo "), "\(rules)")
            try last.stop()
            #expect(try lab.listings() == before)
        }

        @Test("an update touches what differs, and going back is the way it came")
        func updates() throws {
            let lab = try freshLab()
            let before = try lab.listings()
            let driver = try NetworkDriver(lab, Self.plans[0])
            let first = try lab.listings()
            let done = driver.lines("done: ").count
            try driver.update(Self.plans[0])
            #expect(driver.lines("done: ").count == done)
            try driver.update(Self.plans[0].replacing("lan lan names", with: "lan lan all"))
            #expect(
                driver.lines("done: ").suffix(from: done) == [
                    // Without a rule the firewall kept others out of the TUN device.
                    "done: nft table inet starship",
                    "done: ip -4 rule add priority 10806 iif lan lookup 10801",
                    "done: ip -4 rule del priority 10806 iif lan lookup 10800",
                    "done: ip -6 rule add priority 10806 iif lan lookup 10801",
                    "done: ip -6 route del 2001:2::/48 dev starship0 table 254 metric 100 proto 198",
                    "done: ip -6 route del unreachable 2001:2::/48 table 254 metric 9999 proto 198",
                ])
            for plan in Self.plans { try driver.update(plan) }
            #expect(driver.lines("update: ").isEmpty)
            try driver.update(Self.plans[0])
            let last = withoutHandles(try lab.listings()).split(separator: "\n")
            let differences = last.difference(from: withoutHandles(first).split(separator: "\n"))
            #expect(differences.isEmpty, "\(differences)")
            try driver.stop()
            #expect(try lab.listings() == before)
        }

        @Test("each capture becomes each other one, of a LAN and of a device")
        func captures() throws {
            let lab = try freshLab()
            let before = try lab.listings()
            let captures = ["names", "none", "all", "names\ncaptured 203.0.113.0/24", "none\ncaptured 203.0.113.0/24"]
            // The last one has its devices on the uplink's interface: told by their network, not by it alone.
            let plans = [
                "lan lan %", "lan lan all\ndevice 10.9.0.2 %\ndevice fd00:9::2 %", "lan lan %\nuplink lan",
            ].flatMap { lines in
                captures.map { "setup gateway\n\(lines.replacing("%", with: $0))\n" }
            }
            let driver = try NetworkDriver(lab, plans[0])
            for first in plans {
                for second in plans where first != second {
                    try driver.update(first)
                    try driver.update(second)
                }
            }
            #expect(driver.lines("update: ").isEmpty, "\(driver.lines("update: "))")
            try driver.stop()
            #expect(try lab.listings() == before)
        }

        /// Each nftables object has a number of its own.
        private func withoutHandles(_ text: String) -> String {
            text.replacing(/"handle": \d+/, with: "")
        }

        @Test("what somebody else changed meanwhile is left to them")
        func leavesOthersAlone() throws {
            let lab = try freshLab()
            try NetworkDriver(lab, Self.plans[0]).kill()
            try lab.shell(.gateway, "sysctl -qw net.ipv4.conf.lan.rp_filter=1; nft add table inet other")
            try lab.shell(.gateway, "ip rule add priority 5000 from 10.9.0.9 lookup main")
            try NetworkDriver.cleanup(lab)
            #expect(try lab.shell(.gateway, "sysctl -n net.ipv4.conf.lan.rp_filter") == "1\n")
            #expect(try lab.shell(.gateway, "nft list tables") == "table inet other\n")
            #expect(try lab.shell(.gateway, "ip rule").contains("5000:\tfrom 10.9.0.9 lookup main"))
        }

        @Test("a refused line is named with the kernel's words, and all before it is taken back")
        func rollsBack() throws {
            let lab = try freshLab()
            let before = try lab.listings()
            let text = try NetworkDriver.refusal(lab, Self.plans[0] + "mtu 70000\n")
            #expect(text.contains("ip -4 -batch, line 1 \"link set dev starship0 mtu 70000 up\": "), "\(text)")
            #expect(text.contains("mtu greater than device maximum"), "\(text)")
            #expect(try lab.listings() == before)
        }

        @Test("when the last step fails, every step before it is taken back")
        func rollsBackTheWhole() throws {
            let lab = try freshLab()
            let before = try lab.listings()
            // An ip(8) to whose last batch of rules somebody has added its first line again, which the kernel refuses.
            let directory = lab.directory.appending(path: "bin")
            try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
            let script = directory.appending(path: "ip")
            try """
            #!/bin/bash
            if [[ $1 == -6 && $2 == -batch ]]; then
                lines=$(cat)
                [[ $lines != "rule add"* ]] || lines+=$'\\n'${lines%%$'\\n'*}
                exec /usr/sbin/ip "$@" <<<"$lines"
            fi
            exec /usr/sbin/ip "$@"
            """.write(to: script, atomically: true, encoding: .utf8)
            try lab.shell(.gateway, "chmod +x \(script.path)")
            let plan = Self.plans[0].replacing("lan lan names", with: "lan lan all")
            let text = try NetworkDriver.refusal(lab, plan, path: directory.path)
            #expect(text.contains("ip -6 -batch, line 2: RTNETLINK answers: File exists"), "\(text)")
            #expect(try lab.listings() == before)
        }

        @Test(
            "fake addresses that are real ones are refused with both names",
            arguments: [
                ("ip route add 198.18.4.0/24 via 10.77.0.2", "198.18.0.0/15", "198.18.4.0/24 via 10.77.0.2 dev wan"),
                ("ip address add 198.19.1.1/24 dev wan", "198.18.0.0/15", "198.19.1.1/24 is an address of wan"),
                ("ip -6 route add 2001:2::/40 via fd00:77::2", "2001:2::/48", "2001:2::/40 via fd00:77::2 dev wan"),
            ])
        func refusesConflicts(command: String, pool: String, other: String) throws {
            let lab = try freshLab()
            try lab.shell(.gateway, command)
            let before = try lab.listings()
            let text = try NetworkDriver.refusal(lab, Self.plans[0])
            #expect(text.contains(pool) && text.contains(other), "\(text)")
            #expect(try lab.listings() == before)
        }
    }
}
