/// What the plan has to know of the machine.

import Addresses
import LinuxIO

extension KernelNetwork {
    func link(_ name: String) -> KernelLink? { links.first { $0.name == name } }

    /// The networks that devices on these interfaces are in; link-local ones are on every interface.
    func connected(_ interface: String, isIPv4: Bool? = nil) -> [IPPrefix] {
        let prefixes = addresses.filter { $0.interface == interface && !$0.address.isLinkLocal }.map(\.prefix)
        return Set(prefixes).filter { isIPv4 == nil || $0.base.isIPv4 == isIPv4 }.sorted(by: IPPrefix.isBefore)
    }

    /// The interfaces of the default routes, those of the best ones first.
    func uplinks(besides tunnel: String) -> [String] {
        let defaults = routes.filter {
            $0.table == KernelRoute.mainTable && $0.kind == .unicast && $0.destination.length == 0
        }
        var names: [String] = []
        for route in defaults.sorted(by: { $0.metric < $1.metric }) {
            guard let name = route.interface, name != tunnel, !names.contains(name) else { continue }
            names.append(name)
        }
        return names
    }

    /// The addresses, and all others of the same machines, as far as they are on one of these interfaces.
    func allAddresses(ofMachines addresses: [IPAddress], on interfaces: [String]) -> [IPAddress] {
        let near = neighbours.filter { interfaces.contains($0.interface) }
        let machines = near.filter { addresses.contains($0.address) }
        let theirs = near.filter { neighbour in
            machines.contains { $0.interface == neighbour.interface && $0.hardware == neighbour.hardware }
        }
        return Set(addresses + theirs.map(\.address)).filter { !$0.isLinkLocal }.sorted(by: IPAddress.isBefore)
    }
}

extension IPAddress {
    static func isBefore(_ left: IPAddress, _ right: IPAddress) -> Bool {
        (left.isIPv4 ? 0 : 1, left.high, left.low) < (right.isIPv4 ? 0 : 1, right.high, right.low)
    }
}

extension IPPrefix {
    /// A network of one address.
    init(host address: IPAddress) {
        // An address has a network of its full length, so there is always one.
        self = IPPrefix(address, length: address.isIPv4 ? 32 : 128) ?? WellKnown.neverCaptured[0]
    }

    static func isBefore(_ left: IPPrefix, _ right: IPPrefix) -> Bool {
        left.base == right.base ? left.length < right.length : IPAddress.isBefore(left.base, right.base)
    }

    func overlaps(_ other: IPPrefix) -> Bool { contains(other.base) || other.contains(base) }

    /// As ip(8) reads and nft(8) shows it.
    var text: String { length == (base.isIPv4 ? 32 : 128) ? "\(base)" : "\(self)" }
}
