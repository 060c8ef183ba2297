/// What is known about an upstream: what each layer last showed, and how many tries in a row got no answer.

internal import Bytes

/// What samples add up to.
struct Evidence: Sendable {
    private(set) var connect = LayerRecord()
    private(set) var request = LayerRecord()
    private(set) var traffic = LayerRecord()
    /// The last requests of probes, for a sparkline.
    private(set) var recent = RecentLatencies()

    /// Probes in a row that got no answer: no connection, or nothing to CONNECT.
    private(set) var misses = 0
    /// Why the last try got no answer.
    private(set) var failing: Cause?
    /// The proxy knows us and wants none of us.
    private(set) var rejected: Cause?
    /// The gateway could not even try.
    private(set) var hindered: Cause?
    /// What came of the last probe that the proxy answered.
    private(set) var answered: Sample.Outcome?
    /// Whether the last good request was slow; a slow upstream must be clearly faster to be none.
    private(set) var isSlow = false
    private(set) var lastGood: Instant?
    /// What users' streams add to the misses: 1 for a burst of failures, 2 for one that goes on.
    private(set) var burst = 0
    private var run = TrafficRun()
    private var lastMiss: Instant?

    private(set) var uplinkTrouble: String?
    /// Hosts that users reach through it.
    var otherHosts = 0

    /// Misses closer together than this are one: a probe reports a failure for each of its layers.
    private static let apart = Interval.milliseconds(500)

    subscript(_ layer: Sample.Layer) -> LayerRecord {
        switch layer {
        case .connect: connect
        case .request: request
        case .traffic: traffic
        }
    }

    /// Takes a sample; when it asks for a round of probes at once, returns how far from the last one.
    mutating func take(_ sample: Sample, _ settings: HealthSettings, at now: Instant) -> Interval? {
        switch sample.layer {
        case .connect:
            connect.take(sample.outcome, at: now)
            takeConnect(sample.outcome, settings, at: now)
            return nil
        case .request:
            request.take(sample.outcome, at: now)
            takeRequest(sample.outcome, settings, at: now)
            return nil
        case .traffic:
            traffic.take(sample.outcome, at: now)
            return takeTraffic(sample.outcome, settings, at: now)
        }
    }

    /// Notes what the gateway's own way out lacks; failures that it explains are explained by it from now on.
    ///
    /// They stay so when it is back, until another try says something new.
    mutating func setUplink(_ trouble: String?) {
        uplinkTrouble = trouble
        if let failing { self.failing = explained(failing) }
    }

    /// Forgets what requests of probes have shown.
    mutating func forgetRequests() {
        answered = nil
        isSlow = false
        lastGood = nil
    }
}

// MARK: - The three layers

extension Evidence {
    /// Takes a connection, which proves little: the kernel accepts it for a program that is stopped.
    ///
    /// Without a page it is all there is.
    private mutating func takeConnect(_ outcome: Sample.Outcome, _ settings: HealthSettings, at now: Instant) {
        switch outcome {
        case .good:
            hindered = nil
            guard !settings.hasPage else { return }
            misses = 0
            lastMiss = nil
            // Users' failures are remembered for as long as they may go on.
            if now - run.last >= settings.interval { forgetRun() }
        case .bad(let cause):
            switch cause.weight {
            case .none, .answer: return
            case .hindrance: hindered = cause
            case .rejection: rejected = cause
            case .miss: miss(cause, at: now)
            }
        }
    }

    private mutating func takeRequest(_ outcome: Sample.Outcome, _ settings: HealthSettings, at now: Instant) {
        switch outcome {
        case .good(let latency): takeGood(latency, settings, at: now)
        case .bad(.slow(let latency)): takeGood(latency, settings, at: now)
        case .bad(let cause):
            if cause.weight != .none { recent.add(nil) }
            switch cause.weight {
            case .none: return
            case .hindrance: hindered = cause
            case .miss: miss(cause, at: now)
            case .rejection:
                forgetMisses()
                rejected = cause
            case .answer:
                forgetMisses()
                answered = outcome
            }
        }
    }

    private mutating func takeGood(_ latency: Interval, _ settings: HealthSettings, at now: Instant) {
        forgetMisses()
        recent.add(latency)
        answered = .good(latency)
        lastGood = now
        isSlow = latency > settings.slow || isSlow && latency > settings.slow * 3 / 4
    }

    /// Takes a user's stream; only what concerns the upstream itself counts, not what its target did.
    private mutating func takeTraffic(_ outcome: Sample.Outcome, _ settings: HealthSettings, at now: Instant)
        -> Interval?
    {
        guard case .bad(let cause) = outcome else { return takeGoodTraffic(settings) }
        switch cause.weight {
        case .none, .hindrance: return nil
        case .answer:
            run = TrafficRun()
            return nil
        case .rejection:
            let isNew = rejected == nil
            rejected = cause
            return isNew ? .seconds(1) : nil
        case .miss:
            let asks = run.miss(at: now)
            let weight = run.weight(isConfirmed: misses > 0)
            if weight > 0 || misses > 0 { failing = explained(cause) }
            burst = max(burst, weight)
            return asks ? .seconds(1) : nil
        }
    }

    private mutating func takeGoodTraffic(_ settings: HealthSettings) -> Interval? {
        run = TrafficRun()
        guard settings.hasPage else {
            forgetMisses()
            return nil
        }
        return misses + burst > 0 || rejected != nil ? settings.retry : nil
    }
}

// MARK: - Misses

extension Evidence {
    private mutating func miss(_ cause: Cause, at now: Instant) {
        hindered = nil
        failing = explained(cause)
        if let lastMiss, now - lastMiss < Self.apart { return }
        lastMiss = now
        misses = min(misses + 1, Int(Int32.max))
        burst = max(burst, run.weight(isConfirmed: true))
    }

    /// The proxy has answered: whatever was missed is over.
    private mutating func forgetMisses() {
        misses = 0
        lastMiss = nil
        failing = nil
        rejected = nil
        hindered = nil
        forgetRun()
    }

    private mutating func forgetRun() {
        burst = 0
        run = TrafficRun()
    }

    /// A cause, or that the gateway has no way out when that explains it.
    private func explained(_ cause: Cause) -> Cause {
        guard let uplinkTrouble, cause.isWantOfUplink else { return cause }
        return .noUplink(uplinkTrouble)
    }
}

/// One layer's last outcome and its latencies.
struct LayerRecord: Sendable {
    private(set) var outcome: Sample.Outcome?
    private(set) var at = Instant(nanoseconds: 0)
    private(set) var goodAt: Instant?
    private var latency: Interval?
    private var misses = 0
    private(set) var histogram = LatencyHistogram()

    mutating func take(_ outcome: Sample.Outcome, at now: Instant) {
        self.outcome = outcome
        at = now
        switch outcome {
        case .good(let latency):
            self.latency = latency
            goodAt = now
            misses = 0
            histogram.add(latency)
        case .bad: misses = min(misses + 1, Int(Int32.max))
        }
    }

    var report: LayerReport? {
        outcome.map { LayerReport(outcome: $0, at: at, latency: latency, misses: misses) }
    }
}
