/// What flows leave behind.

import Addresses
import Bytes
import TestSupport
import Testing

@testable import Flows

@Suite struct TimeWaitTableTests {
    static func at(_ seconds: Int64) -> Instant { Instant(nanoseconds: 0) + .seconds(seconds) }

    @Test func forgetsWhatIsOver() {
        var table = TimeWaitTable<Int>(capacity: 10, seed: (1, 2))
        table.insert(FlowTableTests.key(1), 11, until: Self.at(10))
        table.insert(FlowTableTests.key(2), 12, until: Self.at(12))
        let (before, after) = (
            table.find(FlowTableTests.key(1), now: Self.at(9)), table.find(FlowTableTests.key(1), now: Self.at(10))
        )
        #expect(before == 11)
        #expect(after == nil)
        table.expire(Self.at(10))
        let (count, next) = (table.count, table.nextDeadline)
        #expect(count == 1)
        #expect(next == Self.at(12))
        table.expire(Self.at(12))
        let last = table.nextDeadline
        #expect(last == nil)
    }

    @Test func letsTheOldestGiveWay() {
        var table = TimeWaitTable<Int>(capacity: 3, seed: (1, 2))
        for number in 1...3 { table.insert(FlowTableTests.key(number), number, until: Self.at(10)) }
        // Told again, the first one is the newest.
        table.insert(FlowTableTests.key(1), 100, until: Self.at(11))
        table.insert(FlowTableTests.key(4), 4, until: Self.at(11))
        let found = (1...4).map { table.find(FlowTableTests.key($0), now: Self.at(0)) }
        #expect(found == [100, nil, 3, 4])
        let displaced = table.displaced
        #expect(displaced == 1)
    }

    @Test("behaves like a dictionary with an order", arguments: 0..<4)
    func behavesLikeAModel(seed: Int) {
        var random = SeededGenerator(seed: UInt64(seed))
        var table = TimeWaitTable<Int>(capacity: 200, seed: (random.next(), random.next()))
        var model: [(key: Int, record: Int, deadline: Instant)] = []
        var now: Int64 = 0
        for round in 0..<LongRun.rounds(5000, long: 300_000) {
            let number = random.number(0..<400)
            switch random.number(0..<6) {
            case 0..<4:
                table.insert(FlowTableTests.key(number), round, until: Self.at(now + 10))
                model.removeAll { $0.key == number }
                if model.count == 200 { model.removeFirst() }
                model.append((number, round, Self.at(now + 10)))
            case 4:
                let removed = table.remove(FlowTableTests.key(number))
                #expect(removed == model.first { $0.key == number }?.record)
                model.removeAll { $0.key == number }
            default:
                if random.chance(0.05) { now += random.chance(0.1) ? 20 : 1 }
                table.expire(Self.at(now))
                model.removeAll { $0.deadline <= Self.at(now) }
            }
            let other = random.number(0..<400)
            let (found, count) = (table.find(FlowTableTests.key(other), now: Self.at(now)), table.count)
            let expected = model.first { $0.key == other && $0.deadline > Self.at(now) }?.record
            guard count == model.count, found == expected else {
                Issue.record("seed \(seed), round \(round): another record")
                return
            }
        }
    }
}
