/// # Names across threads
///
/// The DNS thread gives names their fake addresses and notes real answers; workers ask what an address stands for when
/// a flow opens, and say when it ends. Both are a few array accesses under one lock, never a system call, and no packet
/// of an open flow comes here.
///
///     NameServer ── address(for:) ──▶ ┌──────┐ ◀── open, close ── Worker
///                ── note ───────────▶ │ lock │
///                                     └──────┘ ◀── records, whole map ── NameKeeper ──▶ disk
///
/// What is promised across the end of this process is told in `NameTable+Answers`.

import Addresses
import Bytes
import LinuxIO
import Names
import Store
import Synchronization

/// What the address of a new flow stands for.
enum NamedTarget: Equatable, Sendable {
    /// A fake address; it keeps its name until `NameTable.close`.
    case fake(name: String)
    /// An address of the pool that stands for no name: the flow is reset, so that the device asks again.
    case unknownFake
    /// A real address, with the names that the device was given it for, the most recent one first.
    case real(names: [String])
}

/// Fake addresses and seen answers, for all threads.
final class NameTable: Sendable {
    /// All that the lock protects.
    struct Content: Sendable {
        var pool: FakePool
        var seen: SeenAnswers
        var book = RecordBook()
    }

    /// The prefixes of the fake addresses.
    let range: FakeRange

    let content: Mutex<Content>

    /// How far the journal is; nil when nothing is kept.
    let progress: JournalProgress?

    private let keeper = Mutex<WorkerThread?>(nil)

    /// A table that is kept by nobody, or by a `NameKeeper` that is told of `progress`.
    init(pool: FakePool, seen: SeenAnswers = SeenAnswers(), progress: JournalProgress? = nil) {
        range = pool.range
        self.progress = progress
        content = Mutex(Content(pool: pool, seen: seen))
    }

    /// Says what the address of a new flow stands for; after `.fake` a `close` has to follow.
    func open(_ target: IPAddress, for device: IPAddress, now: Instant) -> NamedTarget {
        content.withLock { content in
            if let name = content.pool.retain(target) { return .fake(name: name) }
            if content.pool.contains(target) { return .unknownFake }
            return .real(names: content.seen.names(of: target, for: device, now: now))
        }
    }

    /// Says that a flow to a fake address has ended.
    func close(_ target: IPAddress, now: Instant) {
        content.withLock { $0.pool.release(target, now: now) }
    }

    /// The name that a fake address stands for: for PTR, and for people.
    func name(of address: IPAddress) -> String? { content.withLock { $0.pool.name(of: address) } }

    /// Whether an address is of the pool, with or without a name.
    func isFake(_ address: IPAddress) -> Bool { range.contains(address) }

    /// Remembers a real answer before it leaves.
    func note(name: String, addresses: [IPAddress], device: IPAddress, ttl: Interval, now: Instant) {
        content.withLock { $0.seen.note(name: name, addresses: addresses, device: device, ttl: ttl, now: now) }
    }

    /// The answers that count now, for `LentAddresses`: a copy, so that no rule is tried under the lock.
    func seenAnswers() -> SeenAnswers { content.withLock { $0.seen } }

    /// Numbers for the status.
    var figures: (names: Int, places: Int, reusedEarly: Int, seen: Int) {
        content.withLock { ($0.pool.nameCount, range.placeCount, $0.pool.reusedEarly, $0.seen.count) }
    }

    /// Hands the thread over that keeps this table.
    func setKeeper(_ thread: consuming WorkerThread) {
        // A closure cannot consume what it captures; the optional can be taken out of.
        var thread: WorkerThread? = consume thread
        keeper.withLock { $0 = thread.take() }
    }

    /// Writes what is left to be written and ends the keeper; to be called once nobody asks any more.
    func stop() {
        let thread = keeper.withLock { $0.take() }
        guard let thread else { return }
        progress?.stop()
        thread.join()
    }
}
