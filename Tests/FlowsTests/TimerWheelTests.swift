/// The timer wheel: never early, half a millisecond late at most, and quiet while nothing is due.

import Bytes
import TestSupport
import Testing

@testable import Flows

@Suite struct TimerWheelTests {
    static let start = Instant(nanoseconds: 1_234_567_890)
    static let tick = Interval(nanoseconds: 1 << 19)

    @Test(
        "goes off at its time, near or far",
        arguments: [
            Interval.nanoseconds(1), .microseconds(1), .milliseconds(1), .milliseconds(40), .milliseconds(200),
            .seconds(1), .seconds(60), .hours(2), .hours(24), .hours(24 * 365),
        ])
    func goesOff(distance: Interval) throws {
        var wheel = TimerWheel(now: Self.start)
        let handle = Handle(index: 3, generation: 5)
        let deadline = Self.start + distance
        wheel.schedule(handle, at: deadline)
        let early = wheel.expire(deadline - .nanoseconds(1))
        #expect(early == nil)
        let due = wheel.expire(deadline + Self.tick)
        #expect(due == handle)
        let (again, next) = (wheel.expire(deadline + .hours(1)), wheel.nextDeadline())
        #expect(again == nil)
        #expect(next == nil)
    }

    @Test("is touched a handful of times on the way to a far deadline")
    func costsNothingUntilDue() throws {
        var wheel = TimerWheel(now: Self.start)
        for index in 0..<10000 {
            wheel.schedule(Handle(index: UInt32(index), generation: 1), at: Self.start + .hours(24))
        }
        var wakeUps = 0
        var expired = 0
        while let next = wheel.nextDeadline() {
            wakeUps += 1
            while wheel.expire(next) != nil { expired += 1 }
        }
        #expect(expired == 10000)
        #expect(wakeUps <= 5)
    }

    @Test func movesATimerBothWays() {
        var wheel = TimerWheel(now: Self.start)
        let handle = Handle(index: 0, generation: 1)
        wheel.schedule(handle, at: Self.start + .seconds(10))
        wheel.schedule(handle, at: Self.start + .seconds(5))
        var next = wheel.expire(Self.start + .milliseconds(4999))
        #expect(next == nil)
        next = wheel.expire(Self.start + .milliseconds(5001))
        #expect(next == handle)

        wheel.schedule(handle, at: Self.start + .seconds(6))
        wheel.schedule(handle, at: Self.start + .seconds(60))
        next = wheel.expire(Self.start + .seconds(59))
        #expect(next == nil)
        let count = wheel.count
        #expect(count == 1)
        next = wheel.expire(Self.start + .milliseconds(60001))
        #expect(next == handle)
    }

    @Test func cancelsAndForgets() {
        var wheel = TimerWheel(now: Self.start)
        let handle = Handle(index: 9, generation: 1)
        wheel.cancel(handle)
        wheel.schedule(handle, at: Self.start + .seconds(1))
        wheel.cancel(handle)
        wheel.cancel(handle)
        let (none, next, count) = (wheel.expire(Self.start + .seconds(2)), wheel.nextDeadline(), wheel.count)
        #expect(none == nil)
        #expect(next == nil)
        #expect(count == 0)
        wheel.schedule(handle, at: Self.start + .seconds(3))
        wheel.schedule(handle, at: .never)
        let after = wheel.nextDeadline()
        #expect(after == nil)
    }

    @Test func aLateCancelDoesNotReachTheSuccessor() {
        var wheel = TimerWheel(now: Self.start)
        wheel.schedule(Handle(index: 9, generation: 1), at: Self.start + .seconds(1))
        wheel.schedule(Handle(index: 9, generation: 3), at: Self.start + .seconds(1))
        wheel.cancel(Handle(index: 9, generation: 1))
        let due = wheel.expire(Self.start + .seconds(2))
        #expect(due == Handle(index: 9, generation: 3))
    }

    @Test func takesDeadlinesOfThePastAndOfTheEndOfTime() {
        var wheel = TimerWheel(now: Self.start)
        wheel.schedule(Handle(index: 0, generation: 1), at: Instant(nanoseconds: .min))
        wheel.schedule(Handle(index: 1, generation: 1), at: Instant(nanoseconds: .max - 1))
        let (next, due) = (wheel.nextDeadline(), wheel.expire(Self.start))
        #expect(next == Self.start)
        #expect(due == Handle(index: 0, generation: 1))
        let (none, count) = (wheel.expire(Self.start + .hours(24 * 3650)), wheel.count)
        #expect(none == nil)
        #expect(count == 1)
    }

    @Test("agrees with a sorted list", arguments: 0..<8)
    func agreesWithAList(seed: Int) {
        var random = SeededGenerator(seed: UInt64(seed))
        var wheel = TimerWheel(now: Self.start)
        var model: [UInt32: Instant] = [:]
        var now = Self.start
        for round in 0..<LongRun.rounds(10000, long: 500_000) {
            let index = UInt32(random.number(0..<100))
            switch random.number(0..<8) {
            case 0..<5:
                let deadline = now + distance(&random)
                wheel.schedule(Handle(index: index, generation: 1), at: deadline)
                model[index] = deadline
            case 5:
                wheel.cancel(Handle(index: index, generation: 1))
                model[index] = nil
            default:
                // Either as far as the wheel wants to sleep, or anywhere.
                if random.chance(0.5), let next = wheel.nextDeadline() {
                    now = max(now, next)
                } else {
                    now = now + distance(&random)
                }
                guard expire(&wheel, &model, now) else {
                    Issue.record("seed \(seed), round \(round): early, late or never")
                    return
                }
            }
            let (next, count) = (wheel.nextDeadline(), wheel.count)
            guard count == model.count, isSound(next, model.values.min()) else {
                Issue.record("seed \(seed), round \(round): the next deadline is too late")
                return
            }
        }
    }

    private func distance(_ random: inout SeededGenerator) -> Interval {
        // Every magnitude from nanoseconds to days.
        .nanoseconds(Int64(random.next() >> UInt64(random.number(16..<64))))
    }

    private func isSound(_ next: Instant?, _ first: Instant?) -> Bool {
        guard let first else { return next == nil }
        guard let next else { return false }
        return next < max(first, Self.start) + Self.tick
    }

    private func expire(_ wheel: inout TimerWheel, _ model: inout [UInt32: Instant], _ now: Instant) -> Bool {
        while let handle = wheel.expire(now) {
            guard let deadline = model.removeValue(forKey: handle.index), deadline <= now else { return false }
        }
        return model.values.allSatisfy { $0 + Self.tick > now }
    }
}
