/// # What a self-check says about a device
///
/// That an image came proves its way; that it did not proves nothing by itself. So each "no" is joined with what the
/// machine knows besides: resolvers that the firewall saw the device ask, addresses and routers of the neighbour table.
/// Where nothing shows a cause there is none in the result.

public import Addresses
import Bytes
import LinuxIO
import Network

/// What a device's own fetches show, and why where that is known.
public struct SelfCheck: Equatable, Sendable {
    /// Who answers its questions about names.
    public enum Names: Equatable, Sendable {
        /// The device itself asked our DNS service.
        case ours
        /// It asks another server in plain text: a resolver, whose questions we answer where they pass us, or a machine
        /// that asks us in its place.
        case foreignResolver(IPAddress)
        /// It insists on DNS over TLS, which is refused.
        case privateDNS(IPAddress)
        /// The question has not come, and nothing shows why.
        case other
    }

    /// Whether its packets come by us.
    public enum Route: Equatable, Sendable {
        case throughUs
        case other
    }

    /// Where its IPv6 goes.
    public enum IPv6: Equatable, Sendable {
        /// Nothing came by IPv6, and the device wants none.
        case none
        case throughUs
        /// The device has IPv6 that does not lead here.
        case around(Detour)
        /// Nothing came by IPv6, and nothing tells whether the device has any.
        case unknown
    }

    /// What shows that IPv6 takes another way.
    public enum Detour: Equatable, Sendable, CustomStringConvertible {
        /// The device has an address of a network that is not ours.
        case foreignAddress(IPAddress)
        /// The device has an address of our LAN, and what it sends to the tunnel does not come.
        case silent(IPAddress)
        /// The device asks for IPv6 addresses, and this router on its link, which is not the gateway, offers IPv6.
        case router(IPAddress, MACAddress)

        public var description: String {
            switch self {
            case .foreignAddress(let address): "this phone has the address \(address), which is none of this network's"
            case .silent(let address): "this phone has the address \(address), and what it sends by IPv6 does not come"
            case .router(let address, let mac): Router(address: address, hardware: mac).description
            }
        }
    }

    /// Somebody else on the device's link who says of themselves that they are a router, by the neighbour table: who
    /// offers the IPv6 that goes around us.
    public struct Router: Equatable, Sendable, CustomStringConvertible {
        public var address: IPAddress
        public var hardware: MACAddress

        public init(address: IPAddress, hardware: MACAddress) {
            self.address = address
            self.hardware = hardware
        }

        public var description: String { "the router \(address) (\(hardware)) offers IPv6 on this network" }
    }

    public var names = Names.other
    public var route = Route.other
    public var ipv6 = IPv6.unknown
    /// The first of them, by address; nil: none is known.
    public var router: Router?
    /// Anything of the check was seen: before that, a browser may not have begun.
    public var hasBegun = false

    /// Whether what the device sends to fake addresses comes to us.
    public var usesOurRoute: Bool { route == .throughUs }
}

/// What is known of a device besides what it has fetched.
struct CheckEvidence {
    private(set) var addresses: Set<IPAddress>
    private let insistences: [Insistence]
    /// The networks of our LAN interfaces.
    private let networks: [IPPrefix]
    /// Others on the device's link that say of themselves that they are routers.
    private let routers: [KernelNeighbour]
    private let now: Instant

    /// Takes a device's known addresses, to which the neighbour table adds those of the same MAC.
    init(
        of addresses: Set<IPAddress>, _ neighbours: [KernelNeighbour] = [], _ insistences: [Insistence] = [],
        networks: [IPPrefix] = [], now: Instant
    ) {
        let ends = neighbours.filter { addresses.contains($0.address) }
        func isOn(_ other: KernelNeighbour, sameMachine: Bool) -> Bool {
            ends.contains { $0.interface == other.interface && ($0.hardware == other.hardware) == sameMachine }
        }
        let all = addresses.union(neighbours.filter { isOn($0, sameMachine: true) }.map(\.address))
        self.addresses = all
        routers = neighbours.filter { $0.isRouter && !all.contains($0.address) && isOn($0, sameMachine: false) }
        self.insistences = insistences.filter { all.contains($0.device) }
        self.networks = networks
        self.now = now
    }
}

