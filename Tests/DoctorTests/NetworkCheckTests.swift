/// The machine's network: what is not as it should be, and whose chains and rules are in the way.

import Addresses
import LinuxIO
import Testing

@testable import Doctor
@testable import Network

/// The findings of one check that are no praise.
private func faults(_ sight: Sight, _ check: Check) -> [Finding] {
    Diagnosis(of: sight).findings.filter { $0.check == check && $0.grade != .ok }
}

@Suite("doctor and the network")
struct NetworkCheckTests {
    @Test("where everything is right nothing is found, and each check says what it saw")
    func isClean() {
        let diagnosis = Diagnosis(of: Samples.sight())
        #expect(diagnosis.grade == .ok)
        #expect(diagnosis.findings.filter { $0.grade != .ok } == [])
        let seen = Set(diagnosis.findings.map(\.check))
        #expect(
            seen.isSuperset(of: [.service, .kernel, .rules, .firewall, .foreignFirewall, .names, .mtu, .disk, .clock]))
    }

    @Test(
        "a setting of the kernel is named with what it does to devices and the sysctl that mends it",
        arguments: [
            ("net/ipv4/ip_forward", "0", Check.forwarding, "sysctl -w net/ipv4/ip_forward=1"),
            ("net/ipv4/conf/lan/rp_filter", "1", .filters, "sysctl -w net/ipv4/conf/lan/rp_filter=2"),
            ("net/ipv6/conf/all/forwarding", "0", .forwarding, "sysctl -w net/ipv6/conf/all/forwarding=1"),
        ])
    func settings(name: String, value: String, check: Check, command: String) {
        var sight = Samples.sight()
        var settings = Samples.settings
        #expect(settings[name] != nil)
        settings[name] = value
        sight.examination = Samples.examination(Samples.machine(), settings)
        let found = faults(sight, check)
        #expect(found.map(\.mending) == [[command]])
        #expect(found.allSatisfy { $0.grade == .wrong && !$0.meaning.isEmpty })
    }

    @Test("a setting that is ours in some machines alone is asked for where it was made")
    func conditionalSettings() {
        var settings = Samples.settings
        #expect(settings["net/ipv6/conf/wan/accept_ra"] == "2")
        settings["net/ipv6/conf/wan/accept_ra"] = "1"
        func found(_ saved: String) -> [NetworkExamination.Setting] {
            NetworkExamination(
                Samples.plan, on: Samples.machine(), wanted: nil, listing: .none, saved: saved,
                setting: { settings[$0] }
            ).settings
        }
        #expect(found("").isEmpty)
        #expect(
            found("setting net/ipv6/conf/wan/accept_ra 1 2\n").map(\.command) == [
                "sysctl -w net/ipv6/conf/wan/accept_ra=2"
            ])
    }

    @Test("with one arm redirects must not be sent")
    func redirects() {
        var machine = Samples.machine()
        machine.links.removeAll { $0.name == "lan" }
        var plan = Samples.plan
        plan.lan = [.init("wan", .all)]
        let script = NetworkScript(plan, on: machine)
        var settings = Dictionary(script.settings.map { ($0.name, $0.value) }) { first, _ in first }
        settings["net/ipv4/conf/all/send_redirects"] = "1"
        var sight = Samples.sight()
        sight.examination = NetworkExamination(
            plan, on: machine, wanted: nil, listing: .none, setting: { settings[$0] })
        #expect(faults(sight, .redirects).map(\.mending) == [["sysctl -w net/ipv4/conf/all/send_redirects=0"]])
    }

    @Test("a rule of ours that is gone is named with the line that makes it again; a strange one with its end")
    func rules() {
        var machine = Samples.machine()
        machine.rules.removeAll { $0.isIPv4 && $0.priority == NetworkNames.Priority.interface }
        machine.rules.append(KernelRule(isIPv4: true, priority: 10801, .lookup(99)))
        var sight = Samples.sight()
        sight.examination = Samples.examination(machine)
        #expect(
            faults(sight, .rules).map(\.mending) == [
                ["ip -4 rule add priority 10806 iif lan lookup 10801"], ["ip -4 rule del priority 10801 lookup 99"],
            ])
    }

    @Test("a route, an address and the MTU of the TUN device are compared too")
    func routes() {
        var machine = Samples.machine()
        machine.links[3].mtu = 1280
        machine.routes.removeAll { $0.table == 10801 && $0.interface == "starship0" && $0.destination.length == 0 }
        machine.addresses.removeAll { $0.interface == "starship0" && $0.address.isIPv4 }
        var sight = Samples.sight()
        sight.examination = Samples.examination(machine)
        let lines = faults(sight, .routes).flatMap(\.mending)
        #expect(lines.contains("ip -4 link set dev starship0 mtu 1500 up"))
        #expect(lines.contains("ip -4 address add 198.18.0.1/32 dev starship0"))
        #expect(lines.contains("ip -4 route replace default dev starship0 table 10801 metric 100"))
    }

    @Test("our table is compared without its counters")
    func firewall() {
        var sight = Samples.sight()
        sight.examination = Samples.examination(
            listing: Samples.ours.replacing("packets 3 bytes 180", with: "packets 9 bytes 900"))
        #expect(faults(sight, .firewall).isEmpty)
        sight.examination = Samples.examination(listing: Samples.ours.replacing("accept", with: "drop"))
        #expect(faults(sight, .firewall).map(\.mending) == [["starshipctl reload"]])
        #expect(faults(sight, .firewall)[0].words.contains("missing: counter accept; added: counter drop"))
        sight.examination = Samples.examination(listing: nil)
        #expect(faults(sight, .firewall).map(\.words) == ["table inet starship is gone"])
    }

    // Others' firewalls

    @Test(
        "a chain that drops what devices send is named by its owner, table and chain, with the commands that mend it",
        arguments: [
            (
                Samples.docker, "lan", "Docker's chain ip filter FORWARD",
                ["iptables -I DOCKER-USER -i lan -j ACCEPT", "iptables -I DOCKER-USER -o lan -j ACCEPT"]
            ),
            (
                Samples.ufw, "lan", "ufw's chain ip filter FORWARD",
                ["ufw route allow in on lan", "ufw route allow out on lan"]
            ),
            (
                Samples.firewalld, "lan", "firewalld's chain inet firewalld filter_FORWARD",
                ["firewall-cmd --permanent --zone=trusted --change-interface=lan", "firewall-cmd --reload"]
            ),
            (
                Samples.libvirt, "virbr0", "libvirt's chain ip libvirt_network guest_output",
                ["nft insert rule ip libvirt_network guest_output iifname virbr0 accept"]
            ),
            (
                Samples.olderLibvirt, "virbr0", "libvirt's chain ip filter LIBVIRT_FWI",
                ["iptables -I LIBVIRT_FWI -o virbr0 -j ACCEPT"]
            ),
        ])
    func foreign(ruleset: String, lan: String, words: String, mending: [String]) throws {
        var sight = Samples.sight()
        sight.foreign = (ForeignChain.find(ruleset, lan: [lan], [10053, 10080]), [])
        let found = try #require(faults(sight, .foreignFirewall).first)
        #expect(found.grade == .wrong && found.words.hasPrefix(words))
        #expect(found.mending == mending)
    }

    @Test("libvirt's refusals for its own bridge are nobody else's, and both directions are named for a LAN on it")
    func libvirt() {
        #expect(ForeignChain.find(Samples.libvirt, lan: ["lan"], []).isEmpty)
        #expect(
            ForeignChain.find(Samples.libvirt, lan: ["virbr0"], []).map(\.chain) == ["guest_output", "guest_input"])
        let mended = Samples.libvirt
            .replacing("chain guest_output {\n", with: "chain guest_output {\n\t\tiifname \"virbr0\" accept\n")
            .replacing("chain guest_input {\n", with: "chain guest_input {\n\t\toifname \"virbr0\" accept\n")
        #expect(ForeignChain.find(mended, lan: ["virbr0"], []).isEmpty)
    }

    @Test("Docker, ufw and libvirt in one table are one chain to be opened: Docker's is asked first")
    func together() {
        let all = Samples.docker.replacing(
            "\t\tcounter packets 27 bytes 1620 jump DOCKER-FORWARD\n\t}",
            with:
                "\t\tcounter packets 27 bytes 1620 jump DOCKER-FORWARD\n\t\tjump LIBVIRT_FWI\n\t\tjump ufw-before-forward\n\t}"
        )
        #expect(ForeignChain.find(all, lan: ["lan"], []).map(\.manager) == [.docker])
    }

    // Others' rules

    @Test("a VPN's rule that is asked before ours is wrong where its table takes devices' packets, and is moved behind")
    func otherRules() {
        var sight = Samples.sight()
        sight.machine?.rules.append(KernelRule(isIPv4: true, priority: 5270, .lookup(52)))
        #expect(faults(sight, .otherRules).map(\.grade) == [.notice])
        sight.machine?.routes.append(
            KernelRoute(table: 52, destination: prefix("0.0.0.0/0"), interface: "tailscale0"))
        let found = faults(sight, .otherRules)
        #expect(found.map(\.grade) == [.wrong])
        #expect(found[0].words == "the IPv4 rule 5270 is asked before ours and takes 0.0.0.0/0 dev tailscale0")
        #expect(
            found[0].mending == [
                "ip -4 rule add priority 10890 lookup main suppress_prefixlength 0",
                "ip -4 rule add priority 10900 lookup 52", "ip -4 rule del priority 5270 lookup 52",
            ])
        // The main table's networks are asked first once.
        sight.machine?.rules.append(KernelRule(isIPv4: true, priority: 10890, .lookup(254), suppressed: 0))
        #expect(faults(sight, .otherRules)[0].mending.count == 2)
    }

    @Test(
        "rules that devices' packets never match are nobody's business",
        arguments: [
            KernelRule(isIPv4: true, priority: 0, .lookup(255)),
            KernelRule(isIPv4: true, priority: 100, incoming: "wg0", .lookup(52)),
            KernelRule(isIPv4: true, priority: 100, source: prefix("192.168.5.0/24"), .lookup(52)),
            KernelRule(isIPv4: true, priority: 100, mark: .init(value: 1, mask: 1), .lookup(52)),
            KernelRule(isIPv4: true, priority: 32764, .lookup(52)),
        ])
    func harmlessRules(rule: KernelRule) {
        var sight = Samples.sight()
        sight.machine?.rules.append(rule)
        sight.machine?.routes.append(KernelRoute(table: 52, destination: prefix("0.0.0.0/0"), interface: "wg0"))
        sight.machine?.routes.append(
            KernelRoute(table: 255, kind: .local, destination: prefix("10.9.0.1/32"), interface: "lan"))
        #expect(faults(sight, .otherRules).isEmpty)
    }

    // The machine around

    @Test("fake addresses that are somebody's, a missing LAN, no way out, and IPv6 by another router are each named")
    func notices() {
        var sight = Samples.sight()
        sight.machine?.routes.append(KernelRoute(table: 254, destination: prefix("198.18.4.0/24"), interface: "wan"))
        sight.machine?.links.removeAll { $0.name == "lan" }
        sight.machine?.routes.removeAll { $0.destination.length == 0 && $0.table == 254 }
        sight.machine?.neighbours.append(
            KernelNeighbour(
                interface: "lan", address: address("fe80::1234"), hardware: .init(bits: 5), isRouter: true,
                state: .reachable))
        #expect(faults(sight, .conflict).count == 1)
        #expect(faults(sight, .interfaces).count == 1)
        #expect(faults(sight, .uplink).count == 1)
        #expect(faults(sight, .ipv6).map(\.grade) == [.wrong])
        let order = Diagnosis(of: sight).findings(.wrong).map(\.check)
        #expect(order == order.sorted())
    }

    @Test("an IPv6 default route back into the LAN is taken away by its command")
    func around() {
        var sight = Samples.sight()
        sight.machine?.routes.append(
            KernelRoute(table: 254, destination: prefix("::/0"), interface: "lan", gateway: address("fe80::9")))
        #expect(
            faults(sight, .ipv6).map(\.mending) == [
                ["ip -6 route del default via fe80::9 dev lan", "sysctl -w net/ipv6/conf/lan/accept_ra=0"]
            ])
    }

    @Test(
        "a LAN that takes shorter packets than devices send is wrong",
        arguments: [(1500, 0), (9000, 0), (1400, 1), (1279, 1)])
    func linkMTU(mtu: Int, count: Int) {
        var sight = Samples.sight()
        sight.machine?.links[1].mtu = mtu
        let found = faults(sight, .mtu)
        #expect(found.count == count)
        #expect(found.allSatisfy { $0.mending == ["ip link set dev lan mtu 1500"] })
    }

    @Test("a device that answers small packets alone has something narrow in between; a silent one says nothing")
    func pathMTU() {
        var sight = Samples.sight()
        sight.pings = [
            .init("lan", "10.9.0.2", mtu: 1500, small: true, large: true),
            .init("lan", "10.9.0.3", mtu: 1500, small: false, large: false),
        ]
        #expect(faults(sight, .mtu).isEmpty)
        sight.pings.append(.init("lan", "10.9.0.4", mtu: 1500, small: true, large: false))
        #expect(faults(sight, .mtu).map(\.words) == ["10.9.0.4 on lan answers small packets, and none of 1500 octets"])
    }

    @Test("another tunnel matters where a default route leads into it")
    func otherTunnels() {
        var sight = Samples.sight()
        sight.tunnels = [.init("wg0", .wireguard)]
        #expect(faults(sight, .otherTunnels).isEmpty)
        sight.machine?.routes.append(KernelRoute(table: 254, destination: prefix("0.0.0.0/0"), interface: "wg0"))
        #expect(faults(sight, .otherTunnels).map(\.grade) == [.notice])
    }

    @Test("without network.setup nothing of the network is judged")
    func leavesAlone() {
        var sight = Samples.sight()
        sight.setup.network = .none
        sight.examination = nil
        sight.foreign = (ForeignChain.find(Samples.docker, lan: ["lan"], []), [])
        #expect(Diagnosis(of: sight).findings.filter { $0.grade != .ok } == [])
    }
}
