/// What the gateway is told about where streams go: replaced whole while it runs.

public import Addresses
public import Routing
public import Upstreams

/// Profiles, and who has which.
public struct RoutingSettings: Sendable {
    /// Which names a CONNECT may bear.
    public enum ConnectName: Sendable {
        /// A name that DNS has given this device for the address, else the address.
        case evidence
        /// Whatever the client says in SNI or Host, for proxies that decrypt.
        case sni
    }

    /// When a flow's first octets are looked at for a name.
    public enum Sniff: Sendable {
        /// When a name could change the decision, or two names could be meant.
        case needed
        case always
        case off
    }

    /// One way to go on, with the rules that choose it.
    public struct Profile: Sendable {
        public var id: String
        /// Not asked where there is a `group`.
        public var upstream: UpstreamSettings
        public var group: Group?
        public var rules: RuleSet
        public var connectName = ConnectName.evidence
        public var sniff = Sniff.needed
        /// Names whose real addresses are routed into the TUN device too, for apps with a resolver of their own.
        public var capturedNames: [String] = []
        /// UDP that is no exception goes to its destination, instead of being refused.
        public var letsDatagramsOut = false

        public init(id: String, upstream: UpstreamSettings, rules: RuleSet) {
            self.id = id
            self.upstream = upstream
            self.rules = rules
        }
    }

    /// A network whose devices have a profile of their own.
    public struct Scope: Equatable, Sendable {
        public var network: IPPrefix
        /// A position in `profiles`.
        public var profile: Int

        public init(network: IPPrefix, profile: Int) {
            self.network = network
            self.profile = profile
        }
    }

    /// What is done for phones unless a rule says otherwise.
    public struct Phones: Sendable {
        /// Connectivity checks and push, which go direct.
        public var direct: [RuleList] = []
        /// What the gateway answers checks itself; nil: their hosts do.
        public var answers: CheckAnswers?
        /// Hosts of checks that serve much else: they go direct while the upstream is lost or decrypts.
        public var shared: RuleList?
        /// What the configuration says about checks, for the snapshot.
        public var connectivity = "direct"
        /// Names that do not exist here: what asks a network for permission to leave it, and known DoH servers.
        public var denied: [RuleList] = []
        /// DNS over TLS is refused at once (port 853), so that a device falls back to ours.
        public var refusesEncryptedDNS = true

        public init() {}
    }

    /// What the lab says about single devices, by their addresses.
    public struct Devices: Equatable, Sendable {
        /// What becomes of a device that nobody has named.
        public enum Newcomers: Sendable {
            /// It has the profile of its network, like every other one.
            case served
            /// Its traffic goes past the upstreams.
            case direct
            /// Nothing that it opens is carried.
            case blocked
            /// As `blocked`, until a peer has told what it knows of devices.
            case waiting
        }

        /// A MAC, and the interface that it is on; nil: any.
        public struct Station: Hashable, Sendable {
            public var mac: MACAddress
            public var interface: String?

            public init(mac: MACAddress, interface: String?) {
                self.mac = mac
                self.interface = interface
            }
        }

        /// What is decided for a device, whichever addresses it has.
        public struct Standing: Equatable, Sendable {
            /// The position of the profile that it has for itself.
            public var profile: Int?
            public var lists: DeviceRules?

            public init(profile: Int? = nil, lists: DeviceRules? = nil) {
                self.profile = profile
                self.lists = lists
            }
        }

        /// The positions of the profiles that devices have for themselves.
        public var profiles: [IPAddress: Int] = [:]
        public var newcomers = Newcomers.served
        /// The addresses of devices that are no newcomers.
        public var familiar: Set<IPAddress> = []
        /// What single devices send elsewhere than their profiles say.
        public var lists: [IPAddress: DeviceRules] = [:]
        /// Devices that are known by their MACs, for the first packets from addresses that are in none of the above.
        public var stations: [Station: Standing] = [:]

        public init() {}

        /// What is decided for a station: nearer is what says its interface.
        func standing(of station: Station) -> Standing? {
            stations[station] ?? stations[Station(mac: station.mac, interface: nil)]
        }
    }

