/// Segments without a flow of this worker: another worker's, remembered ones, and those that come back with a
/// SYN cookie.

import Bytes
import Flows
import Streams
import Wire

extension Worker {
    /// Gives a packet to the worker that owns its flow; false when nobody else does.
    mutating func handsOver(_ bytes: Span<UInt8>, _ key: FlowKey, isChecksumTrusted: Bool) -> Bool {
        guard let owners = shared.owners, let owner = owners.owner(of: key), owner != index else { return false }
        if shared.mailboxes[owner].send(packet: [UInt8](copying: bytes), isChecksumTrusted: isChecksumTrusted) {
            counters.handedOver += 1
        } else {
            counters.droppedHandoff += 1
        }
        return true
    }

    /// Answers a segment of a flow that is over but remembered; false when there is nothing to remember, or
    /// when the segment opens the flow anew.
    mutating func answersLingering(_ key: FlowKey, _ segment: TCPSegment) -> Bool {
        guard let record = lingering.find(key, now: now) else { return false }
        switch record.receive(segment) {
        case .reply(let answer): reply(answer, to: key)
        case .silence: break
        case .reopen:
            counters.timeWaitReused += 1
            lingering.remove(key)
            return false
        }
        return true
    }

    /// A SYN of a new connection on a flow whose old one is not quite over.
    mutating func reopen(_ handle: Handle, _ syn: TCPSegment) {
        let key = flows[handle].key
        counters.timeWaitReused += 1
        dropUpstream(handle)
        close(handle)
        lingering.remove(key)
        open(key, syn: syn)
    }

    /// Remembers a flow whose late segments want an answer: TIME-WAIT, or a reset of ours (DESIGN.md,
    /// decision 7).
    mutating func linger(_ key: FlowKey, _ phase: TCPEndpoint.Phase, _ record: TimeWaitRecord) {
        switch phase {
        case .timeWait, .closed(.aborted), .closed(.timedOut):
            lingering.insert(key, record, until: now + settings.tcp.timeWait)
        default: break
        }
    }
}
