/// What the two tables hold, and the main one where no rule is needed.
///
/// Behind every route into the TUN device stands one that refuses. It counts when the device is gone, and the
/// kernel has taken the first one away with it: the gateway is dead then, and nothing that was to be proxied
/// leaves by the uplink.

import Addresses
import LinuxIO

extension NetworkScript {
    static func routes(_ view: MachineView) -> [KernelRoute] {
        view.families.flatMap { isIPv4 in
            let captured = (view.plan.fake + view.plan.captured).filter { $0.base.isIPv4 == isIPv4 }
            let anything = isIPv4 ? WellKnown.anyIPv4 : WellKnown.anyIPv6
            let own = NetworkNames.tables.flatMap { table in
                let all = table == NetworkNames.allTable ? [anything].compactMap(\.self) : []
                let inward = unique(all + captured)
                // A prefix that a rule names is captured even where it is the LAN's own.
                let outward = exceptions(view).filter { $0.base.isIPv4 == isIPv4 && !inward.contains($0) }
                return routes(view, table, leadingIn: inward, isIPv4: isIPv4)
                    + outward.map {
                        KernelRoute(table: table, kind: .throw, destination: $0, metric: NetworkNames.metric)
                    }
            }
            guard view.needsNoRule(isIPv4: isIPv4) else { return own }
            let fakes = view.plan.fake.filter { $0.base.isIPv4 == isIPv4 }
            return own + routes(view, KernelRoute.mainTable, leadingIn: fakes, isIPv4: isIPv4)
        }
    }

    private static func routes(
        _ view: MachineView, _ table: UInt32, leadingIn captured: [IPPrefix], isIPv4: Bool
    ) -> [KernelRoute] {
        var routes: [KernelRoute] = []
        // In tables of our own the number says it.
        let maker = table == KernelRoute.mainTable ? NetworkNames.maker : KernelRoute.madeByHand
        let isCarried = isIPv4 || view.carriesIPv6
        if view.hasTunnel, isCarried {
            routes += captured.map {
                KernelRoute(
                    table: table, destination: $0, interface: view.plan.tunnel, metric: NetworkNames.metric,
                    maker: maker)
            }
        }
        if view.plan.whenDown == .block || !isCarried {
            routes += captured.map {
                KernelRoute(
                    table: table, kind: .unreachable, destination: $0, metric: NetworkNames.lastMetric, maker: maker)
            }
        }
        return routes
    }

    /// What stays outside: upstreams, the LANs' own networks, and what is never forwarded.
    static func exceptions(_ view: MachineView) -> [IPPrefix] {
        let upstreams = view.plan.upstreams.map { IPPrefix(host: $0) }
        let connected = view.plan.lan.flatMap { view.machine.connected($0.interface) }
        return unique(upstreams + connected + WellKnown.neverCaptured)
    }

    private static func unique(_ prefixes: [IPPrefix]) -> [IPPrefix] { Set(prefixes).sorted(by: IPPrefix.isBefore) }
}