extension SelfCheck {
    /// Judges what was seen of one check.
    init(_ notes: [CheckNote], _ evidence: CheckEvidence) {
        hasBegun = !notes.isEmpty
        names = evidence.names(notes)
        // Addresses of a device change; a nonce is told to one alone, so whoever fetched by it was that one.
        route = notes.contains { $0.event == .cameByRoute } ? .throughUs : .other
        ipv6 = evidence.ipv6(notes)
        router = evidence.router
    }
}

extension CheckEvidence {
    /// How much earlier than the question the firewall may have seen it, and how late a note of it may count.
    private static var slack: Interval { .seconds(2) }

    fileprivate func names(_ notes: [CheckNote]) -> SelfCheck.Names {
        let questions = notes.filter { $0.event == .asked || $0.event == .askedForIPv6 }
        let own = questions.filter { addresses.contains($0.device) }
        if let first = own.map(\.at).min() {
            // It was meant for another one, if the firewall has seen such a one since.
            let since = now - first + Self.slack
            return latest(port: 53, within: since).map { .foreignResolver($0) } ?? .ours
        }
        if let other = questions.first { return .foreignResolver(other.device) }
        if let resolver = latest(port: 853) { return .privateDNS(resolver) }
        if let resolver = latest(port: 53, within: CheckBook.lifetime) { return .foreignResolver(resolver) }
        // Nobody else knows the name: the question came, and has been forgotten.
        return notes.contains { $0.event == .cameByName } ? .ours : .other
    }

    /// The resolver that the device asked last; one whose time is not known counts as long as the firewall knows it.
    private func latest(port: UInt16, within time: Interval = .hours(1)) -> IPAddress? {
        insistences.filter { $0.port == port && $0.age ?? .zero <= time }
            .min { ($0.age ?? .zero, "\($0.resolver)") < ($1.age ?? .zero, "\($1.resolver)") }?.resolver
    }

    fileprivate var router: SelfCheck.Router? {
        routers.min { ($0.address.high, $0.address.low) < ($1.address.high, $1.address.low) }
            .map { SelfCheck.Router(address: $0.address, hardware: $0.hardware) }
    }

    fileprivate func ipv6(_ notes: [CheckNote]) -> SelfCheck.IPv6 {
        if notes.contains(where: { $0.event == .cameByIPv6 }) { return .throughUs }
        let own = addresses.filter { !$0.isIPv4 && !$0.isLinkLocal && !$0.isLoopback }
            .sorted { ($0.high, $0.low) < ($1.high, $1.low) }
        // 2000::/3, what the Internet uses (RFC 4291, section 2.4): others are networks of their own beside it.
        if let foreign = own.first(where: { address in
            address.high >> 61 == 1 && !networks.contains { $0.contains(address) }
        }) {
            return .around(.foreignAddress(foreign))
        }
        // Without another image nobody knows whether the browser has tried.
        guard notes.contains(where: { $0.event == .cameByRoute || $0.event == .cameByName }) else { return .unknown }
        if let silent = own.first(where: { address in networks.contains { $0.contains(address) } }) {
            return .around(.silent(silent))
        }
        let hasAsked = notes.contains { $0.event == .asked && addresses.contains($0.device) }
        let wantsIPv6 = notes.contains { $0.event == .askedForIPv6 && addresses.contains($0.device) }
        if wantsIPv6, let router { return .around(.router(router.address, router.hardware)) }
        // Phones ask for IPv6 addresses where they have a route for them.
        return hasAsked && !wantsIPv6 ? .none : .unknown
    }
}
