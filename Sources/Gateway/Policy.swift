/// # What decides
///
/// A policy is the answer to two questions, as of one configuration: where does this flow go, and what does DNS say
/// about this name. It never changes; a switch publishes another one, and flows whose answer differs are reset.
///
///     device ──▶ profile ──▶ its own lists ──▶ rules ──▶ verdict ──▶ an upstream, the target itself, or no
///
/// An upstream that two policies in a row have in common keeps its number and what was learned about it, whatever else
/// is new: flows that go there stay.

import Addresses
import Routing
import Upstreams
import Wire

final class Policy: Sendable {
    let settings: RoutingSettings
    /// One for each profile; for a group that of the member that is asked first.
    let upstreams: [Upstream]
    /// The target itself.
    let direct: Upstream

    /// Our own DNS service; nil where there is none.
    let dnsService: Upstream?

    /// The addresses of upstreams on the devices' own networks.
    private let nearbyMachines: [IPAddress]

    /// Who is asked whose an address is that the settings do not know; nil: nobody.
    private let sight: NeighbourSight?

    /// Takes over the upstreams of the policy before, and whom it asks.
    init(
        _ settings: RoutingSettings, after previous: Policy? = nil, sight: NeighbourSight? = nil
    ) throws(UpstreamSettingsError) {
        self.settings = settings
        self.sight = sight ?? previous?.sight
        nearbyMachines = (settings.upstreamMachines + settings.foundMachines).filter { machine in
            settings.lanNetworks.contains { $0.contains(machine) }
        }
        var next = previous.map { $0.highestNumber + 1 } ?? 0
        var known = previous?.all ?? []
        func upstream(_ settings: UpstreamSettings) throws(UpstreamSettingsError) -> Upstream {
            if let same = known.last(where: { $0.settings == settings }) { return same }
            let upstream: Upstream
            if let same = known.first(where: { $0.settings.isSameUpstream(as: settings) }) {
                upstream = try Upstream(settings, continuing: same)
            } else {
                upstream = try Upstream(settings, number: next)
                next += 1
            }
            // Two profiles with one upstream share what is learned about it.
            known.append(upstream)
            return upstream
        }
        var upstreams: [Upstream] = []
        for profile in settings.profiles {
            upstreams.append(try upstream(profile.group == nil ? profile.upstream : settings.direct))
        }
        for (position, profile) in settings.profiles.enumerated() {
            if let leader = Self.leader(of: profile, among: upstreams) { upstreams[position] = leader }
        }
        self.upstreams = upstreams
        direct = try upstream(settings.direct)
        if let service = settings.dnsService {
            var door = settings.direct
            door.policy.allowed.append(
                contentsOf: [IPPrefix(service.address, length: service.address.isIPv4 ? 32 : 128)].compactMap(\.self))
            dnsService = try upstream(door)
        } else {
            dnsService = nil
        }
    }

    private var all: [Upstream] { upstreams + [direct] + [dnsService].compactMap(\.self) }
    private var highestNumber: Int { all.map(\.number).max() ?? 0 }

    /// Whether a device is itself an upstream: what it sends goes direct, or it would be fed its own requests.
    ///
    /// A machine has more addresses than the one at which it is an upstream, and one MAC.
    func isUpstream(_ device: IPAddress) -> Bool {
        if isAddressOfUpstream(device) { return true }
        guard !nearbyMachines.isEmpty, let sight, settings.lanNetworks.contains(where: { $0.contains(device) }),
            let station = sight.station(at: device)
        else { return false }
        return nearbyMachines.contains { sight.station(at: $0) == station }
    }

    private func isAddressOfUpstream(_ address: IPAddress) -> Bool {
        settings.upstreamMachines.contains(address) || settings.foundMachines.contains(address)
    }

    private func isUpstream(_ destination: Destination) -> Bool {
        if let address = destination.address, isAddressOfUpstream(address) { return true }
        return destination.name.map(settings.upstreamNames.contains) ?? false
    }

