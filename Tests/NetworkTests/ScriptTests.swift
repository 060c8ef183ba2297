/// What a plan becomes: the lines of ip(8).

import Addresses
import Bytes
import LinuxIO
import TestSupport
import Testing

@testable import Network

@Suite struct NetworkScriptTests {
    @Test("capture by names: a device, addresses, the fake range and the rules' prefixes, and a rule of the LAN")
    func names() {
        var plan = Machines.plan(.gateway, [NetworkPlan.LAN("lan", .names)])
        plan.captured = [prefix("203.0.113.0/24")]
        plan.upstreams = [address("10.77.0.2")]
        let machine = Machines.twoArms()
        let lines = NetworkScript(plan, on: machine).lines(isIPv4: true, on: machine)
        #expect(
            lines.filter { !$0.contains("table 10801") } == [
                "link set dev starship0 mtu 1500 up",
                "address add 198.18.0.1/32 dev starship0",
                "route replace 198.18.0.0/15 dev starship0 table 10800 metric 100",
                "route replace 203.0.113.0/24 dev starship0 table 10800 metric 100",
                "route replace unreachable 198.18.0.0/15 table 10800 metric 9999",
                "route replace unreachable 203.0.113.0/24 table 10800 metric 9999",
                "route replace throw 10.9.0.0/24 table 10800 metric 100",
                "route replace throw 10.77.0.2 table 10800 metric 100",
                "route replace throw 169.254.0.0/16 table 10800 metric 100",
                "route replace throw 224.0.0.0/4 table 10800 metric 100",
                "route replace throw 255.255.255.255 table 10800 metric 100",
                "rule add priority 10800 from 10.77.0.2 iif lan goto 10819",
                "rule add priority 10806 iif lan lookup 10800",
                "rule add priority 10819 nop",
            ])
    }

    @Test("capture of everything: the default route too, but for the LAN, multicast and link-local")
    func all() {
        let plan = Machines.plan(.gateway, [NetworkPlan.LAN("lan", .all)])
        let machine = Machines.twoArms()
        let lines = NetworkScript(plan, on: machine).lines(isIPv4: false, on: machine)
        #expect(
            lines.filter { !$0.contains("table 10800") } == [
                "address add 2001:2::1/128 dev starship0 nodad",
                "route replace default dev starship0 table 10801 metric 100",
                "route replace 2001:2::/48 dev starship0 table 10801 metric 100",
                "route replace unreachable default table 10801 metric 9999",
                "route replace unreachable 2001:2::/48 table 10801 metric 9999",
                "route replace throw 2001:db8:9::/64 table 10801 metric 100",
                "route replace throw fe80::/10 table 10801 metric 100",
                "route replace throw ff00::/8 table 10801 metric 100",
                "rule add priority 10806 iif lan lookup 10801",
            ])
    }

    @Test("where fake addresses are all that is captured no rule is there: routes of the main table lead in")
    func noRule() {
        var plan = Machines.plan(.gateway, [NetworkPlan.LAN("lan", .names), NetworkPlan.LAN("lab", .none)])
        plan.devices = [NetworkPlan.Device(address("10.9.0.7"), .none)]
        plan.upstreams = [address("10.9.0.5")]
        var machine = Machines.twoArms()
        machine.rules = [(0, 255), (32766, 254), (32767, 253)].flatMap { priority, table in
            [true, false].map { KernelRule(isIPv4: $0, priority: priority, .lookup(table)) }
        }
        let main = {
            NetworkScript(plan, on: machine).lines(isIPv4: true, on: machine).filter { $0.contains("table 254") }
        }
        #expect(NetworkScript(plan, on: machine).rules.isEmpty)
        #expect(
            main() == [
                "route replace 198.18.0.0/15 dev starship0 table 254 metric 100 proto 198",
                "route replace unreachable 198.18.0.0/15 table 254 metric 9999 proto 198",
            ])
        let kept = "oifname \"starship0\" iifname { \"lan\", \"lab\" } accept\n\t\toifname \"starship0\" drop\n"
        #expect(NetworkScript(plan, on: machine).firewall.contains(kept))
        // Rules of another family change nothing, others' of the same might be asked before the main table.
        let foreign = KernelRule(isIPv4: false, priority: 20000, source: prefix("2001:db8:9::/64"), .lookup(7))
        machine.rules.append(foreign)
        #expect(main().count == 2)
        machine.rules.append(KernelRule(isIPv4: true, priority: 20000, incoming: "lan", .lookup(7)))
        #expect(main().isEmpty)
        #expect(!NetworkScript(plan, on: machine).firewall.contains("starship0\" drop"))
        #expect(
            NetworkScript(plan, on: machine).rules.map { $0.line("add") }.contains(
                "rule add priority 10807 to 198.18.0.0/15 iif lan lookup 10800"))
    }

    @Test("a switch from routes of the main table to rules takes the routes away when the rules are there, and back")
    func toRules() {
        var plan = Machines.plan(.gateway, [NetworkPlan.LAN("lan", .names)])
        var machine = Machines.twoArms()
        machine.routes += NetworkScript(plan, on: machine).routes
        plan.lan = [NetworkPlan.LAN("lan", .all)]
        let towards = NetworkChanges(from: machine, to: NetworkScript(plan, on: machine))
        #expect(towards.rules.contains { $0.line == "rule add priority 10806 iif lan lookup 10801" })
        let removed = "route del 198.18.0.0/15 dev starship0 table 254 metric 100 proto 198"
        #expect(towards.removal.contains { $0.line == removed })
        // Somebody else's route of the main table is nobody's to take away.
        #expect(!towards.removal.contains { $0.line.contains("10.9.0.0/24") })
        machine.rules = NetworkScript(plan, on: machine).rules
        machine.routes.removeAll { $0.isOursInMain }
        plan.lan = [NetworkPlan.LAN("lan", .names)]
        let back = NetworkChanges(from: machine, to: NetworkScript(plan, on: machine))
        #expect(back.preparation.contains { $0.inverse == removed })
        #expect(back.rules.allSatisfy { $0.line.hasPrefix("rule del") } && !back.rules.isEmpty)
    }

    @Test("a rule that every packet asks is there only while it leads somewhere: lent addresses, exceptions, prefixes")
    func needed() {
        var plan = Machines.plan(.gateway, [NetworkPlan.LAN("lan", .names), NetworkPlan.LAN("lab", .all)])
        let rules = {
            NetworkScript(plan, on: Machines.twoArms()).rules.filter { $0.isIPv4 && $0.incoming == "lan" }
                .map { $0.line("add") }
        }
        #expect(rules() == ["rule add priority 10807 to 198.18.0.0/15 iif lan lookup 10800"])
        plan.lent = [.init(device: address("10.9.0.7"), address: address("192.0.2.1"), until: .never)]
        plan.captured = [prefix("203.0.113.0/24")]
        #expect(
            rules() == [
                "rule add priority 10802 iif lan fwmark 0x53000000/0xff000000 lookup 10801",
                "rule add priority 10806 iif lan lookup 10800",
            ])
    }

    @Test("each LAN and each device has a capture of its own")
    func captures() {
        var plan = Machines.plan(
            .gateway, [NetworkPlan.LAN("lan", .all), NetworkPlan.LAN("eth0.20", .names), NetworkPlan.LAN("lab", .none)])
        plan.devices = [
            NetworkPlan.Device(address("10.9.0.7"), .names), NetworkPlan.Device(address("10.9.0.8"), .none),
        ]
        let rules = NetworkScript(plan, on: Machines.twoArms()).rules.filter(\.isIPv4).map { $0.line("add") }
        #expect(
            rules.filter { $0.contains("iif lan ") } == [
                "rule add priority 10803 from 10.9.0.7 to 198.18.0.0/15 iif lan lookup 10800",
                "rule add priority 10805 from 10.9.0.7 iif lan goto 10819",
                "rule add priority 10803 from 10.9.0.8 to 198.18.0.0/15 iif lan lookup 10800",
                "rule add priority 10805 from 10.9.0.8 iif lan goto 10819",
                "rule add priority 10806 iif lan lookup 10801",
            ])
        #expect(rules.contains("rule add priority 10807 to 198.18.0.0/15 iif eth0.20 lookup 10800"))
        #expect(rules.contains("rule add priority 10807 to 198.18.0.0/15 iif lab lookup 10800"))
    }

    @Test("an upstream on the LAN is exempt with all addresses that have its link address (B192)")
    func exemptsMachines() {
        var plan = Machines.plan(.gateway, [NetworkPlan.LAN("lan", .all)])
        plan.upstreams = [address("10.9.0.5")]
        var machine = Machines.twoArms()
        machine.neighbours = [
            ("lan", "10.9.0.5", "02:00:00:00:00:05"), ("lan", "2001:db8:9::5", "02:00:00:00:00:05"),
            ("lan", "2001:db8:9::6", "02:00:00:00:00:06"), ("wan", "10.77.0.5", "02:00:00:00:00:05"),
        ].map { KernelNeighbour(interface: $0, address: address($1), hardware: hardware($2), isRouter: false) }
        let rules = NetworkScript(plan, on: machine).rules.map { $0.line("add") }
        #expect(
            rules.filter { $0.contains("10800") && $0.contains("goto") } == [
                "rule add priority 10800 from 10.9.0.5 iif lan goto 10819",
                "rule add priority 10800 from 2001:db8:9::5 iif lan goto 10819",
            ])
    }

    @Test("with one arm devices are told from the uplink's packets by their network, and redirects are off")
    func oneArm() {
        let plan = Machines.plan(.gateway, [NetworkPlan.LAN("wan", .all)])
        let script = NetworkScript(plan, on: Machines.oneArm())
        #expect(
            script.rules.filter { $0.incoming == "wan" }.map { $0.line("add") } == [
                "rule add priority 10808 from 10.77.0.0/24 iif wan lookup 10801",
                "rule add priority 10808 from 2001:db8:77::/64 iif wan lookup 10801",
            ])
        let settings = Dictionary(uniqueKeysWithValues: script.settings.map { ($0.name, $0.value) })
        #expect(settings["net/ipv4/conf/all/send_redirects"] == "0")
        #expect(settings["net/ipv4/conf/wan/send_redirects"] == "0")
        #expect(settings["net/ipv4/conf/wan/rp_filter"] == "2")
    }

    @Test("host: our own sockets and what has a way of its own stay outside (B192, B198)")
    func host() {
        var plan = Machines.plan(.host)
        plan.own = .all
        let standing = StandingConnections(reading: "LISTEN 0 9 *:22 *:*\nLISTEN 0 9 127.0.0.1:631 *:*")
        let script = NetworkScript(plan, on: Machines.twoArms(), standing: standing)
        #expect(
            script.rules.filter(\.isIPv4).map { $0.line("add") } == [
                "rule add priority 10800 iif lo fwmark 0x53000000/0xff000000 goto 10819",
                "rule add priority 10800 iif lo ipproto tcp sport 22 goto 10819",
                "rule add priority 10810 iif lo lookup 10800",
                "rule add priority 10811 iif lo lookup main suppress_prefixlength 0",
                "rule add priority 10812 iif lo lookup 10801",
                "rule add priority 10819 nop",
            ])
        let settings = Dictionary(uniqueKeysWithValues: script.settings.map { ($0.name, $0.value) })
        #expect(settings["net/ipv4/conf/all/src_valid_mark"] == "1")
        #expect(settings["net/ipv4/ip_forward"] == nil)
    }

    @Test("without a device the routes that refuse stand alone, and with whenDown direct none does (B216)")
    func whenDown() {
        var plan = Machines.plan(.gateway, [NetworkPlan.LAN("lan", .all)])
        let dead = NetworkScript(plan, on: Machines.twoArms(tunnel: false)).routes.filter { $0.kind != .throw }
        #expect(Set(dead.map(\.kind)) == [.unreachable])
        #expect(
            Set(dead.map { "\($0.table) \($0.destination)" }) == [
                "10800 198.18.0.0/15", "10800 2001:2::/48", "10801 0.0.0.0/0", "10801 198.18.0.0/15", "10801 ::/0",
                "10801 2001:2::/48",
            ])
        plan.whenDown = .direct
        #expect(!NetworkScript(plan, on: Machines.twoArms()).routes.contains { $0.kind == .unreachable })
    }

    @Test("with ipv6 off its packets are refused where they would be captured, not forwarded")
    func withoutIPv6() {
        var plan = Machines.plan(.gateway, [NetworkPlan.LAN("lan", .all)])
        plan.ipv6 = false
        plan.whenDown = .direct
        let script = NetworkScript(plan, on: Machines.twoArms())
        let routes = script.routes.filter { !$0.destination.base.isIPv4 && $0.kind != .throw }
        #expect(Set(routes.map(\.kind)) == [.unreachable])
        #expect(script.rules.contains { !$0.isIPv4 && $0.action == .lookup(10801) })
        #expect(script.tunnel?.addresses == [address("198.18.0.1")])
        #expect(!script.settings.contains { $0.name.contains("ipv6") && $0.name.contains("forwarding") })
    }

    @Test("each line has an inverse, and nothing is done twice")
    func inverses() {
        var plan = Machines.plan(.gateway, [NetworkPlan.LAN("lan", .names)])
        plan.captured = [prefix("2001:db8:cb::/48")]
        var machine = Machines.twoArms()
        let script = NetworkScript(plan, on: machine)
        let changes = NetworkChanges(from: machine, to: script)
        let all = changes.preparation + changes.rules
        #expect(all.first { $0.line.hasPrefix("link") }?.inverse == "link set dev starship0 mtu 1500 down")
        #expect(
            all.first { $0.line.hasPrefix("address") }?.inverse == "address del 198.18.0.1/32 dev starship0")
        #expect(
            all.first { $0.line.hasPrefix("route replace throw") }?.inverse
                == "route del throw 10.9.0.0/24 table 10800 metric 100")
        #expect(all.last?.inverse == "rule del priority 10806 iif lan lookup 10800")

        machine.routes += script.routes
        machine.rules += script.rules
        machine.links[3].isUp = true
        machine.addresses += [
            Machines.own("starship0", "198.18.0.1", "198.18.0.1/32"),
            Machines.own("starship0", "2001:2::1", "2001:2::1/128"),
        ]
        let none = NetworkChanges(from: machine, to: script)
        #expect(none.preparation.isEmpty && none.rules.isEmpty && none.removal.isEmpty)
        let undone = NetworkChanges(from: machine, to: NetworkScript())
        #expect(undone.rules.count == script.rules.count && undone.removal.count == script.routes.count)
    }

    @Test("other pools move the gateway's addresses along")
    func otherPools() {
        let plan = NetworkPlan(setup: .gateway, fake: [prefix("100.100.0.0/16"), prefix("fd53::/64")])
        #expect(plan.addresses == [address("100.100.0.1"), address("fd53::1")])
    }
}