    /// At least one.
    public var profiles: [Profile]
    /// The position of the profile of devices without one of their own.
    public var active: Int
    /// The first scope that holds a device counts.
    public var scopes: [Scope] = []
    public var devices = Devices()
    /// The networks of the interfaces that devices are on.
    public var lanNetworks: [IPPrefix] = []
    /// How targets are dialled without a proxy.
    public var direct: UpstreamSettings
    /// The profile through whose upstream goes what is not proxied; nil: nothing does.
    public var egress: Int?
    /// Whether flows over IPv6 are carried.
    public var ipv6 = true
    /// Whether DNS answers with fake addresses.
    public var fakesNames = false
    /// The longest time to live of a real answer to a device in domain mode, in seconds.
    public var maximumTTL: UInt32 = 60
    /// Names that are never faked, with all below them; those of upstreams aren't either, but each alone.
    public var neverFaked: [String] = []
    /// Machines that are upstreams: what they send goes direct.
    public var upstreamMachines: [IPAddress] = []
    /// Names of such machines, and the addresses that were found for them.
    public var upstreamNames: [String] = []
    var foundMachines: [IPAddress] = []
    /// The real addresses of names that profiles want routed by address.
    var capturedAddresses: [IPAddress] = []
    /// Under which prefixes devices may write IPv4 addresses as IPv6 ones.
    var translations = [NAT64Prefix.wellKnown]
    public var phones = Phones()
    /// Where our own DNS service listens on this machine: who it is that asks DNS over TCP through the tunnel,
    /// anywhere.
    public var dnsService: SocketAddress?
    /// The ports on which a client's first octets may name its target.
    public var sniffPorts: [UInt16] = [80, 443, 8080, 8443]

    public init(profiles: [Profile], active: Int, direct: UpstreamSettings) {
        precondition(profiles.indices.contains(active), "an active profile that is none")
        self.profiles = profiles
        self.active = active
        self.direct = direct
    }

    /// One profile for everything, without rules.
    public init(profile id: String, upstream: UpstreamSettings) {
        var direct = upstream
        direct.kind = .direct
        direct.user = nil
        direct.password = nil
        self.init(profiles: [Profile(id: id, upstream: upstream, rules: .everything)], active: 0, direct: direct)
    }
}

extension RoutingSettings {
    /// Where the profile with an id stands; nil when there is none.
    func position(of id: String) -> Int? { profiles.firstIndex { $0.id == id } }

    /// Names whose real addresses have to be known all the time.
    var watchedNames: [String] { upstreamNames + profiles.flatMap(\.capturedNames) }

    /// Has every dial refuse this machine's own addresses, as they are now.
    ///
    /// Loopback is refused to direct dials anyway. Addresses on the TUN device are none of these: from there comes what
    /// this machine itself sends into the tunnel (`network.setup: host`), so it is no loop; and dials to the pools are
    /// refused.
    mutating func refuse(own addresses: [IPAddress]) {
        let pools = direct.policy.refused
        let own = Set(addresses).filter { own in !own.isLoopback && !pools.contains { $0.contains(own) } }
            // The kernel lists them in no order that lasts.
            .sorted { ($0.high, $0.low) < ($1.high, $1.low) }
            .compactMap { IPPrefix($0, length: $0.isIPv4 ? 32 : 128) }
        for position in profiles.indices { profiles[position].upstream.policy.own = own }
        direct.policy.own = own
    }

    /// Whether the machine says the same about both.
    func isCompletedLike(_ other: RoutingSettings) -> Bool {
        direct.policy.own == other.direct.policy.own && lanNetworks == other.lanNetworks && scopes == other.scopes
            && foundMachines == other.foundMachines
            && capturedAddresses == other.capturedAddresses && translations == other.translations
    }
}

extension RuleSet {
    /// Global mode without a rule.
    public static var everything: RuleSet {
        guard let rules = try? RuleSet(domains: [], bypass: [], rules: []) else {
            preconditionFailure("no rules cannot be wrong")
        }
        return rules
    }
}
