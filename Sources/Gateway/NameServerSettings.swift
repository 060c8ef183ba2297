/// What the DNS service is told at its start, and whom it asks about names.

import Addresses
import Bytes
import Names
import Wire

struct NameServerSettings: Sendable {
    /// Whom names that are not proxied are asked of.
    enum Resolver: Equatable, Sendable {
        /// The servers of the machine's own network, as its resolver file names them.
        case system
        case address(SocketAddress)
    }

    /// UDP and TCP; none: only the gateway itself asks.
    var listen: [SocketAddress] = []
    /// Who may ask; empty: this machine alone.
    var allow: [IPPrefix] = []
    var answers = AnswerSettings()
    var resolvers: [Resolver] = [.system]
    var order = ResolverOrder.ordered
    var timeout = Interval.seconds(2)
    /// Answers that are kept.
    var cacheSize = 10_000
    var mark: UInt32?
    var logLevel = LogLevel.info
    var isJournal = false

    /// Questions that wait for a resolver, in all and of one device.
    var pendingLimit = 4096
    var pendingPerDevice = 512
    /// TCP connections of clients, how long they may be quiet (RFC 7766, section 6.2.3), and how many questions of one
    /// are worked on at a time.
    var streamLimit = 256
    var streamIdle = Interval.seconds(10)
    var questionsPerStream = 64

    /// resolv.conf(5), and the one that is read where the first names stubs of this machine alone.
    var resolverFiles = ["/etc/resolv.conf", "/run/systemd/resolve/resolv.conf"]
    /// Whether the domains in the resolver file count as local names.
    var keepsSearchDomainsReal = true
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
    /// The device for which a worker of this gateway asks, from this end of its socket.
    var device: @Sendable (_ client: SocketAddress, _ transport: Transport) -> IPAddress?
}
