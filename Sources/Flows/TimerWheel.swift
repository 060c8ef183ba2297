/// Whose time has come: one timer for each index of a slab.
///
/// A hierarchical wheel (Varghese and Lauck, 1987). Time is cut into ticks of about half a millisecond. Seven
/// levels have 64 slots each; a slot of level n spans 64^n ticks. A timer stands on the level of the highest bit
/// in which its tick differs from the current one, so everything on a lower level is due before anything on a
/// higher one, and the next occupied slot is one bit scan away. When the wheel reaches a slot of a higher level
/// its timers move down. A timer of 24 hours is touched five times in its life, however many there are.
///
/// Most timers never fire: they are moved on by each packet. Moving one to a later time only writes the new
/// time; the timer is put in its place when the wheel comes by its old one. The price is a needless wake-up.

public import Bytes

/// The timers of one worker.
public struct TimerWheel: ~Copyable {
    private static let tickShift: Int64 = 19
    private static let levelShift = 6
    private static let slotsPerLevel = 64
    private static let levels = 7
    /// The slot behind all levels: timers that are due and were not handed out yet.
    private static let dueSlot = levels * slotsPerLevel
    /// 73 years after the start; later deadlines count as this one.
    private static let lastTick = (UInt64(1) << UInt64(levels * levelShift)) - 1
    private static let none = UInt32.max

    private struct Timer {
        var tick: UInt64 = 0
        var next = none
        var previous = none
        var generation: UInt32 = 0
        /// The slot where it hangs, or -1.
        var slot: Int16 = -1
    }

    private let start: Instant
    /// Everything up to this tick was moved to the due slot.
    private var current: UInt64 = 0
    private var timers: [Timer] = []
    private var heads: [UInt32]
    /// A bit for each slot of a level that holds timers.
    private var occupied: [UInt64]

    /// How many timers are set.
    public private(set) var count = 0

    public init(now: Instant) {
        start = now
        heads = [UInt32](repeating: Self.none, count: Self.dueSlot + 1)
        occupied = [UInt64](repeating: 0, count: Self.levels)
    }

    /// Sets the timer of the handle's index; one that was set before is moved.
    ///
    /// It goes off at the deadline or up to about half a millisecond later, never before. `never` cancels.
    public mutating func schedule(_ handle: Handle, at deadline: Instant) {
        guard deadline != .never else { return cancelAny(Int(handle.index)) }
        let index = Int(handle.index)
        if index >= timers.count { grow(for: index) }
        let tick = roundedUp(deadline)
        timers[index].generation = handle.generation
        timers[index].tick = tick
        let slot = Int(timers[index].slot)
        if slot >= 0 {
            if tick >= firstTick(of: slot) { return }
            unlink(index)
        } else {
            count += 1
        }
        file(index)
    }

    /// Takes the handle's timer back; that of a successor at the same index stays.
    public mutating func cancel(_ handle: Handle) {
        let index = Int(handle.index)
        guard index < timers.count, timers[index].generation == handle.generation else { return }
        cancelAny(index)
    }

    /// When `expire` should be called next: never later than the first timer is due.
    ///
    /// It may be earlier, when a timer must move down a level or was moved on.
    public func nextDeadline() -> Instant? {
        if heads[Self.dueSlot] != Self.none { return instant(current) }
        guard let slot = nextSlot() else { return nil }
        return instant(firstTick(of: slot))
    }

    /// Hands out one timer that is due, which is no longer set then, or nil when there is none any more.
    public mutating func expire(_ now: Instant) -> Handle? {
        let limit = roundedDown(now)
        while true {
            while heads[Self.dueSlot] != Self.none {
                let index = Int(heads[Self.dueSlot])
                unlink(index)
                // A timer that was moved on meanwhile goes back to its place.
                guard timers[index].tick <= current else {
                    file(index)
                    continue
                }
                count -= 1
                return Handle(index: UInt32(index), generation: timers[index].generation)
            }
            guard let slot = nextSlot(), firstTick(of: slot) <= limit else {
                current = max(current, limit)
                return nil
            }
            current = max(current, firstTick(of: slot))
            empty(slot)
        }
    }

