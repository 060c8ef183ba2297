/// How far the journal of the fake map is, between the one who asks and the one who writes.

import Bytes
import LinuxIO
import Synchronization

/// What the DNS thread and the keeper tell each other.
final class JournalProgress: Sendable {
    enum Outcome { case written, late, off }

    private let lastWritten = Atomic<UInt64>(0)
    private let reservedWritten = Atomic<UInt32>(0)
    private let cannotWrite = Atomic(false)
    private let isBehind = Atomic(false)
    private let stopping = Atomic(false)

    /// Rings for the keeper: there are records, or the end.
    let work: WakeUp
    /// Rings for who waits.
    private let news: WakeUp

    init() throws(SystemCallError) {
        work = try WakeUp()
        news = try WakeUp()
    }

    /// The number of the last record that the journal has.
    var written: UInt64 { lastWritten.load(ordering: .sequentiallyConsistent) }

    /// Places below it are reserved in the journal.
    var reserved: UInt32 { reservedWritten.load(ordering: .sequentiallyConsistent) }

    /// Whether nothing can be written at present.
    var isOff: Bool { cannotWrite.load(ordering: .sequentiallyConsistent) }

    var isStopping: Bool { stopping.load(ordering: .sequentiallyConsistent) }

    func ring() { work.wake() }

    func stop() {
        stopping.store(true, ordering: .sequentiallyConsistent)
        work.wake()
    }

    /// Waits until a record is written, but not while the keeper is known to be behind.
    func wait(for record: UInt64, atMost patience: Interval) -> Outcome {
        var now = Clock.now()
        let deadline = now + patience
        while true {
            if written >= record { return .written }
            if isOff { return .off }
            if isBehind.load(ordering: .sequentiallyConsistent) { return .late }
            if now >= deadline { break }
            _ = news.wait(atMost: deadline - now)
            now = Clock.now()
        }
        isBehind.store(true, ordering: .sequentiallyConsistent)
        // The keeper says that it is written before it says that it is no longer behind: one of the two is seen.
        return written >= record ? .written : .late
    }

    /// Says that the journal has everything up to this record.
    func advance(to record: UInt64, reserved: UInt32) {
        reservedWritten.store(reserved, ordering: .sequentiallyConsistent)
        lastWritten.store(record, ordering: .sequentiallyConsistent)
        isBehind.store(false, ordering: .sequentiallyConsistent)
        news.wake()
    }

    /// Says whether the journal can be written; what was reserved in a journal that cannot counts no more.
    func setOff(_ isOff: Bool) {
        cannotWrite.store(isOff, ordering: .sequentiallyConsistent)
        if isOff { news.wake() }
    }
}
