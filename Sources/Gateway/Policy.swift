/// # What decides
///
/// A policy is the answer to two questions, as of one configuration: where does this flow go, and what does DNS say
/// about this name. It never changes; a switch publishes another one, and flows whose answer differs are reset.
///
///     device ──▶ profile ──▶ rules ──▶ verdict ──▶ an upstream, the target itself, or no
///
/// An upstream that two policies in a row have in common keeps its number and what was learned about it, whatever else
/// is new: flows that go there stay.

import Addresses
import Routing
import Upstreams
import Wire

final class Policy: Sendable {
    let settings: RoutingSettings
    /// One for each profile.
    let upstreams: [Upstream]
    /// The target itself.
    let direct: Upstream

    /// Our own DNS service; nil where there is none.
    let dnsService: Upstream?

    /// Takes over the upstreams of the policy before.
    init(_ settings: RoutingSettings, after previous: Policy? = nil) throws(UpstreamSettingsError) {
        self.settings = settings
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
        for profile in settings.profiles { upstreams.append(try upstream(profile.upstream)) }
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
    func isUpstream(_ device: IPAddress) -> Bool {
        settings.upstreamMachines.contains(device) || settings.foundMachines.contains(device)
    }

    private func isUpstream(_ destination: Destination) -> Bool {
        if let address = destination.address, isUpstream(address) { return true }
        return destination.name.map(settings.upstreamNames.contains) ?? false
    }

    /// The position of a device's profile.
    func profile(of device: IPAddress) -> Int {
        settings.scopes.first { $0.network.contains(device) }?.profile ?? settings.active
    }

    /// The upstream of the active profile, and the profile's id.
    var active: Upstream { upstreams[settings.active] }
    var activeID: String { settings.profiles[settings.active].id }

    /// What people call a profile; one that is gone has no name.
    func id(ofProfile position: Int) -> String {
        settings.profiles.indices.contains(position) ? settings.profiles[position].id : "-"
    }

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
            return Route(way: .upstream(direct), profile: position, rule: .words("the device is an upstream"))
        }
        if isUpstream(destination) {
            return Route(way: .upstream(direct), profile: position, rule: .words("the target is an upstream"))
        }
        if settings.phones.refusesEncryptedDNS, destination.target.port == 853 {
            return Route(way: .refused, profile: position, rule: .words("phones: DNS over TLS"))
        }
        let decision = settings.profiles[position].rules.decide(destination.query(from: device, network))
        let rule = decision.origin.map(RouteRule.entry)
        if decision.isByDefault, let name = destination.name,
            let (way, words) = wayOfPhones(to: name, port: destination.target.port, network, asksNoCheck)
        {
            return Route(way: way, profile: position, rule: .words(words))
        }
        switch decision.verdict {
        case .proxy:
            return Route(
                way: .upstream(upstreams[position]), profile: position, rule: rule,
                standIn: standIn(for: destination.name, decision))
        case .profile(let id):
            let other = settings.profiles.firstIndex { $0.id == id } ?? position
            return Route(
                way: .upstream(upstreams[other]), profile: other, rule: rule,
                standIn: standIn(for: destination.name, decision))
        case .direct: return Route(way: .upstream(egress), profile: position, rule: rule)
        case .reject: return Route(way: .refused, profile: position, rule: rule)
        }
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
            return settings.profiles[position].connectName == .sni
                || settings.profiles[position].rules.nameMatters(destination.query(from: device))
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
    case words(String)

    var description: String {
        switch self {
        case .entry(let origin): origin.description
        case .words(let words): words
        }
    }
}

/// Where a flow goes, and why.
struct Route: Sendable {
    enum Way: Sendable {
        case upstream(Upstream)
        /// By ourselves, in the place of a connectivity check's host.
        case answer(CheckAnswers.Host)
        case refused
    }

    var way: Way
    /// The position of the profile that decided.
    var profile: Int
    /// What decided; nil when the mode did.
    var rule: RouteRule?
    /// It leads to our own DNS service, which is told for which device.
    var isQuestion = false
    /// Where it goes while its upstream is no good for it.
    var standIn: Upstream?
}
