/// The figures of one moment, as `GET /metrics` shows them.
///
/// Whoever runs the gateway fills this in; the names by which Prometheus knows the figures are in `MetricsPage+Text`
/// and `MetricsPage+Counters`. No label is the name of a host or of a device: those are people's, and without bound.

public import Bytes
public import Health

/// Everything that is measured.
public struct MetricsPage: Equatable, Sendable {
    public var version = ""
    public var uptime = Interval.zero
    /// The revision of the lab's state that is running.
    public var revision = 0
    /// Whether the gateway has a way out.
    public var hasUplink = true
    public var upstreams: [Upstream] = []
    public var groups: [Group] = []
    public var flows = Flows()
    public var devices = Devices()
    /// The fake addresses of one family; nil: there is no pool.
    public var fakeAddresses: Usage?
    /// Octets of flow buffers.
    public var buffers = Buffers()
    /// Everything that is bounded.
    public var limits: [LimitUse] = []
    public var process = Process()
    public var events = Events()
    /// The counters of the gateway, by the names that it gives them in its snapshot.
    public var counters: [String: Int] = [:]

    public init() {}

    /// The upstream of one profile.
    public struct Upstream: Equatable, Sendable {
        /// The profile's id.
        public var profile: String
        /// Whether it is the gateway's default.
        public var isActive: Bool
        public var colour: Colour
        /// The word of its cause (`port_closed`); nil: there is none.
        public var cause: String?
        /// How long ago a request last came back as it should; nil: none has.
        public var sinceGood: Interval?
        public var latency: [Sample.Layer: Histogram] = [:]

        public init(profile: String, isActive: Bool, colour: Colour) {
            self.profile = profile
            self.isActive = isActive
            self.colour = colour
        }
    }

    /// How often something took how long.
    public struct Histogram: Equatable, Sendable {
        /// The upper ends of the buckets, ascending.
        public var bounds: [Interval]
        /// How many fell into each bucket alone, and behind them how many took longer than the last.
        public var counts: [Int]
        public var sum: Interval

        /// Traps unless there is one count more than there are bounds.
        public init(bounds: [Interval], counts: [Int], sum: Interval) {
            precondition(counts.count == bounds.count + 1, "a histogram without a bucket for the rest")
            self.bounds = bounds
            self.counts = counts
            self.sum = sum
        }
    }

    /// A group of upstreams.
    public struct Group: Equatable, Sendable {
        public var profile: String
        public var members: [String]
        /// Nil: all are red.
        public var chosen: String?
        /// How often another member was chosen.
        public var changes = 0

        public init(profile: String, members: [String], chosen: String?) {
            self.profile = profile
            self.members = members
            self.chosen = chosen
        }
    }

    /// Flows of all workers.
    public struct Flows: Equatable, Sendable {
        public var open = 0
        public var halfOpen = 0
        /// Open flows of UDP.
        public var datagrams = 0
        /// By the way in: `tun`, `socks`, `http`.
        public var opened: [String: Int] = [:]
        public var ended: [Ended] = []
        /// Octets that flows have carried from the devices, and to them.
        public var octetsUp = 0
        public var octetsDown = 0

        public init() {}
    }

    /// Flows that ended alike.
    public struct Ended: Equatable, Sendable {
        public var inbound: String
        /// The id of a profile, `direct`, or `none` for those that went nowhere.
        public var outbound: String
        /// The kind of a `CloseReason`.
        public var reason: String
        public var count: Int

        public init(inbound: String, outbound: String, reason: String, count: Int) {
            self.inbound = inbound
            self.outbound = outbound
            self.reason = reason
            self.count = count
        }
    }

    /// How many devices there are.
    public struct Devices: Equatable, Sendable {
        public var seen = 0
        public var named = 0
        public var assigned = 0
    }

    /// How much of something is in use.
    public struct Usage: Equatable, Sendable {
        public var used: Int
        public var size: Int

        public init(used: Int, size: Int) {
            self.used = used
            self.size = size
        }
    }

    /// The memory of flows, in octets.
    public struct Buffers: Equatable, Sendable {
        /// What flows hold, what the kernel has given, and what there may be.
        public var used = 0
        public var resident = 0
        public var limit = 0
    }

    /// How much is used of something that is bounded.
    public struct LimitUse: Equatable, Sendable {
        public var name: String
        /// Of `bound`.
        public var used: Int
        public var bound: Int
        /// How often something was shed for it.
        public var hits: Int

        public init(_ name: String, used: Int, of bound: Int, hits: Int) {
            (self.name, self.used, self.bound, self.hits) = (name, used, bound, hits)
        }
    }

    /// The daemon itself.
    public struct Process: Equatable, Sendable {
        public var descriptors = 0
        public var descriptorLimit = 0
        public var residentOctets = 0
    }

    /// Streams of events.
    public struct Events: Equatable, Sendable {
        /// Clients that read events now, and those that were dropped because they did not.
        public var clients = 0
        public var dropped = 0

        public init() {}
    }
}
