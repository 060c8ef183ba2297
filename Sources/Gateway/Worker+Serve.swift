/// What follows for a flow from all that happened to it in a turn: bytes move on, ends are passed on, segments
/// are written, and the timer is set anew.

import Bytes
import Flows
import LinuxIO
import Relay
import Streams

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
        flows[handle].upstream!.flush(pool: &pool)
        if flows[handle].forward != nil { return forwardUp(handle) }
        guard flows[handle].endpoint != nil else { return pumpSocketUp(handle) }
        while flows[handle].endpoint!.unread > 0, flows[handle].upstream!.isWritable {
            let taken = flows[handle].upstream!.send(flows[handle].endpoint!.unreadRuns(), pool: pool)
            guard taken > 0 else { break }
            flows[handle].endpoint!.removeUnread(taken, pool: &pool)
        }
        return false
    }

    /// Passes the ends of the sources on once their sinks have every byte.
    private mutating func passEnds(_ handle: Handle) {
        let isUpDrained =
            (flows[handle].endpoint?.unread ?? 0) == 0 && flows[handle].held.isEmpty
            && flows[handle].upstream!.waiting.isEmpty
        if isUpDrained, flows[handle].relay.drained(.client, halfClose: settings.halfClose) {
            flows[handle].upstream!.socket.shutdownSend()
        }
        if flows[handle].resetsWhenDrained { return resetIfDrained(handle) }
        if flows[handle].endpoint != nil {
            if flows[handle].relay.drained(.upstream, halfClose: .pass) { flows[handle].endpoint!.finish() }
        } else if flows[handle].client!.waiting.isEmpty {
            if flows[handle].relay.drained(.upstream, halfClose: .pass) {
                flows[handle].client!.socket.shutdownSend()
            }
        }
        // The upstream is done: an end that was kept back from it harms nothing now.
        if isUpDrained, flows[handle].relay.down.phase == .over, flows[handle].relay.releaseHeld() {
            flows[handle].upstream!.socket.shutdownSend()
        }
    }

    private mutating func resetIfDrained(_ handle: Handle) {
        if flows[handle].endpoint != nil {
            if flows[handle].endpoint!.queued == 0 { flows[handle].endpoint!.abort() }
        } else if flows[handle].client!.waiting.isEmpty {
            flows[handle].client!.socket.resetOnClose()
            flows[handle].relay.ended()
        }
    }

    /// Ends the flow when nothing is left to do, or sets its timer.
    mutating func settle(_ handle: Handle) {
        if isOver(handle) { return close(handle) }
        var deadline = Instant.never
        if flows[handle].endpoint != nil { deadline = flows[handle].endpoint!.deadline }
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
            return flows[handle].endpoint!.isClosed || flows[handle].endpoint!.phase == .timeWait
        }
        if let failure = flows[handle].client!.failure, failure != .none { return true }
        return flows[handle].relay.isFinished
    }
}
