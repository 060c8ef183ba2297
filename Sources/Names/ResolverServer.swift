/// One resolver, and what is known of its health.

public import Addresses
public import Bytes

public struct ResolverServer: Equatable, Sendable {
    public let address: SocketAddress
    /// Failures without a sign of life between them.
    var failures = 0
    var lastHeard = Instant(nanoseconds: .min)
    /// When a dead one is asked again, to see whether it still is.
    var probeAt = Instant(nanoseconds: .min)
    /// Whether it answers only without EDNS.
    var lacksEDNS = false

    /// So many failures in a row make a resolver dead: a single lost datagram does not.
    static let deadAfter = 2
    static let probeInterval = Interval.seconds(1)

    public init(_ address: SocketAddress) { self.address = address }

    public var isDead: Bool { failures >= Self.deadAfter }

    mutating func heard(at now: Instant) {
        failures = 0
        lastHeard = now
    }

    /// Nothing came within the time; an answer to a later question shows that this one was lost on the way.
    mutating func wasSilent(since asked: Instant) {
        if lastHeard <= asked { failures += 1 }
    }

    mutating func refused() { failures += 1 }

    /// Whether it is time to look after a dead one; the next time comes an interval later.
    mutating func takeProbe(at now: Instant) -> Bool {
        guard isDead, probeAt <= now else { return false }
        probeAt = now + Self.probeInterval
        return true
    }
}

/// How several resolvers are asked.
public enum ResolverOrder: Equatable, Sendable {
    /// All at once; the first good answer counts.
    case race
    /// The next one when the one before it fails or is silent.
    case ordered
}

public struct ResolverSettings: Equatable, Sendable {
    public var servers: [SocketAddress]
    public var order = ResolverOrder.ordered
    /// How long an answer is waited for before the next attempt.
    public var timeout = Interval.seconds(2)
    /// The questions that may wait for an answer at the same time.
    public var questionLimit = 1024
    /// The askers that may wait for one answer.
    public var askerLimit = 256

    public init(servers: [SocketAddress]) { self.servers = servers }
}
