/// Flows whose decision needs octets of the client: it is accepted first, then its first words are looked at.
///
/// It is looked at until a name is found or there is none, for 8 KiB, for 300 ms from the end of the handshake, or
/// until it has finished, whatever comes first: a client that waits for its server to speak first is not kept waiting
/// longer than that. What it has said stays in the endpoint, and goes to the upstream from there.

import Addresses
public import Bytes
import Flows
import Relay
import Streams
import Wire

/// How much and how long is looked.
public struct SniffSettings: Sendable {
    public var octets = Sniffer.defaultLimit
    public var time = Interval.milliseconds(300)

    public init() {}
}

/// What is known of a flow that is looked at.
struct Sniff {
    var sniffer: Sniffer
    /// What was known before.
    var destination: Destination
    /// Set when the handshake is over.
    var deadline = Instant.never
}

extension Worker {
    /// Accepts the client of a flow of the tunnel, and decides later.
    mutating func beginSniffing(_ handle: Handle, _ destination: Destination) {
        let sniffer = Sniffer(limit: shared.settings.sniff.octets)
        flows[handle].sniff = sniffs.insert(Sniff(sniffer: sniffer, destination: destination))
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
        if sniffs[sniff].deadline == .never { sniffs[sniff].deadline = now + shared.settings.sniff.time }
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
        var destination = sniffs.remove(sniff).destination
        let policy = shared.policy
        let device = flows[handle].key.client.address
        if let name, let source {
            // A client may say any name; an upstream is asked for it where DNS agrees, or where the profile says so.
            let isProven = destination.alternatives.contains(name) || policy.bearsSaidNames(from: device)
            // Nor is it asked for another name of that address, which may lead elsewhere.
            if !isProven, let address = destination.address { destination.target.host = .address(address) }
            destination.take(name, from: source == .sni ? .sni : .host, isProven: isProven)
        }
        follow(Self.choose(destination, from: device, by: policy), of: handle)
    }
}