    // MARK: Time

    private func roundedUp(_ deadline: Instant) -> UInt64 {
        guard deadline > start else { return 0 }
        let elapsed = UInt64(bitPattern: deadline.nanoseconds &- start.nanoseconds)
        return min(Self.lastTick, (elapsed - 1) >> UInt64(Self.tickShift) + 1)
    }

    private func roundedDown(_ now: Instant) -> UInt64 {
        guard now > start else { return 0 }
        return min(Self.lastTick, UInt64(bitPattern: now.nanoseconds &- start.nanoseconds) >> UInt64(Self.tickShift))
    }

    private func instant(_ tick: UInt64) -> Instant {
        start + Interval(nanoseconds: Int64(tick) << Self.tickShift)
    }

    // MARK: Slots

    /// The first tick of a slot; the due slot's is the current one.
    private func firstTick(of slot: Int) -> UInt64 {
        guard slot < Self.dueSlot else { return current }
        let shift = UInt64(slot / Self.slotsPerLevel * Self.levelShift)
        let span = UInt64(Self.slotsPerLevel) << shift
        return current & ~(span - 1) | UInt64(slot % Self.slotsPerLevel) << shift
    }

    /// The occupied slot that is due first.
    private func nextSlot() -> Int? {
        for level in 0..<Self.levels where occupied[level] != 0 {
            return level * Self.slotsPerLevel + occupied[level].trailingZeroBitCount
        }
        return nil
    }

    /// Moves every timer of a slot that the wheel has reached to where it belongs now.
    private mutating func empty(_ slot: Int) {
        while heads[slot] != Self.none {
            let index = Int(heads[slot])
            unlink(index)
            file(index)
        }
    }

    /// Hangs a timer into the slot of its tick.
    private mutating func file(_ index: Int) {
        let tick = timers[index].tick
        guard tick > current else { return link(index, Self.dueSlot) }
        let level = (63 - (tick ^ current).leadingZeroBitCount) / Self.levelShift
        let place = Int(truncatingIfNeeded: tick >> UInt64(level * Self.levelShift)) % Self.slotsPerLevel
        link(index, level * Self.slotsPerLevel + place)
    }

    // MARK: Lists

    private mutating func link(_ index: Int, _ slot: Int) {
        let head = heads[slot]
        timers[index].slot = Int16(slot)
        timers[index].previous = Self.none
        timers[index].next = head
        if head != Self.none { timers[Int(head)].previous = UInt32(index) }
        heads[slot] = UInt32(index)
        if slot < Self.dueSlot { occupied[slot / Self.slotsPerLevel] |= 1 << UInt64(slot % Self.slotsPerLevel) }
    }

    private mutating func unlink(_ index: Int) {
        let timer = timers[index]
        let slot = Int(timer.slot)
        if timer.next != Self.none { timers[Int(timer.next)].previous = timer.previous }
        if timer.previous != Self.none {
            timers[Int(timer.previous)].next = timer.next
        } else {
            heads[slot] = timer.next
            if timer.next == Self.none, slot < Self.dueSlot {
                occupied[slot / Self.slotsPerLevel] &= ~(1 << UInt64(slot % Self.slotsPerLevel))
            }
        }
        timers[index].slot = -1
    }

    private mutating func cancelAny(_ index: Int) {
        guard index < timers.count, timers[index].slot >= 0 else { return }
        unlink(index)
        count -= 1
    }

    private mutating func grow(for index: Int) {
        let size = max(64, (index + 1).nextPowerOf2)
        timers.append(contentsOf: repeatElement(Timer(), count: size - timers.count))
    }
}

extension Int {
    /// The smallest power of two that is not less.
    fileprivate var nextPowerOf2: Int {
        self <= 1 ? 1 : 1 << (Int.bitWidth - (self - 1).leadingZeroBitCount)
    }
}
