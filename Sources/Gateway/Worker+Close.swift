/// The end of a flow: one reason, one line in the log, everything given back.

import Bytes
import Flows
import LinuxIO
import Relay
import Streams
import Wire

extension Worker {
    /// Refuses a segment without making a flow of it.
    mutating func refuse(_ key: FlowKey, _ segment: TCPSegment, because reason: CloseReason) {
        counters.flowsRefused += 1
        reasons[reason.kind, default: 0] += 1
        logFlow(key, target: nil, origin: .tunnel, relay: Relay(at: now), reason: reason)
        if let reset = TCPReset.answering(segment) { reply(reset, to: key) }
    }

    /// Ends a flow that is no longer wanted: what the client did not get is a reset for it.
    mutating func abort(_ handle: Handle, because reason: CloseReason) {
        flows[handle].ends(reason)
        if flows[handle].endpoint != nil {
            flows[handle].endpoint!.abort()
            emit(handle)
        }
        if flows[handle].client != nil { flows[handle].client!.socket.resetOnClose() }
        if flows[handle].upstream != nil { flows[handle].upstream!.socket.resetOnClose() }
        close(handle)
    }

    /// Takes a flow out of every table, writes its line and gives back what it holds.
    mutating func close(_ handle: Handle) {
        leaveHalfOpen(handle)
        timers.cancel(handle)
        var flow = flows.remove(handle)
        if flow.origin == .tunnel {
            _ = table.remove(flow.key)
            owners?.release(flow.key, by: index)
        }
        let reason = flow.closeReason
        reasons[reason.kind, default: 0] += 1
        if flow.endpoint != nil {
            let accounts = flow.endpoint!.accounts
            counters.retransmittedBytes += Int(truncatingIfNeeded: accounts.retransmitted)
            linger(flow.key, after: flow.endpoint!.phase, record: flow.endpoint!.timeWaitRecord(at: now))
            flow.endpoint!.release(&pool)
        }
        if flow.client != nil { flow.client!.release(pool: &pool) }
        if flow.upstream != nil { flow.upstream!.release(pool: &pool) }
        logFlow(flow.key, target: flow.target, origin: flow.origin, relay: flow.relay, reason: reason)
    }

    mutating func leaveHalfOpen(_ handle: Handle) {
        guard flows[handle].isHalfOpen else { return }
        flows[handle].isHalfOpen = false
        halfOpen.remove(from: flows[handle].key.client.address)
    }

    /// Gives up the device's oldest half-open flow for a new one.
    mutating func evictHalfOpen(of device: IPAddress) {
        while let handle = halfOpen.oldest(of: device) {
            guard flows.contains(handle), flows[handle].isHalfOpen else { continue }
            counters.halfOpenEvicted += 1
            abort(handle, because: .halfOpenLimit)
            return
        }
    }

    private func logFlow(
        _ key: FlowKey, target: Target?, origin: Origin, relay: Relay, reason: CloseReason
    ) {
    }
}

extension Flow {
    /// Why the flow ended, once both sides are gone.
    fileprivate var closeReason: CloseReason {
        if let reason { return reason }
        return .closed(first: relay.endedFirst ?? .client)
    }
}
