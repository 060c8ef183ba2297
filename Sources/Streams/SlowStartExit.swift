/// When slow start ends although nothing was lost; `CUBIC` goes on from there.

import Bytes
import Wire

/// HyStart++: leaving slow start when the round trip grows, before a queue overflows (RFC 9406).
struct SlowStartExit {
    /// The least round trip of the round before and of this one.
    private var before = Interval(nanoseconds: .max)
    private var current = Interval(nanoseconds: .max)
    @Compact private var samples = 0
    /// SND.NXT when the round began.
    private var roundEnd = SequenceNumber(0)
    /// Rounds of conservative slow start that are left, 0 outside.
    @Compact private(set) var conservativeRounds = 0
    private var baseline = Interval(nanoseconds: .max)

    private static let leastRise = Interval.milliseconds(4)
    private static let mostRise = Interval.milliseconds(16)
    private static let samplesNeeded = 8
    /// CSS_ROUNDS.
    private static let rounds = 5
    /// CSS_GROWTH_DIVISOR.
    static let growthDivisor = 4

    /// A round trip was measured in slow start; returns whether slow start is over.
    mutating func measured(_ time: Interval, acknowledged: SequenceNumber, next: SequenceNumber) -> Bool {
        var isOver = false
        if acknowledged >= roundEnd {
            roundEnd = next
            before = current
            current = Interval(nanoseconds: .max)
            samples = 0
            if conservativeRounds > 0 {
                conservativeRounds -= 1
                isOver = conservativeRounds == 0
            }
        }
        current = min(current, time)
        samples += 1
        guard samples >= Self.samplesNeeded, before.nanoseconds != .max else { return isOver }
        if conservativeRounds > 0 {
            // The round trip is short again: it was no queue of ours.
            if current < baseline { conservativeRounds = 0 }
        } else if current >= before + max(Self.leastRise, min(before / 8, Self.mostRise)) {
            conservativeRounds = Self.rounds
            baseline = current
        }
        return isOver
    }
}
