/// What follows for a flow from all that happened to it in a turn: bytes move on, ends are passed on, segments
/// are written, and the timer is set anew.

import Bytes
import Flows
import LinuxIO
import Relay
import Streams
import Upstreams

extension Worker {
    /// How much one flow may read of a socket in one turn.
    static var readBudget: Int { 512 << 10 }
    /// How much is read at a time: eight chunks, two full super-segments.
    static var readSize: Int { ByteRuns.capacity * BufferPool.chunkSize }
    /// How much may wait for a socket before its other side is read no further.
    static var waitingLimit: Int { 256 << 10 }

    mutating func serve(_ handle: Handle) {
        if flows[handle].upstream != nil {
            let hasMoreUp = pumpUp(handle)
            let hasMoreDown = flows[handle].endpoint != nil ? down(handle) : pumpDown(handle)
            passEnds(handle)
            if hasMoreUp || hasMoreDown { touch(handle) }
        } else if flows[handle].client != nil {
            serveClientAlone(handle)
            guard flows.contains(handle) else { return }
        }
        if flows[handle].endpoint != nil { emit(handle) }
        settle(handle)
    }

    /// The up lane: what the client's side holds goes to the upstream.
    private mutating func pumpUp(_ handle: Handle) -> Bool {
        flows[handle].upstream.value.flush(pool: &pool)
        if flows[handle].forward != nil { return forwardUp(handle) }
        guard flows[handle].endpoint != nil else { return pumpSocketUp(handle) }
        while flows[handle].endpoint.value.unread > 0, flows[handle].upstream.value.isWritable {
            let taken = flows[handle].upstream.value.send(flows[handle].endpoint.value.unreadRuns(), pool: pool)
            guard taken > 0 else { break }
            flows[handle].endpoint.value.removeUnread(taken, pool: &pool)
        }
        return false
    }

    /// Passes the ends of the sources on once their sinks have every byte.
    private mutating func passEnds(_ handle: Handle) {
        let isUpDrained =
            (flows[handle].endpoint == nil || flows[handle].endpoint.value.unread == 0) && flows[handle].held.isEmpty
            && flows[handle].upstream.value.waiting.isEmpty
        if isUpDrained, flows[handle].relay.drained(.client, halfClose: settings.halfClose) {
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
            if flows[handle].endpoint.value.queued == 0 { flows[handle].endpoint.value.abort() }
        } else if flows[handle].client.value.waiting.isEmpty {
            flows[handle].client.value.socket.resetOnClose()
            flows[handle].relay.ended()
        }
    }

    /// Ends the flow when nothing is left to do, or sets its timer.
    mutating func settle(_ handle: Handle) {
        if isOver(handle) {
            // A client that was reset is a reset for the upstream too, never the end of a whole stream.
            if flows[handle].client != nil, flows[handle].client.value.failure != nil { dropUpstream(handle) }
            return close(handle)
        }
        var deadline = Instant.never
        if flows[handle].endpoint != nil { deadline = flows[handle].endpoint.value.deadline }
        if let dial = flows[handle].dial {
            deadline = min(deadline, dials[dial].deadline)
        } else if flows[handle].upstream != nil {
            deadline = min(deadline, flows[handle].relay.deadline(settings.relay))
        } else if let session = flows[handle].session {
            deadline = min(deadline, sessions[session].deadline)
        } else if flows[handle].client != nil {
            deadline = min(deadline, flows[handle].relay.deadline(settings.relay))
        }
        timers.schedule(handle, at: deadline)
    }

    private func isOver(_ handle: Handle) -> Bool {
        if flows[handle].endpoint != nil {
            // A stream in TIME-WAIT lives on as a record of a few words.
            return flows[handle].endpoint.value.isClosed || flows[handle].endpoint.value.phase == .timeWait
        }
        if flows[handle].client.value.failure != nil { return true }
        return flows[handle].relay.isFinished
    }
}
