/// Which worker a flow belongs to.

import Addresses
import Bytes
import Flows
import LinuxIO
import Synchronization
import Testing

@testable import Gateway

@Suite("Flow owners")
struct FlowOwnersTests {
    private let start = Instant(nanoseconds: 0)

    private func key(_ port: UInt16) -> FlowKey {
        FlowKey(client: Bench.address("10.9.0.2", port), target: Bench.target)
    }

    @Test func theFirstToClaimAFlowOwnsIt() {
        let owners = FlowOwners()
        #expect(owners.owner(of: key(1), now: start) == nil)
        #expect(owners.claim(key(1), for: 2, now: start) == 2)
        #expect(owners.claim(key(1), for: 0, now: start) == 2)
        #expect(owners.owner(of: key(1), now: start) == 2)
        #expect(owners.owner(of: key(2), now: start) == nil)
    }

    @Test func onlyTheOwnerGivesAFlowUp() {
        let owners = FlowOwners()
        _ = owners.claim(key(1), for: 1, now: start)
        owners.release(key(1), by: 0)
        #expect(owners.owner(of: key(1), now: start) == 1)
        owners.release(key(1), by: 1)
        #expect(owners.owner(of: key(1), now: start) == nil)
        #expect(owners.claim(key(1), for: 0, now: start) == 0)
    }

    /// Late segments of a flow find the worker that remembers it.
    @Test func aFlowThatIsOverIsRememberedForAWhile() {
        let owners = FlowOwners()
        _ = owners.claim(key(1), for: 1, now: start)
        owners.release(key(1), by: 1, keepingUntil: start + .seconds(10), now: start)
        #expect(owners.owner(of: key(1), now: start + .seconds(9)) == 1)
        #expect(owners.claim(key(1), for: 0, now: start + .seconds(9)) == 1, "its successor belongs there")
        #expect(owners.owner(of: key(1), now: start + .seconds(10)) == nil)
        #expect(owners.claim(key(1), for: 0, now: start + .seconds(10)) == 0)
        #expect(owners.owner(of: key(1), now: start + .seconds(100)) == 0)
    }

    @Test func aSuccessorOutlivesItsPredecessorsMemory() {
        let owners = FlowOwners()
        _ = owners.claim(key(1), for: 1, now: start)
        owners.release(key(1), by: 1, keepingUntil: start + .seconds(10), now: start)
        #expect(owners.claim(key(1), for: 1, now: start + .seconds(1)) == 1)
        // Another flow's end tidies up.
        _ = owners.claim(key(17), for: 1, now: start)
        owners.release(key(17), by: 1, keepingUntil: start + .seconds(40), now: start + .seconds(30))
        #expect(owners.owner(of: key(1), now: start + .seconds(30)) == 1)
    }

    @Test func ofSeveralThreadsExactlyOneWins() throws {
        let owners = FlowOwners()
        let wins = Mutex([Int](repeating: 0, count: 3))
        let keys = (1...500).map { key(UInt16($0)) }
        let threads = try (0..<3).map { worker in
            WorkerThreadBox(
                try WorkerThread.start(name: "claims") { [start] in
                    let won = keys.count { owners.claim($0, for: worker, now: start) == worker }
                    wins.withLock { $0[worker] = won }
                })
        }
        for thread in threads { thread.join() }
        #expect(wins.withLock { $0.reduce(0, +) } == keys.count)
        for key in keys { #expect(owners.owner(of: key, now: start) != nil) }
    }
}
