/// What all workers of a gateway share: nothing that changes on a packet's way.

import LinuxIO
import Streams
import Synchronization
import Upstreams

final class Shared: Sendable {
    /// The active profile's upstream.
    let active: Upstream
    /// The target itself, for listeners that are an upstream of their own.
    let direct: Upstream
    let listeners: [Listener]
    /// One for each worker.
    let mailboxes: [Mailbox]
    /// Nil with one worker.
    let owners: FlowOwners?
    /// The same for flows of datagrams.
    let datagramOwners: FlowOwners?
    let dnsClients = DNSClients()
    let tap: CaptureTap?
    /// One for all workers: a flow may come back to another one.
    let initialSequences: InitialSequence
    let cookies: SYNCookies

    private let hasFailed = Atomic(false)
    private let control: WakeUp

    init(
        active: Upstream, direct: Upstream, listeners: [Listener], mailboxes: [Mailbox], control: WakeUp,
        tap: CaptureTap?
    ) {
        self.active = active
        self.direct = direct
        self.listeners = listeners
        self.mailboxes = mailboxes
        self.control = control
        self.tap = tap
        var random = SystemRandom()
        initialSequences = InitialSequence(key: random.key())
        cookies = SYNCookies(key: random.key())
        owners = mailboxes.count > 1 ? FlowOwners() : nil
        datagramOwners = mailboxes.count > 1 ? FlowOwners() : nil
    }

    /// Whether a worker met something that no gateway can go on from.
    var isFailed: Bool { hasFailed.load(ordering: .acquiring) }

    /// Tells the control thread that the gateway cannot go on.
    func fail() {
        hasFailed.store(true, ordering: .releasing)
        control.wake()
    }
}
