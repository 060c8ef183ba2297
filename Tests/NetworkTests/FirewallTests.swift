/// The nftables text, and what is read out of other people's.

import Addresses
import Bytes
import LinuxIO
import TestSupport
import Testing

@testable import Network

@Suite struct NetworkFirewallTests {
    @Test("the gateway's table: lent addresses, DNS, who insists, MSS, flows of a switch, masquerading")
    func gateway() {
        var plan = Machines.plan(.gateway, [NetworkPlan.LAN("lan", .names), NetworkPlan.LAN("wlan0", .all)])
        plan.dnsPort = 10053
        plan.pagePort = 10080
        plan.refusesEncryptedDNS = true
        plan.upstreams = [IPAddress(v4: 0x0a09_0007)]
        plan.lent = [.init(device: IPAddress(v4: 1), address: IPAddress(v4: 2), until: .never)]
        // The upstream's machine has another address, which its hardware address tells.
        var machine = Machines.twoArms()
        machine.neighbours = ["10.9.0.7", "2001:db8:9::7"].map {
            KernelNeighbour(
                interface: "lan", address: address($0), hardware: hardware("02:00:00:00:00:07"), isRouter: false)
        }
        let text = NetworkScript(plan, on: machine).firewall
        let mark = "& 0x00ffffff | 0x53000000"
        #expect(
            text == """
                table inet starship
                delete table inet starship
                table inet starship {
                \tset lent_ipv4 {
                \t\ttype ipv4_addr . ipv4_addr
                \t\tflags timeout
                \t}

                \tset lent_to_all_ipv4 {
                \t\ttype ipv4_addr
                \t\tflags timeout
                \t}

                \tset insists_ipv4 {
                \t\ttype ipv4_addr . ipv4_addr . inet_service
                \t\tsize 1024
                \t\tflags dynamic,timeout
                \t\ttimeout 1h
                \t}

                \tset lent_ipv6 {
                \t\ttype ipv6_addr . ipv6_addr
                \t\tflags timeout
                \t}

                \tset lent_to_all_ipv6 {
                \t\ttype ipv6_addr
                \t\tflags timeout
                \t}

                \tset insists_ipv6 {
                \t\ttype ipv6_addr . ipv6_addr . inet_service
                \t\tsize 1024
                \t\tflags dynamic,timeout
                \t\ttimeout 1h
                \t}

                \tchain lend {
                \t\ttype filter hook prerouting priority mangle; policy accept;
                \t\tiifname { "lan", "wlan0" } ip saddr . ip daddr @lent_ipv4 meta mark set meta mark \(mark)
                \t\tiifname { "lan", "wlan0" } ip daddr @lent_to_all_ipv4 meta mark set meta mark \(mark)
                \t\tiifname { "lan", "wlan0" } ip6 saddr . ip6 daddr @lent_ipv6 meta mark set meta mark \(mark)
                \t\tiifname { "lan", "wlan0" } ip6 daddr @lent_to_all_ipv6 meta mark set meta mark \(mark)
                \t}

                \tchain dns {
                \t\ttype nat hook prerouting priority dstnat; policy accept;
                \t\tiifname { "lan", "wlan0" } meta l4proto { tcp, udp } th dport { 53, 853 } ip saddr != { 10.9.0.7 } \
                fib daddr type != local update @insists_ipv4 { ip saddr . ip daddr . th dport }
                \t\tiifname { "lan", "wlan0" } meta l4proto { tcp, udp } th dport { 53, 853 } \
                ip6 saddr != { 2001:db8:9::7 } fib daddr type != local \
                update @insists_ipv6 { ip6 saddr . ip6 daddr . th dport }
                \t\tiifname { "lan", "wlan0" } meta l4proto { tcp, udp } th dport 53 redirect to :10053
                \t\tiifname { "lan", "wlan0" } fib daddr . iif type local tcp dport 80 redirect to :10080
                \t\tiifname { "lan", "wlan0" } ip daddr { 198.18.0.1 } tcp dport 80 redirect to :10080
                \t\tiifname { "lan", "wlan0" } ip6 daddr { 2001:2::1 } tcp dport 80 redirect to :10080
                \t}

                \tchain forward {
                \t\ttype filter hook forward priority filter - 10; policy accept;
                \t\ttcp flags & (syn | rst) == syn jump clamp
                \t\toifname "starship0" goto captured
                \t\tct mark & 0xff000000 == 0x53000000 jump released
                \t\ttcp dport 853 jump encrypted
                \t\tudp dport 853 jump encrypted
                \t}

                \tchain clamp {
                \t\tiifname { "lan", "wlan0" } tcp option maxseg size set rt mtu
                \t\toifname { "lan", "wlan0" } tcp option maxseg size set rt mtu
                \t}

                \tchain captured {
                \t\tiifname { "lan", "wlan0" } ct direction original ct status snat jump refuse
                \t\tiifname { "lan", "wlan0" } ct direction original ct state new ct mark set ct mark \(mark)
                \t}

                \tchain released {
                \t\tiifname { "lan", "wlan0" } ct direction original jump refuse
                \t}

                \tchain encrypted {
                \t\tiifname { "lan", "wlan0" } meta nfproto ipv4 ip saddr != { 10.9.0.7 } jump refuse
                \t\tiifname { "lan", "wlan0" } meta nfproto ipv6 ip6 saddr != { 2001:db8:9::7 } jump refuse
                \t}

                \tchain uplink {
                \t\ttype nat hook postrouting priority srcnat; policy accept;
                \t\tiifname { "lan", "wlan0" } oifname "wan" meta nfproto ipv4 masquerade
                \t\tiifname { "lan", "wlan0" } oifname "wan" ip6 saddr fc00::/7 ip6 daddr != fc00::/7 masquerade
                \t}

                \tchain refuse {
                \t\tmeta l4proto tcp reject with tcp reset
                \t\treject
                \t}
                }

                """)
    }

    @Test("with one arm devices are known by their networks, all of theirs is masqueraded, IPv6 redirects are dropped")
    func oneArm() {
        var plan = Machines.plan(.gateway, [NetworkPlan.LAN("wan", .names)])
        plan.dnsPort = 10053
        plan.pagePort = 10080
        let text = NetworkScript(plan, on: Machines.oneArm()).firewall
        let lines = text.split(separator: "\n").map { $0.trimmingPrefix("\t\t") }
        #expect(lines.contains("iifname \"wan\" ip saddr { 10.77.0.0/24 } oifname \"wan\" masquerade"))
        #expect(lines.contains("iifname \"wan\" ip6 saddr { 2001:db8:77::/64 } oifname \"wan\" masquerade"))
        #expect(lines.contains("oifname \"wan\" icmpv6 type nd-redirect drop"))
        #expect(
            lines.contains(
                "iifname \"wan\" ip saddr { 10.77.0.0/24 } meta l4proto { tcp, udp } th dport 53 redirect to :10053"))
        for network in ["ip saddr { 10.77.0.0/24 }", "ip6 saddr { 2001:db8:77::/64 }"] {
            #expect(
                lines.contains("iifname \"wan\" \(network) fib daddr . iif type local tcp dport 80 redirect to :10080"),
                "\(text)")
        }
    }

    @Test("who uses the proxy from another network finds the page where the proxy is, and nowhere else")
    func pageGuests() {
        var plan = Machines.plan(.gateway, [NetworkPlan.LAN("lan", .names)])
        // One of these networks is in another: a set must not have both.
        let networks = ["10.20.0.0/16", "10.20.3.0/24", "2001:db8:20::/48"].compactMap { IPPrefix(parsing: $0) }
        plan.pageGuests = .init(networks: networks, listeners: [address("10.77.0.1"), address("::")])
        let without = NetworkScript(plan, on: Machines.twoArms()).firewall
        #expect(!without.contains("dport 80"))
        plan.pagePort = 8080
        let text = NetworkScript(plan, on: Machines.twoArms()).firewall
        let lines = text.split(separator: "\n").filter { $0.contains("dport 80") && !$0.contains("iifname") }
        #expect(
            lines == [
                "\t\tip saddr { 10.20.0.0/16 } ip daddr { 10.77.0.1 } tcp dport 80 redirect to :8080",
                "\t\tip6 saddr { 2001:db8:20::/48 } fib daddr type local tcp dport 80 redirect to :8080",
            ])
    }

    @Test("without a page port 80 is left alone, and a page does not need the name service")
    func page() {
        var plan = Machines.plan(.gateway, [NetworkPlan.LAN("lan", .names)])
        let without = NetworkScript(plan, on: Machines.twoArms()).firewall
        #expect(!without.contains("redirect") && !without.contains("dport 80"))
        plan.pagePort = 8080
        let text = NetworkScript(plan, on: Machines.twoArms()).firewall
        #expect(text.split(separator: "redirect").count == 4)
        #expect(
            text.contains(
                """
                \tchain dns {
                \t\ttype nat hook prerouting priority dstnat; policy accept;
                \t\tiifname "lan" fib daddr . iif type local tcp dport 80 redirect to :8080
                \t\tiifname "lan" ip daddr { 198.18.0.1 } tcp dport 80 redirect to :8080
                \t\tiifname "lan" ip6 daddr { 2001:2::1 } tcp dport 80 redirect to :8080
                \t}
                """))
    }

    @Test("port 443 of our own addresses is nobody's: nothing of the table looks at what is for this machine")
    func encryptedPage() {
        var plan = Machines.plan(.gateway, [NetworkPlan.LAN("lan", .all)])
        (plan.dnsPort, plan.pagePort, plan.refusesEncryptedDNS) = (10053, 10080, true)
        let text = NetworkScript(plan, on: Machines.twoArms()).firewall
        #expect(!text.contains("hook input"))
        #expect(!text.contains("443"))
    }

    @Test("host: marks are kept by connections, DNS of unmarked sockets is ours (B198)")
    func host() {
        var plan = Machines.plan(.host)
        plan.dnsPort = 10053
        let standing = StandingConnections(
            reading:
                """
                LISTEN 0 128 0.0.0.0:22 0.0.0.0:*
                LISTEN 0 128 [::]:8080 [::]:*
                ESTAB 0 0 10.77.0.1:22 192.0.2.50:50000
                ESTAB 0 0 [::ffff:10.77.0.1]:8080 [::ffff:192.0.2.51]:50001
                ESTAB 0 0 [2001:db8::1]:8080 [2001:db8::2]:50002
                ESTAB 0 0 127.0.0.1:22 127.0.0.1:50003
                ESTAB 0 0 10.77.0.1:40000 203.0.113.1:443
                ESTAB 0 0 10.77.0.1%wan:40001 203.0.113.2:22
                """)
        let text = NetworkScript(plan, on: Machines.twoArms(), standing: standing).firewall
        let lines = text.split(separator: "\n").map { $0.trimmingPrefix("\t\t") }
        let mark = "& 0x00ffffff | 0x53000000"
        let four = [
            "10.77.0.1 . 22 . 192.0.2.50 . 50000", "10.77.0.1 . 40001 . 203.0.113.2 . 22",
            "10.77.0.1 . 8080 . 192.0.2.51 . 50001",
        ]
        #expect(lines.contains("elements = { \(four.joined(separator: ", ")) }"), "\(text)")
        #expect(lines.contains("elements = { 2001:db8::1 . 8080 . 2001:db8::2 . 50002 }"))
        #expect(
            lines.contains(
                "iifname != { \"lo\", \"starship0\" } fib daddr type local ct direction original "
                    + "ct mark set ct mark \(mark)"))
        #expect(lines.contains("ct mark & 0xff000000 == 0x53000000 meta mark set meta mark \(mark)"))
        #expect(
            lines.contains(
                "meta mark & 0xff000000 != 0x53000000 meta l4proto { tcp, udp } th dport 53 redirect to :10053"))
    }

    @Test("addresses are lent for the time that is left, in whole seconds; to all where they are of another family")
    func lends() {
        let now = Instant(nanoseconds: 1_000_000_000)
        let lent = [
            ("10.9.0.2", "198.51.100.1", 30_000), ("10.9.0.2", "198.51.100.2", 1), ("10.9.0.3", "198.51.100.1", 0),
            ("2001:db8::2", "2001:db8::9", 1500), ("10.9.0.2", "2001:db8::9", 1000),
        ].map {
            NetworkPlan.Lent(
                device: address($0), address: address($1), until: now + .milliseconds(Int64($2)))
        }
        #expect(
            FirewallText.lending(lent, now: now) == """
                add element inet starship lent_ipv4 \
                { 10.9.0.2 . 198.51.100.1 timeout 30s, 10.9.0.2 . 198.51.100.2 timeout 1s }
                add element inet starship lent_ipv6 { 2001:db8::2 . 2001:db8::9 timeout 2s }
                add element inet starship lent_to_all_ipv6 { 2001:db8::9 timeout 1s }

                """)
    }

    /// What nft shows where Docker (iptables-nft) is installed, shortened.
    static let docker = """
        table ip nat {
        \tchain POSTROUTING {
        \t\ttype nat hook postrouting priority srcnat; policy accept;
        \t}
        }
        table ip filter {
        \tchain FORWARD {
        \t\ttype filter hook forward priority filter; policy drop;
        \t\tcounter packets 0 bytes 0 jump DOCKER-USER
        \t}

        \tchain DOCKER-USER {
        \t\tcounter packets 0 bytes 0 return
        \t}
        }
        """

    @Test(
        "a chain that drops is named with the command that mends it, for the tool that made it",
        arguments: [
            (docker, ["iptables -I DOCKER-USER -i lan -j ACCEPT", "iptables -I DOCKER-USER -o lan -j ACCEPT"]),
            (
                docker.replacing("DOCKER-USER", with: "ufw-before-forward"),
                ["ufw route allow in on lan", "ufw route allow out on lan"]
            ),
            (
                "table inet firewalld {\n\tchain filter_FORWARD {\n\t\ttype filter hook forward priority filter + 10; "
                    + "policy accept;\n\t\tct state { established, related } accept\n\t\treject with icmpx admin-prohibited\n\t}\n}",
                ["firewall-cmd --permanent --zone=trusted --change-interface=lan", "firewall-cmd --reload"]
            ),
            (
                "table inet mine {\n\tchain fwd {\n\t\ttype filter hook forward priority filter; policy drop;\n\t}\n}",
                [
                    "nft insert rule inet mine fwd iifname lan accept",
                    "nft insert rule inet mine fwd oifname lan accept",
                ]
            ),
        ])
    func namesForeignChains(ruleset: String, mending: [String]) {
        #expect(ForeignChain.find(ruleset, lan: ["lan"], [10053]).map(\.mending) == [mending])
    }

    @Test("a chain that lets the LAN pass, or drops nothing, is not named")
    func passesMendedChains() {
        let mended = Self.docker.replacing(
            "\t\tcounter packets 0 bytes 0 return",
            with:
                "\t\tiifname \"lan\" counter packets 1 bytes 60 accept\n\t\toifname \"lan\" counter packets 1 bytes 60 accept"
        )
        #expect(ForeignChain.find(mended, lan: ["lan"], []).isEmpty)
        #expect(ForeignChain.find(mended, lan: ["lan", "lan2"], []).count == 1)
        #expect(
            ForeignChain.find(Self.docker.replacing("policy drop", with: "policy accept"), lan: ["lan"], []).isEmpty)
        #expect(
            ForeignChain.find(
                "table inet starship {\n\tchain x {\n\t\ttype filter hook forward priority 0; policy drop;\n\t}\n}",
                lan: ["lan"], []
            )
            .isEmpty)
    }

    @Test(
        "a chain that drops what is for the gateway is mended for each of its ports that is closed, each command once")
    func mendsInput() {
        let chain = { (rules: String) in
            "table inet mine {\n\tchain in {\n\t\ttype filter hook input priority filter; policy drop;\n\(rules)\t}\n}"
        }
        let command = { (port: Int) in
            "nft insert rule inet mine in iifname lan meta l4proto { tcp, udp } th dport \(port) accept"
        }
        let find = { (rules: String) in
            ForeignChain.find(chain(rules), lan: ["lan"], [10053, 10080]).flatMap(\.mending)
        }
        #expect(find("") == [command(10053), command(10080)])
        #expect(find("\t\tiifname \"lan\" udp dport 10053 accept\n") == [command(10080)])
        #expect(find("\t\tiifname \"lan\" tcp dport { 22, 10050-10060, 10080 } counter accept\n").isEmpty)
        #expect(find("\t\tiifname \"lan\" tcp dport 22 accept\n") == [command(10053), command(10080)])
        #expect(find("\t\tiifname \"lan\" accept\n").isEmpty)
        #expect(ForeignChain.find(chain(""), lan: ["lan"], []).isEmpty)
        // A listing that was cut off has no hook where one should stand.
        let cut = chain("").replacing("hook input priority filter; policy drop;", with: "hook")
        #expect(cut.contains("hook\n"))
        #expect(ForeignChain.find(cut, lan: ["lan"], [10053]).isEmpty)
        let firewalld = chain("").replacing("inet mine", with: "inet firewalld")
        #expect(ForeignChain.find(firewalld, lan: ["lan"], [10053, 10080]).map(\.mending.count) == [2])
    }

    @Test("what nft shows of the devices that insist is read, and nothing else is")
    func readsInsistences() {
        let listing = """
            table inet starship {
            \tset insists_ipv4 {
            \t\ttype ipv4_addr . ipv4_addr . inet_service
            \t\tsize 1024
            \t\tflags dynamic,timeout
            \t\ttimeout 1h
            \t\telements = { 10.9.0.2 . 198.51.100.11 . 853 timeout 1h expires 59m58s692ms,
            \t\t\t     10.9.0.3 . 198.51.100.53 . 53 timeout 1h expires 1s }
            \t}
            }
            """
        let found = Insistence.elements(of: listing)
        #expect(found.map(\.port) == [853, 53])
        #expect(found.map { "\($0.device) \($0.resolver)" } == ["10.9.0.2 198.51.100.11", "10.9.0.3 198.51.100.53"])
        // An element lives an hour.
        #expect(found.map(\.age) == [.milliseconds(1308), .seconds(3599)])
        let empty = "table inet starship {\n\tset insists_ipv4 {\n\t\ttype ipv4_addr\n\t}\n}"
        #expect(Insistence.elements(of: empty).isEmpty)
        #expect(Insistence.elements(of: "").isEmpty)
        // More hours than an interval can hold are no time.
        let endless = listing.replacing("59m58s692ms", with: "1048575h1048575h1048575h")
        #expect(Insistence.elements(of: endless).map(\.age) == [nil, .seconds(3599)])
    }
}
