/// How the control thread and the other workers reach a worker.

import Addresses
import Bytes
import LinuxIO
import Synchronization

/// What a worker is told.
enum Message: Sendable {
    /// A packet, without virtio header, that another worker read for one of our flows.
    case packet([UInt8], isChecksumTrusted: Bool)
    /// The DNS service's answer about a target that is dialled directly.
    case resolved(Resolution)
    /// Flows may go another way since a switch.
    case reroute(RerouteOrder)
    /// Put a list of flows into the given place.
    case list(FlowListBox)
    /// Put what is remembered of devices into the given place.
    case activity(ActivityBox)
    /// Put what a device wanted into the given place.
    case requests(RequestBox)
    /// Put what was seen of a self-check into the given place.
    case check(CheckBox)
    /// Collect the names that a device opens until then.
    case learn(Set<IPAddress>, until: Instant)
    /// Forget what devices wanted, and what was collected about them.
    case forget(Set<IPAddress>)
    /// Put a report into the given place.
    case report(ReportBox)
    /// Prove that the loop turns.
    case prove(ProofRound)
    /// End all flows and leave the loop.
    case stop
}

/// Messages for one worker; packets are bounded, and dropped when nobody collects them.
final class Mailbox: Sendable {
    /// The most packets that wait for a worker.
    private static let packetLimit = 512

    private struct Content {
        var messages: [Message] = []
        var packets = 0
    }

    private let content = Mutex(Content())
    let bell: WakeUp

    init() throws(SystemCallError) {
        bell = try WakeUp()
    }

    func send(_ message: Message) {
        content.withLock { $0.messages.append(message) }
        bell.wake()
    }

    /// Hands a packet over; false when too many wait already.
    func send(packet: [UInt8], isChecksumTrusted: Bool) -> Bool {
        let accepted = content.withLock { content in
            guard content.packets < Self.packetLimit else { return false }
            content.messages.append(.packet(packet, isChecksumTrusted: isChecksumTrusted))
            content.packets += 1
            return true
        }
        if accepted { bell.wake() }
        return accepted
    }

    /// Takes everything out; called by the owner after its bell rang.
    func collect() -> [Message] {
        bell.clear()
        return content.withLock { content in
            let messages = content.messages
            content = Content()
            return messages
        }
    }
}

/// Where workers put their reports, and where the control thread waits for all of them.
final class ReportBox: Sendable {
    private let reports = Mutex<[WorkerReport]>([])
    private let control: WakeUp

    init(waking control: WakeUp) { self.control = control }

    func put(_ report: WorkerReport) {
        reports.withLock { $0.append(report) }
        control.wake()
    }

    var content: [WorkerReport] { reports.withLock { $0 } }
}
