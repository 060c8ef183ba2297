/// The end of a flow: one reason, one line in the log, everything given back.

import Addresses
import Bytes
import Flows
import LinuxIO
import Relay
import Streams
import Upstreams
import Wire

extension Worker {
    /// Refuses a segment without making a flow of it.
    mutating func refuse(_ key: FlowKey, _ segment: TCPSegment, because reason: CloseReason) {
        counters.flowsRefused += 1
        countRefused(reason.kind)
        logBurst(reason.kind, key)
        if let reset = TCPReset.answering(segment) { reply(reset, to: key) }
    }

    /// Ends a flow that is no longer wanted: both sides are reset.
    mutating func abort(_ handle: Handle, because reason: CloseReason) {
        flows[handle].ends(reason)
        if flows[handle].endpoint != nil {
            flows[handle].endpoint.value.abort()
            emit(handle)
        }
        if flows[handle].client != nil { flows[handle].client.value.socket.resetOnClose() }
        if flows[handle].upstream != nil { flows[handle].upstream.value.socket.resetOnClose() }
        close(handle)
    }

    /// Takes a flow out of every table, writes its line and gives back what it holds.
    mutating func close(_ handle: Handle) {
        leaveHalfOpen(handle)
        timers.cancel(handle)
        var flow = flows.remove(handle)
        shares.remove(flow.key.client.address)
        if let dial = flow.dial { _ = dials.remove(dial) }
        if let session = flow.session { _ = sessions.remove(session) }
        if let forward = flow.forward { _ = forwards.remove(forward) }
        if flow.holdsFakeAddress { shared.names?.close(flow.key.target.address, now: now) }
        if let sniff = flow.sniff { _ = sniffs.remove(sniff) }
        if let check = flow.check { _ = checks.remove(check) }
        if let port = flow.servicePort { shared.dnsClients.remove(port, over: .tcp) }
        if flow.endpoint != nil {
            if !flow.isSucceeded {
                table.remove(flow.key)
                linger(flow.key, flow.endpoint.value.phase, flow.endpoint.value.timeWaitRecord(now: now))
            }
            counters.retransmittedBytes += Int(clamping: flow.endpoint.value.accounts.retransmitted)
            flow.endpoint.value.release(&pool)
        }
        flow.client?.release(pool: &pool)
        flow.upstream?.release(pool: &pool)
        flow.held.removeAll(in: &pool)
        let reason = flow.closeReason
        count(flow, reason.kind)
        if reason == .clientRefusedCertificate, let name = flow.name, shared.policy.showsDecryption(name) {
            flow.outbound?.noteRefusedCertificate(at: now)
        }
        if reason == .clientRefusedCertificate { tellOfRefusal(flow) }
        remember(flow, reason)
        noteRequest(flow, reason)
        logFlow(flow)
    }

    /// Notes that a flow is established, or gone.
    mutating func leaveHalfOpen(_ handle: Handle) {
        guard flows[handle].isHalfOpen else { return }
        flows[handle].isHalfOpen = false
        halfOpen.remove(handle, of: flows[handle].key.client.address)
    }

    /// Gives up the device's oldest half-open flow for a new one.
    mutating func evictHalfOpen(of device: IPAddress) {
        guard let handle = halfOpen.oldest(of: device) else { return }
        counters.halfOpenEvicted += 1
        say(.halfOpen, limit: shared.settings.halfOpenPerDevice, device)
        abort(handle, because: .halfOpenLimit)
    }
}
