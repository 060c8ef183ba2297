/// A link in virtual time: it loses, doubles, delays and reorders by a seeded generator.
import Bytes
import TestSupport
import Wire

/// What a link does to packets.
struct LinkFaults {
    var loss = 0.0
    /// A corrupted packet fails its checksum, so it is as good as lost.
    var corruption = 0.0
    var duplication = 0.0
    var reordering = 0.0
    var delay = Interval.milliseconds(10)
    /// Octets in a second, 0 for no limit.
    var rate = 0
}

/// Things that arrive later, the earliest first; what is due at one time comes in the order in which it was sent.
struct Agenda<Element> {
    private struct Entry {
        var time: Instant
        var number: Int
        var element: Element
    }
    private var heap: [Entry] = []
    private var count = 0

    var nextTime: Instant { heap.first?.time ?? .never }

    private static func precedes(_ left: Entry, _ right: Entry) -> Bool {
        left.time < right.time || left.time == right.time && left.number < right.number
    }

    mutating func add(_ element: Element, at time: Instant) {
        count += 1
        heap.append(Entry(time: time, number: count, element: element))
        var child = heap.count - 1
        while child > 0, Self.precedes(heap[child], heap[(child - 1) / 2]) {
            heap.swapAt(child, (child - 1) / 2)
            child = (child - 1) / 2
        }
    }

    mutating func popFirst() -> Element? {
        guard !heap.isEmpty else { return nil }
        heap.swapAt(0, heap.count - 1)
        let last = heap.removeLast()
        var parent = 0
        while true {
            var least = parent
            for child in [2 * parent + 1, 2 * parent + 2] where child < heap.count {
                if Self.precedes(heap[child], heap[least]) { least = child }
            }
            if least == parent { break }
            heap.swapAt(parent, least)
            parent = least
        }
        return last.element
    }
}

/// One direction of the link.
struct SimulatedLink {
    let faults: LinkFaults
    private var agenda = Agenda<Flying>()
    private var busyUntil = Instant(nanoseconds: 0)

    init(_ faults: LinkFaults) { self.faults = faults }

    var nextTime: Instant { agenda.nextTime }

    mutating func carry(_ flying: Flying, now: Instant, random: inout SeededGenerator) {
        var leaves = now
        if faults.rate > 0 {
            let octets = flying.segment.payloadCount + 52
            leaves = max(now, busyUntil) + Interval(nanoseconds: Int64(octets) * 1_000_000_000 / Int64(faults.rate))
            busyUntil = leaves
        }
        if random.chance(faults.loss) || random.chance(faults.corruption) { return }
        var arrives = leaves + faults.delay
        if random.chance(faults.reordering) { arrives = arrives + .microseconds(Int64(random.number(1..<8000))) }
        agenda.add(flying, at: arrives)
        if random.chance(faults.duplication) {
            agenda.add(flying, at: arrives + .microseconds(Int64(random.number(0..<5000))))
        }
    }

    mutating func arrival() -> Flying? { agenda.popFirst() }
}
