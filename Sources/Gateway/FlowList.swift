/// Open flows as people look at them.

public import Addresses
public import Bytes
import Flows
import LinuxIO
import Relay
import Synchronization
import Upstreams
import Wire

/// Which flows are asked for.
public struct FlowFilter: Equatable, Sendable {
    /// The addresses of the device; nil: each device.
    public var devices: Set<IPAddress>?
    /// The id of the profile that decided; nil: each.
    public var profile: String?
    /// The most flows that are listed; all that match are counted.
    public var limit: Int

    public init(devices: Set<IPAddress>? = nil, profile: String? = nil, limit: Int) {
        self.devices = devices
        self.profile = profile
        self.limit = limit
    }
}

/// One open flow.
public struct FlowSummary: Sendable {
    public var client: SocketAddress
    /// In the words of the flow log.
    public var target: String
    public var name: String?
    public var profile: String
    public var upstream: String
    public var rule: String?
    public var state: String
    /// Octets from the client, and to it.
    public var up: UInt64
    public var down: UInt64
    public var age: Interval
}

/// The flows that match, the oldest first.
public struct FlowList: Sendable {
    public var flows: [FlowSummary] = []
    public var total = 0
}

/// Where workers put what they have, and where the control thread waits for all of them.
final class FlowListBox: Sendable {
    let question: FlowFilter
    private let lists = Mutex<[FlowList]>([])
    private let control: WakeUp

    init(_ question: FlowFilter, waking control: WakeUp) {
        self.question = question
        self.control = control
    }

    func put(_ list: FlowList) {
        lists.withLock { $0.append(list) }
        control.wake()
    }

    var content: [FlowList] { lists.withLock { $0 } }
}

extension Worker {
    /// This worker's flows that match.
    mutating func listFlows(matching filter: FlowFilter) -> FlowList {
        var list = FlowList()
        for place in 0..<flows.capacity {
            guard let handle = flows.handle(at: place) else { continue }
            if let devices = filter.devices, !devices.contains(flows[handle].key.client.address) { continue }
            if let profile = filter.profile, flows[handle].profile != profile { continue }
            list.total += 1
            if list.flows.count < filter.limit { list.flows.append(flows[handle].summary(at: now)) }
        }
        return list
    }
}

extension Flow {
    fileprivate func summary(at now: Instant) -> FlowSummary {
        FlowSummary(
            client: key.client, target: target?.description ?? key.target.description, name: name, profile: profile,
            upstream: outbound?.settings.description ?? "-", rule: rule?.description, state: stateName,
            up: relay.up.bytes, down: relay.down.bytes, age: now - opened)
    }
}
