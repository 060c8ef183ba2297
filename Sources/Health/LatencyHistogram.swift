/// How long something takes, counted in fixed buckets.

public import Bytes

/// A histogram as Prometheus wants it: buckets with upper bounds that include them, a count and a sum.
public struct LatencyHistogram: Equatable, Sendable {
    /// The upper bounds: those of Prometheus' own clients, which suit what a person waits for.
    public static let bounds: [Interval] = [
        .milliseconds(5), .milliseconds(10), .milliseconds(25), .milliseconds(50), .milliseconds(100),
        .milliseconds(250), .milliseconds(500), .seconds(1), .milliseconds(2500), .seconds(5), .seconds(10),
    ]

    /// The bounds in seconds, as text for the label `le`; the last one has none.
    public static let labels: [String] = [
        "0.005", "0.01", "0.025", "0.05", "0.1", "0.25", "0.5", "1", "2.5", "5", "10", "+Inf",
    ]

    private var buckets: [12 of UInt64] = InlineArray(repeating: 0)
    public private(set) var count: UInt64 = 0
    public private(set) var sum = Interval.zero

    public init() {}

    public mutating func add(_ latency: Interval) {
        let latency = max(latency, .zero)
        let bucket = Self.bounds.firstIndex { latency <= $0 } ?? Self.bounds.count
        buckets[bucket] += 1
        count += 1
        let (total, overflow) = sum.nanoseconds.addingReportingOverflow(latency.nanoseconds)
        sum = Interval(nanoseconds: overflow ? .max : total)
    }

    /// For each label, how many took no longer.
    public var cumulative: [UInt64] {
        var total: UInt64 = 0
        return buckets.indices.map { index in
            total += buckets[index]
            return total
        }
    }

    public static func == (left: LatencyHistogram, right: LatencyHistogram) -> Bool {
        left.cumulative == right.cumulative && left.sum == right.sum
    }
}

/// The last sixty tries, for a sparkline and for comparing upstreams.
public struct RecentLatencies: Equatable, Sendable {
    public static let capacity = 60

    private var ring: [Interval?] = []
    /// Where the oldest is, once the ring is full.
    private var oldest = 0

    public init() {}

    /// Adds a latency, or nil for a miss; the oldest goes.
    public mutating func add(_ latency: Interval?) {
        guard ring.count == Self.capacity else {
            ring.append(latency)
            return
        }
        ring[oldest] = latency
        oldest = (oldest + 1) % Self.capacity
    }

    /// The oldest first; nil is a miss.
    public var values: [Interval?] { Array(ring[oldest...] + ring[..<oldest]) }

    /// The median of the last good ones, five at most; nil when there is none.
    ///
    /// One odd answer does not move it, and a change shows after three.
    public var typical: Interval? {
        let last = values.compactMap { $0 }.suffix(5).sorted()
        return last.isEmpty ? nil : last[last.count / 2]
    }
}
