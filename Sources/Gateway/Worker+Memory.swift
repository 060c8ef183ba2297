/// What happens to flows when the buffer pool is empty, and the memory that is given back when it is quiet.

import Bytes
import Flows
import LinuxIO
import Relay

extension Worker {
    /// Notes that a flow could not go on because no buffer was left: nothing else may happen to it, so it is served
    /// again when memory comes back.
    mutating func starve(_ handle: Handle) {
        starvedAt = pool.used
        guard !flows[handle].isStarved else { return }
        counters.outOfMemory += 1
        flows[handle].isStarved = true
        starved.append(handle)
    }

    /// Serves the flows that found no memory, once there is more than there was then.
    mutating func feedStarved() {
        guard !starved.isEmpty, pool.used < starvedAt else { return }
        for handle in starved where flows.contains(handle) {
            flows[handle].isStarved = false
            touch(handle)
        }
        starved.removeAll()
    }

    /// Ends a flow that has lost octets for want of memory: a hole in a stream is worse than its end.
    mutating func lacksMemory(_ handle: Handle) {
        counters.outOfMemory += 1
        flows[handle].ends(.noMemory)
        flows[handle].resetsWhenDrained = true
    }

    /// The longest that free buffers keep their memory.
    private static var tidyInterval: Interval { .seconds(1) }
    /// Chunks that stay, so that a quiet gateway does not start cold.
    private static var warmChunks: Int { 64 }

    /// Has memory that nobody uses given back in a while.
    mutating func tidySoon() {
        if tidyAt == .never { tidyAt = now + Self.tidyInterval }
    }

    /// Gives memory back when it is time.
    mutating func tidy() {
        guard tidyAt <= now else { return }
        tidyAt = .never
        let needed = pool.used + Self.warmChunks
        guard pool.resident > needed else { return }
        pool.releaseCold(keeping: needed)
        ProcessMemory.trim()
    }
}
