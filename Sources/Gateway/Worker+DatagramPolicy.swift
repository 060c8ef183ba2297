/// What the policy says about datagrams and pings.

import Addresses
import Flows

extension Worker {
    /// What becomes of a datagram that belongs to no flow.
    func decideDatagram(_ key: FlowKey) -> DatagramDecision { settings.datagrams.decide(key) }

    /// Whether the way behind the tunnel is open for a device.
    func isReachable(from device: IPAddress) -> Bool { settings.datagrams.isReachable(device) }
}
