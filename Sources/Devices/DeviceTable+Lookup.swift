/// Questions to the table: whose an address is, whom a person means, and all devices as a list.

public import Addresses
internal import Bytes

extension DeviceTable {
    /// Whose an address is; nil when nobody has been seen with it.
    ///
    /// An address that is valid on its link alone needs the interface.
    public func identity(at address: IPAddress, on interface: String = "") -> DeviceIdentity? {
        let alone = DeviceIdentity.address(address)
        if isHeld(alone) { return alone }
        if let owner = owners[Place(address, on: interface)] { return identity(of: owner) }
        // The DHCP server knows a device a moment before its first packet shows it.
        if let mac = leases.mac(of: address), let leaser = identity(of: mac) { return leaser }
        return remote[address] == nil ? nil : alone
    }

    /// All addresses whose device is known, but for those that are valid on their link alone.
    public var addressBook: [IPAddress: DeviceIdentity] {
        var book: [IPAddress: DeviceIdentity] = [:]
        for address in leases.addresses { book[address] = identity(at: address) }
        for address in remote.keys { book[address] = identity(at: address) }
        for (place, owner) in owners where place.interface == nil { book[place.address] = identity(of: owner) }
        for identity in Set(names.keys).union(assigned.keys) {
            if case .address(let address) = identity { book[address] = identity }
        }
        return book
    }

    /// Finds the device that a person means by a name, a MAC, `MAC@interface` or an address.
    ///
    /// A MAC or an address that was never seen is a device all the same, so that one can decide about it beforehand.
    public func find(_ text: String) throws(DeviceError) -> Device {
        if let identity = identities[text] { return device(identity) }
        guard let identity = DeviceIdentity(parsing: text) else {
            if MACAddress(parsing: text.prefix { $0 != "@" }) != nil { throw .notOne(text) }
            throw .unknown(text, near: NearMiss.suggestion(for: text, among: identities.keys.sorted()))
        }
        switch identity {
        case .address(let address):
            guard !address.isMulticast, !address.isUnspecified, !address.isLimitedBroadcast, !address.isLoopback else {
                throw .notOne(text)
            }
            let places = owners.keys.filter { $0.address == address }.compactMap(\.interface).sorted()
            return device(self.identity(at: address, on: places.first ?? "") ?? identity)
        case .mac(let mac, let interface?): return device(self.identity(of: Owner(mac: mac, interface: interface)))
        case .mac(let mac, nil): return try find(mac)
        }
    }

    private func find(_ mac: MACAddress) throws(DeviceError) -> Device {
        let anywhere = DeviceIdentity.mac(mac, interface: nil)
        if isHeld(anywhere) { return device(anywhere) }
        let interfaces = Set((heldInterfaces[mac] ?? []) + (stations[mac] ?? []).map(\.interface)).sorted()
        guard interfaces.count < 2 else { throw .severalInterfaces(mac, interfaces) }
        return device(.mac(mac, interface: interfaces.first))
    }

    /// All devices: those with names first, in their order, then the others by their labels.
    public var devices: [Device] {
        var all = Set(names.keys)
        for identity in assigned.keys { all.insert(device(behind: identity)) }
        for address in remote.keys { if let identity = self.identity(at: address) { all.insert(identity) } }
        for (mac, stations) in stations {
            for station in stations { all.insert(self.identity(of: Owner(mac: mac, interface: station.interface))) }
        }
        let looks = Looks(self)
        return all.map { device($0, looks) }.sorted { left, right in
            (left.name == nil ? 1 : 0, left.label) < (right.name == nil ? 1 : 0, right.label)
        }
    }

    /// All that is known of a device.
    public func device(_ identity: DeviceIdentity) -> Device { device(identity, nil) }

    /// The addresses that a device has just now.
    public func addresses(of identity: DeviceIdentity) -> [IPAddress] {
        switch identity {
        case .address(let address): return [address]
        case .mac(let mac, _):
            let seen = stations(of: identity).flatMap { station in
                station.addresses.keys.filter { self.identity(at: $0, on: station.interface) == identity }
            }
            let leased = leases.addresses(of: mac).filter { self.identity(at: $0) == identity }
            return Set(seen + leased).sorted(by: IPAddress.isShownBefore)
        }
    }

