/// When the service manager hears that all is well.

import Bytes
import LinuxIO
import Testing

@testable import Gateway

struct WatchdogTests {
    private func at(_ seconds: Int64) -> Instant { Instant(nanoseconds: 0) + .seconds(seconds) }

    @Test("a round begins twice within the manager's patience, once all have answered the one before")
    func rounds() throws {
        let bell = try WakeUp()
        var watchdog = Watchdog(patience: .seconds(30), now: at(0))
        var rounds: [ProofRound] = []
        func turn(_ seconds: Int64) -> Bool {
            let isAlive = watchdog.collect()
            watchdog.begin(now: at(seconds)) {
                let round = ProofRound(2, waking: bell)
                rounds.append(round)
                return round
            }
            return isAlive
        }
        #expect(watchdog.deadline == at(0))
        let first = turn(0)
        #expect(!first && rounds.count == 1 && watchdog.deadline == .never)
        rounds[0].prove()
        let half = turn(1)
        #expect(!half && !bell.wait(atMost: .zero), "one of two is not enough")
        rounds[0].prove()
        #expect(bell.wait(atMost: .zero), "the last one rings")
        let whole = turn(2)
        #expect(whole && rounds.count == 1 && watchdog.deadline == at(15))
        let early = turn(14)
        #expect(!early && rounds.count == 1)
        let due = turn(15)
        #expect(!due && rounds.count == 2)
    }

    @Test("who does not answer is asked once, and the manager hears nothing for as long as that lasts")
    func stuck() throws {
        let bell = try WakeUp()
        var watchdog = Watchdog(patience: .seconds(30), now: at(0))
        var asked = 0
        for second in 0..<200 {
            let isAlive = watchdog.collect()
            #expect(!isAlive)
            watchdog.begin(now: at(Int64(second))) {
                asked += 1
                return ProofRound(1, waking: bell)
            }
        }
        #expect(asked == 1)
    }
}
