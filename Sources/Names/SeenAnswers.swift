/// # Which names an address was given for
///
/// Real answers that devices got, each until its TTL ends. A flow to an address then has a name that rules can match,
/// and after a switch the addresses of newly proxied names are known (`LentAddresses`).
///
/// What is remembered is the name that was asked for, not the last name of a CNAME chain, and for the device that
/// asked: many sites share an address, but one device rarely asks for two of them within a minute. Where it does,
/// the caller has all names, the most recent one first, and SNI or Host decides between them.

public import Addresses
public import Bytes

/// Names by device and address, bounded for each device and in all.
///
/// Over a bound the addresses that were answered longest ago are forgotten first.
public struct SeenAnswers: Sendable {
    /// How much is remembered.
    public struct Limits: Equatable, Sendable {
        /// Names of one device, each counted with each of its addresses.
        public var perDevice = 4096
        public var total = 65_536
        /// Names of one address that one device asked for.
        public var perAddress = 16
        /// An answer is used once even with TTL 0, and by then a moment has passed.
        public var shortest = Interval.seconds(10)

        public init() {}
    }

    /// An address that a device was given for names that somebody looks for.
    public struct Found: Equatable, Sendable {
        public let device: IPAddress
        public let address: IPAddress
        /// When the last of these names ends.
        public let until: Instant
    }

    struct Pair: Hashable, Sendable {
        let device: IPAddress
        let address: IPAddress
    }

    struct Name: Sendable {
        let text: String
        var until: Instant
    }

    /// What one device was given one address for.
    private struct Record: Sendable {
        let pair: Pair
        /// The most recent one last.
        var names: [Name] = []
    }

    private struct Device: Sendable {
        var count = 0
        var chain = Chain()
    }

    /// Whose names are offered to a device that asked for none of an address: so many others'.
    private static let sharerLimit = 16

    public let limits: Limits

    /// How many names are remembered, each with each device and address.
    public private(set) var count = 0

    private var records: [Record?] = []
    private var vacant: [UInt32] = []
    private var places: [Pair: UInt32] = [:]
    /// The places of an address's latest records, the most recent one last and no more than `sharerLimit`.
    private var sharers: [IPAddress: [UInt32]] = [:]
    private var devices: [IPAddress: Device] = [:]
    private var order = UseOrder()
    private var all = Chain()
    private var ownOrder = UseOrder()
    /// The next place to be looked at for names that have ended.
    private var hand = 0

    public init(limits: Limits = Limits()) { self.limits = limits }

    /// Remembers an answer that a device is given.
    public mutating func note(
        name: String, addresses: [IPAddress], device: IPAddress, ttl: Interval, now: Instant
    ) {
        let until = now + max(ttl, limits.shortest)
        for address in addresses {
            sweep(now)
            add(Name(text: name, until: until), Pair(device: device, address: address), now)
        }
        while let device = devices[device], device.count > limits.perDevice { remove(device.chain.oldest) }
        while count > limits.total { remove(all.oldest) }
    }

    /// The names of an address, the most recent one first: those that this device asked for, or else those of others.
    public func names(of address: IPAddress, for device: IPAddress, now: Instant) -> [String] {
        if let place = places[Pair(device: device, address: address)] {
            let own = live(place, now)
            if !own.isEmpty { return own }
        }
        var names: [String] = []
        for place in (sharers[address] ?? []).reversed() {
            for name in live(place, now) where !names.contains(name) { names.append(name) }
            if names.count >= limits.perAddress { break }
        }
        return names
    }

    /// The addresses that devices were given for names that the caller looks for, in no order.
    ///
    /// It looks at everything that is remembered: for a switch, not for a packet.
    public func addresses(
        of isWanted: (_ name: String, _ device: IPAddress) -> Bool, now: Instant
    ) -> [Found] {
        var found: [Found] = []
        for record in records {
            guard let record else { continue }
            let ends = record.names.filter { $0.until > now && isWanted($0.text, record.pair.device) }.map(\.until)
            guard let until = ends.max() else { continue }
            found.append(Found(device: record.pair.device, address: record.pair.address, until: until))
        }
        return found
    }

    private func live(_ place: UInt32, _ now: Instant) -> [String] {
        guard let record = records[Int(place)] else { return [] }
        return record.names.reversed().filter { $0.until > now }.map(\.text)
    }
}

extension SeenAnswers {
    private mutating func add(_ name: Name, _ pair: Pair, _ now: Instant) {
        let place = places[pair] ?? insert(pair)
        makeNewest(place, pair)
        var names = records[Int(place)]?.names ?? []
        records[Int(place)]?.names = []
        let before = names.count
        var name = name
        if let former = names.firstIndex(where: { $0.text == name.text }) {
            // An earlier answer with a longer TTL may still be in use.
            name.until = max(name.until, names[former].until)
            names.remove(at: former)
        }
        if names.count >= limits.perAddress { names.removeFirst() }
        names.append(name)
        records[Int(place)]?.names = names
        count += names.count - before
        devices[pair.device]?.count += names.count - before
    }

    private mutating func insert(_ pair: Pair) -> UInt32 {
        let place: UInt32
        if let free = vacant.popLast() {
            place = free
            records[Int(place)] = Record(pair: pair)
        } else {
            place = UInt32(records.count)
            records.append(Record(pair: pair))
        }
        places[pair] = place
        order.append(place, to: &all)
        ownOrder.append(place, to: &devices[pair.device, default: Device()].chain)
        return place
    }

    private mutating func makeNewest(_ place: UInt32, _ pair: Pair) {
        order.remove(place, from: &all)
        order.append(place, to: &all)
        ownOrder.remove(place, from: &devices[pair.device, default: Device()].chain)
        ownOrder.append(place, to: &devices[pair.device, default: Device()].chain)
        var among = sharers[pair.address] ?? []
        guard among.last != place else { return }
        among.removeAll { $0 == place }
        if among.count >= Self.sharerLimit { among.removeFirst() }
        among.append(place)
        sharers[pair.address] = among
    }

    private mutating func remove(_ place: UInt32) {
        guard let record = records[Int(place)] else { return }
        let pair = record.pair
        records[Int(place)] = nil
        vacant.append(place)
        places[pair] = nil
        sharers[pair.address]?.removeAll { $0 == place }
        if sharers[pair.address]?.isEmpty == true { sharers[pair.address] = nil }
        order.remove(place, from: &all)
        ownOrder.remove(place, from: &devices[pair.device, default: Device()].chain)
        count -= record.names.count
        devices[pair.device]?.count -= record.names.count
        if devices[pair.device]?.count == 0 { devices[pair.device] = nil }
    }

    /// Looks at two places for names that have ended, so that every one is looked at in time.
    private mutating func sweep(_ now: Instant) {
        for _ in 0..<2 where !records.isEmpty {
            hand = hand + 1 < records.count ? hand + 1 : 0
            guard let record = records[hand], record.names.allSatisfy({ $0.until <= now }) else { continue }
            remove(UInt32(hand))
        }
    }
}
