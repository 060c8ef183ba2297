/// Machines as the kernel would describe them.

import Addresses
import LinuxIO

@testable import Network

/// Reads a prefix that a test has written out.
func prefix(_ text: String) -> IPPrefix { IPPrefix(parsing: text) ?? WellKnown.neverCaptured[0] }

/// Reads an address that a test has written out.
func address(_ text: String) -> IPAddress { IPAddress(parsing: text) ?? IPAddress(v4: 0) }

/// Reads a link address that a test has written out.
func hardware(_ text: String) -> MACAddress { MACAddress(parsing: text) ?? MACAddress(bits: 0) }

enum Machines {
    /// A gateway with its LAN on `lan` and the Internet behind `wan`.
    static func twoArms(tunnel: Bool = true) -> KernelNetwork {
        var machine = KernelNetwork()
        machine.links = ["lo", "lan", "wan"].enumerated().map {
            KernelLink(index: UInt32($0 + 1), name: $1, isUp: true, mtu: 1500)
        }
        if tunnel { machine.links.append(KernelLink(index: 9, name: "starship0", isUp: false, mtu: 1500)) }
        machine.addresses = [
            own("lan", "10.9.0.1", "10.9.0.0/24"), own("lan", "2001:db8:9::1", "2001:db8:9::/64"),
            own("lan", "fe80::1", "fe80::/64"), own("wan", "10.77.0.1", "10.77.0.0/24"),
        ]
        machine.routes = [
            KernelRoute(
                table: 254, destination: prefix("0.0.0.0/0"), interface: "wan", gateway: address("10.77.0.2")),
            KernelRoute(table: 254, destination: prefix("10.9.0.0/24"), interface: "lan"),
        ]
        return machine
    }

    /// A gateway whose devices are on the uplink's own network.
    static func oneArm() -> KernelNetwork {
        var machine = twoArms()
        machine.links.removeAll { $0.name == "lan" }
        machine.addresses.removeAll { $0.interface == "lan" }
        machine.addresses.append(own("wan", "2001:db8:77::1", "2001:db8:77::/64"))
        machine.routes.removeAll { $0.interface == "lan" }
        return machine
    }

    static func own(_ interface: String, _ text: String, _ network: String) -> KernelAddress {
        KernelAddress(interface: interface, address: address(text), prefix: prefix(network))
    }

    static func plan(_ setup: NetworkPlan.Setup, _ lan: [NetworkPlan.LAN] = []) -> NetworkPlan {
        NetworkPlan(setup: setup, fake: [prefix("198.18.0.0/15"), prefix("2001:2::/48")], lan: lan)
    }
}

extension NetworkScript {
    /// The lines that make this out of nothing, of one family.
    func lines(isIPv4: Bool, on machine: KernelNetwork) -> [String] {
        let changes = NetworkChanges(from: machine, to: self)
        return (changes.preparation + changes.rules + changes.removal).filter { $0.isIPv4 == isIPv4 }.map(\.line)
    }
}
