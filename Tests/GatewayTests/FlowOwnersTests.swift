/// Which worker a flow belongs to.

import Addresses
import Flows
import LinuxIO
import Synchronization
import Testing

@testable import Gateway

@Suite("Flow owners")
struct FlowOwnersTests {
    private func key(_ port: UInt16) -> FlowKey {
        FlowKey(client: Bench.address("10.9.0.2", port), target: Bench.target)
    }

    @Test func theFirstToClaimAFlowOwnsIt() {
        let owners = FlowOwners()
        #expect(owners.owner(of: key(1)) == nil)
        #expect(owners.claim(key(1), for: 2) == 2)
        #expect(owners.claim(key(1), for: 0) == 2)
        #expect(owners.owner(of: key(1)) == 2)
        #expect(owners.owner(of: key(2)) == nil)
    }

    @Test func onlyTheOwnerGivesAFlowUp() {
        let owners = FlowOwners()
        _ = owners.claim(key(1), for: 1)
        owners.release(key(1), by: 0)
        #expect(owners.owner(of: key(1)) == 1)
        owners.release(key(1), by: 1)
        #expect(owners.owner(of: key(1)) == nil)
        #expect(owners.claim(key(1), for: 0) == 0)
    }

    @Test func ofSeveralThreadsExactlyOneWins() throws {
        let owners = FlowOwners()
        let wins = Mutex([Int](repeating: 0, count: 3))
        let keys = (1...500).map { key(UInt16($0)) }
        let threads = try (0..<3).map { worker in
            WorkerThreadBox(
                try WorkerThread.start(name: "claims") {
                    let won = keys.count { owners.claim($0, for: worker) == worker }
                    wins.withLock { $0[worker] = won }
                })
        }
        for thread in threads { thread.join() }
        #expect(wins.withLock { $0.reduce(0, +) } == keys.count)
        for key in keys { #expect(owners.owner(of: key) != nil) }
    }
}
