/// What a worker gives back when nothing is carried any more, and how often.

import Bytes
import Testing

@testable import Gateway

extension WorkerTests {
    @Suite("At rest")
    struct Rest {
        @Test func allThatALoadNeededGoesBackOnceItIsOver() throws {
            let bench = try Bench()
            let client = bench.client()
            let peer = try client.open()
            bench.advance(.seconds(100))
            #expect(bench.machines[0].hasWorked, "a flow is open, however quiet")

            try client.reset()
            bench.until("the upstream's socket is closed") { peer.isOver || peer.isClosed }
            bench.advance(.milliseconds(500))
            #expect(bench.machines[0].hasWorked)
            bench.advance(.seconds(1))
            #expect(!bench.machines[0].hasWorked)
            bench.expectNothingLeft()
            #expect(bench.machines[0].nextWake == nil, "who rests is not woken")
        }

        @Test func whoAsksEveryFewSecondsDoesNotPayForIt() throws {
            let bench = try Bench()
            var rests = 0
            for _ in 0..<32 {
                let client = bench.client()
                _ = try client.open()
                try client.reset()
                bench.advance(.seconds(3))
                if !bench.machines[0].hasWorked { rests += 1 }
            }
            #expect(rests == 3, "30 s lie between the start and the first, and between two: after 33, 63 and 93 s")
            bench.expectNothingLeft()
        }
    }
}
