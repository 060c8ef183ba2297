/// What a gateway says about itself: at its start, and when SIGUSR1 asks.

import Addresses
import Bytes
import LinuxIO
import Network
import Routing
import Upstreams

extension Gateway {
    /// Says that the gateway stands, what it does without, and where it listens.
    public func announce() {
        let policy = shared.policy
        say(.notice, "ready") { line in
            line.add("profile", policy.activeID)
            line.add("mode", policy.settings.profiles[policy.settings.active].rules.mode.rawValue)
            if let tunnelName { line.add("tun", tunnelName) }
            line.add("workers", shared.mailboxes.count)
            for listener in shared.listeners {
                line.add(listener.settings.kind.name, listener.settings.address.description)
            }
            if let service = shared.service, !service.addresses.isEmpty {
                line.add("dns", service.addresses.map(\.description).joined(separator: " "))
            }
            if !refusals.isEmpty { line.add("without", refusals.words) }
        }
    }

    /// Asks every worker for a report.
    func workerReports() -> [WorkerReport] {
        let box = ReportBox(waking: answers)
        for mailbox in shared.mailboxes { mailbox.send(.report(box)) }
        waitForWorkers { box.content.count }
        return box.content
    }

    /// The open flows that match, the oldest first.
    public func flows(matching filter: FlowFilter) -> FlowList {
        let box = FlowListBox(filter, waking: answers)
        for mailbox in shared.mailboxes { mailbox.send(.list(box)) }
        waitForWorkers { box.content.count }
        var list = FlowList()
        for part in box.content {
            list.flows += part.flows
            list.total += part.total
        }
        list.flows.sort { $0.age > $1.age }
        list.flows.removeLast(max(0, list.flows.count - filter.limit))
        return list
    }

    /// Prints what the workers report.
    mutating func printSnapshot() {
        let policy = shared.policy
        var report = routingReport(policy)
        if keeper != nil {
            report.notices = keeper.value.notices.map(\.description)
            report.insists = keeper.value.insistences().map(\.description)
        }
        let line = Snapshot.json(
            workerReports(), profile: policy.activeID,
            learned: Snapshot.Learned(
                usesAbsoluteForm: policy.active.usesAbsoluteForm,
                rejectsCredentials: policy.active.credentialsAreLockedOut(at: Clock.now()),
                isLost: policy.active.isLost(at: Clock.now()), decrypts: policy.active.decrypts(at: Clock.now())),
            routing: report,
            descriptors: DescriptorLimit.used(),
            residentKiB: ProcessMemory.resident() >> 10)
        StandardError.write(line + "\n")
    }

    private func routingReport(_ policy: Policy) -> Snapshot.Routing {
        var report = Snapshot.Routing()
        report.connectivity = policy.settings.phones.connectivity
        report.mode = policy.settings.profiles[policy.settings.active].rules.mode.rawValue
        switch policy.capture(ofProfile: policy.settings.active) {
        case .names: report.capture = "names"
        case .all(let because): (report.capture, report.because) = ("all", because)
        }
        if let figures = shared.names?.figures {
            (report.fakeNames, report.seenAnswers) = (figures.names, figures.seen)
        }
        report.counters = (shared.service?.counters.named ?? []) + deviceCounters
        return report
    }

    /// What the kernel has counted of our TUN device.
    var deviceCounters: [(name: String, value: Int)] {
        guard let tunnelName, let dropped = NetworkInterface.dropped(of: tunnelName) else { return [] }
        return [("tun_tx_dropped", dropped)]
    }
}

extension GatewaySettings.Listener.Kind {
    var name: String {
        switch self {
        case .socks: "socks"
        case .http: "http"
        }
    }
}
