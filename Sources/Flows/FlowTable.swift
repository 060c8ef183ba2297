/// From a packet's addresses to its flow.
///
/// Open addressing with linear probing over a power of two of slots. The key stands in the slot, so a find
/// touches one or two cache lines. At most three quarters of the slots are used, and removal shifts the
/// followers back, so a probe stays short however long the table lives. It doubles when it is full and halves
/// when an eighth is used: an idle gateway keeps a few kilobytes.

public import Bytes

/// A bounded map from flow keys to handles.
public struct FlowTable: ~Copyable {
    /// A key and its handle; generation 0, which no living element has, marks a free slot.
    private struct Slot {
        var key: FlowKey
        var handle: Handle

        static let free = Slot(key: FlowKey.none, handle: Handle(index: 0, generation: 0))

        var isFree: Bool { handle.generation == 0 }
    }

    private static let smallest = 64

    /// The most flows that the table takes.
    public let capacity: Int

    /// How many flows it holds.
    public private(set) var count = 0

    private var slots: [Slot]
    private let hash: KeyedHash

    /// Makes an empty table for at most `capacity` flows; the seed is drawn at random at the program's start.
    public init(capacity: Int, seed: (UInt64, UInt64)) {
        self.capacity = capacity
        hash = KeyedHash(seed: seed)
        slots = [Slot](repeating: .free, count: Self.smallest)
    }

    /// The flow of this key.
    public func find(_ key: FlowKey) -> Handle? {
        let position = position(of: key)
        return slots[position].isFree ? nil : slots[position].handle
    }

    /// Adds a flow, or returns false when its key is in the table or the table is full.
    public mutating func insert(_ key: FlowKey, _ handle: Handle) -> Bool {
        precondition(handle.generation != 0, "a handle of nothing")
        guard count < capacity else { return false }
        if (count + 1) * 4 > slots.count * 3 { resize(to: slots.count * 2) }
        let position = position(of: key)
        guard slots[position].isFree else { return false }
        slots[position] = Slot(key: key, handle: handle)
        count += 1
        return true
    }

    /// Removes a flow and returns its handle, or nil when there is none.
    @discardableResult
    public mutating func remove(_ key: FlowKey) -> Handle? {
        var hole = position(of: key)
        guard !slots[hole].isFree else { return nil }
        let handle = slots[hole].handle
        // Followers move back as long as the hole lies between their home and them.
        var follower = (hole + 1) & mask
        while !slots[follower].isFree {
            let home = home(of: slots[follower].key)
            if (follower &- home) & mask >= (follower &- hole) & mask {
                slots[hole] = slots[follower]
                hole = follower
            }
            follower = (follower + 1) & mask
        }
        slots[hole] = .free
        count -= 1
        if slots.count > Self.smallest, count * 8 < slots.count { resize(to: slots.count / 2) }
        return handle
    }

    private var mask: Int { slots.count - 1 }

    private func home(of key: FlowKey) -> Int {
        Int(truncatingIfNeeded: hash(key)) & mask
    }

    /// Where the key stands, or the free slot where it would; there is always a free one.
    private func position(of key: FlowKey) -> Int {
        var position = home(of: key)
        while !slots[position].isFree, slots[position].key != key { position = (position + 1) & mask }
        return position
    }

    private mutating func resize(to size: Int) {
        let old = slots
        slots = [Slot](repeating: .free, count: size)
        for slot in old where !slot.isFree {
            slots[position(of: slot.key)] = slot
        }
    }
}
