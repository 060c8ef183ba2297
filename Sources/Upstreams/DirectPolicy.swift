/// Where the gateway does not go on anybody's behalf.
///
/// Checked on addresses, after resolution: a name, an odd spelling or an IPv4-mapped address cannot pass by.

public import Addresses

/// Which addresses are refused as targets of direct dials.
public struct DirectPolicy: Equatable, Sendable {
    /// The gateway's own addresses, refused through any upstream.
    public var own: [IPPrefix] = []
    /// What nobody has, refused through any upstream too: the fake range.
    public var refused: [IPPrefix] = []
    /// Exceptions from everything here: for a lab on one machine.
    public var allowed: [IPPrefix] = []

    public init() {}

    /// Whether a direct dial to the address is refused.
    public func refusesDirect(_ address: IPAddress) -> Bool {
        if Self.holds(allowed, address) { return false }
        return address.isLoopback || address.isLinkLocal || address.isMulticast || address.isUnspecified
            || address.isLimitedBroadcast || Self.isThisNetwork(address) || Self.holds(own, address)
            || Self.holds(refused, address)
    }

    /// Whether the address is the gateway itself or nobody's, which is no target through any upstream.
    public func refusesAnyWay(_ address: IPAddress) -> Bool {
        (Self.holds(own, address) || Self.holds(refused, address)) && !Self.holds(allowed, address)
    }

    /// 0.0.0.0/8, which systems read as themselves (RFC 1122, section 3.2.1.3).
    private static func isThisNetwork(_ address: IPAddress) -> Bool { address.isIPv4 && address.v4 >> 24 == 0 }

    private static func holds(_ prefixes: [IPPrefix], _ address: IPAddress) -> Bool {
        for prefix in prefixes where prefix.contains(address) { return true }
        return false
    }
}
