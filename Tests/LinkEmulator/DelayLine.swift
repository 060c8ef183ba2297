/// Packets on their way, ordered by the time at which they arrive.

import Bytes

/// A binary heap of packets in slots that are used again and again.
struct DelayLine {
    private struct Entry {
        let due: Instant
        /// Keeps packets that are due at the same time in their order.
        let order: UInt64
        let slot: Int

        func isBefore(_ other: Entry) -> Bool { due == other.due ? order < other.order : due < other.due }
    }

    private var heap: [Entry] = []
    private var slots: [[UInt8]] = []
    private var free: [Int] = []
    private var added: UInt64 = 0

    var count: Int { heap.count }

    /// When the next packet is due; `never` when none is on its way.
    var nextDue: Instant { heap.first?.due ?? .never }

    /// Adds a copy of a packet.
    mutating func add(_ packet: Span<UInt8>, due: Instant) {
        let slot = free.popLast() ?? slots.count
        if slot == slots.count { slots.append([]) }
        slots[slot].removeAll(keepingCapacity: true)
        slots[slot].append(copying: packet)
        heap.append(Entry(due: due, order: added, slot: slot))
        added += 1
        rise(from: heap.count - 1)
    }

    /// Takes the packet that is due first out and lends it.
    mutating func deliverFirst(_ body: (Span<UInt8>) -> Void) {
        let first = heap[0]
        let last = heap.removeLast()
        if !heap.isEmpty {
            heap[0] = last
            sink()
        }
        let packet = slots[first.slot]
        body(packet.span)
        free.append(first.slot)
    }

    private mutating func rise(from start: Int) {
        var index = start
        while index > 0, heap[index].isBefore(heap[(index - 1) / 2]) {
            heap.swapAt(index, (index - 1) / 2)
            index = (index - 1) / 2
        }
    }

    private mutating func sink() {
        var index = 0
        while true {
            var child = 2 * index + 1
            guard child < heap.count else { return }
            if child + 1 < heap.count, heap[child + 1].isBefore(heap[child]) { child += 1 }
            guard heap[child].isBefore(heap[index]) else { return }
            heap.swapAt(index, child)
            index = child
        }
    }
}
