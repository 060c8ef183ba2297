/// What the DNS service is told at its start, and whom it asks about names.

public import Addresses
public import Bytes
public import Names
import Wire

public struct NameServerSettings: Sendable {
    /// Whom names that are not proxied are asked of.
    public enum Resolver: Equatable, Sendable {
        /// The servers of the machine's own network, as its resolver file names them.
        case system
        case address(SocketAddress)
    }

    /// UDP and TCP; none: only the gateway itself asks.
    public var listen: [SocketAddress] = []
    /// Who may ask besides this machine and the devices on its LAN interfaces.
    public var allow: [IPPrefix] = []
    public var answers = AnswerSettings()
    public var resolvers: [Resolver] = [.system]
    public var order = ResolverOrder.ordered
    public var timeout = Interval.seconds(2)
    /// Answers that are kept.
    public var cacheSize = 10_000
    public var mark: UInt32?
    public var logLevel = LogLevel.info
    public var isJournal = false

    /// Questions that wait for a resolver, in all and of one device.
    public var pendingLimit = 4096
    public var pendingPerDevice = 512
    /// TCP connections of clients, how long they may be quiet (RFC 7766, section 6.2.3), and how many questions of one
    /// are worked on at a time.
    public var streamLimit = 256
    public var streamIdle = Interval.seconds(10)
    public var questionsPerStream = 64

    /// resolv.conf(5), and the one that is read where the first names stubs of this machine alone.
    public var resolverFiles = ["/etc/resolv.conf", "/run/systemd/resolve/resolv.conf"]
    /// Whether the domains in the resolver file count as local names.
    public var keepsSearchDomainsReal = true

    public init() {}
}

/// What the DNS service asks of the rest of the gateway; every question is answered at once.
struct NameDirectory: Sendable {
    /// What the rules say of a name for a device.
    var verdict: @Sendable (_ name: String, _ device: IPAddress) -> NameVerdict
    /// The fake address of a name, of the family of this type; nil when there is none left for the device.
    var fakeAddress: @Sendable (_ name: String, _ type: DNSType, _ device: IPAddress, _ now: Instant) -> IPAddress?
    /// The name that a fake address stands for.
    var fakeName: @Sendable (IPAddress) -> String?
    /// Whether an address is in the fake range.
    var isFake: @Sendable (IPAddress) -> Bool
    /// Notes which real addresses of a name a device was told, and for how long.
    var note:
        @Sendable (_ name: String, _ addresses: [IPAddress], _ device: IPAddress, Interval, _ now: Instant) -> Void
    /// Whether an address is a device's.
    var mayAsk: @Sendable (IPAddress) -> Bool = { _ in false }
    /// The device for which a worker of this gateway asks, from this end of its socket.
    var device: @Sendable (_ client: SocketAddress, _ transport: Transport) -> IPAddress?
}
