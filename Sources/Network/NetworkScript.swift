/// What the plan means for this machine, before anything is done.

import Addresses
import LinuxIO

/// Everything of ours, as it should be.
struct NetworkScript: Equatable, Sendable {
    /// A setting of the kernel.
    struct Setting: Hashable, Sendable {
        var name: String
        var value: String
        /// Changed only where it has this value; anything else is the administrator's wish.
        var onlyFrom: String?
        /// Changed only where this other setting was "0" before us.
        var unless: String?
        /// Settings that the kernel changes along with it, and what they become.
        var along: [String: String] = [:]
    }

    /// The TUN device, when we set it up.
    struct Tunnel: Hashable, Sendable {
        var name: String
        var mtu: Int
        var addresses: [IPAddress]
    }

    var tunnel: Tunnel?
    var rules: [KernelRule] = []
    var routes: [KernelRoute] = []
    var settings: [Setting] = []
    /// What nft(8) gets, without the lent addresses; empty: no table at all.
    var firewall = ""

    /// Nothing: what is left after the end.
    init() {}

    /// Computes everything from the plan and the machine; `standing` is what `host` must not cut.
    init(_ plan: NetworkPlan, on machine: KernelNetwork, standing: StandingConnections = StandingConnections()) {
        guard plan.setup != .none else { return }
        let view = MachineView(plan, machine, standing)
        if view.hasTunnel {
            let addresses = plan.addresses.filter { $0.isIPv4 || view.carriesIPv6 }
            tunnel = Tunnel(name: plan.tunnel, mtu: plan.mtu, addresses: addresses)
        }
        routes = Self.routes(view)
        rules = Self.rules(view)
        settings = Self.settings(view)
        firewall = FirewallText(view).text
    }
}

/// A plan with what it needs to know of the machine.
struct MachineView {
    let plan: NetworkPlan
    let machine: KernelNetwork
    /// Interfaces to the Internet.
    let uplinks: [String]
    /// What was there before `host`.
    let standing: StandingConnections
    /// Machines that are always direct, with all their addresses.
    let exempt: [IPAddress]

    init(_ plan: NetworkPlan, _ machine: KernelNetwork, _ standing: StandingConnections) {
        self.standing = standing
        self.plan = plan
        self.machine = machine
        uplinks = plan.uplinks.isEmpty ? machine.uplinks(besides: plan.tunnel) : plan.uplinks
        exempt = machine.allAddresses(ofMachines: plan.upstreams, on: plan.lan.map(\.interface))
    }

    var hasTunnel: Bool { machine.link(plan.tunnel) != nil }
    var carriesIPv6: Bool { plan.ipv6 && machine.hasIPv6 }
    /// The families that there are, IPv4 first.
    var families: [Bool] { machine.hasIPv6 ? [true, false] : [true] }

    /// Whether the LAN is on the uplink's own interface.
    func isOneArm(_ lan: NetworkPlan.LAN) -> Bool { uplinks.contains(lan.interface) }
}

extension NetworkPlan.Capture {
    var table: UInt32 { self == .all ? NetworkNames.allTable : NetworkNames.namesTable }
}
