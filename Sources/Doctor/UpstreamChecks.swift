/// Whether proxies can be reached, and whether they speak.

enum UpstreamChecks {
    static func findings(_ sight: Sight) -> [Finding] {
        let live = sight.upstreams.first { $0.isWhole }?.proxy.profile
        return sight.upstreams.map { finding($0, instead: live) } + health(sight)
    }

    /// A dead upstream that nobody uses harms nobody yet; with another one that lives there is a command that helps.
    private static func finding(_ seen: Sight.UpstreamSight, instead live: String?) -> Finding {
        let proxy = seen.proxy
        let name = "\(proxy.server), the upstream of \(proxy.profile),"
        let meaning =
            proxy.isUsed
            ? "Whoever is on the profile \(proxy.profile) reaches nothing that is proxied."
            : "No device depends on \(proxy.profile) alone now; whoever switches to it reaches nothing."
        let (words, advice): (String, String)
        switch seen.answer {
        case .unresolved(let reason):
            words = "\(name) has no address: \(reason)"
            advice = "Correct `upstream.host`, or the resolvers (`dns.resolvers`)."
        case .failed(let reason):
            words = "\(name) can't be reached: \(reason)"
            advice = "Start the proxy there; starshipctl lint \(proxy.server) shows more."
        case .silent:
            words = "\(name) takes connections and says nothing"
            advice = "It hangs, or is another service (its TLS port, perhaps): starshipctl lint \(proxy.server)."
        case .answered(let status): return answered(proxy, name, status, meaning)
        }
        let mending = proxy.isUsed ? live.map { ["starshipctl use \($0) --all"] } ?? [] : []
        return Finding(
            .upstream, proxy.isUsed ? .wrong : .notice, words, meaning: meaning, mending: mending, advice: advice)
    }

    private static func answered(
        _ proxy: Sight.Setup.Proxy, _ name: String, _ status: Int?, _ meaning: String
    ) -> Finding {
        switch status {
        case 407? where !proxy.hasCredentials:
            return Finding(
                .upstream, .wrong, "\(name) wants a password (407), and the profile has none", meaning: meaning,
                advice: "Add `upstream: { user, passwordFile }`, then: starshipctl reload.")
        case .some(let code) where proxy.isSOCKS && code == 255:
            return Finding(
                .upstream, .wrong, "\(name) refuses every way of logging in that was offered", meaning: meaning,
                advice: "Add `upstream: { user, passwordFile }`, then: starshipctl reload.")
        case .some(let code) where proxy.isSOCKS:
            return Finding(.upstream, .ok, "\(name) speaks SOCKS5 (method \(code))")
        case .some(let code) where code / 100 == 2 || code == 407:
            return Finding(.upstream, .ok, "\(name) opens tunnels\(code == 407 ? " to who logs in" : "")")
        case .some(let code):
            return Finding(
                .upstream, .notice, "\(name) answers, and refused a tunnel to the page of `health.url` with \(code)",
                meaning: "The proxy works; that page, or the way from the proxy to it, does not.",
                mending: ["starshipctl probe \(proxy.profile)"])
        case nil:
            return Finding(.upstream, .ok, "\(name) takes connections (no `health.url`, so no tunnel was asked for)")
        }
    }

    /// What the daemon has measured itself.
    private static func health(_ sight: Sight) -> [Finding] {
        guard case .running(let running) = sight.daemon, let colour = running.colour, let cause = running.cause else {
            return []
        }
        switch colour {
        case "red":
            return [
                Finding(
                    .upstream, .wrong, "the daemon's probes are red: \(cause)",
                    meaning: "Devices on the default profile are refused.", mending: ["starshipctl probe"])
            ]
        case "yellow":
            return [
                Finding(
                    .upstream, .notice, "the daemon's probes are yellow: \(cause)",
                    meaning: "Some of what devices ask for may fail.", mending: ["starshipctl probe"])
            ]
        default: return []
        }
    }
}

extension Sight.UpstreamSight {
    /// Whether it can be used as it is configured.
    fileprivate var isWhole: Bool {
        guard case .answered(let status) = answer else { return false }
        return status.map { $0 != 255 && ($0 != 407 || proxy.hasCredentials) } ?? true
    }
}
