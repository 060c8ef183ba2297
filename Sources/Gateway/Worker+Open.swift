/// What opening a flow needs: a place in the tables, numbers that nobody can guess, and the sizes of the way.

import Addresses
import Bytes
import Flows
import Relay
import Streams
import Upstreams
import Wire

extension Worker {
    /// Puts a flow of the tunnel into the tables; nil when another worker has it already.
    mutating func add(_ flow: consuming Flow) -> Handle? {
        let key = flow.key
        if let owners = shared.owners, owners.claim(key, for: index, now: now) != index { return nil }
        let handle = flows.insert(flow)
        guard table.insert(key, handle) else {
            _ = flows.remove(handle)
            shared.owners?.release(key, by: index)
            return nil
        }
        shares.add(key.client.address)
        if let names = shared.names, names.isFake(key.target.address),
            case .fake = names.open(key.target.address, for: key.client.address, now: now)
        {
            flows[handle].holdsFakeAddress = true
        }
        return handle
    }

    /// Whether a SYN is a dial of this machine's own that came back through the TUN device.
    func isOwn(_ key: FlowKey, by policy: Policy) -> Bool {
        policy.settings.direct.policy.own.contains { $0.contains(key.client.address) }
    }

    /// The most payload that a segment may carry: with offload a super-segment that fills an IP packet, without
    /// it the endpoint's own MSS decides.
    var largestPayload: Int {
        output != nil && output.value.hasVirtioHeader ? 65535 - OutgoingTCP.maximumHeaderLength : 0
    }
}

extension FlowKey {
    var family: AddressFamily { target.address.isIPv4 ? .ipv4 : .ipv6 }
}
