/// Segments without a flow of this worker: another worker's, those that take an
/// old one's place, and those that come back with a SYN cookie.

import Addresses
import Bytes
import Flows
import Relay
import Streams
import Wire

extension Worker {
    /// Gives a packet to the worker that owns its flow, or remembers it; false when nobody else does.
    mutating func handsOver(
        _ bytes: Span<UInt8>, _ key: FlowKey, isChecksumTrusted: Bool, owners: FlowOwners?
    ) -> Bool {
        guard let owner = owners?.owner(of: key, now: now), owner != index else { return false }
        if shared.mailboxes[owner].send(packet: [UInt8](copying: bytes), isChecksumTrusted: isChecksumTrusted) {
            counters.handedOver += 1
        } else {
            counters.droppedHandoff += 1
        }
        return true
    }

    /// A SYN of a new connection on a flow whose old one is not quite over, or was not open yet.
    mutating func reopen(_ handle: Handle, _ syn: TCPSegment, _ events: TCPEvents) {
        let key = flows[handle].key
        let last = flows[handle].endpoint.value.timeWaitRecord(now: now).sendNext
        note(events, of: handle)
        if !events.contains(.reset) { counters.timeWaitReused += 1 }
        dropUpstream(handle)
        close(handle)
        lingering.remove(key)
        open(key, syn: syn, beyond: last)
    }

    /// Lets a SYN have the key of a flow whose client is done while its upstream still takes what it sent; false when
    /// that is not so, or the SYN is none of a new connection.
    mutating func succeeds(_ handle: Handle, _ syn: TCPSegment) -> Bool {
        switch flows[handle].endpoint.value.phase {
        case .timeWait, .closed(.finished): break
        default: return false
        }
        let record = flows[handle].endpoint.value.timeWaitRecord(now: now)
        guard flows[handle].upstream != nil, !flows[handle].relay.isFinished, record.receive(syn) == .reopen else {
            return false
        }
        let key = flows[handle].key
        flows[handle].isSucceeded = true
        table.remove(key)
        shared.owners?.release(key, by: index)
        counters.timeWaitReused += 1
        open(key, syn: syn, beyond: record.sendNext)
        return true
    }

    /// Remembers a flow whose late segments want an answer: TIME-WAIT, or a reset of ours.
    mutating func linger(_ key: FlowKey, _ phase: TCPEndpoint.Phase, _ record: TimeWaitRecord) {
        switch phase {
        case .timeWait, .closed(.aborted), .closed(.timedOut):
            lingering.insert(key, record, until: now + shared.settings.tcp.timeWait)
            shared.owners?.release(key, by: index, keepingUntil: now + shared.settings.tcp.timeWait, now: now)
        default: shared.owners?.release(key, by: index)
        }
    }

    /// Answers a SYN over the bound of half-open flows: nothing is remembered, and nobody is dialled.
    mutating func sendCookie(_ key: FlowKey, _ syn: TCPSegment) {
        counters.cookiesSent += 1
        say(.halfOpen, limit: shared.settings.halfOpen)
        cookiesEndAt = now + SYNCookies.lifetime
        let answer = cookies.answer(
            syn, client: key.client, target: key.target, timestampOffset: timestampOffset(of: key),
            settings: shared.settings.tcp, now: now)
        reply(answer, to: key)
    }

    /// Opens the flow of a cookie that has come back; false when the segment brings none.
    ///
    /// The client believes that it is connected, so a refusal of the upstream is a reset for it.
    mutating func openFromCookie(_ key: FlowKey, _ segment: TCPSegment, payload: Span<UInt8>) -> Bool {
        guard let cookie = cookies.restore(segment, client: key.client, target: key.target, now: now) else {
            let isAnswer = segment.flags.contains(.acknowledge) && segment.flags.isDisjoint(with: [.syn, .reset, .fin])
            if isAnswer, now < cookiesEndAt { counters.cookiesRejected += 1 }
            return false
        }
        if let reason = makeRoom(for: key.client.address) {
            refuse(key, segment, because: reason)
            return true
        }
        var flow = Flow(key: key, origin: .tunnel, at: now)
        flow.isFromCookie = true
        flow.endpoint = TCPEndpoint(
            cookie: cookie, timestampOffset: timestampOffset(of: key), family: key.family,
            settings: shared.settings.tcp,
            now: now)
        guard let handle = add(flow) else { return true }
        counters.cookiesAccepted += 1
        countOpened(.tunnel)
        follow(choose(for: key, by: shared.policy), of: handle)
        if flows.contains(handle) { up(handle, segment, payload: payload) }
        return true
    }

    func initialSequence(of key: FlowKey, beyond last: SequenceNumber?) -> SequenceNumber {
        guard let last else { return initialSequences.number(client: key.client, target: key.target, now: now) }
        return initialSequences.number(client: key.client, target: key.target, beyond: last, now: now)
    }

    func timestampOffset(of key: FlowKey) -> UInt32 {
        initialSequences.timestampOffset(client: key.client, target: key.target)
    }
}
