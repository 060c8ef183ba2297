/// Showing a decrypting proxy's certificate: to the API, which waits for it, and to whoever looks again.

import Bytes
import Control
import Gateway
import Health
import LinuxIO
import Profiles
import Upstreams
import Wire

/// What is known of the certificate that phones with a profile need.
enum AuthorityState {
    /// Nothing decrypts there.
    case none
    /// It is being fetched: look again.
    case asking(AuthorityPlace)
    case found(Certificate, AuthorityPlace)
    /// Why there is none, in one line.
    case failed(String, AuthorityPlace)
}

extension Administrator {
    /// Answers with the certificate of a profile's proxy, once it is there.
    mutating func authority(of id: String, _ gateway: borrowing Gateway) throws(ControlError) -> ControlAnswer {
        try checkProfile(id, path: "id")
        guard let place = authorityPlace(of: id), let position = plan.position(of: place.profile) else {
            let kinds = Profiles.Upstream.Kind.decrypting.map { "\"\($0.rawValue)\"" }.joined(separator: ", ")
            throw ControlError(
                .conflict,
                "\(id) has no certificate: found an upstream that isn't said to decrypt; expected `kind` to be one of"
                    + " \(kinds)", path: "id", hint: "`starshipctl lint` proposes the kind")
        }
        let upstream = gateway.upstream(ofProfile: position)
        if case .success(let certificate)? = desk?.authorities.found(through: upstream, at: Clock.now()) {
            return answer(certificate, place)
        }
        guard begin(place, through: upstream), let promise = desk?.newTicket() else {
            throw ControlError(.unavailable, "too many probes are under way; expected fewer: try again")
        }
        desk?.authorities.wait(for: upstream, AuthorityDesk.Asker(promise: promise, place: place))
        return .later(promise)
    }

    /// What is known now of the certificate that phones with a profile need; has it fetched where it isn't known.
    mutating func lookAtAuthority(of id: String, _ gateway: borrowing Gateway) -> AuthorityState {
        guard let place = authorityPlace(of: id), let position = plan.position(of: place.profile) else { return .none }
        let upstream = gateway.upstream(ofProfile: position)
        switch desk?.authorities.found(through: upstream, at: Clock.now()) {
        case .success(let certificate): return .found(certificate, place)
        case .failure(let error): return .failed(error.sentence(place.profile), place)
        case nil: break
        }
        guard begin(place, through: upstream) else { return .failed("too many probes are under way", place) }
        return .asking(place)
    }

    /// The proxy that decrypts for a profile: its own, or the first member of a group.
    func authorityPlace(of id: String) -> AuthorityPlace? {
        let configuration = plan.effective.configuration
        var id = id
        if let group = configuration.profile(id)?.upstream.group {
            let first = desk?.groups[id]?.choice.order.first ?? 0
            guard group.members.indices.contains(first) else { return nil }
            id = group.members[first]
        }
        guard let upstream = configuration.profile(id)?.upstream, upstream.server != nil,
            let source = upstream.kind.certificateSource
        else { return nil }
        return AuthorityPlace(profile: id, kind: upstream.kind, source: source)
    }

    /// Has a certificate fetched, unless that is under way; false where too much is.
    private mutating func begin(_ place: AuthorityPlace, through upstream: Upstreams.Upstream) -> Bool {
        if desk?.authorities.isAsking(upstream) ?? false { return true }
        let fetch = AuthorityFetch(hosts: place.source.hosts, path: place.source.path)
        guard let ticket = desk?.newTicket(),
            desk?.prober.begin(fetch.request(through: upstream), ticket: ticket) ?? false
        else { return false }
        desk?.authorities.began(fetch, through: upstream, ticket: ticket, at: Clock.now())
        return true
    }

    /// Takes the result of a probe that was for a certificate, and answers those who wait for that.
    mutating func takeAuthority(_ result: ProbeResult) {
        let now = Clock.now()
        var outcome = desk?.authorities.take(result, at: now)
        if case .again(let fetch, let upstream)? = outcome {
            let ticket = desk?.newTicket()
            let hasBegun = ticket.map { desk?.prober.begin(fetch.request(through: upstream), ticket: $0) ?? false }
            outcome = desk?.authorities.goOn(from: result.ticket, as: hasBegun ?? false ? ticket : nil, at: now)
        }
        guard case .found(let found, let waiting)? = outcome else { return }
        for asker in waiting {
            switch found {
            case .success(let certificate): deliver(answer(certificate, asker.place), asker.promise)
            case .failure(let error):
                let words = "no certificate: \(error.sentence(asker.place.profile))"
                deliver(ControlAnswer(ControlError(.unavailable, words)), asker.promise)
            }
        }
    }

    private func answer(_ certificate: Certificate, _ place: AuthorityPlace) -> ControlAnswer {
        var warnings: [String] = []
        do throws(CertificateError) {
            try certificate.checkAuthority(at: Clock.unixTime().seconds)
        } catch {
            warnings.append("\(error)")
        }
        return ControlAnswer(
            .members([
                "profile": .string(place.profile), "kind": .string(place.kind.rawValue),
                "url": .string(place.source.url), "name": .string(certificate.name),
                "subject": .string(certificate.subject),
                "issuer": .string(certificate.issuer), "sha256": .string(certificate.fingerprint),
                "notBefore": .integer(Int(certificate.notBefore)), "notAfter": .integer(Int(certificate.notAfter)),
                "isAuthority": .boolean(certificate.isAuthority), "pem": .string(certificate.pem),
                "warnings": .strings(warnings),
            ]))
    }
}
