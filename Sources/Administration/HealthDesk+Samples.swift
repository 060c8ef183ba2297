/// From what was observed to what it says about health.

import Bytes
import Health
import Profiles
import Upstreams
import Wire

extension UpstreamTraffic {
    /// Three misses in a row are a burst, and more say no more than that.
    private static let burst = 3

    /// What has been added until a later moment: what was good, and behind it the misses that came since.
    func samples(until now: UpstreamTraffic) -> [Sample] {
        var samples: [Sample] = []
        if now.opened > opened { samples.append(Sample(.traffic, .good(now.lastTime))) }
        guard let failure = now.lastFailure else { return samples }
        let misses = min(now.misses, now.failed - failed, Self.burst)
        return samples + [Sample](repeating: Sample(.traffic, .bad(Cause(failure))), count: misses)
    }
}

extension Sample {
    /// Whether what went wrong may be wrong with this machine's own way out.
    var mayBeOurs: Bool {
        guard case .bad(let cause) = outcome else { return false }
        switch cause {
        case .silent(.connect), .unreachable, .nameUnknown, .noUplink: return true
        case .portClosed, .silent, .closed, .credentialsRejected, .schemesNotSupported, .refused, .socksRefused,
            .malformed, .originFailing, .wrongPage, .slow, .stale, .neverTried, .notVerified, .gateway, .wayAround:
            return false
        }
    }
}

extension Cause {
    /// Whether somebody has answered, and wrongly: such an answer comes again, other than a loss.
    var isAnswer: Bool {
        switch self {
        case .credentialsRejected, .schemesNotSupported, .refused, .socksRefused, .malformed, .originFailing,
            .wrongPage:
            return true
        case .noUplink, .nameUnknown, .portClosed, .unreachable, .silent, .closed, .slow, .stale, .neverTried,
            .notVerified, .gateway, .wayAround:
            return false
        }
    }
}

extension HealthOptions {
    /// What a probe asks for.
    var probePage: ProbePage? {
        guard var probe = page.map(ProbePage.init) else { return nil }
        switch via {
        case .auto: probe.via = .auto
        case .connect: probe.via = .connect
        case .absolute: probe.via = .absolute
        }
        return probe
    }
}

extension ProbePage {
    /// A page of a configuration or a list.
    init(_ page: HealthOptions.Page) {
        self.init(Target(host: Wire.Host(page.url.host), port: page.url.port), path: page.url.target)
        statuses = page.statuses
        body = page.body
    }
}
