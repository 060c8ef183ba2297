/// What a gateway is told at its start, in the words of the data path.
///
/// `starshipd` makes it from the configuration; it holds no file name and no text that has to be parsed.

public import Addresses
public import Bytes
public import LinuxIO
public import Relay
public import Streams
public import Upstreams
public import Wire

public struct GatewaySettings: Sendable {
    /// The TUN device.
    public struct Tunnel: Sendable {
        public var name: String
        public var offload: OffloadWish

        public init(name: String, offload: OffloadWish) {
            self.name = name
            self.offload = offload
        }
    }

    /// A listener for clients that know of a proxy.
    public struct Listener: Sendable {
        /// What is spoken there, and the login that is wanted, if any.
        public enum Kind: Sendable {
            case socks([SOCKS5Login])
            case http([BasicCredentials])
        }

        /// Where its streams go.
        public enum Outbound: Sendable {
            /// The active profile's upstream.
            case active
            /// The target itself.
            case direct
        }

        public var kind: Kind
        public var address: SocketAddress
        /// Who may connect; empty on a loopback address: everybody there.
        public var allow: [IPPrefix]
        public var outbound: Outbound

        public init(kind: Kind, address: SocketAddress, allow: [IPPrefix], outbound: Outbound) {
            self.kind = kind
            self.address = address
            self.allow = allow
            self.outbound = outbound
        }
    }

    /// What is written about flows that end.
    public enum FlowLog: Sendable { case all, failed, none }

    /// Threads that carry flows, 1 at least; each has a queue of the TUN device.
    public var workers = 1
    public var tunnel: Tunnel?
    public var listeners: [Listener] = []
    /// What decides where streams go, at the start.
    public var routing: RoutingSettings
    /// Nil: there is no DNS service, and no name has an address of ours.
    public var names: NameSettings?
    /// Nil: somebody else makes the routes.
    public var network: NetworkSettings?

    /// Bounds for the whole gateway; each worker has an even share.
    public var flows = 65536
    public var flowsPerDevice = 16384
    public var halfOpen = 2048
    public var halfOpenPerDevice = 512
    /// Octets.
    public var bufferMemory = 256 << 20
    /// ICMP errors and echo replies for a device.
    public var icmpPerSecond = 50

    public var datagrams = DatagramSettings()
    public var sniff = SniffSettings()
    public var tcp = TCPSettings()
    public var relay = RelayLimits(halfClose: .seconds(60), idle: .hours(24))
    public var upstreamKeepalive = Interval.seconds(60)
    public var logLevel = LogLevel.info
    public var flowLog = FlowLog.all
    /// Whether lines carry journald's priorities.
    public var isJournal = false

    public init(routing: RoutingSettings) {
        self.routing = routing
    }

    /// One profile for everything.
    public init(upstream: UpstreamSettings, profile: String) {
        self.init(routing: RoutingSettings(profile: profile, upstream: upstream))
    }
}
