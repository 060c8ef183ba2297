/// # Profiles: what the gateway is told
///
/// A configuration is one JSON5 text. It is read whole or refused whole: an unknown or repeated key, a
/// wrong type or an impossible value is an error with line, column, key path, what was found and what would
/// be right. Every setting has its default here, in the initial value of its property, and its range in
/// `Configuration+Reading`. Keys of features that this version lacks are refused by name, never ignored.
///
///     bytes ── JSON5Reader ──▶ JSON5Value ── Section (types, ranges, near misses) ──▶ Configuration
///     Configuration, files that it names ── resolve ──▶ ResolvedConfiguration (rules that can be asked)
///     ResolvedConfiguration, a destination ── explain ──▶ Explanation
///     URL ── ProxyURL ──▶ Upstream
///     scanned text ── ConfigURL ──▶ Link or ProxyURL; Link, keys, clock ── LinkVerifier ──▶ what may be done
///     arguments ── CommandLineOptions
///
/// Secrets are no part of a configuration: it holds the names of the files that they are in. Lists of rules are
/// files too; nothing here reads them, so a configuration comes in two steps: what its text says, and then,
/// with the files' bytes, what its rules mean. A wrong rule is refused like any other wrong value, at its line.

public import Addresses
public import Bytes

/// Everything that one file says.
public struct Configuration: Equatable, Sendable {
    /// The TUN device; nil with `tun: false`, when the program is a SOCKS5 and HTTP translator alone.
    public var tunnel: TunnelOptions? = TunnelOptions()
    public var network = NetworkOptions()
    /// Whether devices get IPv6; without it a fake name has no AAAA record and IPv6 in the TUN device is refused.
    public var ipv6 = true
    public var dns = DNSOptions()
    /// The SOCKS5 inbound; nil with `socks: false`.
    public var socks: InboundOptions? = InboundOptions(port: InboundOptions.socksPort)
    /// The HTTP inbound; nil unless the file has an `http` object.
    public var http: InboundOptions?
    /// At least one, each with an `id` of its own.
    public var profiles: [Profile]
    /// The `id` of the profile in use.
    public var active: String
    /// How upstreams are probed, unless a profile says otherwise.
    public var health = HealthOptions()
    /// How what isn't proxied leaves.
    public var egress = Egress.direct
    /// The files that RULE-SET can name, each with a name of its own.
    public var ruleSets: [RuleSetFile] = []
    public var phones = PhoneOptions()
    /// The directory of what outlives a restart (the fake addresses); nil with `state: false`: nothing does.
    public var state: String? = Configuration.stateDirectory
    public var limits = Limits()
    public var log = LogOptions()
    /// Whether the calendar is believed.
    public var clock = ClockTrust.kernel
    /// This gateway's id, which links and pushes are signed for; nil: the host's name.
    public var gateway: String?
    /// Devices with a name, each name and each device once.
    public var devices: [DeviceOptions] = []
    public var newDevices = NewDevices.default
    /// How long an assignment lasts unless it says so itself; nil with `lease: false`: until somebody ends it.
    public var lease: Interval? = .hours(12)
    /// The lease file of the DHCP server, which knows names for devices; nil: there is none.
    public var leases: String?
    /// The keys of links and pushes.
    public var keys: [KeyOptions] = []
    /// The control socket; nil with `control: false`.
    public var control: ControlOptions? = ControlOptions()
    /// The listener for signed requests; nil unless the file has a `push` object.
    public var push: PushOptions?
    /// Other gateways of the lab, which are told whatever is decided here.
    public var peers: [PeerOptions] = []
    /// How long after its start devices that this gateway does not know wait for what its peers know.
    public var peerWait = Interval.seconds(300)
    /// The listener for Prometheus; nil unless the file has a `metrics` object.
    public var metrics: MetricsOptions?
    /// The page for devices; nil with `page: false`, and where `network.setup` is not `gateway`.
    public var page: PageOptions?
    /// Which proxies people may bring along; nil unless the file has an `adhoc` object: none.
    public var adhoc: AdhocOptions?

