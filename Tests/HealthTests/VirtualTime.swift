/// An upstream watched in virtual time: its rounds of probes are answered by a script.

import Bytes
import Testing

@testable import Health

/// What one round of probes brings, and when.
struct Answer {
    var after: Interval
    var samples: [Sample]

    /// The request came back as it should.
    static func good(_ latency: Interval = .milliseconds(50)) -> Answer {
        Answer(after: latency, samples: [Sample(.connect, .good(latency / 2)), Sample(.request, .good(latency))])
    }

    /// No connection, told for both layers as a probe does.
    static func noConnection(_ cause: Cause = .portClosed, after time: Interval = .milliseconds(1)) -> Answer {
        Answer(after: time, samples: [Sample(.connect, .bad(cause)), Sample(.request, .bad(cause))])
    }

    /// A connection, and then a failure of the request.
    static func failing(_ cause: Cause, after time: Interval = .milliseconds(50)) -> Answer {
        Answer(after: time, samples: [Sample(.connect, .good(.milliseconds(1))), Sample(.request, .bad(cause))])
    }

    /// Nothing at all, not even the end of the round.
    static let hanging = Answer(after: .hours(10_000), samples: [])
}

/// One upstream, its clock, and what was told about it.
struct Watch {
    var health: UpstreamHealth
    var now: Instant
    /// Changes with the seconds from the start at which they came.
    private(set) var changes: [(at: Double, change: HealthChange)] = []
    private(set) var rounds: [Instant] = []
    private var pending: (at: Instant, samples: [Sample])?
    private let start: Instant

    init(
        _ settings: HealthSettings = page(), seed: UInt64 = 1,
        at start: Instant = Instant(nanoseconds: 1_000_000_000_000)
    ) {
        health = UpstreamHealth(settings, seed: seed, at: start)
        now = start
        self.start = start
    }

    /// Settings with a page to ask for.
    static func page(
        interval: Interval = .seconds(30), timeout: Interval = .seconds(10), hasPage: Bool = true
    ) -> HealthSettings {
        var settings = HealthSettings()
        settings.interval = interval
        settings.timeout = timeout
        settings.hasPage = hasPage
        return settings
    }

    var elapsed: Double { seconds(now - start) }
    var colours: [Colour] { changes.map(\.change.colour) }
    var words: [String] { changes.map { "\($0.change.colour.rawValue) \($0.change.cause?.word ?? "-")" } }
    /// Colour and cause as shown.
    var shown: String { "\(health.report.colour.rawValue) \(health.report.cause?.word ?? "-")" }

    mutating func note(_ change: HealthChange?) {
        if let change { changes.append((elapsed, change)) }
    }

    mutating func take(_ layer: Sample.Layer, _ outcome: Sample.Outcome) {
        note(health.take(Sample(layer, outcome), at: now))
    }

    mutating func forgetChanges() { changes = [] }

    /// Lets time pass, and has each round answered; `steps` counts how often something woke us.
    @discardableResult
    mutating func run(for time: Interval, _ proxy: (Instant) -> Answer) -> Int {
        let end = now + time
        var (steps, idle) = (0, 0)
        // A deadline that stays in the past would spin the caller.
        while idle < 100 {
            let next = min(health.deadline, pending?.at ?? .never)
            guard next < end else { break }
            idle = next > now ? 0 : idle + 1
            now = max(now, next)
            steps += 1
            if let answer = pending, answer.at <= now {
                pending = nil
                for sample in answer.samples { note(health.take(sample, at: now)) }
                note(health.finished(at: now))
            }
            note(health.refresh(at: now))
            if health.round(at: now) {
                rounds.append(now)
                let answer = proxy(now)
                pending = (now + answer.after, answer.samples)
            }
        }
        if idle == 100 { Issue.record("a deadline in the past, \(elapsed) s after the start") }
        now = end
        return steps
    }
}

func seconds(_ interval: Interval) -> Double { Double(interval.nanoseconds) / 1e9 }
