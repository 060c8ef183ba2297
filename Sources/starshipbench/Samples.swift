/// Durations that were measured one by one, and their percentiles.

internal import Bytes

/// Every duration is kept, so a percentile is exact and not the edge of a bucket.
struct Samples {
    private var values: [Int64] = []

    var count: Int { values.count }

    mutating func add(_ interval: Interval) { values.append(interval.nanoseconds) }

    /// Adds the percentiles in microseconds to a line, `prefix` before their names.
    func report(to line: inout JSONLine, prefix: String = "") {
        let sorted = values.sorted()
        for percent in [50, 99] where !sorted.isEmpty {
            // The nearest rank: the smallest value that at least so many percent do not exceed.
            let rank = (sorted.count * percent + 99) / 100
            line.add("\(prefix)p\(percent)_us", Double(sorted[rank - 1]) / 1000)
        }
    }
}
