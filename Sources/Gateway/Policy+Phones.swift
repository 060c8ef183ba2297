/// What is done for phones where no rule names a host.

import Addresses
import Bytes
import Names
import Routing
import Upstreams

extension Policy {
    /// Where a flow goes for a phone's sake, and why; nil: where any flow would.
    func wayOfPhones(
        to name: String, port: UInt16, _ network: Routing.Network, _ asksNoCheck: Bool
    ) -> (way: Route.Way, words: String)? {
        let phones = settings.phones
        if let answers = phones.answers, let host = answers.hosts[name], !host.pages.isEmpty {
            let isPlain = port == 80 && network == .tcp
            if isPlain, !(host.isShared && asksNoCheck) {
                return (.answer(.connectivity(host)), answers.origin(of: host))
            }
            // Nobody can speak for a host over TLS, and what is refused at once costs the device no time.
            if !host.isShared { return (.refused, answers.origin(of: host)) }
        }
        if let list = list(of: name, in: phones.direct) { return (.upstream(egress), list) }
        if let list = list(of: name, in: phones.denied) { return (.refused, list) }
        return nil
    }

    /// What a name is answered for a phone's sake, `real` where that is the resolvers' answer; nil: what any name would
    /// be.
    func verdictOfPhones(_ name: String, real: NameVerdict) -> NameVerdict? {
        if let host = settings.phones.answers?.hosts[name] {
            return host.addresses.isEmpty ? .fake : .addresses(host.addresses)
        }
        if list(of: name, in: settings.phones.denied) != nil { return .nonexistent }
        return list(of: name, in: settings.phones.direct).map { _ in real }
    }

    /// Where a flow to a host with a second purpose goes while its upstream is no good for its checks.
    ///
    /// `domains` says what is proxied while that works; a rule says what has to be.
    func standIn(for name: String?, _ decision: Decision) -> Upstream? {
        guard let name, let shared = settings.phones.shared, shared.contains(RouteQuery(name: name)),
            decision.isByDefault || decision.origin?.list == "domains"
        else { return nil }
        return egress
    }

    /// Whether a client that refuses this host's certificate shows that its upstream decrypts.
    func showsDecryption(_ name: String) -> Bool {
        settings.phones.shared?.contains(RouteQuery(name: name)) ?? false
    }

    /// The name of the first list that holds a name.
    private func list(of name: String, in lists: [RuleList]) -> String? {
        lists.first { $0.contains(RouteQuery(name: name)) }.map { "phones: \($0.name)" }
    }
}

extension Route {
    /// Takes the other way if its upstream is no good for it just now.
    mutating func avoidUpstream(port: UInt16, at now: Instant) {
        guard let standIn, case .upstream(let upstream) = way, !standIn.isSame(as: upstream) else { return }
        let why: String
        if upstream.isLost(at: now) {
            why = "the upstream is lost"
        } else if port == 443, upstream.decrypts(at: now) {
            why = "the upstream decrypts"
        } else {
            return
        }
        way = .upstream(standIn)
        rule = .words("phones: connectivity-shared, \(why)")
    }
}
