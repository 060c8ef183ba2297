/// A switch that is felt although a device still holds a real address.
///
/// In domain mode only fake addresses are routed into the TUN device. When a name becomes proxied, devices that
/// resolved it a moment ago go on to its real address; until their answers' TTL ends, those addresses are **lent** to
/// the TUN device. Other names may share them: there SNI or Host decides.

public import Addresses
public import Bytes

/// Which real addresses of which devices are routed into the TUN device, and until when.
public struct LentAddresses: Sendable {
    public struct Loan: Hashable, Sendable {
        public let device: IPAddress
        public let address: IPAddress
        public let until: Instant
    }

    /// What is to be routed from now on, and what no longer, each in the order of devices and addresses.
    public struct Change: Equatable, Sendable {
        public internal(set) var lent: [Loan] = []
        public internal(set) var ended: [Loan] = []

        public var isEmpty: Bool { lent.isEmpty && ended.isEmpty }
    }

    private struct Key: Hashable, Sendable {
        let device: IPAddress
        let address: IPAddress

        init(_ found: SeenAnswers.Found) {
            device = found.device
            address = found.address
        }
    }

    private var untils: [Key: Instant] = [:]

    public init() {}

    /// Everything that is lent, in the order of devices and addresses.
    public var loans: [Loan] { Self.sorted(untils) }

    /// When `expire` has something to do.
    public var nextDeadline: Instant? { untils.values.min() }

    /// Follows a switch from rules under which a device's name was proxied or not to others.
    ///
    /// A name that was proxied before needs no loan, its devices hold a fake address; but one that is lent stays lent
    /// for as long as it is proxied. A `before` that is never true lends whatever is proxied now: for answers that were
    /// under way while the rules changed, to be asked once more a moment after the switch.
    public mutating func change(
        _ seen: SeenAnswers, now: Instant, before: (_ name: String, _ device: IPAddress) -> Bool,
        after: (_ name: String, _ device: IPAddress) -> Bool
    ) -> Change {
        var next: [Key: Instant] = [:]
        for found in seen.addresses(of: { after($0, $1) && !before($0, $1) }, now: now) {
            next[Key(found)] = found.until
        }
        for found in seen.addresses(of: after, now: now) where untils[Key(found)] != nil {
            next[Key(found)] = found.until
        }
        var change = Change()
        change.lent = Self.sorted(next.filter { untils[$0.key] == nil })
        change.ended = Self.sorted(untils.filter { next[$0.key] == nil })
        untils = next
        return change
    }

    /// Takes back what is over.
    public mutating func expire(_ now: Instant) -> [Loan] {
        let over = untils.filter { $0.value <= now }
        for key in over.keys { untils[key] = nil }
        return Self.sorted(over)
    }

    private static func sorted(_ untils: [Key: Instant]) -> [Loan] {
        untils.map { Loan(device: $0.key.device, address: $0.key.address, until: $0.value) }
            .sorted {
                ($0.device.high, $0.device.low, $0.address.high, $0.address.low)
                    < ($1.device.high, $1.device.low, $1.address.high, $1.address.low)
            }
    }
}
