/// # Who is on the LAN
///
/// The neighbour table says which MAC has which addresses; people say what a MAC is called and which profile it has.
/// A MAC on an interface is a device, with all its addresses; a MAC that is named without an interface is one device
/// wherever it shows up. An address that has a name or a profile of its own is a device by itself, whatever MAC stands
/// before it: many devices can be behind the one of a Wi-Fi repeater.
///
///     note(Sighting) ─────────▶ ┌────────────────────────┐ ──▶ device(at: address)     for each new flow
///     leases, heard(from:) ───▶ │ MAC → addresses, seen  │ ──▶ find("pixel-7")         for people
///     named, assignments ─────▶ │ identity → name, lease │ ──▶ devices                 for lists
///                               └────────────────────────┘
///
/// An address stays its MAC's until another MAC has it: the kernel forgets idle neighbours long before their DHCP
/// leases end, and the first packet after a pause has to find its profile.
///
/// Whoever is on the LAN can make up MACs and addresses. The table holds so many and no more; the ones that were seen
/// longest ago go first, and never one that has a name or a profile.

public import Addresses

/// All devices of a gateway.
public struct DeviceTable: Sendable {
    /// The most MACs; those that have a name or a profile stay all the same.
    public static let capacity = 4096
    /// The most addresses of one MAC.
    public static let addressesOfOne = 256
    /// The most addresses; those of MACs that have a name or a profile stay all the same.
    public static let addressCapacity = 16_384

    /// A MAC on an interface.
    struct Station: Sendable {
        let interface: String
        let firstSeen: Int64
        var seen: Int64
        var isRouter = false
        /// When each address proved to be there.
        var addresses: [IPAddress: Int64] = [:]
    }

    /// Which station has an address.
    struct Owner: Hashable, Sendable {
        let mac: MACAddress
        let interface: String
    }

    /// An address, with its interface where it is valid there alone.
    struct Place: Hashable, Sendable {
        let address: IPAddress
        let interface: String?

        init(_ address: IPAddress, on interface: String) {
            self.address = address
            self.interface = address.isLinkLocal ? interface : nil
        }
    }

    /// What a sighting has changed of whose addresses are whose.
    public enum Change: Equatable, Sendable {
        case nothing
        /// The address is a device's for the first time.
        case new
        /// It was another device's until now.
        case moved(from: DeviceIdentity)
    }

    var stations: [MACAddress: [Station]] = [:]
    var owners: [Place: Owner] = [:]
    private(set) var stationCount = 0

    /// Grows when the answer to whose an address is, or what is decided for it, may be another one.
    public internal(set) var generation: UInt64 = 0

    /// Addresses that packets come from and no MAC has.
    var remote: [IPAddress: Remote] = [:]
    var leases = LeaseBook()
    var names: [DeviceIdentity: String] = [:]
    var identities: [String: DeviceIdentity] = [:]
    private(set) var assigned: [DeviceIdentity: Assignment] = [:]
    /// The interfaces on which a MAC has a name or a profile of its own, sorted.
    private(set) var heldInterfaces: [MACAddress: [String]] = [:]

    public init() {}

    // MARK: What people have decided

    /// Takes all named devices; where a name or a device stands twice the first counts, so the file's come first.
    public mutating func setNamed(_ devices: [NamedDevice]) {
        (names, identities) = ([:], [:])
        for device in devices where names[device.identity] == nil && identities[device.name] == nil {
            names[device.identity] = device.name
            identities[device.name] = device.identity
        }
        indexHeld()
    }

    /// Takes all assignments.
    public mutating func setAssignments(_ assignments: [Assignment]) {
        assigned = Dictionary(assignments.map { ($0.device, $0) }) { first, _ in first }
        indexHeld()
    }

    private mutating func indexHeld() {
        generation += 1
        heldInterfaces = [:]
        for case .mac(let mac, let interface?) in Set(names.keys).union(assigned.keys) {
            heldInterfaces[mac, default: []].append(interface)
        }
        for mac in heldInterfaces.keys { heldInterfaces[mac]?.sort() }
    }

    // MARK: What the link says

    /// Takes the leases of the DHCP server, instead of all former ones.
    public mutating func setLeases(_ leases: [DHCPLease], at now: Int64) {
        self.leases = LeaseBook(leases, at: now)
        generation += 1
    }

    /// Notes that a MAC has an address.
    @discardableResult
    public mutating func note(_ sighting: Sighting) -> Change {
        guard !sighting.mac.isGroup, !sighting.address.isMulticast, !sighting.address.isUnspecified else {
            return .nothing
        }
        let owner = Owner(mac: sighting.mac, interface: sighting.interface)
        let place = Place(sighting.address, on: sighting.interface)
        let former = owners[place]
        if let former, former != owner, !takesOver(sighting, from: former) { return .nothing }
        update(sighting)
        guard former != owner else { return .nothing }
        generation += 1
        let before = former.flatMap { _ in identity(at: sighting.address, on: sighting.interface) }
        if let former { modify(former) { $0.addresses[sighting.address] = nil } }
        owners[place] = owner
        remote[sighting.address] = nil
        makeRoom(besides: owner)
        guard let before else { return .new }
        return before == identity(at: sighting.address, on: sighting.interface) ? .nothing : .moved(from: before)
    }

