/// What has become of flows: how they came in, where they went, and why they ended.

import Relay
import Upstreams

/// Flows of a worker that have ended, by kind.
public struct FlowTally: Sendable {
    /// What flows that ended alike have in common.
    public struct Kind: Hashable, Sendable {
        /// `tun`, `socks` or `http`.
        public var inbound: String
        /// The id of a profile, `direct`, or `none` for those that went nowhere.
        public var outbound: String
        /// The kind of a close reason.
        public var reason: String
    }

    public var ended: [Kind: Int] = [:]
    /// By the way in.
    public var opened: [String: Int] = [:]
    /// What flows carried from the devices, and to them.
    public var octetsUp: UInt64 = 0
    public var octetsDown: UInt64 = 0

    public init() {}

    mutating func join(_ other: FlowTally) {
        ended.merge(other.ended, uniquingKeysWith: +)
        opened.merge(other.opened, uniquingKeysWith: +)
        octetsUp += other.octetsUp
        octetsDown += other.octetsDown
    }

    /// The flows by their reasons alone.
    public var reasons: [String: Int] {
        var reasons: [String: Int] = [:]
        for (kind, count) in ended { reasons[kind.reason, default: 0] += count }
        return reasons
    }
}

extension Worker {
    mutating func countOpened(_ origin: Origin) {
        counters.flowsOpened += 1
        tally.opened[wayIn(of: origin), default: 0] += 1
    }

    /// Counts a flow that has ended.
    mutating func count(_ flow: borrowing Flow, _ reason: String) {
        let outbound = flow.outbound == nil ? "none" : flow.outbound?.server == nil ? "direct" : flow.profile
        tally.ended[.init(inbound: wayIn(of: flow.origin), outbound: outbound, reason: reason), default: 0] += 1
        tally.octetsUp += flow.relay.up.bytes
        tally.octetsDown += flow.relay.down.bytes
    }

    /// Counts a segment that was refused without a flow.
    mutating func countRefused(_ reason: String) {
        tally.ended[.init(inbound: wayIn(of: .tunnel), outbound: "none", reason: reason), default: 0] += 1
    }

    /// The way in, in one word.
    func wayIn(of origin: Origin) -> String {
        switch origin {
        case .tunnel: return "tun"
        case .listener(let number):
            if case .http = shared.listeners[number].settings.kind { return "http" }
            return "socks"
        }
    }
}
