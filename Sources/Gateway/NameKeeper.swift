/// The thread that keeps the fake map on disk, and the way back from there.
///
/// The journal `fake-map` begins with the range and the whole map; new names and reservations are appended. It is
/// written anew at each start and stop, when it has grown to twice its size, and after an error.

import Bytes
import LinuxIO
import Names
import Store
import Synchronization

/// What becomes of the map on disk, for the log and the status.
enum NameKeeping: Equatable, Sendable {
    /// An earlier run's map is in use again; `dropped` octets of its end were cut off by a kill.
    case restored(FakeMapLoader.Summary, dropped: Int)
    /// A file that is no map of ours was renamed.
    case setAside(as: String, StoreError)
    /// The map is not kept, and why: for good without a directory, otherwise until `.resumed`.
    case failed(StoreError)
    case resumed
}

/// Owns the journal; one thread runs it.
struct NameKeeper: ~Copyable, Sendable {
    static let file = "fake-map"
    static let format = JournalFormat(name: "fake-map", version: 1)

    /// More than the largest map takes: all places with the longest names, twice.
    static let sizeLimit = 128 << 20

    /// What was appended is on the disk after so long.
    static let syncInterval = Interval.seconds(5)
    /// After an error the map is written anew so often.
    static let retryInterval = Interval.seconds(10)
    /// A journal below this size is not worth writing anew.
    static let smallJournal = 64 << 10

    private let table: NameTable
    private let progress: JournalProgress
    private let directory: StateDirectory
    private let report: @Sendable (NameKeeping) -> Void
    /// Nil after an error, until the map could be written anew.
    private var journal: Journal?
    private var sizeAtFirst = 0
    private var deadline = Instant.never

    init(
        _ table: NameTable, _ progress: JournalProgress, _ directory: consuming StateDirectory,
        report: @escaping @Sendable (NameKeeping) -> Void
    ) {
        self.table = table
        self.progress = progress
        self.directory = directory
        self.report = report
    }

    private var size: Int { journal == nil ? 0 : journal.value.size }

    /// Keeps the map until the table is stopped.
    mutating func run() {
        while !progress.isStopping {
            let now = Clock.now()
            let pause = step(now)
            if !progress.isStopping { _ = progress.work.wait(atMost: pause) }
        }
        finish()
    }

    /// Does what is due and returns how long nothing else will be, or nil for until the bell rings.
    mutating func step(_ now: Instant) -> Interval? {
        if journal == nil {
            if now < deadline { return deadline - now }
            rewrite(now)
        } else {
            append(now)
        }
        return deadline == .never ? nil : max(.zero, deadline - Clock.now())
    }

    /// Writes the map once more, without places that nobody used.
    mutating func finish() {
        table.content.withLock { $0.book.reserved = UInt32($0.pool.usedPlaces) }
        rewrite(Clock.now())
    }

    /// Appends what waits, and syncs or writes anew when it is time to.
    private mutating func append(_ now: Instant) {
        let (records, last, reserved) = table.content.withLock {
            ($0.book.unwritten.take(), $0.book.last, $0.book.reserved)
        }
        do throws(StoreError) {
            if !records.isEmpty {
                try journal?.append(records)
                progress.advance(to: last, reserved: reserved)
                if deadline == .never { deadline = now + Self.syncInterval }
            }
            if now >= deadline {
                try journal?.sync()
                deadline = .never
            }
        } catch {
            return fail(error, now)
        }
        if size > Self.smallJournal, size > 2 * sizeAtFirst { rewrite(now) }
    }

    /// Puts a journal of the whole map into the place of the old one.
    mutating func rewrite(_ now: Instant) {
        let wasOff = progress.isOff
        let (mapping, last, reserved) = table.content.withLock { content in
            content.book.dropUnwritten()
            content.book.reserved = max(content.book.reserved, UInt32(content.pool.usedPlaces))
            // From here on records count again: whoever adds one finds it in the journal or behind it.
            progress.setOff(false)
            return (content.pool.mapping, content.book.last, content.book.reserved)
        }
        var records = JournalBatch()
        for record in [.range(table.range)] + mapping + [.reserved(below: reserved)] {
            records.append { record.write(to: &$0) }
        }
        do throws(StoreError) {
            journal = try Journal.rewrite(Self.file, in: directory, format: Self.format, records)
        } catch {
            return fail(error, now, isNew: !wasOff)
        }
        sizeAtFirst = size
        deadline = .never
        progress.advance(to: last, reserved: reserved)
        if wasOff { report(.resumed) }
    }

    private mutating func fail(_ error: StoreError, _ now: Instant, isNew: Bool = true) {
        journal = nil
        deadline = now + Self.retryInterval
        table.content.withLock { content in
            progress.setOff(true)
            content.book.dropUnwritten()
        }
        if isNew { report(.failed(error)) }
    }
}
