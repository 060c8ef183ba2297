/// After a switch: flows that would go another way now are reset, in slices, and the others never notice.

import Addresses
import Bytes
import Flows
import Relay
import Streams
import Upstreams

extension Worker {
    /// How many places of the flow table are looked at in one turn.
    private static var rerouteSlice: UInt32 { 256 }

    /// Looks at the next slice of flows, while there are some to be looked at.
    mutating func reroute() {
        guard let start = rerouteFrom else { return }
        let end = min(start + Self.rerouteSlice, flows.capacity)
        let policy = shared.policy
        for place in start..<end {
            guard let handle = flows.handle(at: place) else { continue }
            if hasAnotherWay(handle, by: policy) { abort(handle, because: .switched) }
        }
        guard end >= flows.capacity else {
            rerouteFrom = end
            return
        }
        rerouteFrom = nil
        rerouteDatagrams()
        forgetUpstreams(besides: policy)
    }

    /// Whether the rules send a flow elsewhere than where it goes.
    private func hasAnotherWay(_ handle: Handle, by policy: Policy) -> Bool {
        guard let target = flows[handle].target, !flows[handle].isQuestion else { return false }
        let (outbound, isAnswered) = (flows[handle].outbound, flows[handle].check != nil)
        guard outbound != nil || isAnswered else { return false }
        if case .listener(let position) = flows[handle].origin, shared.listeners[position].settings.outbound == .direct
        {
            return false
        }
        var destination = Destination(target, name: flows[handle].name, source: flows[handle].nameSource)
        if flows[handle].origin == .tunnel, flows[handle].nameSource != .fake {
            destination.address = shared.realAddress(of: flows[handle].key.target.address)
        }
        let route = policy.route(
            to: destination, from: flows[handle].key.client.address, asksNoCheck: !isAnswered)
        switch route.way {
        case .upstream(let upstream):
            guard let outbound else { return true }
            return !upstream.isSame(as: outbound) && route.standIn?.isSame(as: outbound) != true
        case .answer: return !isAnswered
        case .refused: return true
        }
    }

    /// What was learned about upstreams that are in no profile any more goes.
    private mutating func forgetUpstreams(besides policy: Policy) {
        let known = Set(policy.upstreams.map(\.number) + [policy.direct.number])
        memories = memories.filter { known.contains($0.key) }
    }
}
