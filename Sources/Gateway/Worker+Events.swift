/// What a flow's two ends report, and what it means for the other one.

import Bytes
import Flows
import LinuxIO
import Relay
import Streams
import Upstreams
import Wire

extension Worker {
    /// Takes note of what the endpoint reports.
    mutating func note(_ events: TCPEvents, of handle: Handle) {
        guard !events.isEmpty else { return }
        if events.contains(.established) { leaveHalfOpen(handle) }
        if events.contains(.acknowledged) { flows[handle].relay.progressed(at: now) }
        if events.contains(.finReceived) { flows[handle].clientEnded(at: now) }
        if events.contains(.outOfMemory) {
            counters.outOfMemory += 1
            say(.buffers, limit: shared.settings.bufferMemory)
        }
        if events.contains(.challenged) { counters.challenged += 1 }
        if events.contains(.outdated) { counters.outdated += 1 }
        if events.contains(.tooManyRanges) { counters.tooManyRanges += 1 }
        if events.contains(.reset) {
            let isWaiting = flows[handle].upstream == nil && flows[handle].check == nil
            let reason: CloseReason = isWaiting ? .clientGaveUp : .clientReset
            flows[handle].ends(flows[handle].tls.clientRefused ? .clientRefusedCertificate : reason)
            dropUpstream(handle)
        }
        if events.contains(.timedOut) {
            flows[handle].ends(flows[handle].isHalfOpen ? .handshakeNotCompleted : .clientUnreachable)
            dropUpstream(handle)
        }
    }

    /// Takes note of what a read of the upstream brought.
    mutating func noteUpstream(_ outcome: ReadOutcome, _ runs: ByteRuns, of handle: Handle) {
        switch outcome {
        case .bytes(let count):
            flows[handle].relay.moved(count, from: .upstream, at: now)
            observe(runs, count, of: handle)
            // An answer may let requests go on that wait for it.
            if flows[handle].forward != nil { touch(handle) }
        case .wouldBlock:
            break
        case .end:
            // A write may have been told of the reset first; then the read finds an end that is none.
            if let failure = flows[handle].upstream.value.failure { return upstreamFailed(failure, handle) }
            flows[handle].relay.sourceEnded(.upstream, at: now)
        case .failed(let failure):
            upstreamFailed(failure, handle)
        }
    }

    /// The upstream is gone by a reset: what it sent before still reaches the client, then the client is reset.
    mutating func upstreamFailed(_ failure: ErrorNumber, _ handle: Handle) {
        flows[handle].ends(.upstreamReset("\(failure)"))
        flows[handle].resetsWhenDrained = true
        flows[handle].relay.sourceEnded(.upstream, at: now)
    }

    /// Shows the first bytes from the upstream to those who look at them.
    private mutating func observe(_ runs: ByteRuns, _ count: Int, of handle: Handle) {
        let isWatched = flows[handle].tls.isWatching
        let forward = flows[handle].forward
        guard isWatched || forward != nil else { return }
        var left = count
        for position in 0..<runs.runCount where left > 0 {
            var run = runs[position]
            run.count = min(run.count, left)
            left -= run.count
            pool.withBytes(run) { bytes in
                if isWatched { flows[handle].tls.server(bytes) }
                if let forward { forwards[forward].observe(bytes) }
            }
        }
        if let forward { noteRefusedCredentials(forward, handle) }
    }

    /// The client is gone: the upstream is let go, with a reset if it was open.
    mutating func dropUpstream(_ handle: Handle) {
        if let dial = flows[handle].dial {
            flows[handle].dial = nil
            _ = dials.remove(dial)
        }
        if flows[handle].upstream != nil { flows[handle].upstream.value.socket.resetOnClose() }
    }

    /// What is due for a flow whose timer went off.
    mutating func timeout(_ handle: Handle) {
        if flows[handle].endpoint != nil, flows[handle].endpoint.value.deadline <= now {
            note(flows[handle].endpoint.value.timeout(now: now, settings: shared.settings.tcp), of: handle)
        }
        if let dial = flows[handle].dial {
            if dials[dial].deadline <= now {
                let upstream = dials[dial].upstreamNumber
                let progress = dials[dial].timeout(
                    memory: &memories[upstream, default: UpstreamMemory()], buffers: &dialBuffers, now: now)
                follow(progress, of: handle)
            }
        } else if let check = flows[handle].check {
            if checks[check].deadline <= now { return checkIsOverdue(handle, check) }
        } else if let session = flows[handle].session {
            if sessions[session].deadline <= now {
                return abort(handle, because: .badRequest("client asked for nothing"))
            }
        } else if flows[handle].upstream != nil {
            if !flows[handle].hasKeepalive, flows[handle].opened + settledAfter <= now { keepAlive(handle) }
            if flows[handle].relay.deadline(shared.settings.relay) <= now { relayIsOverdue(handle) }
        } else if flows[handle].client != nil, flows[handle].relay.deadline(Self.farewell) <= now {
            return close(handle)
        }
        if flows.contains(handle) { touch(handle) }
    }

    /// Has the kernel find out whether a silent upstream is still there.
    private mutating func keepAlive(_ handle: Handle) {
        let silence = shared.settings.upstreamKeepalive
        flows[handle].hasKeepalive = true
        flows[handle].upstream.value.socket.setKeepAlive(idle: silence, interval: silence / 4, count: 4)
    }

    private mutating func relayIsOverdue(_ handle: Handle) {
        if stillSends(handle) { return flows[handle].relay.restart(at: now) }
        // `halfClose: hold` keeps the client's end back for as long as this, and no longer.
        if flows[handle].relay.releaseHeld() {
            flows[handle].upstream.value.socket.shutdownSend()
            flows[handle].relay.restart(at: now)
            return
        }
        let isHalf = flows[handle].relay.endedFirst != nil
        abort(handle, because: isHalf ? .halfCloseTimeout : .idleTimeout)
    }

    /// Whether the kernel has got rid of octets since it was last asked: what it took from us may be on its way to
    /// a slow upstream for minutes.
    private mutating func stillSends(_ handle: Handle) -> Bool {
        let unsent = flows[handle].upstream.value.socket.unsentBytes()
        let isProgress = unsent > 0 && unsent != flows[handle].unsentBefore
        flows[handle].unsentBefore = unsent
        return isProgress
    }
}
