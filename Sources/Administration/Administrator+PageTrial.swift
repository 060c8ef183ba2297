/// A proxy that a phone's form brings is connected to before the phone is led there: what was mistyped is said beside
/// its field, and a phone does not lose its way to a port where nobody listens.
///
///     form ── waits ──▶ Prober ── ProbeResult ──▶ takeTrial ─┬─▶ bring ──▶ 303
///                                                            └─▶ the form, with what was typed and why

import Control
import Devices
import Gateway
import Health
import LinuxIO
import Page
import Profiles
import Upstreams

extension Administrator {
    /// Forms that wait at a time: probes have others to serve.
    private static let trialLimit = 16

    /// Has a form wait for the proxy that it brings; false where there is nothing to wait for.
    ///
    /// What is refused without asking anybody is refused at once, by who carries the form out.
    mutating func waits(for request: PageRequest, of caller: PageCaller, _ visit: PageVisit) -> Bool {
        guard case .change(.bringProxy(let server, let domains), let token) = request,
            pageTokens.isGood(token, device: caller.text, action: .bringProxy, at: caller.now),
            page.trials.count < Self.trialLimit, let upstream = upstream(of: server, domains, for: caller),
            let ticket = desk?.newTicket()
        else { return false }
        var probe = ProbeRequest(upstream)
        probe.timeout = Self.preflightTime
        guard desk?.prober.begin(probe, ticket: ticket) ?? false else { return false }
        page.trials[ticket] = visit
        return true
    }

    /// The proxy that was typed in; nil where it is refused.
    private func upstream(of server: String, _ domains: String, for caller: PageCaller) -> Upstreams.Upstream? {
        guard (try? checkRoom(for: caller.device)) != nil,
            let profile = try? ownProfile(server, domains: domains, for: caller.device.identity),
            let settings = try? Translation.upstreamSettings(profile.upstream, running)
        else { return nil }
        return try? Upstreams.Upstream(settings)
    }

    /// Takes the result of a probe that a form has waited for, and answers the form.
    mutating func takeTrial(_ result: ProbeResult, _ gateway: inout Gateway) {
        guard let visit = page.trials.removeValue(forKey: result.ticket) else { return }
        let caller = caller(of: visit, &gateway)
        guard let request = try? PageRequest(method: visit.head.method, target: visit.target, body: visit.body),
            case .change(.bringProxy(let server, let domains), _) = request
        else { return }
        var answer: PageAnswer
        do throws(ControlError) {
            if let cause = result.steps.first(where: { $0.failure != nil })?.failure {
                throw ControlError(.badValue, cause.sentence(server), path: "server")
            }
            answer = try bring(server, domains, caller, &gateway)
        } catch {
            answer = ownProxy(caller, server, domains, refused: error)
        }
        page.answers.append((visit.number, answer))
    }
}