    /// Notes that a packet has come from an address.
    ///
    /// One that no MAC has comes from behind another router, and is a device by its address.
    public mutating func heard(from address: IPAddress, on interface: String = "", at now: Int64) {
        guard let owner = owners[Place(address, on: interface)] else { return heardFromAfar(address, at: now) }
        modify(owner) { station in
            station.seen = max(station.seen, now)
            station.addresses[address] = now
        }
    }

    /// Whether an address goes to another station.
    ///
    /// On one interface the kernel has one MAC for an address, so the later one is right. Two interfaces each have
    /// their own entry, of which the fresher one is right: a phone that changed from Wi-Fi to cable kept its address.
    private func takesOver(_ sighting: Sighting, from former: Owner) -> Bool {
        guard former.interface != sighting.interface else { return true }
        let known = station(former)?.addresses[sighting.address] ?? .min
        return sighting.seen > known
    }

    private mutating func update(_ sighting: Sighting) {
        let owner = Owner(mac: sighting.mac, interface: sighting.interface)
        if station(owner) == nil {
            let new = Station(interface: owner.interface, firstSeen: sighting.seen, seen: sighting.seen)
            stations[owner.mac, default: []].append(new)
            stations[owner.mac]?.sort { $0.interface < $1.interface }
            stationCount += 1
        }
        // The one that was seen last says on which interface a device is.
        if (stations[owner.mac]?.count ?? 0) > 1 { generation += 1 }
        modify(owner) { station in
            station.seen = max(station.seen, sighting.seen)
            // Its other addresses, and those of IPv4, do not say it.
            station.isRouter = station.isRouter || sighting.isRouter
            station.addresses[sighting.address] = max(station.addresses[sighting.address] ?? .min, sighting.seen)
        }
    }

    // MARK: Stations

    func station(_ owner: Owner) -> Station? { stations[owner.mac]?.first { $0.interface == owner.interface } }

    private mutating func modify(_ owner: Owner, _ change: (inout Station) -> Void) {
        guard let index = stations[owner.mac]?.firstIndex(where: { $0.interface == owner.interface }) else { return }
        change(&stations[owner.mac, default: []][index])
    }

    /// Whether people have named a station or given it a profile.
    private func isHeld(_ owner: Owner) -> Bool {
        [owner.interface, nil].contains { interface in
            let identity = DeviceIdentity.mac(owner.mac, interface: interface)
            return names[identity] != nil || assigned[identity] != nil
        }
    }

    /// Keeps within the bounds; what was just noted stays.
    ///
    /// What is full loses an eighth at a time, so that a flood does not sort at each packet.
    private mutating func makeRoom(besides kept: Owner) {
        if let addresses = station(kept)?.addresses, addresses.count > Self.addressesOfOne {
            let surplus = addresses.sorted { ($0.value, $0.key.low) < ($1.value, $1.key.low) }
                .prefix(Self.addressesOfOne / 8)
            for (address, _) in surplus {
                modify(kept) { $0.addresses[address] = nil }
                owners[Place(address, on: kept.interface)] = nil
            }
        }
        guard stationCount > Self.capacity || owners.count > Self.addressCapacity else { return }
        let target = (stations: Self.capacity * 7 / 8, addresses: Self.addressCapacity * 7 / 8)
        for owner in strangers(besides: kept) {
            guard stationCount > target.stations || owners.count > target.addresses else { return }
            remove(owner)
        }
    }

    /// The stations that have neither a name nor a profile, those that were seen longest ago first.
    private func strangers(besides kept: Owner) -> [Owner] {
        var strangers: [(owner: Owner, seen: Int64)] = []
        for (mac, stations) in stations {
            for station in stations {
                let owner = Owner(mac: mac, interface: station.interface)
                if owner != kept, !isHeld(owner) { strangers.append((owner, station.seen)) }
            }
        }
        return strangers.sorted { ($0.seen, $0.owner.mac.bits) < ($1.seen, $1.owner.mac.bits) }.map(\.owner)
    }

    private mutating func remove(_ owner: Owner) {
        for (address, _) in station(owner)?.addresses ?? [:] { owners[Place(address, on: owner.interface)] = nil }
        stations[owner.mac]?.removeAll { $0.interface == owner.interface }
        if stations[owner.mac]?.isEmpty == true { stations[owner.mac] = nil }
        stationCount -= 1
    }
}
