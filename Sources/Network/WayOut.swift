/// Whether this machine itself has a way to somewhere, as far as the kernel knows.

public import Addresses
public import LinuxIO

extension KernelNetwork {
    /// What is missing on the way to an address, or to anywhere at all (nil), in words; nil: nothing that shows here.
    ///
    /// Only the main table is asked: that is where our own marked sockets go. Ask after a connection has failed, when
    /// the kernel has tried to find the router.
    public func trouble(towards address: IPAddress?) -> String? {
        let ways = ways(towards: address)
        guard !ways.isEmpty else {
            return address.map { "there is no route to \($0)" } ?? "there is no default route"
        }
        let troubles = ways.map(trouble)
        // One whole way is enough.
        return troubles.contains(nil) ? nil : troubles.compactMap(\.self).first
    }

    /// The default routes, the best ones first.
    public var waysOut: [KernelRoute] { ways(towards: nil).sorted { $0.metric < $1.metric } }

    /// The routes that lead to an address, those of the longest prefix alone; without one the default routes.
    private func ways(towards address: IPAddress?) -> [KernelRoute] {
        let usable = routes.filter { route in
            guard route.table == KernelRoute.mainTable || route.kind == .local else { return false }
            return address.map(route.destination.contains) ?? (route.destination.length == 0)
        }
        guard let longest = usable.map(\.destination.length).max() else { return [] }
        return usable.filter { $0.destination.length == longest && ($0.kind == .unicast || $0.kind == .local) }
    }

    private func trouble(of route: KernelRoute) -> String? {
        guard route.kind == .unicast, let name = route.interface else { return nil }
        guard let link = link(name), link.isUp else { return "the interface \(name) is down" }
        guard link.hasCarrier else { return "the interface \(name) has no carrier: a cable, or its access point" }
        guard let router = route.gateway, link.asksNeighbours else { return nil }
        let answers = neighbours.contains { $0.interface == name && $0.address == router }
        return answers ? nil : "the router \(router) on \(name) does not answer"
    }
}
