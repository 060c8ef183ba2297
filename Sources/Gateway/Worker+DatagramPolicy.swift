/// What the policy says about datagrams and pings.

import Addresses
import Bytes
import Flows
import Routing
import Upstreams
import Wire

extension Worker {
    /// What becomes of a datagram that belongs to no flow.
    ///
    /// No upstream carries datagrams. What is direct goes to its target, what would be proxied is refused, so that
    /// whoever speaks QUIC falls back to TCP; a profile may say otherwise, and a few ports go in any case.
    func decideDatagram(_ key: FlowKey) -> DatagramDecision {
        if let decides = shared.settings.datagrams.decides { return decides(key) }
        let port = key.target.port
        if port == 53 { return shared.settings.datagrams.service == nil ? .reject : .service }
        let policy = shared.policy
        let device = key.client.address
        guard policy.settings.ipv6 || key.target.address.isIPv4,
            let destination = destination(of: key.target, from: device)
        else { return .reject }
        let route = policy.route(to: destination, from: device, over: .udp)
        guard case .upstream(let upstream) = route.way else { return .reject }
        let isDirect = upstream.server == nil || shared.settings.datagrams.directPorts.contains(port)
        return isDirect || policy.settings.profiles[route.profile].letsDatagramsOut
            ? .direct(to: destination.direct) : .reject
    }

    /// Whether the way behind the tunnel is open for a device: pings are told so.
    func isReachable(from device: IPAddress) -> Bool {
        let policy = shared.policy
        return !policy.upstreams[policy.profile(of: device)].isLost(at: now)
    }

    /// Ends the flows that a switch sends elsewhere; their devices are told, so that they try anew at once.
    mutating func rerouteDatagrams() {
        for place in 0..<datagrams.flows.capacity {
            guard let handle = datagrams.flows.handle(at: place) else { continue }
            let (key, target) = (datagrams.flows[handle].key, datagrams.flows[handle].target)
            let decision: DatagramDecision = datagrams.flows[handle].kind == .service ? .service : .direct(to: target)
            guard decideDatagram(key) != decision else { continue }
            sendError(.portUnreachable, about: handle)
            closeDatagram(handle)
        }
    }
}
