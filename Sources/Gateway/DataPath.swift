/// # The three ways
///
///     open   SYN ──▶ Flows ──▶ Names ──▶ Routing ──▶ Upstreams (dial) ──▶ Streams.accept, or refuse
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
    /// A SYN that belongs to no flow: whether there is room for it, and who is asked.
    ///
    /// `last` is where the flow's predecessor ended, if that is still remembered.
    mutating func open(_ key: FlowKey, syn: TCPSegment, beyond last: SequenceNumber? = nil) {
        let policy = shared.policy
        if isOwn(key, by: policy) { return refuse(key, syn, because: .routeLoop) }
        let choice = choose(for: key, by: policy)
        if case .refused(let reason, let destination) = choice {
            noteRefused(key, destination, reason)
            return refuse(key, syn, because: reason)
        }
        if halfOpen.isFull { return sendCookie(key, syn) }
        if halfOpen.isFull(for: key.client.address) { evictHalfOpen(of: key.client.address) }
        if let reason = makeRoom(for: key.client.address) { return refuse(key, syn, because: reason) }

        var flow = Flow(key: key, origin: .tunnel, at: now)
        flow.endpoint = TCPEndpoint(
            syn: syn, initialSequence: initialSequence(of: key, beyond: last),
            timestampOffset: timestampOffset(of: key),
            family: key.family, settings: shared.settings.tcp, now: now)
        guard let handle = add(flow) else { return }
        flows[handle].isHalfOpen = true
        halfOpen.add(handle, of: key.client.address)
        countOpened(.tunnel)
        follow(choice, of: handle)
    }

    /// A segment of a flow: its bytes in order go to the upstream at once, the rest is the endpoint's business.
    mutating func up(_ handle: Handle, _ segment: TCPSegment, payload: Span<UInt8>) {
        let receipt = flows[handle].endpoint.value.receive(
            segment, payload: payload, now: now, settings: shared.settings.tcp, pool: &pool)
        var events = receipt.events
        if !receipt.direct.isEmpty {
            let bytes = payload.extracting(receipt.direct)
            if flows[handle].tls.isWatching { flows[handle].tls.client(bytes) }
            let goesStraight = flows[handle].forward == nil && flows[handle].upstream != nil
            let taken = goesStraight ? flows[handle].upstream.value.send(bytes) : 0
            events.formUnion(
                flows[handle].endpoint.value.keep(bytes.extracting(taken..<bytes.count), pool: &pool))
            flows[handle].relay.moved(bytes.count, from: .client, at: now)
        }
        if events.contains(.reopen) { return reopen(handle, segment, events) }
        note(events, of: handle)
        touch(handle)
    }

    /// What the upstream has sent goes into the endpoint's send queue, as much as the device can be sent soon.
    ///
    /// Returns whether there may be more, for which there was no time in this turn.
    mutating func down(_ handle: Handle) -> Bool {
        var budget = Self.readBudget
        while flows[handle].upstream.value.isReadable {
            let space = flows[handle].endpoint.value.sendSpace(pool: pool, settings: shared.settings.tcp)
            guard space > 0 else {
                // With octets queued, their acknowledgement brings the flow back.
                if pool.available == 0, flows[handle].endpoint.value.queued == 0 { starve(handle) }
                return false
            }
            guard budget > 0, turnLeft > 0 else { return true }
            let runs = flows[handle].endpoint.value.reserve(min(space, Self.readSize), pool: &pool)
            guard runs.byteCount > 0 else { return false }
            let outcome = flows[handle].upstream.value.read(into: runs, pool: &pool)
            let count = if case .bytes(let count) = outcome { count } else { 0 }
            flows[handle].endpoint.value.commit(count, of: runs, pool: &pool)
            noteUpstream(outcome, runs, of: handle)
            // What does not fill a super-segment goes with what is read next, or with the end of the turn.
            if count > 0 { emit(handle, moreFollows: true) }
            budget -= count
            turnLeft -= count
        }
        return false
    }

    /// Writes every segment that the endpoint wants to send now.
    mutating func emit(_ handle: Handle, moreFollows: Bool = false) {
        guard output != nil else { return }
        let key = flows[handle].key
        while let outgoing = flows[handle].endpoint.value.nextSegment(
            now: now, settings: shared.settings.tcp, pool: pool, maximumPayload: largestPayload,
            moreFollows: moreFollows)
        {
            output.value.send(
                outgoing.segment, gsoSize: outgoing.gsoSize, payload: outgoing.payload, of: key, pool: pool,
                counters: &counters)
        }
    }
}
