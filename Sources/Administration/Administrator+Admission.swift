/// Who may ask: whoever can open the Unix socket, and whoever signs under a key with the right to push.

import Addresses
import Bytes
import Control
import LinuxIO
import Profiles

extension Administrator {
    /// Says in whose name a request is made, or refuses it.
    mutating func admit(_ request: ControlRequest) throws(ControlError) -> String {
        switch request.source {
        case .local(let peer): return UserName.of(uid: peer.user) ?? "uid \(peer.user)"
        case .remote: return "key \(try verify(request).id)"
        case .collector:
            guard request.path == ["metrics"] else {
                throw ControlError(.notFound, "found another path; expected /metrics, which is all that answers here")
            }
            return "collector"
        }
    }

    private mutating func verify(_ request: ControlRequest) throws(ControlError) -> LinkKey {
        let hosts = (running.push?.listen ?? []).flatMap { [$0.description, "\(keys.gateway):\($0.port)"] }
        guard hosts.contains(request.host) else {
            throw ControlError(
                .misdirected, "Host: found another one; expected one of \(hosts.joined(separator: ", "))", path: "Host")
        }
        guard let headers = PushSignature(request) else {
            throw ControlError(
                .forbidden,
                "found a request that is not signed; expected \(PushSignature.names.joined(separator: ", "))")
        }
        do throws(PushError) {
            // A key for this alone can do nothing else, and no other one can do it.
            let right: LinkKey.Scope = request.isOfPeer ? .peer : .push
            return try keys.pushes.verify(request.signed, headers, body: request.body.span, at: clock, right: right)
        } catch {
            throw ControlError(.forbidden, "\(error)", found: error.found, expected: error.expected)
        }
    }

    /// Signs the answer to a signed request, so that its sender knows who has answered.
    func seal(_ answer: ControlAnswer, to request: ControlRequest) -> ControlAnswer {
        guard let headers = PushSignature(request), case .remote = request.source,
            let key = keys.keys.first(where: { $0.id == headers.key })
        else { return answer }
        var answer = answer
        let body = Array(answer.body.utf8)
        let signature = SignedAnswer(status: answer.status).signature(
            to: headers, by: key, gateway: keys.gateway, body: body.span)
        answer.fields = [(PushSignature.signatureName, signature)]
        return answer
    }

    /// What the clock says, and whether it can be believed.
    var clock: LinkVerifier.Clock {
        LinkVerifier.Clock(
            now: Clock.unixTime(),
            isSynchronised: plan.effective.configuration.clock == .trust || Clock.isSynchronised)
    }
}

extension PushSignature {
    /// The signature of a request; nil where none of its fields is there.
    fileprivate init?(_ request: ControlRequest) {
        let fields = Self.names.map { request.signature[$0.lowercased()] }
        guard fields.contains(where: { $0 != nil }) else { return nil }
        self.init(key: fields[0] ?? "", time: fields[1] ?? "", nonce: fields[2] ?? "", signature: fields[3] ?? "")
    }
}

extension ControlRequest {
    /// Whether another gateway tells what it has decided.
    var isOfPeer: Bool { path.count == 3 && path.prefix(2) == ["v1", "peers"] }

    fileprivate var signed: SignedRequest {
        let parts = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        return SignedRequest(
            method: method.rawValue, path: String(parts[0]), query: parts.count == 2 ? String(parts[1]) : "", host: host
        )
    }
}
