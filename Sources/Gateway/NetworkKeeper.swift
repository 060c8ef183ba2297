/// Keeps the machine's network as the policy wants it: at the start, at a switch, when an interface comes or an
/// address changes, and back to what it was at the end.

import Addresses
import Bytes
import LinuxIO
import Names
public import Network
import Routing

/// What the gateway does to the machine's network.
public struct NetworkSettings: Sendable {
    /// An interface with devices, and the id of their profile; nil, and an id that is gone: the active one.
    public struct LAN: Equatable, Sendable {
        public var interface: String
        public var profile: String?

        public init(interface: String, profile: String?) {
            self.interface = interface
            self.profile = profile
        }

        func position(in routing: RoutingSettings) -> Int? { profile.flatMap(routing.position(of:)) }
    }

    public var setup: NetworkPlan.Setup
    public var lan: [LAN] = []
    /// Interfaces to the Internet; empty: those of the default routes.
    public var uplinks: [String] = []
    public var mark = NetworkPlan.Mark(value: 0x5300_0000, mask: 0xff00_0000)
    /// Whether direct traffic gets the uplink's address.
    public var masquerades = true
    public var whenDown = NetworkPlan.WhenDown.block
    public var mtu = 1500
    /// Where the page listens; nil: there is none.
    public var pagePort: UInt16?
    /// Who besides the LANs' devices comes to it by port 80.
    public var pageGuests: NetworkPlan.PageGuests?
    /// Who runs ip(8) and nft(8).
    public var tools = SystemTools()

    public init(setup: NetworkPlan.Setup) { self.setup = setup }
}

struct NetworkKeeper: ~Copyable {
    private var setup: NetworkSetup
    let monitor: NetworkMonitor
    private let settings: NetworkSettings
    /// Where the page listens, as the next `follow` or `apply` tells the kernel.
    var pagePort: UInt16?
    private let tunnel: String
    private let pools: [IPPrefix]
    private let dnsPort: UInt16?
    private var loans = LentAddresses()
    /// What was reported last, so that each is said once.
    private(set) var notices: [NetworkNotice] = []
    /// Settings that somebody with more rights was asked to make.
    private var asked: [NetworkNotice] = []
    /// When it is looked whether they were made.
    private var settingsDueAt = Instant.never
    /// When what the kernel has refused is tried again; never: nothing was refused.
    private var retryDueAt = Instant.never
    private var patience = Self.leastPatience
    private static let leastPatience = Interval.seconds(1)
    private static let mostPatience = Interval.seconds(64)

    init(
        _ settings: NetworkSettings, tunnel: String, pools: [IPPrefix], dnsPort: UInt16?
    ) throws(SystemCallError) {
        self.settings = settings
        setup = NetworkSetup(tools: settings.tools)
        pagePort = settings.pagePort
        self.tunnel = tunnel
        self.pools = pools
        self.dnsPort = dnsPort
        monitor = try NetworkMonitor()
    }

    /// When lent addresses are to be taken back.
    var nextDeadline: Instant? { loans.nextDeadline }

    /// Makes everything as a policy wants it, and returns what is new to be said.
    mutating func apply(_ policy: Policy) throws(NetworkError) -> [NetworkNotice] {
        news(try setup.apply(plan(policy)).notices)
    }

    /// What `apply` would do at a start, as commands; nothing is changed.
    func preview(_ policy: Policy) throws(NetworkError) -> [String] {
        try NetworkSetup.preview(plan(policy), tools: settings.tools)
    }

    /// Follows a switch: the real addresses of names that are proxied since then are lent for a while.
    ///
    /// Where the kernel refuses, everything is as it was before.
    mutating func follow(
        from old: Policy, to new: Policy, _ seen: SeenAnswers, now: Instant
    ) throws(NetworkError) -> [NetworkNotice] {
        let before = loans
        _ = loans.change(
            seen, now: now, before: { old.isFaked($0, for: $1) }, after: { new.isFaked($0, for: $1) })
        do throws(NetworkError) {
            return try apply(new)
        } catch {
            loans = before
            throw error
        }
    }

    /// Makes everything as it should be again, after the kernel has said that something changed.
    ///
    /// What it has refused waits: steps that are taken back are changes, too, and would be followed in a circle.
    mutating func refresh() throws(NetworkError) -> [NetworkNotice] {
        guard !monitor.changes().isEmpty, retryDueAt == .never else { return [] }
        return try look()
    }

    /// When to look by itself.
    var lookDueAt: Instant { min(settingsDueAt, retryDueAt) }

    /// Makes everything as it should be: settings that were asked for may have been made, and what was refused may be
    /// taken.
    mutating func look() throws(NetworkError) -> [NetworkNotice] {
        if settingsDueAt <= Clock.now() { settingsDueAt = .never }
        do throws(NetworkError) {
            let found = try setup.refresh().notices
            (retryDueAt, patience) = (.never, Self.leastPatience)
            return news(found)
        } catch {
            retryDueAt = Clock.now() + patience
            patience = min(patience + patience, Self.mostPatience)
            throw error
        }
    }

    /// Takes back what was lent for a time that is over.
    mutating func expireLoans(_ policy: Policy, now: Instant) throws(NetworkError) {
        if !loans.expire(now).isEmpty { _ = try setup.apply(plan(policy)) }
    }

    /// Which devices ask other resolvers.
    func insistences() -> [Insistence] { (try? setup.insistences()) ?? [] }

