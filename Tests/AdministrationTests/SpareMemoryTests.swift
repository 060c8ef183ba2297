/// When the control thread gives memory back.

import Bytes
import Testing

@testable import Administration

struct SpareMemoryTests {
    @Test("two seconds after something was done, twice a minute at most, and never without a cause")
    func times() {
        let start = Instant(nanoseconds: 0)
        var spare = SpareMemory(now: start)
        #expect(spare.dueAt == .never)
        spare.used(now: start + .seconds(40))
        spare.used(now: start + .seconds(41))
        #expect(spare.dueAt == start + .seconds(42), "of the first, or who asks each second put it off for ever")
        let isEarly = spare.giveBack(now: start + .milliseconds(41_999))
        #expect(!isEarly)
        let isDue = spare.giveBack(now: start + .seconds(42))
        #expect(isDue)
        #expect(spare.dueAt == .never)
        spare.used(now: start + .seconds(43))
        #expect(spare.dueAt == start + .seconds(72))
    }
}
