/// The name service: what devices are answered, and whom it asks itself.

public import Addresses
public import Bytes

/// The DNS server for the lab, its resolvers and the fake addresses.
public struct DNSOptions: Equatable, Sendable {
    public static let port: UInt16 = 10053

    /// `fake-ip` as soon as the file has a `dns` object or the gateway sets up the network, else `off`.
    public var mode = Mode.off
    /// Where to answer, UDP and TCP; empty: on the gateway's own addresses, port 10053.
    public var listen: [SocketAddress] = []
    /// Who knows the names that aren't faked, in order.
    public var resolvers = [Resolver.system]
    public var order = Order.ordered
    /// How long one resolver may take before the next one is asked.
    public var timeout = Interval.seconds(2)
    /// Names whose answers are kept, each as long as its resolver said; 0: none.
    public var cache = 10_000
    /// The longest time to live of a real answer to a device in domain mode: how long it may miss a switch.
    public var maximumTTL = Interval.seconds(60)
    /// The families of fake answers; `ipv4` whenever IPv6 is off.
    public var families = Families.ipv4
    /// Where fake IPv4 addresses come from; the first 16 are the gateway's own.
    public var pool = DNSOptions.defaultPool
    /// Where fake IPv6 addresses come from; the first 16 are the gateway's own.
    public var pool6 = DNSOptions.defaultPool6
    /// Names that are never faked, with all below them, besides single labels and those that are local everywhere.
    ///
    /// As A-labels in small letters, without a trailing dot.
    public var local: [String] = []

    /// Names that are local everywhere: multicast DNS (RFC 6762), homes (RFC 8375), and what routers have chosen.
    public static let alwaysLocal = ["local", "home.arpa", "lan"]

    /// What a device is answered.
    public enum Mode: String, CaseIterable, Sendable {
        /// Names that are proxied get an address of the pool, all others their real one.
        case fake = "fake-ip"
        /// All names get their real address, and which name it was for is remembered.
        case snoop
        /// Nothing: there is no name service.
        case off
    }

    /// A server that is asked for real answers.
    public enum Resolver: Equatable, Sendable, CustomStringConvertible {
        /// Those that the uplink brought along, never a stub on loopback.
        case system
        case server(SocketAddress)

        public var description: String {
            switch self {
            case .system: "system"
            case .server(let address): address.description
            }
        }
    }

    /// How several resolvers are asked.
    public enum Order: String, CaseIterable, Sendable {
        /// One after the other, each when the one before has failed or been silent.
        case ordered
        /// All at once; the first good answer counts.
        case race
    }

    /// Which records of a fake name have an address.
    public enum Families: String, CaseIterable, Sendable {
        /// A alone; AAAA is empty.
        case ipv4
        /// A and AAAA.
        case both
    }

    /// The addresses of a pool that are never given to a name.
    public static let reservedAddresses = 16

    static let defaultPool = prefix(IPAddress(v4: 0xc612_0000), 15)
    static let defaultPool6 = prefix(IPAddress(high: 0x2001_0002_0000_0000, low: 0), 48)

    public init() {}

    /// A network that is known to be one.
    private static func prefix(_ address: IPAddress, _ length: Int) -> IPPrefix {
        guard let prefix = IPPrefix(address, length: length) else { preconditionFailure("no such length") }
        return prefix
    }
}
