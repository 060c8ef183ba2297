/// Flows whose decision needs octets of the client: it is accepted first, then its first words are looked at.
///
/// It is looked at until a name is found or there is none, for 8 KiB, for 300 ms from the end of the handshake, or until
/// it has finished, whatever comes first: a client that waits for its server to speak first is not kept waiting longer
/// than that. What it has said stays in the endpoint, and goes to the upstream from there.

import Addresses
public import Bytes
import Flows
import Relay
import Streams
import Wire

/// How much, how long and where is looked.
public struct SniffSettings: Sendable {
    /// The targets' ports whose streams are looked at.
    public var ports: Set<UInt16> = []
    public var octets = Sniffer.defaultLimit
    public var time = Interval.milliseconds(300)

    public init() {}
}

/// What is known of a flow that is looked at.
struct Sniff {
    var sniffer: Sniffer
    /// Set when the handshake is over.
    var deadline = Instant.never
}

extension Worker {
    /// Whether a flow cannot be decided before its client has spoken.
    func needsSniffing(_ key: FlowKey) -> Bool { settings.sniff.ports.contains(key.target.port) }

    /// Accepts the client of a flow of the tunnel, and decides later.
    mutating func beginSniffing(_ handle: Handle) {
        flows[handle].sniff = sniffs.insert(Sniff(sniffer: Sniffer(limit: settings.sniff.octets)))
        flows[handle].endpoint.value.accept()
        touch(handle)
    }

    /// Looks at what the client has said since the last time.
    mutating func sniff(_ handle: Handle) {
        guard let sniff = flows[handle].sniff else { return }
        switch flows[handle].endpoint.value.phase {
        case .dialling, .synReceived, .closed: return
        default: break
        }
        if sniffs[sniff].deadline == .never { sniffs[sniff].deadline = now + settings.sniff.time }
        let runs = flows[handle].endpoint.value.unreadRuns()
        var known = sniffs[sniff].sniffer.count
        for position in 0..<runs.runCount {
            var run = runs[position]
            let passed = min(known, run.count)
            known -= passed
            guard passed < run.count else { continue }
            run.offset += passed
            run.count -= passed
            pool.withBytes(run) { _ = sniffs[sniff].sniffer.take($0) }
        }
        switch sniffs[sniff].sniffer.outcome {
        case .name(let name, let source): endSniffing(handle, name, source)
        case .none, .tooLong: endSniffing(handle, nil, nil)
        case .needsMore:
            let isOver = flows[handle].relay.endedFirst == .client || sniffs[sniff].deadline <= now
            if isOver { endSniffing(handle, nil, nil) }
        }
    }

    private mutating func endSniffing(_ handle: Handle, _ name: String?, _ source: Sniffer.Source?) {
        guard let sniff = flows[handle].sniff else { return }
        flows[handle].sniff = nil
        _ = sniffs.remove(sniff)
        sniffed(handle, name: name, source: source)
    }

    /// Decides a flow whose client has spoken, or has not for too long; without a name its address is all that is known.
    mutating func sniffed(_ handle: Handle, name: String?, source: Sniffer.Source?) {
        if let name { flows[handle].target?.host = .name(name) }
        dial(handle)
    }
}
