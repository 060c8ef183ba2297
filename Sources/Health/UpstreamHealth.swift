/// # How an upstream gets its colour
///
/// One value for each upstream, with no clock, socket or thread: samples go in, and what people care about comes out as
/// a change. Three layers speak: a TCP connection to the proxy and a request through it, both of our own probes, and
/// the streams that users open.
///
///     probes  ── connect, request ──▶ ┌──────────┐          ┌─────────┐
///     users   ── traffic ───────────▶ │ Evidence │ ─ at ──▶ │ Verdict │ ──▶ HealthChange
///     kernel  ── uplink ────────────▶ └──────────┘          └─────────┘
///                    burst │
///                    round ▼
///     caller  ◀── due ── ProbeSchedule
///
///     green   the last request was good, is fresh, and nothing has been missed since
///     yellow  the proxy answers and the request fails, is slow or is long ago; or one try got no answer
///     red     two tries in a row got no answer, or the credentials are rejected
///     grey    nobody has tried it, or there is no page to ask for
///
/// Worse after two misses, better after one answer. A miss is followed by another try in three seconds, so a proxy that
/// is gone is red soon, and a lost probe is forgotten soon. An upstream that stays bad is tried less and less often,
/// down to its interval.
///
/// Users' streams can say that an upstream is bad, but not that it is good: each proves only that its own target could
/// be reached. A good one in bad times has a round of probes begin at once.

public import Bytes

/// The health of one upstream.
public struct UpstreamHealth: Sendable {
    private var settings: HealthSettings
    private var schedule: ProbeSchedule
    private var evidence = Evidence()
    /// What the evidence says by itself.
    private var settled = Verdict(.grey, .neverTried)
    /// What is shown: the same, or that a round has been waiting for its answer for too long.
    private var shown = Verdict(.grey, .neverTried)
    private var since: Instant
    /// When the verdict was last made: deadlines before that are over.
    private var looked: Instant

    /// An upstream that nobody has tried; its first round is spread over the next seconds by the seed.
    public init(_ settings: HealthSettings, seed: UInt64, at now: Instant) {
        self.settings = settings.bounded
        schedule = ProbeSchedule(self.settings, seed: seed, at: now)
        since = now
        looked = now
    }

    /// Follows other settings and keeps what is known, except what another rule would have to be asked for again.
    @discardableResult
    public mutating func change(_ settings: HealthSettings, at now: Instant) -> HealthChange? {
        let new = settings.bounded
        if new.hasPage != self.settings.hasPage { evidence.forgetRequests() }
        self.settings = new
        schedule.change(new, at: now)
        return settle(at: now)
    }

    /// Takes what a probe or a user's stream has shown.
    ///
    /// The samples of a round come before its `finished`.
    public mutating func take(_ sample: Sample, at now: Instant) -> HealthChange? {
        if sample.layer != .traffic { schedule.note(sample.outcome, slow: settings.slow) }
        if let apart = evidence.take(sample, settings, at: now) { schedule.hurry(at: now, apart: apart) }
        return settle(at: now)
    }

    /// Notes whether the gateway itself has a way out: nil, or what is missing.
    ///
    /// While it has none, connections that fail for want of an answer are not held against the upstream.
    public mutating func uplink(_ trouble: String?, at now: Instant) -> HealthChange? {
        guard trouble != evidence.uplinkTrouble else { return nil }
        if (trouble == nil) != (evidence.uplinkTrouble == nil) { schedule.hurry(at: now) }
        evidence.setUplink(trouble)
        return settle(at: now)
    }

    /// Notes to how many hosts a CONNECT has succeeded in the last minute, the probe's own left out.
    ///
    /// It counts from the next `take` or `refresh` on.
    public mutating func note(otherHosts: Int) { evidence.otherHosts = otherHosts }

    /// Looks at the time, at `deadline`: an answer grows stale, a round takes long.
    public mutating func refresh(at now: Instant) -> HealthChange? { settle(at: now) }

    /// When `refresh` or `round` has something to do.
    public var deadline: Instant {
        var deadline = schedule.deadline
        if case .good? = evidence.answered, let lastGood = evidence.lastGood {
            let stale = lastGood + settings.freshness
            if stale > looked { deadline = min(deadline, stale) }
        }
        if shown.colour == .green, let began = schedule.running {
            let overdue = began + settings.patience
            if overdue > looked { deadline = min(deadline, overdue) }
        }
        return deadline
    }

    private mutating func settle(at now: Instant) -> HealthChange? {
        looked = now
        settled = evidence.verdict(settings, staysGreen: settled.colour == .green, at: now)
        let former = shown
        shown = isOverdue(at: now) ? Verdict(.yellow, .slow(settings.patience)) : settled
        if shown.colour != former.colour { since = now }
        guard !shown.isSame(as: former) else { return nil }
        return HealthChange(former: former.colour, colour: shown.colour, cause: shown.cause, note: shown.note)
    }

    /// Whether a green upstream has let the running round wait for longer than a lossy network explains.
    ///
    /// Streams that users have opened meanwhile speak for it.
    private func isOverdue(at now: Instant) -> Bool {
        guard settled.colour == .green, let began = schedule.running, now - began >= settings.patience else {
            return false
        }
        if let good = evidence.traffic.goodAt, good > began { return false }
        return evidence.otherHosts < Evidence.enoughHosts
    }
}

// MARK: - Rounds of probes

extension UpstreamHealth {
    /// Whether a round of probes is due; then it is running until `finished`.
    ///
    /// To be asked when the round can begin at once: from here on its answer is waited for.
    public mutating func round(at now: Instant) -> Bool { schedule.begin(at: now) }

    /// Begins a round at once for somebody who waits for it; false while one is running, which does as well.
    public mutating func roundNow(at now: Instant) -> Bool { schedule.beginNow(at: now) }

    /// Ends the round, after its samples.
    @discardableResult
    public mutating func finished(at now: Instant) -> HealthChange? {
        schedule.finish(at: now)
        return settle(at: now)
    }

    /// Has the next round begin now: after a switch, an uplink change, or when somebody asks.
    ///
    /// It is moved by a fraction of a second, so that many do not begin at once, and rounds begin at most once a
    /// second.
    public mutating func hurry(at now: Instant) { schedule.hurry(at: now) }

    /// Begins no more rounds until `hurry`: nobody uses this upstream.
    public mutating func rest() { schedule.rest() }

    /// When the next round begins, or nil while one is running or none is planned.
    public var nextRound: Instant? { schedule.running == nil && schedule.next != .never ? schedule.next : nil }
}

// MARK: - Looking at it

extension UpstreamHealth {
    /// What is known, as of the last call with a time.
    public var report: HealthReport {
        HealthReport(
            colour: shown.colour, cause: shown.cause, note: shown.note, since: since, lastGood: evidence.lastGood,
            connect: evidence.connect.report, request: evidence.request.report, traffic: evidence.traffic.report)
    }

    /// How long this layer took, each time that it was good.
    public func histogram(of layer: Sample.Layer) -> LatencyHistogram { evidence[layer].histogram }

    /// The last requests of probes, with their misses.
    public var recent: RecentLatencies { evidence.recent }
}
