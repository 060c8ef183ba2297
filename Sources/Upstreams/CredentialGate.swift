/// Keeps a wrong password from being sent again and again: directories lock accounts.
///
/// Until a proxy has once accepted the credentials, one dial at a time may show them, so a burst of new
/// streams costs one failed login and not one each. After a rejection nobody sends them for a quarter of an hour.

import Bytes
internal import Synchronization

/// What is known about one upstream's credentials, shared between workers.
final class CredentialGate: Sendable {
    enum Answer: Equatable {
        /// The credentials were accepted before.
        case allowed
        /// The caller is the one to try; it must call `accept`, `reject` or `giveUp`.
        case claimed
        /// Somebody else tries just now: ask again a little later.
        case busy
        /// They were rejected.
        case shut
    }

    /// How long a claim holds when nobody gives it up.
    static let longestTry = Interval.seconds(120)

    /// How long to wait before asking again after so many times `busy`: thousands may wait for a slow proxy.
    static func pause(after times: Int) -> Interval { Interval.milliseconds(5 << Int64(min(times, 6))) }

    /// 0 untried; `accepted`; n a try under way that is forgotten at n; -n rejected until n.
    private let state = Atomic<Int64>(0)

    private static let accepted = Int64.max

    /// Whether credentials may be sent now.
    func ask(at now: Instant) -> Answer {
        let time = max(1, now.nanoseconds)
        while true {
            let seen = state.load(ordering: .relaxed)
            if seen == Self.accepted { return .allowed }
            if seen > time { return .busy }
            if seen < -time { return .shut }
            let claim = time + Self.longestTry.nanoseconds
            if state.compareExchange(expected: seen, desired: claim, ordering: .relaxed).exchanged { return .claimed }
        }
    }

    /// Whether `ask` would say `shut`.
    func isShut(at now: Instant) -> Bool { state.load(ordering: .relaxed) < -max(1, now.nanoseconds) }

    func accept() { state.store(Self.accepted, ordering: .relaxed) }

    /// Nobody sends the credentials for a while.
    func reject(at now: Instant, for rest: Interval) {
        state.store(-(max(1, now.nanoseconds) + rest.nanoseconds), ordering: .relaxed)
    }

    /// Ends a try that brought no verdict.
    func giveUp() {
        let seen = state.load(ordering: .relaxed)
        guard seen > 0, seen != Self.accepted else { return }
        _ = state.compareExchange(expected: seen, desired: 0, ordering: .relaxed)
    }
}
