/// Fake addresses that are real ones somewhere.

import Addresses
import LinuxIO

enum Conflict {
    /// Routes as wide as these are ways to everywhere, not somebody's network.
    private static let wide = (ipv4: 7, ipv6: 16)

    /// The first pool that somebody uses, with whom.
    static func first(_ plan: NetworkPlan, _ machine: KernelNetwork) -> NetworkError? {
        for pool in plan.fake {
            if let address = machine.addresses.first(where: { isForeign($0, plan) && pool.overlaps($0.prefix) }) {
                return .conflict(
                    fake: pool,
                    with: "\(address.address)/\(address.prefix.length) is an address of \(address.interface)")
            }
            if let route = machine.routes.first(where: { isForeign($0, plan) && pool.overlaps($0.destination) }) {
                let way = (route.gateway.map { " via \($0)" } ?? "") + (route.interface.map { " dev \($0)" } ?? "")
                let table = route.table == KernelRoute.mainTable ? "" : " table \(route.table)"
                return .conflict(fake: pool, with: "there is a route to \(route.destination)\(way)\(table)")
            }
        }
        return nil
    }

    private static func isForeign(_ address: KernelAddress, _ plan: NetworkPlan) -> Bool {
        address.interface != plan.tunnel
    }

    private static func isForeign(_ route: KernelRoute, _ plan: NetworkPlan) -> Bool {
        let isWide = route.destination.length <= (route.destination.base.isIPv4 ? wide.ipv4 : wide.ipv6)
        return route.kind == .unicast && !NetworkNames.tables.contains(route.table) && !isWide
            && route.interface != plan.tunnel
    }
}
