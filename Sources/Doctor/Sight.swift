/// What was seen of the machine; nil is what was not looked at, and why stands in `unseen`.

public import LinuxIO
public import Network

public struct Sight: Sendable {
    public var setup: Setup
    public var unseen: [Unseen] = []
    public var service = Service()
    public var daemon = Daemon.absent("")
    public var kernel = Kernel()
    public var machine: KernelNetwork?
    public var plan: NetworkPlan?
    public var examination: NetworkExamination?
    /// What `nft list ruleset` shows of everybody.
    public var foreign: (chains: [ForeignChain], unread: [String])?
    public var upstreams: [UpstreamSight] = []
    public var names = Names()
    public var pings: [Ping] = []
    public var tunnels: [OtherTunnel] = []
    public var limits = Limits()
    public var disk: Disk?
    public var clock = ClockSight()
    public var managers = Managers()
    public var tools = Tools()

    public init(_ setup: Setup) { self.setup = setup }

    /// Something that could not be looked at.
    public struct Unseen: Equatable, Sendable {
        public var check: Check
        public var reason: String

        public init(_ check: Check, _ reason: String) {
            self.check = check
            self.reason = reason
        }
    }

    /// What the configuration wants, as far as a check needs it.
    public struct Setup: Equatable, Sendable {
        /// A proxy of one of its profiles.
        public struct Proxy: Equatable, Sendable {
            public var profile: String
            /// `proxy.example:8080`.
            public var server: String
            public var isSOCKS = false
            public var hasCredentials = false
            /// Whether anybody goes through it: the default, or one that devices are assigned to.
            public var isUsed = false

            public init(profile: String, server: String) {
                self.profile = profile
                self.server = server
            }
        }

        /// The file, for the commands that name it.
        public var file: String
        /// Why the file could not be read, or is wrong; nothing below is known then.
        public var failure: String?
        /// Whether it is there, and may not be read.
        public var isUnreadable = false
        /// Whether there is none.
        public var isMissing = false
        public var network = NetworkPlan.Setup.none
        public var lan: [String] = []
        public var hasTunnel = true
        public var tunnel = "starship0"
        public var mtu = 1500
        public var hasNames = false
        public var state: String?
        public var socket = ""
        public var flows = 65536
        public var workers = 1
        /// Octets.
        public var buffers = 256 << 20
        public var proxies: [Proxy] = []
        /// The calendar is believed without NTP.
        public var trustsClock = false

        public init(file: String) { self.file = file }
    }

    /// What the service manager says.
    public struct Service: Equatable, Sendable {
        /// Nil: there is no systemd, or it could not be asked.
        public var show: String?
        public init() {}
    }

    /// What the control socket says.
    public enum Daemon: Equatable, Sendable {
        /// Nobody listens; the reason is the system's.
        case absent(String)
        /// The socket may not be used by whoever asks; the group that may.
        case forbidden(group: String?, user: String)
        /// It has taken the connection and says nothing.
        case silent(process: Int?)
        case running(Running)
    }

    /// What a daemon that answers says of itself.
    public struct Running: Equatable, Sendable {
        public var version = ""
        public var process: Int?
        public var descriptors = 0
        /// The colour of the default profile and why; nil where nobody tries it.
        public var colour: String?
        public var cause: String?
        public var notices: [String] = []
        public var insists: [String] = []

        public init() {}
    }

    /// What this kernel can do, and how it is set.
    public struct Kernel: Equatable, Sendable {
        public var release = ""
        /// Why /dev/net/tun can't be opened; nil: it can.
        public var deviceFailure: String?
        /// Nil: it could not be tried out.
        public var trial: KernelTrial.Outcome?
        public var hasSeccomp: Bool?
        public var settings: [String: String] = [:]
        /// Connections that are tracked, and how many can be.
        public var conntrack: (count: Int, limit: Int)?

        public init() {}

