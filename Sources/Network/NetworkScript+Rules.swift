/// Who asks which table.

import Addresses
import LinuxIO

extension NetworkScript {
    static func rules(_ view: MachineView) -> [KernelRule] {
        view.families.flatMap { isIPv4 in
            let family = RuleFamily(view: view, isIPv4: isIPv4)
            if view.plan.setup == .host { return family.host }
            return view.needsNoRule(isIPv4: isIPv4) ? [] : family.gateway
        }
    }
}

extension MachineView {
    /// Whether fake addresses are all that is captured, of every device: a route of the main table says that, as long
    /// as nobody else has rules that would be asked before it.
    ///
    /// A kernel without rules forwards faster, because it would ask them twice for each packet: for its way and for its
    /// source's. What comes from elsewhere the firewall keeps out of the TUN device ("uplink").
    func needsNoRule(isIPv4: Bool) -> Bool {
        guard plan.setup == .gateway, !plan.lan.isEmpty, plan.lent.isEmpty, !plan.lan.contains(where: isOneArm) else {
            return false
        }
        let hasPrefixes = plan.captured.contains { $0.base.isIPv4 == isIPv4 }
        let captures = plan.lan.map(\.capture) + plan.devices.map(\.capture)
        return captures.allSatisfy { $0 == .none || $0 == .names && !hasPrefixes }
            && machine.rules.allSatisfy { rule in
                rule.isIPv4 != isIPv4 || rule.isKernels || NetworkNames.priorities.contains(rule.priority)
            }
    }
}

extension KernelRule {
    /// Whether it is one of the three that every kernel begins with: the tables local, main and default.
    fileprivate var isKernels: Bool {
        [0: 255, 32766: KernelRoute.mainTable, 32767: 253].contains { priority, table in
            self == KernelRule(isIPv4: isIPv4, priority: priority, .lookup(table))
        }
    }
}

/// The rules of one family; the kernel keeps both apart.
private struct RuleFamily {
    typealias Priority = NetworkNames.Priority

    let view: MachineView
    let isIPv4: Bool

    private var plan: NetworkPlan { view.plan }
    private var fake: [IPPrefix] { plan.fake.filter { $0.base.isIPv4 == isIPv4 } }
    private var captured: [IPPrefix] { plan.captured.filter { $0.base.isIPv4 == isIPv4 } }

    private func rule(
        _ priority: UInt32, from source: IPPrefix? = nil, to destination: IPPrefix? = nil, by incoming: String? = nil,
        marked: Bool = false, port: UInt16? = nil, _ action: KernelRule.Action, suppressed: Int? = nil
    ) -> KernelRule {
        KernelRule(
            isIPv4: isIPv4, priority: priority, source: source, destination: destination, incoming: incoming,
            mark: marked ? KernelRule.Mark(value: plan.mark.value, mask: plan.mark.mask) : nil, sourcePort: port,
            action, suppressed: suppressed)
    }

    /// Devices: by the interface that they are on, or by their address.
    var gateway: [KernelRule] {
        var rules: [KernelRule] = []
        for lan in plan.lan {
            rules += view.exempt.filter { $0.isIPv4 == isIPv4 }.map {
                rule(Priority.exempt, from: IPPrefix(host: $0), by: lan.interface, .goto(Priority.end))
            }
            // Every packet that is forwarded asks each of these rules, so none is there without need.
            if !plan.lent.isEmpty {
                rules.append(rule(Priority.lent, by: lan.interface, marked: true, .lookup(NetworkNames.allTable)))
            }
            for device in plan.devices where device.address.isIPv4 == isIPv4 {
                let source = IPPrefix(host: device.address)
                rules += capture(
                    device.capture, Priority.device, fakes: Priority.deviceFakes, from: source, by: lan.interface)
                rules.append(rule(Priority.deviceEnd, from: source, by: lan.interface, .goto(Priority.end)))
            }
            for source in sources(of: lan) {
                let (whole, fakes) =
                    source == nil
                    ? (Priority.interface, Priority.interfaceFakes) : (Priority.network, Priority.networkFakes)
                rules += capture(lan.capture, whole, fakes: fakes, from: source, by: lan.interface)
            }
        }
        let isGone = rules.contains { if case .goto = $0.action { true } else { false } }
        return isGone ? rules + [rule(Priority.end, .nothing)] : rules
    }

    /// Everybody on an interface; with one arm the uplink's packets come by it too, so the networks are named.
    private func sources(of lan: NetworkPlan.LAN) -> [IPPrefix?] {
        view.isOneArm(lan) ? view.machine.connected(lan.interface, isIPv4: isIPv4) : [nil]
    }

    private func capture(
        _ capture: NetworkPlan.Capture, _ priority: UInt32, fakes: UInt32, from source: IPPrefix?, by incoming: String
    ) -> [KernelRule] {
        // A rule that names the only prefixes of a table is cheaper than the table.
        if capture == .none || capture == .names && captured.isEmpty {
            return fake.map { rule(fakes, from: source, to: $0, by: incoming, .lookup(NetworkNames.namesTable)) }
        }
        return [rule(priority, from: source, by: incoming, .lookup(capture.table))]
    }

    /// This machine's own sockets ("iif lo"), but for those that bear our mark and for answers of its services; of
    /// "all", what the machine has routes of its own for stays outside.
    ///
    /// The mark of a connection comes too late for a socket that finds no route at all, as while the gateway is
    /// dead, so the ports of the services that were there are named.
    var host: [KernelRule] {
        var rules = [rule(Priority.exempt, by: "lo", marked: true, .goto(Priority.end))]
        rules += view.standing.services.map { rule(Priority.exempt, by: "lo", port: $0, .goto(Priority.end)) }
        rules.append(rule(Priority.own, by: "lo", .lookup(NetworkNames.namesTable)))
        switch plan.own {
        case .none:
            rules.removeLast()
            rules += fake.map { rule(Priority.ownFakes, to: $0, by: "lo", .lookup(NetworkNames.namesTable)) }
        case .names: break
        case .all:
            rules.append(rule(Priority.connected, by: "lo", .lookup(KernelRoute.mainTable), suppressed: 0))
            rules.append(rule(Priority.everything, by: "lo", .lookup(NetworkNames.allTable)))
        }
        return rules + [rule(Priority.end, .nothing)]
    }
}
