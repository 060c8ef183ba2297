/// What is remembered, found out and reported.

import Addresses
import LinuxIO
import TestSupport
import Testing

@testable import Network

@Suite struct NetworkStateTests {
    @Test("what was there before us is never overwritten by a value of ours (B190)")
    func keepsOriginals() throws {
        var state = SavedState()
        state.note("net/ipv4/ip_forward", original: "0", ours: "1")
        state.note("net/ipv4/ip_forward", original: "1", ours: "1")
        state.note("net/ipv4/conf/eth0.20/rp_filter", original: "1", ours: "2")
        state.note(KernelLink(index: 3, name: "starship0", isUp: false, mtu: 1500))
        state.note(OwnAddress(interface: "starship0", address: address("2001:2::1")))
        #expect(
            state.text.split(separator: "\n").dropFirst() == [
                "setting net/ipv4/ip_forward 0 1", "setting net/ipv4/conf/eth0.20/rp_filter 1 2",
                "link starship0 1500 down", "address starship0 2001:2::1",
            ])
        #expect(try SavedState(parsing: state.text, path: "state") == state)
    }

    @Test("a file that is not ours is refused with its line", arguments: ["setting a", "address x y", "rm -rf"])
    func refusesOthers(line: String) {
        #expect(throws: NetworkError.savedState("state", line: 2)) {
            try SavedState(parsing: "# comment\n\(line)\n", path: "state")
        }
    }

    /// Root writes back what stands in the file, and the daemon that may have written it has fewer rights.
    @Test(
        "a file can't have anything but settings of the network written",
        arguments: [
            "setting net/ipv4/../../kernel/core_pattern 0 1", "setting kernel/sysrq 0 1", "setting /etc/passwd 0 1",
            "setting net/ipv4/ip_forward |/bin/sh 1", "setting net/ipv4/ip_forward 0 1;2", "setting net/core/bpf 0 1",
            "setting net//ip_forward 0 1", "setting net/ipv4 0 1", "link --force 1500 up",
        ])
    func refusesForeignSettings(line: String) {
        #expect(throws: NetworkError.savedState("state", line: 1)) {
            try SavedState(parsing: "\(line)\n", path: "state")
        }
    }

    @Test("fake addresses conflict with what is real, and with nothing else")
    func conflicts() {
        let plan = Machines.plan(.gateway, [NetworkPlan.LAN("lan", .names)])
        var machine = Machines.twoArms()
        #expect(Conflict.first(plan, machine) == nil)
        let harmless = [
            KernelRoute(table: 254, destination: prefix("128.0.0.0/1"), interface: "vpn"),
            KernelRoute(table: 254, kind: .blackhole, destination: prefix("198.18.0.0/15")),
            KernelRoute(table: 10800, destination: prefix("198.18.0.0/15"), interface: "old0"),
            KernelRoute(table: 254, destination: prefix("198.18.0.1/32"), interface: "starship0"),
        ]
        machine.routes += harmless
        #expect(Conflict.first(plan, machine) == nil)
        machine.routes.append(
            KernelRoute(
                table: 7, destination: prefix("198.18.7.0/24"), interface: "wan", gateway: address("10.77.0.9")))
        #expect(
            Conflict.first(plan, machine)?.description
                == "the fake addresses 198.18.0.0/15 are in use: there is a route to 198.18.7.0/24 via 10.77.0.9 "
                + "dev wan table 7; choose another pool (dns.pool, dns.pool6)")
    }

    @Test("what is missing, leads around the gateway or competes with it is reported")
    func notices() {
        let plan = Machines.plan(.gateway, [NetworkPlan.LAN("lan", .names), NetworkPlan.LAN("wlan0", .names)])
        var machine = Machines.twoArms()
        machine.neighbours = [
            KernelNeighbour(
                interface: "lan", address: address("fe80::99"), hardware: hardware("02:00:00:00:00:99"), isRouter: true),
            KernelNeighbour(
                interface: "wan", address: address("fe80::98"), hardware: hardware("02:00:00:00:00:98"), isRouter: true),
        ]
        machine.routes.append(
            KernelRoute(table: 254, destination: prefix("::/0"), interface: "lan", gateway: address("fe80::99")))
        #expect(
            NetworkNotice.of(plan, machine).map(\.description) == [
                "an IPv6 route leads around the gateway: default via fe80::99 dev lan",
                "another router on lan: devices may leave by IPv6 through fe80::99",
                "there is no interface wlan0 yet",
            ])
        machine.routes = []
        machine.neighbours = []
        #expect(NetworkNotice.of(plan, machine).contains(.noUplink))
    }

    @Test(
        "names that would mean something else to a tool are refused",
        arguments: ["eth*", "a b", "", "..", "-6", "a\"b", "sixteen-letters-"])
    func refusesNames(name: String) {
        var setup = NetworkSetup(statePath: "/nowhere/state")
        let plan = Machines.plan(.gateway, [NetworkPlan.LAN(name, .names)])
        #expect(throws: NetworkError.interfaceName(name)) { try setup.apply(plan) }
    }
}
