/// Which flow gives way where there is no room for another one.
///
/// All flows have one bound, and those of one device have a share of it, so that a device that leaks connections takes
/// nothing from the others. At a bound the flow that has been idle for longest gives way, if it has been idle for a
/// minute; else the newcomer is refused. An app that leaks connections then costs itself its oldest ones, and no phone
/// is locked out until they end by themselves.
///
/// Idle flows are found by a look at all of them, which takes a moment, so each look finds several, and one that finds
/// none is not repeated at once: a flood of newcomers costs no more than a comparison each.

import Addresses
import Bytes

struct FlowShares {
    /// Flows that would give way, as of one look.
    private struct Candidates {
        /// The idlest last.
        var flows: [IdleFlow]
        var lookedAt: Instant
    }

    /// How long a flow must have been idle before it gives way.
    static let patience = Interval.seconds(60)
    /// How many flows one look finds, and how long none follows on it.
    static let batch = 16
    private static let rest = Interval.seconds(1)
    /// For how many devices at a time what was found is remembered.
    private static let remembered = 256

    private var counts: [IPAddress: Int] = [:]
    /// By the device; nil: of all of them.
    private var candidates: [IPAddress?: Candidates] = [:]
    let limit: Int

    init(limit: Int) { self.limit = max(1, limit) }

    /// Whether this device has its whole share.
    ///
    /// The machine's own programs on loopback are no device.
    func isFull(for device: IPAddress) -> Bool {
        counts[device, default: 0] >= limit && !device.isLoopback
    }

    mutating func add(_ device: IPAddress) { counts[device, default: 0] += 1 }

    mutating func remove(_ device: IPAddress) {
        let left = counts[device, default: 1] - 1
        counts[device] = left > 0 ? left : nil
    }

    /// How many devices have flows.
    var deviceCount: Int { counts.count }

    /// The next flow that may give way for one of this device (nil: for one of any); `look` is called when it is time
    /// to look at all flows, and returns those that are idle, the idlest last.
    mutating func next(of device: IPAddress?, now: Instant, look: () -> [IdleFlow]) -> IdleFlow? {
        if let found = candidates[device]?.flows.popLast() { return found }
        if let last = candidates[device]?.lookedAt, now < last + Self.rest { return nil }
        if candidates.count >= Self.remembered { candidates.removeAll(keepingCapacity: true) }
        var found = look()
        let first = found.popLast()
        candidates[device] = Candidates(flows: found, lookedAt: now)
        return first
    }
}

/// A flow, and since when no octet has moved on it.
struct IdleFlow: Equatable {
    var flow: Handle
    var since: Instant
}
