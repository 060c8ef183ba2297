/// What all workers of a gateway share: nothing that changes on a packet's way.

import Addresses
import LinuxIO
import Streams
import Synchronization
import Upstreams
import Wire

final class Shared: Sendable {
    /// Here, not in each worker: a worker's methods are checked field by field, and the compiler's time grows with
    /// both.
    let settings: GatewaySettings
    let board: PolicyBoard
    /// Nil where names have no addresses of ours.
    let names: NameTable?
    let service: NameService?
    let dnsClients: DNSClients
    /// The prefixes under which devices write IPv4 addresses as IPv6 ones.
    private let translations = Mutex([NAT64Prefix.wellKnown])
    let listeners: [Listener]
    /// One for each worker.
    let mailboxes: [Mailbox]
    /// Nil with one worker.
    let owners: FlowOwners?
    /// The same for flows of datagrams.
    let datagramOwners: FlowOwners?
    let tap: CaptureTap?
    /// One for all workers: a flow may come back to another one.
    let initialSequences: InitialSequence
    let cookies: SYNCookies

    private let hasFailed = Atomic(false)
    private let hasUpstreamNews = Atomic(false)
    let refusals = RefusalBox()
    private let control: WakeUp

    init(
        _ settings: GatewaySettings, board: PolicyBoard, names: NameTable? = nil, service: NameService? = nil,
        dnsClients: DNSClients = DNSClients(), listeners: [Listener], mailboxes: [Mailbox], control: WakeUp,
        tap: CaptureTap?
    ) {
        self.settings = settings
        self.board = board
        self.names = names
        self.service = service
        self.dnsClients = dnsClients
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

    /// What decides just now.
    var policy: Policy { board.current }

    /// The address that a device means: the IPv4 one inside where it has written that as IPv6 (RFC 6052).
    func realAddress(of address: IPAddress) -> IPAddress {
        guard !address.isIPv4 else { return address }
        for prefix in knownTranslations {
            if let inside = prefix.address(inside: address) { return inside }
        }
        return address
    }

    /// Whether what a client asks for is one of our own listeners, by which its stream would come in again.
    ///
    /// A listener of the outbound `direct` is an upstream like others, no loop.
    func isListener(_ target: Target) -> Bool {
        listeners.contains { listener in
            let (settings, address) = (listener.settings, listener.settings.address.address)
            guard settings.outbound == .active, settings.address.port == target.port else { return false }
            switch target.host {
            case .address(let asked):
                return asked == address || (asked.isLoopback || asked.isUnspecified) && Self.isHere(address)
            case .name(let name):
                // RFC 6761, section 6.3: such a name is the loopback, and nobody is asked for it.
                let name = name.lowercased()
                return (name == "localhost" || name.hasSuffix(".localhost")) && Self.isHere(address)
            }
        }
    }

    private static func isHere(_ address: IPAddress) -> Bool { address.isLoopback || address.isUnspecified }

    /// The prefixes under which devices may write IPv4 addresses as IPv6 ones.
    var knownTranslations: [NAT64Prefix] { translations.withLock { $0 } }

    /// Takes the prefixes that the network was found to translate (RFC 7050); the control thread has the routes follow.
    func learn(_ prefixes: [NAT64Prefix]) {
        let known = [.wellKnown] + prefixes.filter { $0 != .wellKnown }
        let isNew = translations.withLock { translations in
            defer { translations = known }
            return translations != known
        }
        if isNew { control.wake() }
    }

    /// Whether a worker met something that no gateway can go on from.
    var isFailed: Bool { hasFailed.load(ordering: .acquiring) }

    /// Tells the control thread that users' streams have shown something about an upstream, or about a certificate.
    func tellOfUpstreams() {
        guard !hasUpstreamNews.load(ordering: .relaxed) else { return }
        hasUpstreamNews.store(true, ordering: .releasing)
        control.wake()
    }

    /// Whether something was told since the last time.
    func takeUpstreamNews() -> Bool { hasUpstreamNews.exchange(false, ordering: .acquiringAndReleasing) }

    /// Tells the control thread that the gateway cannot go on.
    func fail() {
        hasFailed.store(true, ordering: .releasing)
        control.wake()
    }
}
