/// Which of the kernel's flows a switch has left on the wrong side.

import Addresses
import Bytes
import LinuxIO
import Testing

@testable import Network

@Suite struct StrandedFlowTests {
    private static let mark: UInt32 = 0x5300_0000

    private func flow(
        _ source: String, _ destination: String, _ transport: UInt8 = 17, translated: Bool = false,
        mark: UInt32 = 0
    ) -> TrackedFlow {
        TrackedFlow(
            from: address(source), to: address(destination), transport: transport, isSourceTranslated: translated,
            mark: mark)
    }

    private func stranded(
        _ capture: NetworkPlan.Capture, _ change: (inout NetworkPlan) -> Void = { _ in }
    ) -> StrandedFlows {
        var plan = Machines.plan(.gateway, [NetworkPlan.LAN("lan", capture)])
        change(&plan)
        return StrandedFlows(MachineView(plan, Machines.twoArms(), StandingConnections()))
    }

    @Test("what had the uplink's address is stranded once it is captured: UDP and pings, never TCP, nobody else's")
    func captured() {
        let flows = stranded(.all)
        #expect(flows.contains(flow("10.9.0.2", "198.51.100.10", translated: true)))
        #expect(flows.contains(flow("10.9.0.2", "198.51.100.10", 1, translated: true)))
        #expect(flows.contains(flow("2001:db8:9::2", "2001:db8:51::10", 58, translated: true)))
        #expect(!flows.contains(flow("10.9.0.2", "198.51.100.10", 6, translated: true)), "the firewall resets it")
        #expect(!flows.contains(flow("10.9.0.2", "198.51.100.10", mark: Self.mark)), "it was captured before")
        #expect(!flows.contains(flow("10.9.0.2", "10.9.0.3", translated: true)), "the LAN itself")
        #expect(!flows.contains(flow("10.77.0.1", "198.51.100.10", translated: true)), "our own")
    }

    @Test(
        "what was first seen on its way into the TUN device is stranded once it is not captured; other bits don't count"
    )
    func released() {
        let flows = stranded(.names)
        #expect(flows.contains(flow("10.9.0.2", "198.51.100.10", mark: Self.mark | 7)))
        #expect(!flows.contains(flow("10.9.0.2", "198.51.100.10", mark: 7)))
        #expect(!flows.contains(flow("10.9.0.2", "198.51.100.10", translated: true)), "it was direct before")
        #expect(!flows.contains(flow("10.9.0.2", "198.18.0.16", mark: Self.mark)), "fake addresses are captured always")
        #expect(stranded(.none).contains(flow("10.9.0.2", "203.0.113.9", mark: Self.mark)))
    }

    @Test("rules' prefixes, lent addresses, devices of their own and upstreams count as the kernel's rules do")
    func byNames() {
        let lent = NetworkPlan.Lent(
            device: address("10.9.0.2"), address: address("198.51.100.10"), until: Instant(nanoseconds: 1))
        let flows = stranded(.names) { plan in
            plan.captured = [prefix("203.0.113.0/24")]
            plan.lent = [lent]
            plan.devices = [.init(address("10.9.0.4"), .all), .init(address("10.9.0.5"), .none)]
            plan.upstreams = [address("10.9.0.6")]
        }
        #expect(flows.contains(flow("10.9.0.2", "203.0.113.9", translated: true)))
        #expect(flows.contains(flow("10.9.0.2", "198.51.100.10", translated: true)))
        #expect(!flows.contains(flow("10.9.0.3", "198.51.100.10", translated: true)), "lent to another device")
        #expect(flows.contains(flow("10.9.0.4", "192.0.2.1", translated: true)))
        #expect(!flows.contains(flow("10.9.0.5", "203.0.113.9", translated: true)))
        #expect(!flows.contains(flow("10.9.0.6", "203.0.113.9", translated: true)))
    }
}
