/// Rules of others that are asked before ours: another tunnel's, as of WireGuard, Tailscale or a VPN client.
///
/// The kernel asks rules by their priority. One of a lower number takes what it has a route for, and ours never see it.

import Addresses
public import LinuxIO

/// A rule that may take what devices send before we are asked.
public struct EarlierRule: Hashable, Sendable {
    public var rule: KernelRule
    /// The route in its table that takes what we are to carry; nil: the table has none of the kind at present.
    public var takes: KernelRoute?
    /// Makes the same rule behind ours, then takes it away before; empty where the rule says more than we can.
    ///
    /// What leaves the TUN device for a LAN has to find it before the other's default route takes it, so the main
    /// table's own networks come first.
    public var mending: [String]

    /// Where a rule is moved to: behind all of ours, before the main table's.
    private static let behind: UInt32 = 10900
    private static let networksFirst: UInt32 = 10890

    /// Those of a plan's machine, the first asked first.
    public static func find(_ plan: NetworkPlan, _ machine: KernelNetwork) -> [EarlierRule] {
        guard plan.setup != .none else { return [] }
        let own = NetworkNames.priorities.lowerBound
        // Priority 0 asks for the machine's own addresses; nobody's packets are lost there.
        let earlier = machine.rules.filter { $0.priority > 0 && $0.priority < own && matters($0, plan, machine) }
        return earlier.sorted { ($0.priority, $0.isIPv4 ? 0 : 1) < ($1.priority, $1.isIPv4 ? 0 : 1) }.map { rule in
            EarlierRule(
                rule: rule, takes: taken(by: rule, plan, machine), mending: rule.hasMore ? [] : moving(rule, machine))
        }
    }

    private static func moving(_ rule: KernelRule, _ machine: KernelNetwork) -> [String] {
        var moved = rule
        moved.priority = behind
        let networks = KernelRule(
            isIPv4: rule.isIPv4, priority: networksFirst, .lookup(KernelRoute.mainTable), suppressed: 0)
        let lines =
            (machine.rules.contains(networks) ? [] : [networks.line("add")]) + [moved.line("add"), rule.line("del")]
        return lines.map { "ip \(rule.isIPv4 ? "-4" : "-6") \($0)" }
    }

    /// Whether packets of devices, or of the machine itself with `host`, can match.
    private static func matters(_ rule: KernelRule, _ plan: NetworkPlan, _ machine: KernelNetwork) -> Bool {
        let incoming = plan.setup == .host ? ["lo"] : plan.lan.map(\.interface)
        if let interface = rule.incoming, !incoming.contains(interface) { return false }
        // A mark is set by somebody for packets of theirs; devices' packets have none when they are routed.
        if rule.mark != nil { return false }
        if case .nothing = rule.action { return false }
        if case .goto = rule.action { return false }
        guard let source = rule.source, plan.setup == .gateway else { return true }
        return plan.lan.contains { lan in
            machine.connected(lan.interface, isIPv4: rule.isIPv4).contains { $0.overlaps(source) }
        }
    }

    private static func taken(by rule: KernelRule, _ plan: NetworkPlan, _ machine: KernelNetwork) -> KernelRoute? {
        let everything = rule.isIPv4 ? WellKnown.anyIPv4 : WellKnown.anyIPv6
        guard let anything = everything else { return nil }
        guard case .lookup(let table) = rule.action else {
            return KernelRoute(table: 0, kind: .prohibit, destination: rule.destination ?? anything)
        }
        var captured = (plan.fake + plan.captured).filter { $0.base.isIPv4 == rule.isIPv4 }
        if plan.lan.contains(where: { $0.capture == .all }) { captured.append(anything) }
        let ofTable = machine.routes.filter { $0.table == table && $0.destination.base.isIPv4 == rule.isIPv4 }
        let answers = ofTable.filter { leads($0.kind) && $0.destination.length > rule.suppressed ?? -1 }
        return answers.first { route in
            captured.contains { $0.overlaps(route.destination) } && !isInside(route.destination, plan, machine)
        }
    }

    /// Whether a route of this kind ends the search for packets that are passed on.
    private static func leads(_ kind: KernelRoute.Kind) -> Bool {
        switch kind {
        case .unicast, .blackhole, .unreachable, .prohibit: true
        case .local, .broadcast, .anycast, .multicast, .throw: false
        }
    }

    /// A LAN's own network is nothing that we carry.
    private static func isInside(_ destination: IPPrefix, _ plan: NetworkPlan, _ machine: KernelNetwork) -> Bool {
        plan.lan.contains { lan in
            machine.connected(lan.interface).contains {
                $0.length <= destination.length && $0.contains(destination.base)
            }
        }
    }
}
