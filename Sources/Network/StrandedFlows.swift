/// What a switch has left on the wrong side, of that which has no reset: UDP and pings.
///
/// The kernel goes on translating a flow as it did with its first packet. One that had the uplink's address would keep
/// it on its way into the TUN device, and one that was first seen on its way there would have none to leave by the
/// uplink with; the firewall refuses both (`FirewallText`, "captured" and "released"). TCP starts anew after that, but
/// a program that sends datagrams from one port may go on for ever. So, once the routes are new, the kernel is told to
/// forget such flows: their next packet is the first.

import Addresses
import LinuxIO

struct StrandedFlows {
    /// ICMP, UDP and ICMP for IPv6.
    private static let transports: Set<UInt8> = [1, 17, 58]

    private let view: MachineView
    private let captured: [IPPrefix]
    private let exceptions: [IPPrefix]
    /// Who is in which network, with which capture.
    private let networks: [(prefix: IPPrefix, capture: NetworkPlan.Capture)]

    init(_ view: MachineView) {
        self.view = view
        captured = view.plan.fake + view.plan.captured
        exceptions = NetworkScript.exceptions(view)
        networks = view.plan.lan.flatMap { lan in view.machine.connected(lan.interface).map { ($0, lan.capture) } }
    }

    /// Whether the kernel has to forget a flow, because it goes the other way now.
    func contains(_ flow: TrackedFlow) -> Bool {
        guard Self.transports.contains(flow.transport), let isCaptured = isCaptured(flow) else { return false }
        let mark = view.plan.mark
        return isCaptured ? flow.isSourceTranslated : flow.mark & mark.mask == mark.value
    }

    /// Whether the rules lead a device's packets into the TUN device; nil when the sender is no device.
    private func isCaptured(_ flow: TrackedFlow) -> Bool? {
        guard let network = networks.first(where: { $0.prefix.contains(flow.source) }) else { return nil }
        if view.exempt.contains(flow.source) { return false }
        if isLent(flow) { return true }
        let device = view.plan.devices.first { $0.address == flow.source }
        switch device?.capture ?? network.capture {
        case .none: return view.plan.fake.contains { $0.contains(flow.destination) }
        case .names: return captured.contains { $0.contains(flow.destination) }
        case .all:
            return captured.contains { $0.contains(flow.destination) }
                || !exceptions.contains { $0.contains(flow.destination) }
        }
    }

    private func isLent(_ flow: TrackedFlow) -> Bool {
        view.plan.lent.contains { lent in
            lent.address == flow.destination
                && (lent.device == flow.source || lent.device.isIPv4 != lent.address.isIPv4)
        }
    }
}

extension NetworkSetup {
    /// Has the kernel forget what is on the wrong side of a change.
    ///
    /// Where the kernel tracks nothing there is nothing to be forgotten; what cannot be forgotten is refused, packet by
    /// packet, until it ends by itself.
    static func forgetStranded(_ plan: NetworkPlan, on machine: KernelNetwork) {
        guard plan.setup == .gateway else { return }
        let view = MachineView(plan, machine, StandingConnections())
        let stranded = StrandedFlows(view)
        for isIPv4 in view.families {
            try? TrackedFlow.forget(TrackedFlow.all(isIPv4: isIPv4, where: stranded.contains))
        }
    }
}
