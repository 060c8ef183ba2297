/// How often one device can make the gateway send something, such as ICMP errors (RFC 1812, section 4.3.2.8;
/// RFC 4443, section 2.4(f)).
///
/// A token bucket for each address, kept as one number: the time at which the bucket will be full again. A full
/// bucket needs no entry, so a fixed table serves any number of addresses: four places for each hash. Where four
/// addresses share a hash and none of their buckets is full, a fifth gets nothing; so many addresses at a time
/// cannot add up to a flood.

public import Addresses
public import Bytes

/// Token buckets for a bounded number of addresses.
public struct RateLimiter: ~Copyable {
    private struct Bucket {
        var address: IPAddress
        var full: Instant
    }

    private static let sets = 64
    private static let ways = 4

    /// The time in which one token comes.
    private let period: Interval
    /// How far ahead of now `full` may lie: an empty bucket.
    private let depth: Interval
    private let hash: KeyedHash
    private var buckets: [Bucket]

    /// How often something was not allowed.
    public private(set) var refusals = 0

    /// Allows `perSecond` a second for each address, and `burst` at once after a quiet time: as many as in a second
    /// unless it is given; 0 a second allows none.
    public init(perSecond: Int, burst: Int? = nil, seed: (UInt64, UInt64)) {
        precondition(perSecond >= 0, "a limit below nothing")
        // An empty bucket that never fills: its period is longer than its depth.
        period = .seconds(1) / Int64(max(1, perSecond))
        depth = period * Int64(perSecond == 0 ? 0 : burst ?? perSecond)
        hash = KeyedHash(seed: seed)
        let unused = Bucket(address: IPAddress(high: 0, low: 0), full: Instant(nanoseconds: .min))
        buckets = [Bucket](repeating: unused, count: Self.sets * Self.ways)
    }

    /// Takes a token of this address, or returns false when there is none.
    public mutating func allow(_ address: IPAddress, now: Instant) -> Bool {
        guard let index = bucket(of: address, now: now) else {
            refusals += 1
            return false
        }
        let full = max(buckets[index].full, now) + period
        guard full - now <= depth else {
            refusals += 1
            return false
        }
        buckets[index].full = full
        return true
    }

    /// The address's bucket, made from a full one of another address if need be.
    private mutating func bucket(of address: IPAddress, now: Instant) -> Int? {
        let first = Int(truncatingIfNeeded: hash(address.high, address.low)) & (Self.sets - 1) * Self.ways
        var reusable: Int?
        for index in first..<first + Self.ways {
            if buckets[index].address == address { return index }
            if buckets[index].full <= now { reusable = index }
        }
        guard let reusable else { return nil }
        buckets[reusable].address = address
        return reusable
    }
}
