/// What is carried in a second, from counters that only grow.

import Bytes

/// How fast two counters grow, as seen by whoever looks now and then.
struct TrafficMeter {
    private var last: (up: UInt64, down: UInt64, at: Instant)?
    private var rates = (up: 0, down: 0)

    /// Looks more often than this, and two that look in turn would spoil each other's figures.
    static let shortest = Interval.milliseconds(900)

    /// Takes the counters; returns octets a second since they were last looked at.
    mutating func take(up: UInt64, down: UInt64, at now: Instant) -> (up: Int, down: Int) {
        guard let former = last else {
            last = (up, down, now)
            return rates
        }
        let time = now - former.at
        guard time >= Self.shortest else { return rates }
        let perSecond = { (from: UInt64, to: UInt64) in
            Int(Double(to >= from ? to - from : 0) * 1e9 / Double(time.nanoseconds))
        }
        rates = (perSecond(former.up, up), perSecond(former.down, down))
        last = (up, down, now)
        return rates
    }
}
