/// Whether an upstream is there and leaves TLS alone, as far as flows show.
///
/// Two dials in a row that it failed, and it counts as lost until one succeeds.

public import Bytes
internal import Synchronization

/// What dials have shown about one upstream, shared between workers.
final class UpstreamReach: Sendable {
    /// Misses in a row that make it lost: one may be an accident.
    static let limit = 2

    /// How long a refused certificate is remembered: devices check again within minutes.
    static let refusalLifetime = Interval.seconds(600)

    private let misses = Atomic(0)
    private let hits = Atomic(false)
    private let decryptsUntil = Atomic<Int64>(0)

    var isLost: Bool { misses.load(ordering: .relaxed) >= Self.limit }

    /// Whether it has ever let a dial through.
    var hasHit: Bool { hits.load(ordering: .relaxed) }

    func hit() {
        misses.store(0, ordering: .relaxed)
        if !hasHit { hits.store(true, ordering: .relaxed) }
    }

    func miss() {
        // It must not go round, and more than the limit says nothing new.
        if !isLost { misses.wrappingAdd(1, ordering: .relaxed) }
    }

    /// What probes have found too.
    func lose() { misses.store(Self.limit, ordering: .relaxed) }

    func decrypts(at now: Instant) -> Bool { decryptsUntil.load(ordering: .relaxed) > now.nanoseconds }

    func certificateWasRefused(at now: Instant) {
        decryptsUntil.store((now + Self.refusalLifetime).nanoseconds, ordering: .relaxed)
    }
}

extension Upstream {
    /// Whether nothing gets through it just now.
    public func isLost(at now: Instant) -> Bool { reach.isLost || credentialsAreLockedOut(at: now) }

    /// Whether a dial has ever got through it, or an answer from it.
    public var hasWorked: Bool { reach.hasHit }

    /// Whether it has lately shown a certificate of its own in the place of a host's.
    public func decrypts(at now: Instant) -> Bool { reach.decrypts(at: now) }

    /// Takes note of a client that refused a certificate behind it which nobody refuses from the host itself.
    public func noteRefusedCertificate(at now: Instant) {
        if server != nil { reach.certificateWasRefused(at: now) }
    }
}