    // MARK: Identities

    /// What a station is known by: a name counts before a profile, and its own interface before all of them.
    func identity(of owner: Owner) -> DeviceIdentity {
        let here = DeviceIdentity.mac(owner.mac, interface: owner.interface)
        let anywhere = DeviceIdentity.mac(owner.mac, interface: nil)
        for identity in [here, anywhere] where names[identity] != nil { return identity }
        for identity in [here, anywhere] where assigned[identity] != nil { return identity }
        return here
    }

    /// What a MAC is known by, wherever it is.
    private func identity(of mac: MACAddress) -> DeviceIdentity? {
        if let latest = stations[mac]?.max(by: { $0.seen < $1.seen }) {
            return identity(of: Owner(mac: mac, interface: latest.interface))
        }
        let anywhere = DeviceIdentity.mac(mac, interface: nil)
        return isHeld(anywhere) ? anywhere : heldInterfaces[mac]?.first.map { .mac(mac, interface: $0) }
    }

    /// The device that is meant by what an assignment is tied to.
    private func device(behind identity: DeviceIdentity) -> DeviceIdentity {
        guard case .mac(let mac, let interface?) = identity else { return identity }
        return self.identity(of: Owner(mac: mac, interface: interface))
    }

    func isHeld(_ identity: DeviceIdentity) -> Bool { names[identity] != nil || assigned[identity] != nil }

    private func stations(of identity: DeviceIdentity) -> [Station] {
        guard case .mac(let mac, _) = identity else { return [] }
        return (stations[mac] ?? []).filter {
            self.identity(of: Owner(mac: mac, interface: $0.interface)) == identity
        }
    }

    func assignment(of identity: DeviceIdentity) -> Assignment? {
        if let assignment = assigned[identity] { return assignment }
        guard case .mac(let mac, let interface) = identity else { return nil }
        if interface != nil { return assigned[.mac(mac, interface: nil)] }
        // It was tied to an interface before the device had its name.
        let elsewhere = (heldInterfaces[mac] ?? []).map { DeviceIdentity.mac(mac, interface: $0) }
        return elsewhere.first { assigned[$0] != nil && device(behind: $0) == identity }.flatMap { assigned[$0] }
    }

    /// Where a device was seen last.
    func interface(of identity: DeviceIdentity) -> String? {
        switch identity {
        case .mac(_, let interface): return stations(of: identity).max { $0.seen < $1.seen }?.interface ?? interface
        case .address(let address): return owners[Place(address, on: "")]?.interface
        }
    }

    // MARK: Devices

    private func device(_ identity: DeviceIdentity, _ looks: Looks?) -> Device {
        var device = Device(
            identity: identity, name: names[identity], interface: interface(of: identity),
            addresses: addresses(of: identity), isRouter: false,
            assignment: assignment(of: identity), label: "\(identity)")
        switch identity {
        case .mac(let mac, _):
            let stations = stations(of: identity)
            let latest = stations.max { $0.seen < $1.seen }
            device.mac = mac
            device.firstSeen = stations.map(\.firstSeen).min()
            device.seen = latest?.seen
            device.isRouter = stations.contains(where: \.isRouter)
            device.hostName = leases.hostName(of: mac)
            // The MAC alone says enough where it is on one interface.
            if (self.stations[mac]?.count ?? 0) < 2, (heldInterfaces[mac]?.count ?? 0) < 2 { device.label = "\(mac)" }
        case .address(let address):
            device.firstSeen = remote[address]?.firstSeen
            device.seen = remote[address]?.seen
            guard let owner = owners[Place(address, on: "")], let station = station(owner) else { break }
            device.mac = owner.mac
            device.seen = station.addresses[address]
        }
        if let name = device.name { device.label = name } else { device.proposal = proposal(for: device, looks) }
        return device
    }
}

extension DeviceIdentity {
    static func isBefore(_ left: DeviceIdentity, _ right: DeviceIdentity) -> Bool {
        left.description < right.description
    }
}
