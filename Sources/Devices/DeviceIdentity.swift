/// # Devices: whose packets these are
///
/// People name devices; packets bear addresses. Between the two stands what the link says: which MAC has which
/// addresses just now. A device is known by its MAC on its interface, or by an address alone where nothing better is
/// known; whatever addresses its MAC has are the same device.
///
///     neighbours, leases ── DeviceTable ──▶ who is seen, under which name
///     name | MAC | address ── DeviceTable ──▶ DeviceIdentity
///     DeviceIdentity ── Assignment ──▶ profile, until when
///
/// Values alone: what the kernel and the DHCP server say comes in, with the time.

public import Addresses

/// What a device is known by.
public enum DeviceIdentity: Hashable, Sendable, CustomStringConvertible {
    /// A MAC on an interface; nil: on each.
    case mac(MACAddress, interface: String?)
    /// An address alone, for what is not on the link itself.
    case address(IPAddress)

    /// `aa:bb:cc:dd:ee:ff`, `aa:bb:cc:dd:ee:ff@wlan0` or an address; `parse` reads all three.
    public var description: String {
        switch self {
        case .mac(let mac, nil): mac.description
        case .mac(let mac, let interface?): "\(mac)@\(interface)"
        case .address(let address): address.description
        }
    }

    /// Reads what `description` writes.
    public init?(parsing text: String) {
        if let address = IPAddress(parsing: text) {
            self = .address(address)
            return
        }
        let parts = text.split(separator: "@", maxSplits: 1, omittingEmptySubsequences: false)
        guard let mac = MACAddress(parsing: parts[0]), !mac.isGroup else { return nil }
        guard parts.count == 2 else {
            self = .mac(mac, interface: nil)
            return
        }
        guard !parts[1].isEmpty else { return nil }
        self = .mac(mac, interface: String(parts[1]))
    }
}

/// A device that people have given a name.
public struct NamedDevice: Equatable, Sendable {
    /// Letters, digits, hyphens, dots and underscores: what a configuration calls an identifier, so no MAC or address.
    public var name: String
    public var identity: DeviceIdentity

    public init(name: String, identity: DeviceIdentity) {
        self.name = name
        self.identity = identity
    }
}

/// A profile that a device has for a while.
public struct Assignment: Equatable, Sendable {
    public var device: DeviceIdentity
    /// The profile's id.
    public var profile: String
    /// Seconds since 1970.
    public var since: Int64
    /// The last second, counted from 1970; nil: until somebody ends it.
    public var until: Int64?
    /// Who made it: a Unix user, a key, the device itself.
    public var by: String
    /// What the device sends direct, and what it has proxied, whatever the profile says: entries as its lists have
    /// them.
    public var direct: [String] = []
    public var proxied: [String] = []

    public init(device: DeviceIdentity, profile: String, since: Int64, until: Int64?, by: String) {
        self.device = device
        self.profile = profile
        self.since = since
        self.until = until
        self.by = by
    }
}
