/// The memory that a worker gives back when it is quiet.

import Bytes
import Flows
import LinuxIO

extension Worker {
    /// How long free buffers keep their memory: once or twice this.
    private static var tidyInterval: Interval { .seconds(1) }
    /// Chunks that stay, so that a quiet gateway does not start cold.
    private static var warmChunks: Int { 64 }

    /// Whether there is much more memory than flows and their bytes need just now.
    private var hasSpareMemory: Bool {
        pool.resident > pool.used + Self.warmChunks || flows.placeCount > 2 * flows.count + 1024
    }

    /// Gives memory back that was not used for a while, whether its flows have ended or only gone quiet.
    mutating func tidy() {
        busiest = max(busiest, pool.used)
        guard tidyAt <= now else {
            if tidyAt == .never, hasSpareMemory { tidyAt = now + Self.tidyInterval }
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
        if before != (pool.resident, flows.placeCount) { ProcessMemory.trim() }
    }
}
