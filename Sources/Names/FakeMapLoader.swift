/// From the records of an earlier run to a pool, which may be over another range now.
///
/// A device may still hold any address that the earlier run answered. So of another range's map only what cannot
/// mislead is used: where a family's first address is the same, its places are the same; where the two ranges have
/// no address in common, nothing of the old one can arrive. Where they overlap in any other way the names are given
/// up, and the addresses that both have rest as if they had just been answered.

import Addresses
public import Bytes

/// Takes records in their order and makes a pool of them.
public struct FakeMapLoader: Sendable {
    /// What the records came to.
    public struct Summary: Equatable, Sendable {
        /// Names that have their address again.
        public internal(set) var names = 0
        /// Names that do not fit into the range.
        public internal(set) var leftOut = 0
        /// Records that nobody could read.
        public internal(set) var unknown = 0
        /// The records' range, where it is another one.
        public internal(set) var formerRange: FakeRange?
    }

    private enum Fit { case none, places, overlap }

    public private(set) var pool: FakePool
    public private(set) var summary = Summary()
    private var former: FakeRange?
    private var fit = Fit.none
    private let now: Instant

    /// Restores into an empty pool.
    public init(into pool: FakePool, now: Instant) {
        self.pool = pool
        self.now = now
    }

    /// Takes the next record.
    public mutating func take(_ bytes: Span<UInt8>) {
        switch FakeMapRecord.parse(bytes) {
        case .range(let range):
            former = range
            fit = Self.fit(of: range, in: pool.range)
            if range != pool.range { summary.formerRange = range }
        case .name(let name, let place): restore(name, place)
        case .reserved(let bound): rest(below: Int(bound))
        case nil: summary.unknown += 1
        }
        summary.names = pool.nameCount
    }

    private mutating func restore(_ name: String, _ place: UInt32) {
        if fit == .overlap { rest(below: Int(place) + 1) }
        guard fit == .places, pool.restore(name, at: place, now: now) else {
            summary.leftOut += 1
            return
        }
    }

    private mutating func rest(below bound: Int) {
        switch fit {
        case .none: break
        case .places: pool.rest(below: bound, now: now)
        case .overlap: restOverlap(below: bound)
        }
    }

    /// Lets the places rest whose addresses the former range gave out below a bound, and those before them.
    private mutating func restOverlap(below bound: Int) {
        guard let former else { return }
        let bound = min(bound, former.placeCount)
        for family in [FakePool.Family.ipv4, .ipv6] {
            guard let shift = Self.shift(from: former, to: pool.range, family) else { continue }
            pool.rest(below: bound + shift, now: now)
        }
    }

    private static func fit(of former: FakeRange, in range: FakeRange) -> Fit {
        let shifts = [FakePool.Family.ipv4, .ipv6].compactMap { shift(from: former, to: range, $0) }
        guard !shifts.isEmpty else { return .none }
        return shifts.allSatisfy { $0 == 0 } ? .places : .overlap
    }

    /// How much larger the place of an address is in `range`, or nil when no address is in both.
    private static func shift(from former: FakeRange, to range: FakeRange, _ family: FakePool.Family) -> Int? {
        guard former.placeCount > 0, range.placeCount > 0 else { return nil }
        let (old, new) = (former.address(at: 0, family), range.address(at: 0, family))
        guard old.high == new.high else { return nil }
        let (distance, isTooFar) = Int64(bitPattern: old.low).subtractingReportingOverflow(Int64(bitPattern: new.low))
        let shift = Int(distance)
        guard !isTooFar, shift < range.placeCount, shift > -former.placeCount else { return nil }
        return shift
    }
}
