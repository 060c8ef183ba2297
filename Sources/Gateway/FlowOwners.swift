/// Which worker owns a flow, when there are several.
///
/// The kernel steers a flow to the queue of the worker that writes for it, so this table is asked only for
/// packets that find no flow at the worker that read them (the first packets of a flow after the steering
/// entry aged out, ICMP errors, fragments) and written when a flow opens or closes: a lock is right here, and
/// no packet of a steered flow ever takes it. With one worker nobody touches it.

import Addresses
import Bytes
import Flows
import Synchronization

final class FlowOwners: Sendable {
    private let shards: [Shard]

    private struct Owner {
        var worker: Int
        /// `never` while the flow lives; then until when its late segments are the worker's.
        var until = Instant.never
    }

    private struct Content {
        var owners: [FlowKey: Owner] = [:]
        /// The flows that are over, the oldest first.
        var ended: [(key: FlowKey, until: Instant)] = []
        /// How many of them are forgotten already.
        var forgotten = 0

        /// Forgets flows whose time is over: as many as are ended in the meantime, so they don't pile up.
        mutating func tidy(_ now: Instant) {
            while forgotten < ended.count, ended[forgotten].until <= now {
                let (key, until) = ended[forgotten]
                if owners[key]?.until == until { owners[key] = nil }
                forgotten += 1
            }
            guard forgotten * 2 > ended.count else { return }
            ended.removeFirst(forgotten)
            forgotten = 0
        }
    }

    private final class Shard: Sendable {
        let content = Mutex(Content())
    }

    init() {
        shards = (0..<16).map { _ in Shard() }
    }

    /// Whose flow it is, or was a moment ago.
    func owner(of key: FlowKey, now: Instant) -> Int? {
        shard(key).content.withLock { content in
            guard let owner = content.owners[key], owner.until > now else { return nil }
            return owner.worker
        }
    }

    /// Makes a worker the owner, and says who is it from now: whoever was first, or remembers the flow.
    func claim(_ key: FlowKey, for worker: Int, now: Instant) -> Int {
        shard(key).content.withLock { content in
            content.tidy(now)
            if let owner = content.owners[key], owner.worker != worker, owner.until > now { return owner.worker }
            content.owners[key] = Owner(worker: worker)
            return worker
        }
    }

    /// Gives a flow up.
    func release(_ key: FlowKey, by worker: Int) {
        shard(key).content.withLock { content in
            if content.owners[key]?.worker == worker { content.owners[key] = nil }
        }
    }

    /// Gives a flow up whose late segments are answered until then by the worker that remembers it.
    func release(_ key: FlowKey, by worker: Int, keepingUntil until: Instant, now: Instant) {
        shard(key).content.withLock { content in
            content.tidy(now)
            guard content.owners[key]?.worker == worker else { return }
            content.owners[key]?.until = until
            content.ended.append((key, until))
        }
    }

    private func shard(_ key: FlowKey) -> Shard {
        shards[Int(key.client.port ^ key.target.port) & 15]
    }
}
