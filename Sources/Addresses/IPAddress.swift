/// # Addresses: who a packet is from and whom it is for
///
/// One value holds an address of either family, so keys, tables and rules are written once. An IPv4 address
/// is kept in its IPv4-mapped form (RFC 4291, section 2.5.5.2), which never stands in a packet.

/// An IPv4 or IPv6 address.
public struct IPAddress: Hashable, Sendable {
    /// The first and the last eight octets, the first octet the most significant.
    public let high: UInt64
    public let low: UInt64

    /// An IPv6 address; the IPv4-mapped range stands for IPv4 addresses.
    @inlinable public init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// An IPv4 address, 192.0.2.1 being 0xc0000201.
    @inlinable public init(v4 bits: UInt32) {
        high = 0
        low = 0xffff_0000_0000 | UInt64(bits)
    }

    @inlinable public var isIPv4: Bool { high == 0 && low >> 32 == 0xffff }

    /// The 32 bits of an IPv4 address; only for one.
    @inlinable public var v4: UInt32 { UInt32(truncatingIfNeeded: low) }

    /// 0.0.0.0 or ::.
    public var isUnspecified: Bool { high == 0 && (low == 0 || low == 0xffff_0000_0000) }

    /// 127.0.0.0/8 or ::1.
    public var isLoopback: Bool { isIPv4 ? v4 >> 24 == 127 : high == 0 && low == 1 }

    /// 224.0.0.0/4 or ff00::/8.
    public var isMulticast: Bool { isIPv4 ? v4 >> 28 == 0xe : high >> 56 == 0xff }

    /// 169.254.0.0/16 or fe80::/10.
    public var isLinkLocal: Bool { isIPv4 ? v4 >> 16 == 0xa9fe : high >> 54 == 0x3fa }

    /// 240.0.0.0/4 but for the limited broadcast address: never one host's (RFC 1112, section 4).
    public var isReserved: Bool { isIPv4 && v4 >> 28 == 0xf && !isLimitedBroadcast }

    /// 255.255.255.255.
    public var isLimitedBroadcast: Bool { isIPv4 && v4 == .max }
}

/// An address with a port: one end of a flow.
public struct SocketAddress: Hashable, Sendable {
    public var address: IPAddress
    public var port: UInt16

    @inlinable public init(_ address: IPAddress, _ port: UInt16) {
        self.address = address
        self.port = port
    }
}
