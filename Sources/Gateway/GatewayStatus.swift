/// The state of a gateway as people ask for it.

public import Addresses
public import Bytes
import LinuxIO
import Network
import Routing
import Upstreams

/// Figures of one moment.
public struct GatewayStatus: Sendable {
    public var flows = 0
    public var halfOpen = 0
    public var datagramFlows = 0
    /// Octets of flow buffers that the kernel has given.
    public var bufferBytes = 0
    public var descriptors = 0
    public var residentKiB = 0
    /// Open flows by how far they have come, by profile, and by the device's address.
    public var states: [String: Int] = [:]
    public var profiles: [String: Int] = [:]
    public var devices: [IPAddress: Int] = [:]
    /// What has become of flows.
    public var tally = FlowTally()
    /// Octets of flow buffers in use, and how many there may be.
    public var bufferBytesUsed = 0
    public var bufferLimit = 0
    public var descriptorLimit = 0
    /// Fake addresses in use.
    public var fakeNames = 0
    /// How many there may be.
    public var fakePlaces = 0
    public var counters: [String: Int] = [:]
    /// What is not as it should be about the network, and which devices insist on another resolver.
    public var notices: [String] = []
    public var insists: [String] = []
}

/// What flows have shown about an upstream.
public enum UpstreamCondition: String, Sendable {
    case ok
    case lost
    case credentialsRejected
    /// Nobody has used it.
    case unknown
}

extension Gateway {
    /// Asks every worker and the kernel.
    public mutating func status() -> GatewayStatus {
        var status = GatewayStatus()
        for report in workerReports() {
            status.flows += report.flows
            status.halfOpen += report.halfOpen
            status.datagramFlows += report.datagramFlows
            status.bufferBytes += report.chunksResident * BufferPool.chunkSize
            status.states.merge(report.states, uniquingKeysWith: +)
            status.profiles.merge(report.profiles, uniquingKeysWith: +)
            status.devices.merge(report.devices, uniquingKeysWith: +)
            status.tally.join(report.tally)
            status.bufferBytesUsed += report.chunksUsed * BufferPool.chunkSize
            for (name, value) in report.counters.named { status.counters[name, default: 0] += value }
        }
        for (name, value) in (shared.service?.counters.named ?? []) + deviceCounters {
            status.counters[name, default: 0] += value
        }
        status.bufferLimit = shared.settings.bufferMemory
        if let figures = shared.names?.figures {
            (status.fakeNames, status.fakePlaces) = (figures.names, figures.places)
        }
        status.descriptors = DescriptorLimit.used()
        status.descriptorLimit = DescriptorLimit.current().soft
        status.residentKiB = ProcessMemory.resident() >> 10
        if keeper != nil {
            status.notices = keeper.value.notices.map(\.description)
            status.insists = keeper.value.insistences().map(\.description)
        }
        return status
    }

    /// When a device last asked our DNS service; nil: never, as far as is remembered.
    public func lastQuestion(of device: IPAddress) -> Instant? { shared.service?.lastQuestion(of: device) }

    /// The resolvers that are asked for real answers.
    public var resolvers: [SocketAddress] { shared.service?.resolvers.map(\.address) ?? [] }

    /// What flows have shown about a profile's upstream.
    public func condition(ofProfile position: Int) -> UpstreamCondition {
        let upstream = shared.policy.upstreams[position]
        if upstream.credentialsAreLockedOut(at: Clock.now()) { return .credentialsRejected }
        if upstream.isLost(at: Clock.now()) { return .lost }
        return upstream.hasWorked ? .ok : .unknown
    }

    /// What is routed into the TUN device for devices with a profile (`names` or `all`), and what forces it.
    public func capture(ofProfile position: Int) -> (what: String, because: String?) {
        switch shared.policy.capture(ofProfile: position) {
        case .names: ("names", nil)
        case .all(let because): ("all", because)
        }
    }
}