    /// What is wanted now, and what our part of the firewall looked like when it was made.
    var intent: (plan: NetworkPlan?, firewall: String?) { (setup.plan, setup.firewallListing) }

    mutating func undo() throws(NetworkError) { try setup.undo() }

    /// The networks of the LAN interfaces as they are now, and which of them have a profile of their own.
    ///
    /// With `host` the only device is this machine, at each address that it has.
    func networks(of routing: RoutingSettings) -> (all: [IPPrefix], scopes: [RoutingSettings.Scope]) {
        var networks: (all: [IPPrefix], scopes: [RoutingSettings.Scope]) = ([], [])
        for address in (try? NetworkInterface.addresses()) ?? [] {
            if settings.setup == .host, let own = IPPrefix(address.address, length: address.address.isIPv4 ? 32 : 128) {
                networks.all.append(own)
                continue
            }
            guard let lan = settings.lan.first(where: { $0.interface == address.interface }),
                let network = IPPrefix(address.address, length: address.prefixLength)
            else { continue }
            networks.all.append(network)
            if let profile = lan.position(in: routing) {
                networks.scopes.append(.init(network: network, profile: profile))
            }
        }
        return networks
    }

    private func plan(_ policy: Policy) -> NetworkPlan {
        var plan = NetworkPlan(
            setup: settings.setup, tunnel: tunnel, mtu: settings.mtu, mark: settings.mark, fake: pools,
            lan: settings.lan.map { .init($0.interface, Self.capture(policy, of: $0)) })
        plan.devices = Self.devices(policy)
        plan.own = .init(policy.capture(ofProfile: policy.settings.active))
        plan.captured = prefixes(policy)
        plan.lent = loans.loans.map { .init(device: $0.device, address: $0.address, until: $0.until) }
        plan.upstreams = policy.settings.upstreamMachines + policy.settings.foundMachines
        plan.dnsPort = dnsPort
        plan.pagePort = pagePort
        plan.pageGuests = settings.pageGuests
        plan.refusesEncryptedDNS = policy.settings.phones.refusesEncryptedDNS
        plan.masquerades = settings.masquerades
        plan.whenDown = settings.whenDown
        plan.ipv6 = policy.settings.ipv6
        plan.uplinks = settings.uplinks
        return plan
    }

    /// What is captured of a LAN's devices that have nothing of their own.
    private static func capture(_ policy: Policy, of lan: NetworkSettings.LAN) -> NetworkPlan.Capture {
        switch policy.settings.devices.newcomers {
        case .served: .init(policy.capture(ofProfile: lan.position(in: policy.settings) ?? policy.settings.active))
        case .direct: .none
        case .blocked, .waiting: .all
        }
    }

    /// Devices with a profile of their own, or with a name where those without one are treated otherwise.
    ///
    /// A device that is an upstream is exempt anyway.
    private static func devices(_ policy: Policy) -> [NetworkPlan.Device] {
        let devices = policy.settings.devices
        var addresses = Set(devices.profiles.keys)
        if devices.newcomers != .served { addresses.formUnion(devices.familiar) }
        return addresses.sorted { ($0.high, $0.low) < ($1.high, $1.low) }
            .map { NetworkPlan.Device($0, policy.capture(of: $0)) }
    }

    /// What rules send to anything but DIRECT, of all profiles in use and of single devices.
    private func prefixes(_ policy: Policy) -> [IPPrefix] {
        var found: [IPPrefix] = []
        let ofDevices = Set(policy.settings.devices.profiles.values).sorted()
        for profile in [policy.settings.active] + settings.lan.compactMap({ $0.position(in: policy.settings) })
            + ofDevices
        {
            guard case .names(let prefixes) = policy.capture(ofProfile: profile) else { continue }
            for prefix in prefixes where !found.contains(prefix) { found.append(prefix) }
        }
        let lists = policy.settings.devices.lists.sorted { ($0.key.high, $0.key.low) < ($1.key.high, $1.key.low) }
        for prefix in lists.flatMap(\.value.prefixes) where !found.contains(prefix) { found.append(prefix) }
        for address in policy.settings.capturedAddresses {
            guard let prefix = IPPrefix(address, length: address.isIPv4 ? 32 : 128) else { continue }
            if !found.contains(prefix) { found.append(prefix) }
        }
        // An IPv4 address is the same one where a device writes it as IPv6 (RFC 6052).
        let plain = found.filter(\.base.isIPv4)
        return found + policy.settings.translations.flatMap { translation in plain.map(translation.prefix(for:)) }
    }

    /// Settings that this process may not make are asked for first, and told of only when nobody has made them.
    private mutating func asking(_ found: [NetworkNotice]) -> [NetworkNotice] {
        let missing = found.filter(\.isSetting)
        if missing != asked {
            asked = missing
            settingsDueAt = missing.isEmpty ? .never : Clock.now() + Self.settingsPatience
            if !missing.isEmpty { setup.wish(missing) }
        }
        return settingsDueAt == .never ? found : found.filter { !$0.isSetting }
    }

    /// How long the privileged step may take.
    private static let settingsPatience = Interval.seconds(2)

    private mutating func news(_ found: [NetworkNotice]) -> [NetworkNotice] {
        let found = asking(found)
        let fresh = found.filter { !notices.contains($0) }
        notices = found
        return fresh
    }
}
