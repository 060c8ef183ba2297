/// Time in which the machine could have done something, for limits that are promises.
///
/// On a busy machine every step of a chain of programs waits for a processor, and a limit would measure the machine. So
/// a thread sleeps ten milliseconds, again and again, and finds out how much later than that it is woken: whoever else
/// had to be woken meanwhile was as late. A quiet machine is late by next to nothing, and a limit counts as it is.

import Foundation
import Synchronization

public struct Stopwatch: Sendable {
    private let begun = Pacemaker.now
    private let owed = Pacemaker.lateness

    public init() { Pacemaker.start() }

    /// How often what is measured had to be woken in the time in which the pacemaker was once.
    private static let steps = 4.0

    /// Seconds since the start, without what the machine was late.
    public var seconds: Double { max(0, wholeSeconds - Self.steps * (Pacemaker.lateness - owed)) }

    /// What a time that somebody else has measured meanwhile may be longer for the machine's being late.
    public var allowance: Double { wholeSeconds - seconds }

    /// Seconds since the start, as a clock on the wall has them.
    public var wholeSeconds: Double { Pacemaker.now - begun }
}

/// The thread that finds out how late the machine is.
private enum Pacemaker {
    private static let nanoseconds = Atomic<Int>(0)
    private static let period = 0.01

    /// The thread is made with the first question, and from then on there.
    private static let isStarted: Bool = {
        Thread.detachNewThread {
            while true {
                let before = now
                usleep(UInt32(period * 1_000_000))
                let late = now - before - period
                // The timer's own slack is no lateness (50 µs; prctl(2), PR_SET_TIMERSLACK).
                guard late > 0.0005 else { continue }
                nanoseconds.wrappingAdd(Int(late * 1_000_000_000), ordering: .relaxed)
            }
        }
        return true
    }()

    static func start() { _ = isStarted }

    static var now: Double { ProcessInfo.processInfo.systemUptime }

    /// Seconds in all.
    static var lateness: Double {
        start()
        return Double(nanoseconds.load(ordering: .relaxed)) / 1_000_000_000
    }
}

extension Lab {
    /// Waits until a condition holds that has to hold within a time which the gateway promises.
    public static func wait(promised seconds: Double, until holds: () throws -> Bool) rethrows -> Bool {
        let watch = Stopwatch()
        repeat {
            if try holds() { return true }
            usleep(5000)
        } while watch.seconds < seconds && watch.wholeSeconds < seconds + 60
        return try holds()
    }

    /// Does something that has to be quick, three times at most: a busy machine makes one attempt slow, a fault each.
    public static func quick(
        _ time: KeyPath<Talk, Double?>, below limit: Double, _ attempt: () throws -> Talk
    ) rethrows -> Talk {
        var talk = try attempt()
        for _ in 0..<2 where talk.problem == nil && (talk[keyPath: time] ?? .infinity) >= limit { talk = try attempt() }
        return talk
    }
}
