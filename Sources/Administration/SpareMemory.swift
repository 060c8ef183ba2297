/// When the memory goes back that answers to people have needed: a status of 200 devices takes megabytes for a moment,
/// and malloc keeps what lies between what stays.

import Bytes
import LinuxIO

/// Looked at in each turn of the control thread's loop.
struct SpareMemory {
    /// How long after something was done.
    static let patience = Interval.seconds(2)
    /// The least time between two: each takes milliseconds, in which nobody is answered.
    static let interval = Interval.seconds(30)

    /// When it is due; never while nothing was done since.
    private(set) var dueAt = Instant.never
    private var doneAt: Instant

    init(now: Instant) { doneAt = now }

    /// Something was done, and may have left something behind.
    mutating func used(now: Instant) {
        if dueAt == .never { dueAt = max(now + Self.patience, doneAt + Self.interval) }
    }

    /// Gives it back if that is due, and says whether it was.
    @discardableResult mutating func giveBack(now: Instant) -> Bool {
        guard dueAt <= now else { return false }
        ProcessMemory.trim()
        (dueAt, doneAt) = (.never, now)
        return true
    }
}
