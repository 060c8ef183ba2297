/// What one worker remembers about the machine of an upstream: its addresses and which of them worked.

public import Addresses
public import Bytes

/// The resolved addresses of an upstream, owned by one worker.
public struct UpstreamMemory: Sendable {
    /// How long addresses are taken for fresh: the resolver of the system tells no lifetime.
    public static let lifetime = Interval.seconds(60)

    /// The addresses in the order in which to try them; empty when they have to be resolved first.
    private(set) var candidates: [IPAddress] = []
    private var expiry = Instant.never
    /// The address that the last successful connection had.
    public private(set) var lastGood: IPAddress?

    public init() {}

    /// Whether the addresses are old: resolve the name and `learn`, while dials go on with those that are known.
    public func isStale(at now: Instant) -> Bool { now >= expiry }

    /// Takes fresh addresses; none change nothing, because old ones are better than none.
    public mutating func learn(_ fresh: [IPAddress], at now: Instant) {
        if !fresh.isEmpty { candidates = AddressOrder.interleaved(fresh, first: lastGood) }
        expiry = now + Self.lifetime
    }

    /// Takes note of an address that answered; it is tried first from now on (RFC 8305, section 4).
    mutating func succeeded(_ address: IPAddress) {
        guard address != lastGood || candidates.first != address else { return }
        lastGood = address
        if candidates.contains(address) { candidates = AddressOrder.interleaved(candidates, first: address) }
    }

    /// Takes note that no address answered: the name is resolved anew next time.
    mutating func failed() {
        candidates = []
        expiry = .never
    }
}

/// The order of Happy Eyeballs (RFC 8305, section 4).
enum AddressOrder {
    /// Alternates between the families, beginning with the family of the first address, and puts an address
    /// that is known to work in front.
    static func interleaved(_ addresses: [IPAddress], first: IPAddress?) -> [IPAddress] {
        guard addresses.count > 1 else { return addresses }
        var order: [IPAddress] = []
        if let first, addresses.contains(first) { order.append(first) }
        let rest = addresses.filter { !order.contains($0) }
        let family = rest.first?.isIPv4 ?? true
        // With one address in front its family has had its turn.
        let leading = order.first.map { !$0.isIPv4 } ?? family
        var queues = [rest.filter { $0.isIPv4 == leading }[...], rest.filter { $0.isIPv4 != leading }[...]]
        var turn = 0
        while order.count < addresses.count, !(queues[0].isEmpty && queues[1].isEmpty) {
            if let next = queues[turn].popFirst() { order.append(next) }
            turn = 1 - turn
        }
        return order
    }
}
