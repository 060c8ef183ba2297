/// Notices that the control thread stood still: the process was stopped, or the machine slept.
///
/// A thread that does not run cannot say so; it sees afterwards that it was woken far later than it had planned. So it
/// never plans to sleep for longer than a pulse, and what is over that was no sleep of its own. The time since the
/// machine's start is what counts, its sleep included: the clock that everything waits by stands still meanwhile.

import Bytes
import LinuxIO

struct StallWatch {
    /// A busy machine keeps a thread waiting too, and a change of the firewall takes its time.
    static let tolerance = Interval.seconds(5)
    /// The longest sleep that is planned.
    static let pulse = Interval.seconds(2)

    /// When the thread last ran; nil: it has not slept yet.
    private var ranAt: Instant?

    /// Takes that the thread runs after a sleep that was planned for so long, and returns how long it stood still.
    ///
    /// Nil: it did not.
    mutating func turn(afterSleep planned: Interval, sinceBoot now: Instant = Clock.sinceBoot()) -> Interval? {
        defer { ranAt = now }
        guard let ranAt else { return nil }
        let late = now - ranAt - max(.zero, planned)
        return late >= Self.tolerance ? late : nil
    }
}
