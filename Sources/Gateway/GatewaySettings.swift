/// What a gateway is told at its start, in the words of the data path. `starshipd` makes it from the
/// configuration; it holds no file name and no text that has to be parsed.

public import Addresses
public import Bytes
public import LinuxIO
public import Relay
public import Streams
public import Upstreams

public struct GatewaySettings: Sendable {
    /// The TUN device.
    public struct Tunnel: Sendable {
        public var name: String
        public var offload: OffloadWish
        /// The addresses of the gateway on the device: echo requests to them are the kernel's business.
        public var mtu: Int

        public init(name: String, offload: OffloadWish, mtu: Int) {
            self.name = name
            self.offload = offload
            self.mtu = mtu
        }
    }

    /// A listener for clients that know of a proxy.
    public struct Listener: Sendable {
        public enum Kind: Sendable {
            case socks(users: [String: String])
            case http(credentials: String?)
        }

        public var kind: Kind
        public var address: SocketAddress
        /// Who may connect; on a loopback address an empty list means everybody there.
        public var allow: [IPPrefix]
        public var outbound: Outbound

        public init(kind: Kind, address: SocketAddress, allow: [IPPrefix], outbound: Outbound) {
            self.kind = kind
            self.address = address
            self.allow = allow
            self.outbound = outbound
        }
    }

    /// Where streams of a listener go.
    public enum Outbound: Sendable {
        /// The active profile's upstream.
        case active
        /// The target itself.
        case direct
    }

    public struct Limits: Sendable {
        public var flows = 65536
        public var halfOpen = 2048
        public var halfOpenPerDevice = 512
        public var bufferMemory = 256 << 20
        public var icmpPerSecond = 50
        public var inboundHandshake = Interval.seconds(30)

        public init() {}
    }

    public var workers = 1
    public var tunnel: Tunnel?
    public var listeners: [Listener] = []
    public var upstream: UpstreamSettings
    public var profile: String
    public var halfClose = HalfClose.pass
    public var limits = Limits()
    public var tcp = TCPSettings()
    public var relay = RelayLimits(halfClose: .seconds(60), idle: .hours(24))
    public var upstreamKeepalive = Interval.seconds(60)
    public var logLevel = LogLevel.info
    public var logsFlows = true

    public init(upstream: UpstreamSettings, profile: String) {
        self.upstream = upstream
        self.profile = profile
    }
}