    /// The position of a device's profile: its own, else that of its network, else the gateway's.
    func profile(of device: IPAddress) -> Int {
        if let own = settings.devices.profiles[device] ?? standing(of: device)?.profile { return own }
        return settings.scopes.first { $0.network.contains(device) }?.profile ?? settings.active
    }

    /// What becomes of a device that nobody has named; `served` for every other one.
    func newcomer(_ device: IPAddress) -> RoutingSettings.Devices.Newcomers {
        let devices = settings.devices
        guard devices.newcomers != .served, !devices.familiar.contains(device), devices.profiles[device] == nil,
            settings.lanNetworks.contains(where: { $0.contains(device) }), standing(of: device) == nil
        else { return .served }
        return devices.newcomers
    }

    /// What is decided for a device by its MAC, where its address has not been told of yet.
    private func standing(of device: IPAddress) -> RoutingSettings.Devices.Standing? {
        guard !settings.devices.stations.isEmpty, let sight, settings.devices.profiles[device] == nil,
            !settings.devices.familiar.contains(device), let station = sight.station(at: device)
        else { return nil }
        return settings.devices.standing(of: station)
    }

    /// The upstream of the active profile, and the profile's id.
    var active: Upstream { upstreams[settings.active] }
    var activeID: String { settings.profiles[settings.active].id }

    /// How what is not proxied leaves.
    var egress: Upstream { settings.egress.map { upstreams[$0] } ?? direct }

    /// Where what a device opens goes.
    ///
    /// `asksNoCheck` says of a flow that its first request was for none of the checks of a host that serves much else.
    func route(
        to destination: Destination, from device: IPAddress, over network: Routing.Network = .tcp,
        asksNoCheck: Bool = false
    ) -> Route {
        let position = profile(of: device)
        if isUpstream(device) {
            return way(.upstream(direct), position, .words("the device is an upstream"))
        }
        if isUpstream(destination) {
            return way(.upstream(direct), position, .words("the target is an upstream"))
        }
        switch newcomer(device) {
        case .served: break
        case .direct: return way(.upstream(egress), position, .words("newDevices: direct"))
        case .blocked: return way(.refused, position, .words("newDevices: block"))
        case .waiting:
            return way(
                .refused, position,
                .words("peers: this gateway has not heard from its peer since it started, and doesn't know the device"))
        }
        if settings.phones.refusesEncryptedDNS, destination.target.port == 853 {
            return way(.refused, position, .words("phones: DNS over TLS"))
        }
        let (decision, rule) = decide(destination.query(from: device, network), for: device, position)
        if decision.isByDefault, let name = destination.name,
            let (phoneWay, words) = wayOfPhones(to: name, port: destination.target.port, network, asksNoCheck)
        {
            return way(phoneWay, position, .words(words))
        }
        switch decision.verdict {
        case .proxy:
            var route = proxied(position, for: device, rule, standIn: standIn(for: destination.name, decision))
            // What a proxy answers itself it knows by the whole URL alone.
            route.asksInAbsoluteForm = decision.origin?.isImplied ?? false
            return route
        case .profile(let id):
            let other = settings.position(of: id) ?? position
            return proxied(other, for: device, rule, standIn: standIn(for: destination.name, decision))
        case .direct: return way(.upstream(egress), position, rule)
        case .reject: return way(.refused, position, rule)
        }
    }

    /// What the device's own lists say, else what the rules of its profile do.
    private func decide(
        _ query: RouteQuery, for device: IPAddress, _ position: Int
    ) -> (decision: Decision, rule: RouteRule?) {
        if let own = lists(of: device)?.decide(query) { return (own, own.origin.map(RouteRule.own)) }
        let decision = settings.profiles[position].rules.decide(query)
        return (decision, decision.origin.map(RouteRule.entry))
    }

