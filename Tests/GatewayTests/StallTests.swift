/// When the control thread says that it stood still.

import Bytes
import Testing

@testable import Gateway

struct StallTests {
    private func at(_ seconds: Int64) -> Instant { Instant(nanoseconds: 0) + .seconds(seconds) }

    @Test("what is over the planned sleep counts from five seconds on, and each time once")
    func stalls() {
        var watch = StallWatch()
        func turn(_ planned: Interval, _ now: Instant) -> Interval? { watch.turn(afterSleep: planned, sinceBoot: now) }
        let first = turn(.seconds(2), at(100))
        #expect(first == nil, "the start may take its time")
        let usual = turn(.seconds(2), at(102))
        let busy = turn(.seconds(2), at(108))
        #expect(usual == nil && busy == nil, "4 s over the plan")
        let stopped = turn(.seconds(2), at(140))
        #expect(stopped == .seconds(30))
        let after = turn(.seconds(2), at(142))
        #expect(after == nil)
        let bound = turn(.seconds(1), at(148))
        #expect(bound == .seconds(5))
        let overdue = turn(.zero - .seconds(3), at(156))
        #expect(overdue == .seconds(8), "nothing was planned: all of it is over")
    }
}
