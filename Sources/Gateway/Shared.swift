/// What all workers of a gateway share: nothing that changes on a packet's way.

import Addresses
import LinuxIO
import Synchronization
import Upstreams

final class Shared: Sendable {
    /// The active profile's upstream.
    let active: Upstream
    /// The target itself, for listeners that are an upstream of their own.
    let direct: Upstream
    let mailboxes: [Mailbox]
    /// Nil with one worker.
    let owners: FlowOwners?
    let isJournal: Bool

    private let hasFailed = Atomic(false)
    private let control: WakeUp

    init(
        active: Upstream, direct: Upstream, mailboxes: [Mailbox], isJournal: Bool, control: WakeUp
    ) {
        self.active = active
        self.direct = direct
        self.mailboxes = mailboxes
        self.isJournal = isJournal
        self.control = control
        owners = mailboxes.count > 1 ? FlowOwners() : nil
    }

    /// Whether a worker met something that no gateway can go on from.
    var isFailed: Bool { hasFailed.load(ordering: .acquiring) }

    /// Tells the control thread that the gateway cannot go on.
    func fail() {
        hasFailed.store(true, ordering: .releasing)
        control.wake()
    }
}