    public static let stateDirectory = "/var/lib/starship"

    /// All defaults around these profiles, the first one active.
    ///
    /// Traps without any profile.
    public init(profiles: [Profile]) {
        precondition(!profiles.isEmpty, "a configuration without profiles")
        self.profiles = profiles
        active = profiles[0].id
    }

    /// The profile that `active` names.
    public var activeProfile: Profile {
        profiles.first { $0.id == active } ?? profiles[0]
    }

    /// The profile with this id.
    public func profile(_ id: String) -> Profile? {
        profiles.first { $0.id == id }
    }
}

/// Whose word it is that the calendar is right, which decides whether signed links and pushes can be checked.
public enum ClockTrust: String, CaseIterable, Sendable {
    /// The kernel's, who knows whether something disciplines it (NTP).
    case kernel
    /// The administrator's, for a machine whose clock is right without that: a guest's, or one with a good battery.
    case trust
}

/// How what no upstream was chosen for leaves the lab: direct traffic, unlisted names, checks and push.
public enum Egress: Equatable, Sendable {
    /// By the uplink, as it is.
    case direct
    /// Through the upstream of this profile, in an office that lets out nothing else; then the TUN device takes all
    /// traffic in every mode.
    case profile(String)
}

/// The TUN device.
public struct TunnelOptions: Equatable, Sendable {
    public var name = "starship0"
    public var mtu = 1500
    /// Threads, and queues of the device, one each; nil: one for every two processors, four at most.
    public var workers: Int?
    public var offload = Offload.full

    /// What is asked of the kernel; what it refuses is done without.
    public enum Offload: String, CaseIterable, Sendable {
        /// Checksums and segmentation.
        case full
        /// Plain packets of the MTU's size.
        case none
    }

    public init() {}
}

/// A SOCKS5 or HTTP server for clients that know it.
public struct InboundOptions: Equatable, Sendable {
    public static let socksPort: UInt16 = 10808
    public static let httpPort: UInt16 = 10809

    /// Where to listen, at least one.
    public var listen: [SocketAddress]
    /// Who may connect besides the machine itself; not empty when any listener is not on loopback.
    public var allow: [IPPrefix] = []
    /// Who must log in; empty: nobody has to.
    public var users: [User] = []
    public var outbound = Outbound.active

    /// Where accepted streams go.
    public enum Outbound: String, CaseIterable, Sendable {
        /// Through the active profile.
        case active
        /// Straight to their destination: this makes the inbound an upstream of its own.
        case direct
    }

    /// A name and the file that holds its password.
    public struct User: Equatable, Sendable {
        public var name: String
        public var passwordFile: String

        public init(name: String, passwordFile: String) {
            self.name = name
            self.passwordFile = passwordFile
        }
    }

    /// The default: IPv4 loopback.
    public init(port: UInt16) {
        listen = [SocketAddress(IPAddress(v4: 0x7f00_0001), port)]
    }

    /// Whether a client at this address may use the inbound.
    public func allows(_ address: IPAddress) -> Bool {
        address.isLoopback || allow.contains { $0.contains(address) }
    }
}

/// What is written to standard error.
public struct LogOptions: Equatable, Sendable {
    public var level = Level.info
    public var format = Format.auto
    public var flows = Flows.failed

    /// The least important events that are written.
    public enum Level: String, CaseIterable, Sendable {
        case error
        case warning
        case notice
        case info
        case debug
    }

    /// How a line begins.
    public enum Format: String, CaseIterable, Sendable {
        /// As `journal` when the journal reads, else as `plain`.
        case auto
        case plain
        /// With the priority that the journal understands.
        case journal
    }

    /// Which flows have a line at their end.
    public enum Flows: String, CaseIterable, Sendable {
        case all
        /// Those that did not end the way they should.
        case failed
        case none
    }

    public init() {}
}
