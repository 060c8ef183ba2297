/// Arithmetic on time.

import Bytes
import Testing

@Suite struct InstantTests {
    @Test func neverIsNeverPassed() {
        #expect(Instant.never + .hours(1) == .never)
        #expect(Instant(nanoseconds: .max - 1) + .nanoseconds(2) == .never)
        #expect(Instant(nanoseconds: 5) + .nanoseconds(-7) == Instant(nanoseconds: -2))
    }

    @Test func unitsAreNanosecondsInTheEnd() {
        #expect(Interval.microseconds(3).nanoseconds == 3000)
        #expect(Interval.milliseconds(3).nanoseconds == 3_000_000)
        #expect(Interval.seconds(3).nanoseconds == 3_000_000_000)
        #expect(Interval.hours(24) == .seconds(86400))
        #expect(Interval.nanoseconds(2_999_999).milliseconds == 2)
        #expect(Interval.nanoseconds(2999).microseconds == 2)
        #expect(Interval.seconds(1) * 3 / 2 == .milliseconds(1500))
    }

    @Test func differencesAreIntervals() {
        #expect(Instant(nanoseconds: 10) - Instant(nanoseconds: 30) == .nanoseconds(-20))
        #expect(Instant(nanoseconds: 10) - .nanoseconds(30) == Instant(nanoseconds: -20))
        #expect(Interval.zero + .seconds(1) - .seconds(1) == .zero)
        #expect(Interval.milliseconds(999) < .seconds(1))
    }
}