        public static func == (left: Kernel, right: Kernel) -> Bool {
            left.release == right.release && left.deviceFailure == right.deviceFailure && left.trial == right.trial
                && left.hasSeccomp == right.hasSeccomp && left.settings == right.settings
                && left.conntrack?.count == right.conntrack?.count && left.conntrack?.limit == right.conntrack?.limit
        }
    }

    /// How a proxy answered.
    public struct UpstreamSight: Equatable, Sendable {
        /// What became of the question.
        public enum Answer: Equatable, Sendable {
            /// With the status of its answer to CONNECT, or of SOCKS5's greeting; nil where nothing was asked of it.
            case answered(status: Int?)
            case silent
            case failed(String)
            case unresolved(String)
        }

        public var proxy: Setup.Proxy
        public var answer: Answer

        public init(_ proxy: Setup.Proxy, _ answer: Answer) {
            self.proxy = proxy
            self.answer = answer
        }
    }

    /// Whether questions about names are answered.
    public struct Names: Equatable, Sendable {
        /// Each address of the gateway where devices ask, and whether somebody answered.
        public var own: [(address: String, answers: Bool)] = []
        /// Each resolver that the gateway asks.
        public var resolvers: [(address: String, answers: Bool)] = []

        public init() {}

        public static func == (left: Names, right: Names) -> Bool {
            left.own.map(\.address) == right.own.map(\.address) && left.own.map(\.answers) == right.own.map(\.answers)
                && left.resolvers.map(\.address) == right.resolvers.map(\.address)
                && left.resolvers.map(\.answers) == right.resolvers.map(\.answers)
        }
    }

    /// A device on a LAN, asked with a small packet and with one of the whole MTU.
    public struct Ping: Equatable, Sendable {
        public var interface: String
        public var address: String
        public var mtu: Int
        public var small: Bool
        public var large: Bool

        public init(_ interface: String, _ address: String, mtu: Int, small: Bool, large: Bool) {
            self.interface = interface
            self.address = address
            self.mtu = mtu
            self.small = small
            self.large = large
        }
    }

    /// A tunnel that isn't ours.
    public struct OtherTunnel: Equatable, Sendable {
        /// What makes it one.
        public enum Kind: String, Sendable {
            case tun
            case wireguard
        }

        public var name: String
        public var kind: Kind

        public init(_ name: String, _ kind: Kind) {
            self.name = name
            self.kind = kind
        }
    }

    /// Bounds of the daemon's process and of the machine, as the kernel writes them.
    public struct Limits: Equatable, Sendable {
        /// /proc/PID/limits of the daemon.
        public var process: String?
        /// /proc/meminfo.
        public var memory: String?
        /// The least memory.max of the daemon's control groups, in octets.
        public var group: Int?

        public init() {}
    }

    /// The file system that the state is on.
    public struct Disk: Equatable, Sendable {
        public var folder: String
        public var space: FileSystemSpace
        public var isWritable: Bool
        /// Files of captured packets in it, and what they take.
        public var captures: [String] = []

        public init(folder: String, space: FileSystemSpace, isWritable: Bool) {
            self.folder = folder
            self.space = space
            self.isWritable = isWritable
        }
    }

    /// The calendar.
    public struct ClockSight: Equatable, Sendable {
        /// Seconds since 1970.
        public var now: Int64 = 0
        public var isSynchronised = true

        public init() {}
    }

    /// Programs that keep the network too.
    public struct Managers: Equatable, Sendable {
        /// `nmcli -t -f DEVICE,STATE device`; nil: NetworkManager does not run.
        public var networkManager: String?
        /// All of networkd's configuration; nil: systemd-networkd does not run.
        public var networkd: String?
        /// /etc/resolv.conf, and what systemd-resolved knows of the uplink's servers.
        public var resolvConf: String?
        public var uplinkServers: String?
        public var asksSystem = false

        public init() {}
    }

    /// The versions of this command and of the system's tools, and whether root looks.
    public struct Tools: Equatable, Sendable {
        public var own = ""
        /// Nil: it is not installed.
        public var ip: String?
        public var nft: String?
        public var isRoot = true

        public init() {}
    }
}
