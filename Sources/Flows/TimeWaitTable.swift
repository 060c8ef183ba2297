/// What a flow leaves behind for a few seconds: TIME-WAIT, or the memory of a reset.
///
/// A record is a few words, so tens of thousands of short connections a second cost little. All records live
/// about equally long; they stand in a list in the order of their deadlines, the oldest one first. When the
/// table is full the oldest gives way: a TIME-WAIT cut short is better than a connection refused.

public import Bytes

/// A bounded map from flow keys to records with a deadline.
public struct TimeWaitTable<Record: Sendable>: ~Copyable {
    private struct Entry {
        var key: FlowKey
        var record: Record
        var deadline: Instant
        var next: UInt32
        var previous: UInt32
    }

    private static var none: UInt32 { .max }

    /// The most records that the table holds.
    public let capacity: Int

    private var places: FlowTable
    private var entries: [Entry] = []
    private var vacant: [UInt32] = []
    private var oldest = UInt32.max
    private var newest = UInt32.max

    /// How many records gave way before their time.
    public private(set) var displaced = 0

    /// Makes an empty table for at most `capacity` records, one at least.
    public init(capacity: Int, seed: (UInt64, UInt64)) {
        self.capacity = max(1, capacity)
        places = FlowTable(capacity: max(1, capacity), seed: seed)
    }

    public var count: Int { places.count }

    /// The record of this key, unless its time is over.
    public func find(_ key: FlowKey, now: Instant) -> Record? {
        guard let place = places.find(key), entries[Int(place.index)].deadline > now else { return nil }
        return entries[Int(place.index)].record
    }

    /// Adds a record, or replaces the one of this key, and makes it the newest.
    public mutating func insert(_ key: FlowKey, _ record: Record, until deadline: Instant) {
        remove(key)
        if count >= capacity {
            remove(entries[Int(oldest)].key)
            displaced += 1
        }
        let entry = Entry(key: key, record: record, deadline: deadline, next: Self.none, previous: newest)
        let index: UInt32
        if let place = vacant.popLast() {
            index = place
            entries[Int(index)] = entry
        } else {
            index = UInt32(entries.count)
            entries.append(entry)
        }
        if newest == Self.none { oldest = index } else { entries[Int(newest)].next = index }
        newest = index
        // Neither can the key be in the table nor the table be full.
        _ = places.insert(key, Handle(index: index, generation: 1))
    }

    /// Removes and returns the record of this key.
    @discardableResult
    public mutating func remove(_ key: FlowKey) -> Record? {
        guard let place = places.remove(key) else { return nil }
        let entry = entries[Int(place.index)]
        if entry.previous == Self.none { oldest = entry.next } else { entries[Int(entry.previous)].next = entry.next }
        if entry.next == Self.none {
            newest = entry.previous
        } else {
            entries[Int(entry.next)].previous = entry.previous
        }
        vacant.append(place.index)
        if count == 0 {
            // Nothing is left that an index could name: the memory of a rush goes back.
            entries = []
            vacant = []
        }
        return entry.record
    }

    /// Removes what is over; call it now and then.
    ///
    /// A record whose deadline is earlier than that of an older one stays until that one goes, unseen by `find`.
    public mutating func expire(_ now: Instant) {
        while oldest != Self.none, entries[Int(oldest)].deadline <= now { remove(entries[Int(oldest)].key) }
    }

    /// When `expire` has something to do.
    public var nextDeadline: Instant? {
        oldest == Self.none ? nil : entries[Int(oldest)].deadline
    }
}
