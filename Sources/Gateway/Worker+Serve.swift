/// What follows for a flow from all that happened to it in a turn: bytes move on, ends are passed on, segments
/// are written, and the timer is set anew.

import Bytes
import Flows
import LinuxIO
import Relay
import Streams
import Upstreams
import Wire

extension Worker {
    /// How much all flows may read of sockets in one turn: few enough octets that they stay in the cache until they
    /// are written, and the acknowledgements that give their chunks back come in.
    static var turnBudget: Int { 512 << 10 }
    /// How much one flow may read of a socket in one turn.
    static var readBudget: Int { 256 << 10 }
    /// How much is read at a time: eight chunks, two full super-segments.
    static var readSize: Int { ByteRuns.capacity * BufferPool.chunkSize }
    /// How much may wait for a socket before its other side is read no further.
    static var waitingLimit: Int { 256 << 10 }

    /// How old a flow is when its upstream gets keepalive probes: most are over long before, and save the calls.
    ///
    /// Half of the silence that the first probe waits for, so that none comes late.
    var settledAfter: Interval { shared.settings.upstreamKeepalive / 2 }

    /// How long a refused client may take to read why and to close.
    static var farewell: RelayLimits { RelayLimits(halfClose: .seconds(2), idle: .seconds(2)) }

    mutating func serve(_ handle: Handle) {
        var hasMoreDown = false
        if flows[handle].upstream != nil {
            let hasMoreUp = pumpUp(handle)
            hasMoreDown = flows[handle].endpoint != nil ? down(handle) : pumpDown(handle)
            noticeFailure(handle)
            passEnds(handle)
            if hasMoreUp || hasMoreDown { touch(handle) }
        } else if flows[handle].check != nil {
            answerCheck(handle)
            guard flows.contains(handle) else { return }
        } else if flows[handle].sniff != nil {
            sniff(handle)
            guard flows.contains(handle) else { return }
        } else if flows[handle].client != nil {
            serveClientAlone(handle)
            guard flows.contains(handle) else { return }
        }
        if flows[handle].endpoint != nil { emit(handle, moreFollows: hasMoreDown) }
        settle(handle)
    }

    /// The up lane: what the client's side holds goes to the upstream.
    private mutating func pumpUp(_ handle: Handle) -> Bool {
        if flows[handle].upstream.value.flush(pool: &pool) { flows[handle].relay.progressed(at: now) }
        if flows[handle].forward != nil { return forwardUp(handle) }
        guard flows[handle].endpoint != nil else { return pumpSocketUp(handle) }
        while flows[handle].endpoint.value.unread > 0, flows[handle].upstream.value.isWritable {
            let taken = flows[handle].upstream.value.send(flows[handle].endpoint.value.unreadRuns(), pool: pool)
            guard taken > 0 else { break }
            flows[handle].endpoint.value.removeUnread(taken, pool: &pool)
            flows[handle].relay.progressed(at: now)
        }
        return false
    }

    /// A reset of an upstream that had ended already: no read will tell of it, and the client is still sending.
    private mutating func noticeFailure(_ handle: Handle) {
        guard flows[handle].relay.down.phase != .open, flows[handle].relay.up.phase != .over,
            let failure = flows[handle].upstream.value.failure
        else { return }
        upstreamFailed(failure, handle)
    }

    /// Passes the ends of the sources on once their sinks have every byte.
    private mutating func passEnds(_ handle: Handle) {
        let isUpDrained =
            (flows[handle].endpoint == nil || flows[handle].endpoint.value.unread == 0) && flows[handle].held.isEmpty
            && flows[handle].upstream.value.waiting.isEmpty
        if isUpDrained, flows[handle].relay.drained(.client, halfClose: halfClose(of: handle)) {
            flows[handle].upstream.value.socket.shutdownSend()
        }
        if flows[handle].resetsWhenDrained { return resetIfDrained(handle) }
        if flows[handle].endpoint != nil {
            if flows[handle].relay.drained(.upstream, halfClose: .pass) { flows[handle].endpoint.value.finish() }
        } else if flows[handle].client.value.waiting.isEmpty {
            if flows[handle].relay.drained(.upstream, halfClose: .pass) {
                flows[handle].client.value.socket.shutdownSend()
            }
        }
        // The upstream is done: an end that was kept back from it harms nothing now.
        if isUpDrained, flows[handle].relay.down.phase == .over, flows[handle].relay.releaseHeld() {
            flows[handle].upstream.value.socket.shutdownSend()
        }
    }

    private mutating func resetIfDrained(_ handle: Handle) {
        if flows[handle].endpoint != nil {
            guard flows[handle].endpoint.value.queued == 0 else { return }
            dropUpstream(handle)
            flows[handle].endpoint.value.abort()
        } else if flows[handle].client.value.waiting.isEmpty {
            dropUpstream(handle)
            flows[handle].client.value.socket.resetOnClose()
            flows[handle].relay.ended()
        }
    }

    /// Ends the flow when nothing is left to do, or sets its timer.
    mutating func settle(_ handle: Handle) {
        if flows[handle].upstream != nil, flows[handle].upstream.value.needsWritableWatch { watchWritable(handle) }
        if flows[handle].isBroken { return abort(handle, because: .noMemory) }
        if isOver(handle) {
            noteClientFailure(handle)
            return close(handle)
        }
        var deadline = Instant.never
        if flows[handle].endpoint != nil { deadline = flows[handle].endpoint.value.deadline }
        if let dial = flows[handle].dial {
            deadline = min(deadline, dials[dial].deadline)
        } else if flows[handle].upstream != nil {
            deadline = min(deadline, flows[handle].relay.deadline(shared.settings.relay))
            if !flows[handle].hasKeepalive { deadline = min(deadline, flows[handle].opened + settledAfter) }
        } else if let check = flows[handle].check {
            deadline = min(deadline, checks[check].deadline)
        } else if let session = flows[handle].session {
            deadline = min(deadline, sessions[session].deadline)
        } else if let sniff = flows[handle].sniff {
            deadline = min(deadline, sniffs[sniff].deadline)
        } else if flows[handle].client != nil {
            deadline = min(deadline, flows[handle].relay.deadline(Self.farewell))
        }
        timers.schedule(handle, at: deadline)
    }

    /// An inbound client that was reset: the upstream must not take what it has for all there was.
    private mutating func noteClientFailure(_ handle: Handle) {
        guard flows[handle].client != nil, flows[handle].client.value.failure != nil,
            !flows[handle].relay.isFinished
        else { return }
        let reason: CloseReason = flows[handle].upstream == nil ? .clientGaveUp : .clientReset
        flows[handle].ends(flows[handle].tls.clientRefused ? .clientRefusedCertificate : reason)
        dropUpstream(handle)
    }

    private func isOver(_ handle: Handle) -> Bool {
        if flows[handle].endpoint != nil {
            switch flows[handle].endpoint.value.phase {
            case .timeWait, .closed(.finished):
                // The client has done its part, and lives on as a record of a few words. What it sent may still be on
                // its way to a slow upstream.
                return flows[handle].relay.isFinished || flows[handle].resetsWhenDrained
            default: return flows[handle].endpoint.value.isClosed
            }
        }
        if flows[handle].client.value.failure != nil { return true }
        return flows[handle].relay.isFinished
    }
}
