/// When rounds of probes begin.
///
/// Rounds are counted from beginning to beginning. Each distance is up to a tenth shorter than what is asked for, never
/// longer, so that upstreams drift apart and a fault is found within the interval. A round that nobody ends is taken as
/// ended after three times its limit.

internal import Bytes

/// The plan of one upstream's rounds.
struct ProbeSchedule: Sendable {
    private var settings: HealthSettings
    private var jitter: Jitter
    private(set) var next: Instant
    /// When the running round began.
    private(set) var running: Instant?
    private var lastBegan: Instant?
    /// Rounds in a row that were not good.
    private var troubles = 0
    /// What the running round has shown so far.
    private var finding = Finding.nothing
    /// Whether another round is wanted as soon as this one has ended.
    private var isHurried = false
    private var isResting = false

    private enum Finding {
        case nothing
        case good
        case trouble
    }

    init(_ settings: HealthSettings, seed: UInt64, at now: Instant) {
        self.settings = settings
        jitter = Jitter(seed: seed)
        next = now
        next = now + jitter.below(min(settings.interval, .seconds(10)))
    }

    mutating func change(_ settings: HealthSettings, at now: Instant) {
        self.settings = settings
        guard !isResting, !isHurried else { return }
        let planned = lastBegan.map { max(now, $0 + jitter.near(distance)) }
        next = min(next, planned ?? now + jitter.below(min(settings.interval, .seconds(10))))
    }

    /// When a round begins, or when the running one is over whoever has forgotten it.
    var deadline: Instant { running.map { $0 + settings.timeout * 3 } ?? next }

    mutating func begin(at now: Instant) -> Bool {
        if let running, now >= running + settings.timeout * 3 { finish(at: now) }
        guard running == nil, now >= next else { return false }
        running = now
        lastBegan = now
        finding = .nothing
        isHurried = false
        return true
    }

    /// Begins a round whatever is planned, unless one is running.
    mutating func beginNow(at now: Instant) -> Bool {
        next = min(next, now)
        return begin(at: now)
    }

    /// Notes a probe's sample, for what follows the running round.
    mutating func note(_ outcome: Sample.Outcome, slow: Interval) {
        guard running != nil, finding != .trouble else { return }
        switch outcome {
        case .good(let latency): finding = latency > slow ? .trouble : .good
        case .bad: finding = .trouble
        }
    }

    mutating func finish(at now: Instant) {
        guard let began = running else { return }
        running = nil
        switch finding {
        case .nothing: break
        case .good: troubles = 0
        case .trouble: troubles = min(troubles + 1, 64)
        }
        next = isResting ? .never : max(now, began + jitter.near(distance))
        if isHurried { hurry(at: now) }
    }

    /// Has a round begin in a fraction of a second, or so long after the beginning of the last one.
    mutating func hurry(at now: Instant, apart: Interval = .seconds(1)) {
        isResting = false
        isHurried = true
        guard running == nil else { return }
        let soonest = lastBegan.map { $0 + apart } ?? now
        next = min(next, max(now + jitter.below(.milliseconds(250)), soonest))
    }

    mutating func rest() {
        isResting = true
        isHurried = false
        next = .never
    }

    /// From one beginning to the next: the interval, or after trouble the retry, twice, and then twice as long each
    /// time.
    private var distance: Interval {
        guard troubles > 0 else { return settings.interval }
        let doublings = min(max(0, troubles - 2), 16)
        return min(settings.interval, settings.retry * (1 << Int64(doublings)))
    }
}

/// SplitMix64 (Steele, Lea and Flood, "Fast Splittable Pseudorandom Number Generators", 2014): enough to spread what
/// would happen at once.
struct Jitter: Sendable {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    /// From nothing up to, not including, this.
    mutating func below(_ span: Interval) -> Interval {
        guard span > .zero else { return .zero }
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        mixed ^= mixed >> 31
        return Interval(nanoseconds: Int64(mixed.multipliedFullWidth(by: UInt64(span.nanoseconds)).high))
    }

    /// A distance, or up to a tenth less.
    mutating func near(_ distance: Interval) -> Interval { distance - below(distance / 10) }
}
