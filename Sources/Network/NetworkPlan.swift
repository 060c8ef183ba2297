/// What is wanted of the machine's network.

public import Addresses
public import Bytes

/// A plan is complete: two of them differ in what a switch has to change.
public struct NetworkPlan: Equatable, Sendable {
    /// Whose traffic is taken.
    public enum Setup: Sendable {
        /// Somebody else makes the routes.
        case none
        /// Devices on LAN interfaces.
        case gateway
        /// This machine's own traffic.
        case host
    }

    /// What is routed into the TUN device.
    public enum Capture: Sendable {
        /// Fake addresses alone: a device may still hold one.
        case none
        /// Fake addresses and the prefixes of rules.
        case names
        case all
    }

    /// What happens to captured traffic while the gateway is dead.
    public enum WhenDown: Sendable {
        /// It is refused at once and never leaves by the uplink.
        case block
        case direct
    }

    /// An interface with devices; it need not be there yet.
    public struct LAN: Hashable, Sendable {
        public var interface: String
        public var capture: Capture

        public init(_ interface: String, _ capture: Capture) {
            self.interface = interface
            self.capture = capture
        }
    }

    /// A device whose capture is not that of its interface.
    public struct Device: Hashable, Sendable {
        public var address: IPAddress
        public var capture: Capture

        public init(_ address: IPAddress, _ capture: Capture) {
            self.address = address
            self.capture = capture
        }
    }

    /// A real address that a device holds for a name that is proxied now; captured for the device until then.
    public struct Lent: Hashable, Sendable {
        public var device: IPAddress
        public var address: IPAddress
        public var until: Instant

        public init(device: IPAddress, address: IPAddress, until: Instant) {
            self.device = device
            self.address = address
            self.until = until
        }
    }

    /// Devices of other networks that use the HTTP proxy, and where it listens; an unspecified address is all of its
    /// family.
    public struct PageGuests: Hashable, Sendable {
        public var networks: [IPPrefix]
        public var listeners: [IPAddress]

        public init(networks: [IPPrefix], listeners: [IPAddress]) {
            self.networks = networks
            self.listeners = listeners
        }
    }

    /// The mark of our own sockets, and of connections that the firewall has to know again.
    public struct Mark: Hashable, Sendable {
        public var value: UInt32
        public var mask: UInt32

        public init(value: UInt32, mask: UInt32) {
            self.value = value
            self.mask = mask
        }
    }

    public var setup: Setup
    public var tunnel: String
    public var mtu: Int
    public var mark: Mark
    /// The pools of fake addresses.
    public var fake: [IPPrefix]
    /// The gateway's own addresses on the TUN device.
    public var addresses: [IPAddress]
    public var lan: [LAN]
    public var devices: [Device] = []
    /// What is captured of this machine's own traffic, for `host`.
    public var own: Capture = .names
    /// Prefixes that rules send to anything but DIRECT.
    public var captured: [IPPrefix] = []
    public var lent: [Lent] = []
    /// Machines that are always direct, as target and, with all addresses of theirs on a LAN, as source.
    public var upstreams: [IPAddress] = []
    /// Where the DNS service listens; nil leaves port 53 alone.
    public var dnsPort: UInt16?
    /// Where the page listens; nil leaves port 80 of our own addresses alone.
    public var pagePort: UInt16?
    /// Who comes to the page from other networks; nil: nobody does.
    public var pageGuests: PageGuests?
    /// Whether devices' DNS over TLS and QUIC (port 853; RFC 7858, RFC 9250) is refused, so that they ask us instead.
    public var refusesEncryptedDNS = false
    /// Whether what leaves by the uplink directly gets its address; with one arm it always does.
    public var masquerades = true
    public var whenDown: WhenDown = .block
    /// Whether IPv6 is carried; if not, what would be captured of it is refused.
    public var ipv6 = true
    /// Interfaces to the Internet; empty: those of the default routes.
    public var uplinks: [String] = []

    public init(
        setup: Setup, tunnel: String = "starship0", mtu: Int = 1500,
        mark: Mark = Mark(value: 0x5300_0000, mask: 0xff00_0000), fake: [IPPrefix], lan: [LAN] = []
    ) {
        self.setup = setup
        self.tunnel = tunnel
        self.mtu = mtu
        self.mark = mark
        self.fake = fake
        self.lan = lan
        addresses = fake.map(Self.firstAddress)
    }

    /// The first address of a pool is the gateway's.
    private static func firstAddress(of pool: IPPrefix) -> IPAddress {
        IPAddress(high: pool.base.high, low: pool.base.low + 1)
    }
}
