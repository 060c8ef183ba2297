/// What a worker remembers of each device, for whoever asks why its phone gets nothing.

public import Addresses
public import Bytes
import Flows
import LinuxIO
import Relay
import Synchronization
import Wire

/// A SYN, by which the machines behind one address can be told apart.
public struct SeenSYN: Sendable {
    public var client: SocketAddress
    public var target: IPAddress
    public var hopLimit: UInt8
    /// The timestamp's value (RFC 7323); nil without the option.
    public var timestamp: UInt32?
    public var at: Instant
}

/// What is known of one device's flows.
public struct DeviceActivity: Sendable {
    /// A flow that ended, or was refused.
    public struct End: Sendable {
        public var target: String
        public var words: String
        public var at: Instant
    }

    /// When it last opened a flow into the tunnel.
    public var lastOpened: Instant?
    /// When an upstream, or its target, last said yes to a flow of its.
    public var lastAccepted: Instant?
    /// The last flow that an upstream did not let through.
    public var lastFailure: End?
    /// The last host whose certificate it refused.
    public var lastCertificateRefused: End?
    /// Octets that came back to it, of flows that have ended.
    public var bytesDown: UInt64 = 0
    /// The latest ones, the oldest first.
    public var syns: [SeenSYN] = []

    public init() {}

    /// How many SYNs are kept.
    static let synLimit = 16

    mutating func note(_ syn: SeenSYN) {
        lastOpened = syn.at
        if syns.count == Self.synLimit { syns.removeFirst() }
        syns.append(syn)
    }

    public mutating func join(_ other: DeviceActivity) {
        lastOpened = Self.later(lastOpened, other.lastOpened)
        lastAccepted = Self.later(lastAccepted, other.lastAccepted)
        if let end = other.lastFailure, end.at > lastFailure?.at ?? Instant(nanoseconds: 0) { lastFailure = end }
        if let end = other.lastCertificateRefused, end.at > lastCertificateRefused?.at ?? Instant(nanoseconds: 0) {
            lastCertificateRefused = end
        }
        bytesDown += other.bytesDown
        syns += other.syns
    }

    private static func later(_ left: Instant?, _ right: Instant?) -> Instant? {
        guard let left, let right else { return left ?? right }
        return max(left, right)
    }
}

/// The devices of one worker.
struct DeviceActivities {
    /// How many devices are remembered; over it all is forgotten, and what is active comes back at once.
    static let limit = 2048

    private(set) var all: [IPAddress: DeviceActivity] = [:]

    /// Changes what is remembered of a device.
    mutating func change(_ device: IPAddress, _ change: (inout DeviceActivity) -> Void) {
        if all.count >= Self.limit, all[device] == nil { all.removeAll(keepingCapacity: true) }
        change(&all[device, default: DeviceActivity()])
    }
}

/// Where workers put what they remember.
final class ActivityBox: Sendable {
    private let content = Mutex<(activities: [IPAddress: DeviceActivity], workers: Int)>(([:], 0))
    private let control: WakeUp

    init(waking control: WakeUp) { self.control = control }

    func put(_ activities: [IPAddress: DeviceActivity]) {
        content.withLock { content in
            content.activities.merge(activities) { left, right in
                var both = left
                both.join(right)
                return both
            }
            content.workers += 1
        }
        control.wake()
    }

    var workers: Int { content.withLock { $0.workers } }
    var activities: [IPAddress: DeviceActivity] { content.withLock { $0.activities } }
}

extension Gateway {
    /// What the workers remember of devices, by their addresses.
    public func activities() -> [IPAddress: DeviceActivity] {
        let box = ActivityBox(waking: answers)
        for mailbox in shared.mailboxes { mailbox.send(.activity(box)) }
        waitForWorkers { box.workers }
        return box.activities
    }
}

extension Worker {
    /// Notes how a flow has ended, for its device.
    mutating func remember(_ flow: borrowing Flow, _ reason: CloseReason) {
        guard flow.origin == .tunnel, !flow.isQuestion else { return }
        let (down, time) = (flow.relay.down.bytes, now)
        var end: DeviceActivity.End?
        // A flow that was open, or that its own device or a switch has ended, says nothing against the way.
        let isTold = flow.upstream == nil && ![.clientGaveUp, .clientReset, .switched, .shutdown].contains(reason)
        if reason == .clientRefusedCertificate || reason.isFailure && isTold {
            end = DeviceActivity.End(
                target: flow.name ?? flow.target?.description ?? flow.key.target.description, words: reason.words,
                at: time)
        }
        activities.change(flow.key.client.address) { activity in
            activity.bytesDown += down
            if reason == .clientRefusedCertificate {
                activity.lastCertificateRefused = end
            } else if let end {
                activity.lastFailure = end
            }
        }
    }
}
