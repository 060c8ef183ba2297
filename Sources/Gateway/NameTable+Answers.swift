/// Fake addresses that stay true when this process is killed.
///
/// A device keeps what it was told. So a name must not get another address after a restart, and above all its address
/// must not get another name. The journal makes sure of it, and no usual answer waits for the disk:
///
/// - The journal **reserves** fresh places ahead. After a restart reserved places without a name rest, so that nobody
///   else gets such an address. An answer with a reserved place leaves at once, and its record follows within the time
///   of one write (fsync within seconds, for the end of power). Where the process ends in between, the address stands
///   for nothing: the device is reset at once and asks again.
/// - A place that another name had before has no such net (the journal still says the old name), and neither has a
///   fresh place beyond the reservation. Their answers wait until the kernel has the record, which a kill cannot take
///   back: some microseconds, 20 ms at most. While the keeper is behind, the next ones do not wait at all: SERVFAIL
///   now, and the address once the record is written.
/// - A journal that cannot be written at all (disk full, read-only) is reported, serving goes on, and the whole map is
///   written as soon as that works again. Killed in between, what the last good journal does not know is lost.

import Addresses
import Bytes
import LinuxIO
import Names
import Store
import Synchronization

/// Records that wait for the keeper, and what the journal does not know yet.
struct RecordBook: Sendable {
    var unwritten = JournalBatch()
    /// The number of the last record.
    var last: UInt64 = 0
    /// Places below it are reserved, in the journal or in `unwritten`.
    var reserved: UInt32 = 0
    /// Places whose answer must not leave before the record of this number is written.
    private var withheld: [UInt32: UInt64] = [:]

    /// The record that the answer for a known place waits for.
    mutating func withholding(_ place: UInt32, written: UInt64) -> UInt64? {
        if withheld.isEmpty { return nil }
        if written >= last { withheld = [:] }
        guard let number = withheld[place], number > written else { return nil }
        return number
    }

    /// Adds a record and returns its number.
    mutating func add(_ record: FakeMapRecord) -> UInt64 {
        unwritten.append { record.write(to: &$0) }
        last += 1
        return last
    }

    mutating func withhold(_ place: UInt32, until number: UInt64) { withheld[place] = number }

    /// Forgets what is not written: the keeper takes the whole map instead, or nothing can be written.
    ///
    /// What is withheld stays so until a journal has it.
    mutating func dropUnwritten() { unwritten = JournalBatch() }
}

extension NameTable {
    /// How long an answer waits for the journal.
    static let patience = Interval.milliseconds(20)

    /// How many fresh places are reserved ahead: half of them last for 100 ms of a disk that stands still, at 5,000 new
    /// names a second.
    ///
    /// A kill lets as many rest without a name.
    static func reservation(_ range: FakeRange) -> UInt32 { UInt32(max(1, min(1024, range.placeCount / 16))) }

    /// The place of a name, and what follows from it.
    private struct Pending {
        let place: UInt32
        /// The record that the answer waits for.
        var record: UInt64?
        /// Whether the keeper has to be told: once for all that it finds.
        var hasNews = false
    }

    /// The fake address for a name, already normalised, that a device asks for.
    ///
    /// Nil means SERVFAIL: no place is free, or the journal does not know it in time. A name without a reserved place
    /// may wait for `patience`; one thread is meant to ask (with more of them one may wait that long in vain).
    func address(for name: String, _ family: FakePool.Family, device: IPAddress, now: Instant) -> IPAddress? {
        guard let pending = content.withLock({ place(name, device, now, &$0) }) else { return nil }
        let address = range.address(at: pending.place, family)
        if pending.hasNews { progress?.ring() }
        guard let progress, let record = pending.record else { return address }
        return progress.wait(for: record, atMost: Self.patience) == .late ? nil : address
    }

    private func place(_ name: String, _ device: IPAddress, _ now: Instant, _ content: inout Content) -> Pending? {
        guard let grant = content.pool.grant(name, to: device, now: now) else { return nil }
        var pending = Pending(place: grant.place)
        guard let progress, !progress.isOff else { return pending }
        if grant.origin == .known {
            pending.record = content.book.withholding(grant.place, written: progress.written)
            return pending
        }
        pending.hasNews = content.book.unwritten.isEmpty
        let record = content.book.add(.name(name, place: grant.place))
        if grant.origin == .reused || grant.place >= progress.reserved {
            pending.record = record
            content.book.withhold(grant.place, until: record)
        }
        reserve(&content)
        return pending
    }

    /// Reserves further places when half of those ahead are used.
    private func reserve(_ content: inout Content) {
        let (used, ahead) = (UInt32(content.pool.usedPlaces), Self.reservation(range))
        guard used + ahead / 2 >= content.book.reserved, content.book.reserved < range.placeCount else { return }
        content.book.reserved = min(UInt32(range.placeCount), used + ahead)
        _ = content.book.add(.reserved(below: content.book.reserved))
    }
}
