/// Which worker owns a flow, when there are several.
///
/// The kernel steers a flow to the queue of the worker that writes for it, so this table is asked only for
/// packets that find no flow at the worker that read them (the first packets of a flow after the steering
/// entry aged out, ICMP errors, fragments) and written when a flow opens or closes: a lock is right here, and
/// no packet of a steered flow ever takes it. With one worker nobody touches it.

import Addresses
import Flows
import Synchronization

final class FlowOwners: Sendable {
    private let shards: [Shard]

    private final class Shard: Sendable {
        let owners = Mutex<[FlowKey: Int]>([:])
    }

    init() {
        shards = (0..<16).map { _ in Shard() }
    }

    func owner(of key: FlowKey) -> Int? { shard(key).owners.withLock { $0[key] } }

    /// Makes a worker the owner, and says who is it from now: whoever was first.
    func claim(_ key: FlowKey, for worker: Int) -> Int {
        shard(key).owners.withLock { owners in
            if let owner = owners[key] { return owner }
            owners[key] = worker
            return worker
        }
    }

    func release(_ key: FlowKey, by worker: Int) {
        shard(key).owners.withLock { owners in
            if owners[key] == worker { owners[key] = nil }
        }
    }

    private func shard(_ key: FlowKey) -> Shard {
        shards[Int(key.client.port ^ key.target.port) & 15]
    }
}
