/// What DNS says about a name to a device.

import Addresses
import Names
import Network
import Routing

extension Policy {
    /// Whether a name gets a fake address, its real one, or none.
    ///
    /// What a rule says counts more than what is done for phones.
    func nameVerdict(_ name: String, for device: IPAddress) -> NameVerdict {
        if isUpstream(device) || isNeverFaked(name) { return .real(maximumTTL: nil) }
        // It may be given a profile at any time, and holds this answer then.
        if newcomer(device) == .direct { return .real(maximumTTL: settings.maximumTTL) }
        // Asked in place: a profile that is taken out is copied, with every table of its rules.
        let position = profile(of: device)
        let maximumTTL = settings.profiles[position].rules.mode == .domain ? settings.maximumTTL : nil
        // Where what is not proxied leaves by an upstream, that one may know names which the resolvers here do not.
        let real = NameVerdict.real(maximumTTL: maximumTTL, fakesUnknown: settings.egress != nil)
        if let own = lists(of: device)?.decide(name: name) { return own.verdict == .direct ? real : .fake }
        let outcome = settings.profiles[position].rules.verdict(forName: name, device: device)
        guard case .settled(let decision) = outcome else { return openVerdict(name, for: device, position) }
        if decision.isByDefault, let verdict = verdictOfPhones(name, real: real) { return verdict }
        switch decision.verdict {
        case .direct: return real
        // A refused name has an address too: the flow log says why nothing answers there.
        case .proxy, .profile, .reject: return .fake
        }
    }

    /// What DNS says where the rest of a flow decides: its flows have to come to us, unless the name is to have none.
    private func openVerdict(_ name: String, for device: IPAddress, _ position: Int) -> NameVerdict {
        switch verdictOfPhones(name, real: .real(maximumTTL: nil)) {
        case .real, nil: return .fake
        case let verdict?:
            let named = settings.profiles[position].rules.decide(RouteQuery(name: name, source: device))
            return named.isByDefault ? verdict : .fake
        }
    }

    /// Whether the flows of a name reach us by a fake address.
    func isFaked(_ name: String, for device: IPAddress) -> Bool {
        settings.fakesNames && nameVerdict(name, for: device) == .fake
    }

    private func isNeverFaked(_ name: String) -> Bool {
        if settings.upstreamNames.contains(name) { return true }
        return settings.neverFaked.contains { suffix in
            guard name.hasSuffix(suffix) else { return false }
            return name.utf8.count == suffix.utf8.count
                || name.utf8.dropLast(suffix.utf8.count).last == UInt8(ascii: ".")
        }
    }
}

extension Policy {
    /// What has to be routed into the TUN device for devices of a profile, and what forces it (`RuleBook+Capture`).
    func capture(ofProfile position: Int) -> Capture {
        if let egress = settings.egress { return .all(because: "egress \"\(settings.profiles[egress].id)\"") }
        guard settings.fakesNames else { return .all(because: "names get no fake addresses (dns.mode)") }
        return settings.profiles[position].rules.capture
    }

    /// What has to be routed into the TUN device for one device.
    func capture(of device: IPAddress) -> NetworkPlan.Capture {
        switch newcomer(device) {
        case .served: NetworkPlan.Capture(capture(ofProfile: profile(of: device)))
        case .direct: .none
        case .blocked, .waiting: .all
        }
    }
}

extension NetworkPlan.Capture {
    init(_ capture: Capture) {
        switch capture {
        case .names: self = .names
        case .all: self = .all
        }
    }
}
