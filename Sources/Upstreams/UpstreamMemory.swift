/// What one worker remembers about the machine of an upstream: its addresses and which of them worked.

public import Addresses
public import Bytes

/// The resolved addresses of an upstream, owned by one worker.
public struct UpstreamMemory: Sendable {
    /// How long addresses are used: the resolver of the system tells no lifetime.
    public static let lifetime = Interval.seconds(60)

    private var addresses: [IPAddress] = []
    private var expiry = Instant(nanoseconds: .min)
    /// The address that the last successful connection had.
    public private(set) var lastGood: IPAddress?

    public init() {}

    /// The addresses in the order in which to try them, or nil when they have to be resolved (again).
    func candidates(at now: Instant) -> [IPAddress]? {
        now < expiry && !addresses.isEmpty ? addresses : nil
    }

    /// Takes fresh addresses and returns them in the order in which to try them.
    mutating func learn(_ fresh: [IPAddress], at now: Instant) -> [IPAddress] {
        addresses = AddressOrder.interleaved(fresh, first: lastGood)
        expiry = now + Self.lifetime
        return addresses
    }

    /// Takes note of an address that answered; it is tried first from now on (RFC 8305, section 4).
    mutating func succeeded(_ address: IPAddress) {
        guard address != lastGood || addresses.first != address else { return }
        lastGood = address
        if addresses.contains(address) { addresses = AddressOrder.interleaved(addresses, first: address) }
    }

    /// Takes note that no address answered: the name is resolved anew next time.
    mutating func failed() { expiry = Instant(nanoseconds: .min) }
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
