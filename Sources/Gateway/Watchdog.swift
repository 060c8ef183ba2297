/// Whether every thread that carries something makes progress, for a service manager that restarts a stuck gateway.
///
/// Twice within the manager's patience a round begins: every worker and the name service are asked to prove that their
/// loops turn, and the last one to do so rings for the control thread, which tells the manager. So the manager hears
/// nothing as soon as a single one of them stands still, the control thread included. A thread that sleeps is woken
/// once a round, which costs nothing that can be measured.
///
/// The thread that keeps the fake map on disk is left out: nobody waits for it for long (`JournalProgress.wait`), and a
/// disk that stands still would not go on for a new process either. So is the prober: what it no longer finds out is
/// `stale` in the colour of each upstream.

import Bytes
import LinuxIO
import Synchronization

/// One round: who was asked, and who has answered.
final class ProofRound: Sendable {
    private let missing: Atomic<Int>
    private let control: WakeUp

    init(_ asked: Int, waking control: WakeUp) {
        missing = Atomic(asked)
        self.control = control
    }

    /// Called once by each who was asked, on its own thread.
    func prove() {
        if missing.wrappingSubtract(1, ordering: .acquiringAndReleasing).newValue == 0 { control.wake() }
    }

    var isComplete: Bool { missing.load(ordering: .acquiring) <= 0 }
}

struct Watchdog {
    /// From the beginning of a round to that of the next.
    private let period: Interval
    private var round: ProofRound?
    private var nextRoundAt: Instant

    /// `patience` is how long the manager waits; the first round is due at once.
    init(patience: Interval, now: Instant) {
        period = patience / 2
        nextRoundAt = now
    }

    /// When a round is due; while one is under way its end is waited for, which rings.
    var deadline: Instant { round == nil ? nextRoundAt : .never }

    /// Ends a round that everybody has answered; then there is something to tell.
    mutating func collect() -> Bool {
        guard let round, round.isComplete else { return false }
        self.round = nil
        return true
    }

    /// Begins a round if one is due, with as many as `make` says.
    mutating func begin(now: Instant, _ ask: () -> ProofRound) {
        guard deadline <= now else { return }
        nextRoundAt = now + period
        round = ask()
    }
}

extension Gateway {
    /// Tells the manager of a round that is complete, and begins the next one when it is due.
    mutating func tendWatchdog() {
        guard watchdog != nil else { return }
        if watchdog?.collect() == true { manager?.say(.alive) }
        let (shared, control) = (shared, control)
        watchdog?.begin(now: Clock.now()) {
            let service = shared.service
            let round = ProofRound(shared.mailboxes.count + (service == nil ? 0 : 1), waking: control)
            for mailbox in shared.mailboxes { mailbox.send(.prove(round)) }
            service?.prove(round)
            return round
        }
    }
}
