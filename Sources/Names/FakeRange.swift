/// Which addresses a fake-address pool hands out, and at which place each of them stands.

public import Addresses

/// Both families of a pool, numbered alike: place 0 is the first address after the gateway's own.
public struct FakeRange: Equatable, Sendable {
    /// The first addresses of each family are the gateway's own; among them is the network address itself.
    public static let ownAddresses = 16

    /// The most places, whatever the prefixes hold: so many are in a /15.
    public static let placeLimit = 131_072

    public let v4: IPPrefix
    public let v6: IPPrefix

    /// How many names can have an address of each family.
    public let placeCount: Int

    /// Numbers the addresses of an IPv4 and an IPv6 prefix.
    ///
    /// Of IPv4 the last address is the broadcast address and belongs to nobody (RFC 919).
    public init(v4: IPPrefix, v6: IPPrefix) {
        precondition(v4.base.isIPv4 && !v6.base.isIPv4, "the families are mixed up")
        self.v4 = v4
        self.v6 = v6
        let count4 = (1 << min(32 - v4.length, 40)) - Self.ownAddresses - 1
        let count6 = (1 << min(128 - v6.length, 40)) - Self.ownAddresses
        placeCount = max(0, min(count4, count6, Self.placeLimit))
    }

    /// The gateway's first own address of each family.
    public var gateway: (v4: IPAddress, v6: IPAddress) {
        (IPAddress(v4: v4.base.v4 + 1), IPAddress(high: v6.base.high, low: v6.base.low + 1))
    }

    /// The second own address of each family: no machine has it, so who reaches us by it has come through the TUN
    /// device.
    public var check: (v4: IPAddress, v6: IPAddress) {
        (IPAddress(v4: v4.base.v4 + 2), IPAddress(high: v6.base.high, low: v6.base.low + 2))
    }

    /// The address of a place.
    public func address(at place: UInt32, _ family: FakePool.Family) -> IPAddress {
        switch family {
        case .ipv4: IPAddress(v4: v4.base.v4 + UInt32(Self.ownAddresses) + place)
        case .ipv6: IPAddress(high: v6.base.high, low: v6.base.low + UInt64(Self.ownAddresses) + UInt64(place))
        }
    }

    /// The place of an address, or nil when no name can have it.
    public func place(of address: IPAddress) -> UInt32? {
        guard let number = number(of: address), number >= Self.ownAddresses,
            number < UInt64(Self.ownAddresses + placeCount)
        else { return nil }
        return UInt32(number) - UInt32(Self.ownAddresses)
    }

    /// Whether the address is in one of the prefixes, and is not the gateway's own.
    public func contains(_ address: IPAddress) -> Bool {
        guard v4.contains(address) || v6.contains(address) else { return false }
        guard let number = number(of: address) else { return true }
        return number >= Self.ownAddresses
    }

    /// How many addresses stand before this one in its prefix; nil outside, or far behind every place.
    private func number(of address: IPAddress) -> UInt64? {
        if v4.contains(address) { return UInt64(address.v4 - v4.base.v4) }
        guard v6.contains(address), address.high == v6.base.high else { return nil }
        return address.low - v6.base.low
    }
}
