/// What the DNS service is told about names, and what it is told about one name.

public import Addresses

/// What DNS does with a name for a device.
public enum NameVerdict: Equatable, Sendable {
    /// The name is proxied: it has an address of the fake range.
    case fake
    /// The resolvers' answer, with TTLs of at most so many seconds; a name that they do not know may be known where its
    /// flows go, and then has a fake address.
    case real(maximumTTL: UInt32?, fakesUnknown: Bool = false)
    /// These and no others: what looks at an address alone wants to see the right one.
    case addresses([IPAddress])
    /// NXDOMAIN.
    case nonexistent
    /// The name exists and has nothing (NODATA).
    case empty
    case refused
}

/// How names of connections become known.
public enum AnswerMode: Equatable, Sendable {
    /// Proxied names have fake addresses.
    case fakeIP
    /// All names have their real addresses, and who was told which is remembered.
    case snoop
    /// Everything is the resolvers' answer.
    case off
}

/// The families of addresses that proxied names have.
public enum AnswerFamilies: Equatable, Sendable {
    /// AAAA is empty: with both, a phone opens a second connection whenever the proxy takes over 250 ms (RFC 8305).
    case ipv4
    case ipv6
    case both
}

public struct AnswerSettings: Equatable, Sendable {
    public var mode = AnswerMode.fakeIP
    public var families = AnswerFamilies.ipv4
    /// Names that never have a fake address, nor anything below them: the lab's own ones, the domain that DHCP hands
    /// out.
    public var localNames: [String] = []
    /// Names that never have a fake address, while those below them may: of upstreams and resolvers.
    public var ownHosts: Set<String> = []
    /// The gateway's own addresses, as `starship.internal` has them.
    public var gateway: [IPAddress] = []

    public init() {}
}
