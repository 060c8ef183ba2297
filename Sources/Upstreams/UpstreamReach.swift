/// Whether an upstream is there, as far as dials show: two of them in a row that it failed, and it counts as lost until
/// one succeeds.

public import Bytes
internal import Synchronization

/// What dials have shown about one upstream, shared between workers.
final class UpstreamReach: Sendable {
    /// Misses in a row that make it lost: one may be an accident.
    static let limit = 2

    private let misses = Atomic(0)

    var isLost: Bool { misses.load(ordering: .relaxed) >= Self.limit }

    func hit() { misses.store(0, ordering: .relaxed) }

    func miss() {
        // It must not go round, and more than the limit says nothing new.
        if !isLost { misses.wrappingAdd(1, ordering: .relaxed) }
    }
}

extension Upstream {
    /// Whether nothing gets through it just now.
    public func isLost(at now: Instant) -> Bool { reach.isLost || credentialsAreLockedOut(at: now) }

    /// Takes note of a dial that it let through.
    public func noteOpened() { reach.hit() }

    /// Takes note of a dial that failed; an upstream that refuses one target is there.
    public func noteFailure(_ failure: DialFailure) {
        switch failure {
        case .refused, .socksRefused: reach.hit()
        default: if failure.concernsUpstream { reach.miss() }
        }
    }
}
