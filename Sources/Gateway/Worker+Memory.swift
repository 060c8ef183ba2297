/// The memory that a worker gives back when it is quiet.

import Bytes
import Flows
import LinuxIO

extension Worker {
    /// How long free buffers keep their memory: once or twice this.
    private static var tidyInterval: Interval { .seconds(1) }
    /// Chunks that stay, so that a quiet gateway does not start cold.
    private static var warmChunks: Int { 64 }
    /// At most so often all that a load has needed goes back, or a phone that asks every few seconds paid for it.
    private static var restInterval: Interval { .seconds(30) }

    /// Whether there is much more memory than flows and their bytes need just now.
    private var hasSpareMemory: Bool {
        pool.resident > pool.used + Self.warmChunks || flows.placeCount > 2 * flows.count + 1024
    }

    /// Whether nothing is carried.
    private var isAtRest: Bool { flows.count == 0 && datagrams.flows.count == 0 }

    /// Gives memory back that was not used for a while, whether its flows have ended or only gone quiet.
    mutating func tidy() {
        busiest = max(busiest, pool.used)
        if !isAtRest { hasWorked = true }
        guard tidyAt <= now else {
            tidyAt = min(tidyAt, nextTidying)
            return
        }
        tidyAt = .never
        let needed = busiest + Self.warmChunks
        busiest = pool.used
        let before = (pool.resident, flows.placeCount)
        if pool.resident > needed { pool.releaseCold(keeping: needed) }
        flows.releaseVacantPages()
        dials.releaseVacantPages()
        sniffs.releaseVacantPages()
        datagrams.flows.releaseVacantPages()
        let goesToRest = hasWorked && isAtRest && restedAt + Self.restInterval <= now
        if before != (pool.resident, flows.placeCount) || goesToRest { ProcessMemory.trim() }
        if goesToRest {
            ProcessMemory.releaseCode()
            (hasWorked, restedAt) = (false, now)
        }
    }

    /// When memory is to be looked at, as things are now.
    private var nextTidying: Instant {
        if hasSpareMemory { return now + Self.tidyInterval }
        return hasWorked && isAtRest ? max(now + Self.tidyInterval, restedAt + Self.restInterval) : .never
    }
}
