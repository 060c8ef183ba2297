/// # The three ways
///
///     open   SYN ──▶ Flows ──▶ Upstreams (dial) ──▶ Streams.accept, or refuse
///     up     TUN ─bytes▶ Wire ─segment▶ Flows ─handle▶ Streams ─bytes▶ Relay ──▶ socket
///     down   socket ──▶ Relay ─bytes▶ Streams ─super-segment▶ Wire ──▶ TUN
///
/// A packet and an event of a socket only change state and put their flow on the list of touched flows; what
/// follows from it is done once for each touched flow by `serve`, so ten packets of a flow that came in one
/// turn are answered by one ACK. The bytes of a segment in order are the exception: they go from the read
/// buffer straight into the socket, and only what that does not take is copied.

import Addresses
import Bytes
import Flows
import LinuxIO
import Relay
import Streams
import Wire

extension Worker {
    /// A SYN that belongs to no flow: whose it is, and who is asked.
    mutating func open(_ key: FlowKey, syn: TCPSegment) {
        guard !isOwn(key) else {
            refuse(key, syn, because: .routeLoop)
            return
        }
        guard flows.count < limits.flows else {
            counters.flowLimitHits += 1
            refuse(key, syn, because: .flowLimit)
            return
        }
        let device = key.client.address
        if halfOpen.isFull {
            sendCookie(key, syn)
            return
        }
        if halfOpen.isFull(for: device) { evictHalfOpen(of: device) }
        var flow = Flow(key: key, origin: .tunnel, at: now)
        flow.target = Target(key.target)
        flow.endpoint = TCPEndpoint(
            syn: syn, initialSequence: initialSequences.next(for: key, at: now), settings: settings, at: now)
        flow.isHalfOpen = true
        let handle = add(flow)
        halfOpen.add(handle, of: device)
        dial(handle)
    }

    /// A segment of a flow: its bytes in order go to the upstream at once, the rest is the endpoint's business.
    mutating func up(_ handle: Handle, _ segment: TCPSegment, payload: Span<UInt8>) {
        let receipt = flows[handle].endpoint!.receive(
            segment, payload: payload, at: now, settings: settings, pool: &pool)
        if !receipt.direct.isEmpty {
            let bytes = payload.extracting(receipt.direct)
            let taken = flows[handle].sendUp(bytes)
            flows[handle].endpoint!.keep(bytes.extracting(taken..<bytes.count), pool: &pool)
            flows[handle].relay.moved(bytes.count, from: .client, at: now)
        }
        note(receipt, of: handle)
        touch(handle)
    }

    /// What the upstream has sent goes into the endpoint's send queue, as much as the device can be sent soon.
    ///
    /// Returns whether there may be more for which there was no time in this turn.
    mutating func down(_ handle: Handle) -> Bool {
        var budget = Self.readBudget
        while flows[handle].upstream!.isReadable {
            let space = flows[handle].endpoint!.sendSpace(pool: pool, settings: settings)
            guard space > 0 else { return false }
            guard budget > 0 else { return true }
            let runs = flows[handle].endpoint!.reserve(min(space, Self.readSize), pool: &pool)
            guard runs.byteCount > 0 else { return false }
            let outcome = flows[handle].upstream!.read(into: runs, pool: &pool)
            let count = if case .bytes(let count) = outcome { count } else { 0 }
            flows[handle].endpoint!.commit(count, of: runs, pool: &pool)
            if count > 0 {
                flows[handle].relay.moved(count, from: .upstream, at: now)
                emit(handle)
                budget -= count
            }
            noteUpstream(outcome, of: handle)
        }
        return false
    }

    /// Writes every segment that the endpoint wants to send now.
    mutating func emit(_ handle: Handle) {
        let key = flows[handle].key
        while let outgoing = flows[handle].endpoint!.nextSegment(at: now, settings: settings, pool: pool) {
            output.send(
                outgoing.segment, gsoSize: outgoing.gsoSize, payload: outgoing.payload, of: key, pool: pool,
                counters: &counters)
        }
    }
}