    /// What a device sends elsewhere than its profile says; nil for nearly all of them.
    func lists(of device: IPAddress) -> DeviceRules? {
        if !settings.devices.lists.isEmpty, let own = settings.devices.lists[device] { return own }
        return standing(of: device)?.lists
    }

    /// By the upstream of a profile, or the first one of its group that gets through.
    private func proxied(
        _ position: Int, for device: IPAddress, _ rule: RouteRule?, standIn: Upstream?
    ) -> Route {
        let (first, others) = candidates(ofProfile: position, for: device)
        guard let first else {
            let words = RouteRule.words("\(settings.profiles[position].id): none of its upstreams gets through")
            let goesDirect = settings.profiles[position].group?.goesDirect ?? false
            return way(goesDirect ? .upstream(egress) : .refused, position, words)
        }
        var route = way(.upstream(first), position, rule, standIn: standIn)
        route.others = others
        return route
    }

    /// A route under the gateway's own profile, for what no rule is asked about.
    func route(by way: Route.Way, isQuestion: Bool = false, _ rule: RouteRule? = nil) -> Route {
        var route = self.way(way, settings.active, rule)
        route.isQuestion = isQuestion
        return route
    }

    private func way(
        _ way: Route.Way, _ position: Int, _ rule: RouteRule?, standIn: Upstream? = nil
    ) -> Route {
        Route(
            way: way, profile: position, profileID: settings.profiles[position].id, rule: rule, standIn: standIn)
    }

    /// Whether a stream's first octets are waited for, because a name in them could change where it goes.
    func wantsSniffing(_ destination: Destination, from device: IPAddress) -> Bool {
        guard destination.source != .fake, settings.sniffPorts.contains(destination.target.port) else { return false }
        guard !isUpstream(device) else { return false }
        let position = profile(of: device)
        switch settings.profiles[position].sniff {
        case .off: return false
        case .always: return true
        case .needed:
            if destination.alternatives.count > 1 { return true }
            if destination.name != nil { return false }
            let query = destination.query(from: device)
            if settings.profiles[position].connectName == .sni { return true }
            if let own = lists(of: device) {
                let verdict = settings.profiles[position].rules.verdict(query)
                if own.nameMatters(query, beside: verdict) { return true }
            }
            return settings.profiles[position].rules.nameMatters(query)
        }
    }

    /// Whether an upstream is asked for the name that a client says, whoever else has said it.
    func bearsSaidNames(from device: IPAddress) -> Bool {
        settings.profiles[profile(of: device)].connectName == .sni
    }
}

/// What decided about a flow; it becomes words only where somebody reads them.
enum RouteRule: Sendable, CustomStringConvertible {
    case entry(RuleOrigin)
    /// An entry of the device's own lists.
    case own(RuleOrigin)
    case words(String)

    var description: String {
        switch self {
        case .entry(let origin): origin.description
        case .own(let origin): DeviceRules.words(origin)
        case .words(let words): words
        }
    }
}

/// Where a flow goes, and why.
struct Route: Sendable {
    enum Way: Sendable {
        case upstream(Upstream)
        /// By ourselves: in the place of a connectivity check's host, or for a self-check.
        case answer(CheckSession.Subject)
        case refused
    }

    var way: Way
    /// The position of the profile that decided, in the policy that was asked.
    var profile: Int
    /// Its id, by which flows know it: positions change.
    var profileID: String
    /// What decided; nil when the mode did.
    var rule: RouteRule?
    /// Plain http on port 80 goes to an HTTP proxy in absolute form, whatever its settings say.
    var asksInAbsoluteForm = false
    /// It asks the gateway itself: our own DNS service, which is told for which device, or for a self-check's image.
    var isQuestion = false
    /// Where it goes while its upstream is no good for it.
    var standIn: Upstream?
    /// Where it is tried when its upstream fails it, the best one first.
    var others: [Upstream] = []
}
