/// # How fake addresses work
///
/// A name that is proxied gets an address of a range that nobody else uses. The device opens its connection to that
/// address, the connection reaches the TUN device, and the address says which name was meant.
///
///     DNS query ── name ──▶ grant ── address ──▶ answer, TTL 1
///     SYN ── address ──▶ retain ── name ──▶ the decision, CONNECT        … release, when the flow ends
///
/// A name has one **place**, whichever devices ask for it and in whichever family: the place's number says both of its
/// addresses (`FakeRange`). Places that were never used are handed out first. Then the place that rested longest is
/// used again: its last answer and the end of its last flow are 24 hours ago, or one hour where nothing else is left.
/// Whoever keeps an address for longer than its TTL may still be right for that long, and an address with a live flow
/// is never handed on. When nothing has rested there is no answer (SERVFAIL), rather than a wrong one.
///
/// Each name counts on the device that asked for it last, so that one device cannot use the range up: it holds 8,192
/// names, then its own oldest place has to have rested, or the device gets no new names. Others go on.
///
/// Nothing here is slower for being full: every step is a few array accesses and at most one dictionary look-up.

public import Addresses
public import Bytes

/// Names and the fake addresses that stand for them.
public struct FakePool: Sendable {
    /// The kind of address that a query asks for.
    public enum Family: Sendable { case ipv4, ipv6 }

    /// How much there may be at most, and for how long.
    public struct Limits: Equatable, Sendable {
        /// The names that count on one device.
        public var namesPerDevice = 8192
        public var rest = Interval.hours(24)
        /// The rest where all places are in use, or all names of a device.
        public var restUnderPressure = Interval.hours(1)

        public init() {}
    }

    /// How a name came to its place.
    public enum Origin: Equatable, Sendable {
        /// It had it before.
        case known
        /// Nobody ever had this place.
        case fresh
        /// Another name had it before.
        case reused
    }

    /// A name's place in the range.
    public struct Grant: Equatable, Sendable {
        public let place: UInt32
        public let origin: Origin
    }

    /// One place that is or was in use.
    struct Entry: Sendable {
        /// Empty where nobody knows (any more) which name had the place.
        var name = ""
        /// On which device the name counts; `UseOrder.none` for none.
        var owner = UseOrder.none
        var flows: UInt32 = 0
        /// The last answer or the end of the last flow; without meaning while there are flows.
        var lastUse: Instant
    }

    /// A device on which names count.
    struct Owner: Sendable {
        var device: IPAddress
        var count = 0
        /// Its places without a flow.
        var idle = Chain()
    }

    public let range: FakeRange
    public let limits: Limits

    /// Places that were handed out reuse sooner than `Limits.rest`: the range is too small for this lab.
    public internal(set) var reusedEarly = 0

    // All of the module, for the extensions: entries and places change only there and here, together.
    var entries: [Entry] = []
    var places: [String: UInt32] = [:]
    var order = UseOrder()
    var idle = Chain()
    var ownOrder = UseOrder()
    var owners: [Owner] = []
    var ownerOf: [IPAddress: UInt32] = [:]
    var vacantOwners: [UInt32] = []
    /// Several threads ask, each with its own reading of the clock; the order needs one that never goes back.
    private var latest = Instant(nanoseconds: .min)

    /// An empty pool over an IPv4 and an IPv6 prefix, of which the first 16 addresses are the gateway's own.
    public init(v4: IPPrefix, v6: IPPrefix, limits: Limits = Limits()) {
        self.init(range: FakeRange(v4: v4, v6: v6), limits: limits)
    }

    public init(range: FakeRange, limits: Limits = Limits()) {
        self.range = range
        self.limits = limits
    }

    /// How many names have an address.
    public var nameCount: Int { places.count }

    /// How many places were ever handed out: from this one on they are fresh.
    public var usedPlaces: Int { entries.count }

    /// Whether an address is of the pool, whether or not a name has it now.
    ///
    /// One that no name has is an address from before the pool knew it: its flow is reset, so that the device asks
    /// again.
    public func contains(_ address: IPAddress) -> Bool { range.contains(address) }

    /// The name that an address stands for.
    public func name(of address: IPAddress) -> String? {
        guard let place = range.place(of: address), place < entries.count else { return nil }
        let name = entries[Int(place)].name
        return name.isEmpty ? nil : name
    }

    /// The address for a name, already normalised, that a device asks for, or nil when there is none (SERVFAIL).
    public mutating func address(
        for name: String, _ family: Family, device: IPAddress, now: Instant
    ) -> IPAddress? {
        grant(name, to: device, now: now).map { range.address(at: $0.place, family) }
    }

    /// The place of a name that is being answered to a device, or nil when there is none.
    public mutating func grant(_ name: String, to device: IPAddress, now: Instant) -> Grant? {
        precondition(!name.isEmpty, "the root has no address")
        let now = advance(now)
        if let place = places[name] {
            charge(place, to: device)
            touch(place, now)
            return Grant(place: place, origin: .known)
        }
        guard let grant = freePlace(for: device, now) else { return nil }
        entries[Int(grant.place)].name = name
        places[name] = grant.place
        charge(grant.place, to: device)
        touch(grant.place, now)
        return grant
    }

    /// Counts a flow to an address and returns the name, or nil when no name has the address.
    ///
    /// Until as many `release` the name keeps the address.
    public mutating func retain(_ address: IPAddress) -> String? {
        guard let place = range.place(of: address), place < entries.count, !entries[Int(place)].name.isEmpty else {
            return nil
        }
        if entries[Int(place)].flows == 0 { unlink(place) }
        entries[Int(place)].flows += 1
        return entries[Int(place)].name
    }

    /// Says that a flow that was counted has ended.
    public mutating func release(_ address: IPAddress, now: Instant) {
        guard let place = range.place(of: address), place < entries.count, entries[Int(place)].flows > 0 else {
            preconditionFailure("a flow that was never counted")
        }
        entries[Int(place)].flows -= 1
        guard entries[Int(place)].flows == 0 else { return }
        entries[Int(place)].lastUse = advance(now)
        link(place)
    }

    /// The later of this reading of the clock and all before it.
    mutating func advance(_ now: Instant) -> Instant {
        latest = max(latest, now)
        return latest
    }
}
