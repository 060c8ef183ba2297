/// What the two tables hold.
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
            return NetworkNames.tables.flatMap { table in
                let all = table == NetworkNames.allTable ? [anything].compactMap { $0 } : []
                return routes(view, table, leadingIn: unique(all + captured), isIPv4: isIPv4)
            }
        }
    }

    private static func routes(
        _ view: MachineView, _ table: UInt32, leadingIn captured: [IPPrefix], isIPv4: Bool
    ) -> [KernelRoute] {
        var routes: [KernelRoute] = []
        let isCarried = isIPv4 || view.carriesIPv6
        if view.hasTunnel, isCarried {
            routes += captured.map {
                KernelRoute(
                    table: table, destination: $0, interface: view.plan.tunnel, metric: NetworkNames.metric)
            }
        }
        if view.plan.whenDown == .block || !isCarried {
            routes += captured.map {
                KernelRoute(table: table, kind: .unreachable, destination: $0, metric: NetworkNames.lastMetric)
            }
        }
        // A prefix that a rule names is captured even where it is the LAN's own.
        routes += exceptions(view).filter { $0.base.isIPv4 == isIPv4 }.filter { !captured.contains($0) }.map {
            KernelRoute(table: table, kind: .throw, destination: $0, metric: NetworkNames.metric)
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
