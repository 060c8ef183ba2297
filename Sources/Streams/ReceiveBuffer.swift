/// What came of the client and was not taken on yet, in chunks of the caller's pool.

import Bytes
import Wire

/// The client's octets from the first that the upstream has not taken on, each at its place.
///
/// Slots of a chunk's size follow each other along the stream; a slot takes its chunk from the pool when the
/// first octet falls into it, so octets far ahead of a hole cost nothing for the hole. What is in order is
/// `unread`; what lies ahead is described by sorted, disjoint ranges, which are also what SACK reports.
struct ReceiveBuffer: ~Copyable {
    /// The chunks of the slots, `.none` where nothing was stored; empty when nothing waits at all.
    private var slots: [ChunkID] = []
    /// Where `base` stands in the first slot.
    @Compact private var start = 0
    /// The first octet that is not read.
    private(set) var base: SequenceNumber
    /// How many octets are in order from `base` on.
    @Compact private(set) var unread = 0
    /// The stretches ahead of a hole.
    private(set) var ranges: [SACKBlock] = []

    init(base: SequenceNumber) { self.base = base }

    /// The first octet that is missing.
    var next: SequenceNumber { base + unread }

    var isOrdered: Bool { ranges.isEmpty }

    /// Whether the octet is one of those that are held ahead of a hole.
    func range(holding octet: SequenceNumber) -> SACKBlock? {
        for range in ranges where range.start <= octet && octet < range.end { return range }
        return nil
    }

    // MARK: In order

    /// Stores octets that come next and returns how many found room in the pool.
    mutating func append(_ bytes: Span<UInt8>, in pool: inout BufferPool) -> Int {
        let stored = write(bytes, at: unread, in: &pool)
        unread += stored
        joinRanges()
        return stored
    }

    /// Passes over octets that come next and were taken by the upstream without having been stored.
    mutating func skip(_ count: Int, in pool: inout BufferPool) {
        precondition(unread == 0, "octets overtake unread ones")
        guard count > 0 else { return }
        move(by: count, in: &pool)
        joinRanges()
        settle(in: &pool)
    }

    /// The octets that can be read now, as many as fit into one `ByteRuns`.
    func unreadRuns() -> ByteRuns {
        var runs = ByteRuns()
        var position = start
        var left = unread
        var slot = 0
        while left > 0, !runs.isFull {
            let count = min(left, BufferPool.chunkSize - position)
            runs.append(ByteRun(chunk: slots[slot], offset: position, count: count))
            left -= count
            position = 0
            slot += 1
        }
        return runs
    }

    /// Drops octets that were read.
    mutating func removeUnread(_ count: Int, in pool: inout BufferPool) {
        precondition(count >= 0 && count <= unread, "more read than there is")
        unread -= count
        move(by: count, in: &pool)
        settle(in: &pool)
    }

    // MARK: Ahead of a hole

    /// What became of octets ahead of a hole.
    enum Insertion { case stored, duplicate, outOfMemory, tooManyRanges }

    /// Keeps octets that begin beyond `next`.
    ///
    /// What the pool has no room for is forgotten; so is everything when the ranges would become more than
    /// `limit`.
    mutating func insert(
        _ bytes: Span<UInt8>, at sequence: SequenceNumber, limit: Int, in pool: inout BufferPool
    ) -> Insertion {
        let end = sequence + bytes.count
        if let held = range(holding: sequence), end <= held.end { return .duplicate }
        // The place of the first range that touches the new one or lies behind it.
        var first = ranges.count
        while first > 0, ranges[first - 1].end >= sequence { first -= 1 }
        let touches = first < ranges.count && ranges[first].start <= end
        guard touches || ranges.count < limit else { return .tooManyRanges }

        let stored = write(bytes, at: sequence - base, in: &pool)
        guard stored > 0 else {
            settle(in: &pool)
            return .outOfMemory
        }
        var merged = SACKBlock(sequence, sequence + stored)
        var last = first
        while last < ranges.count, ranges[last].start <= merged.end {
            if ranges[last].start < merged.start { merged.start = ranges[last].start }
            if ranges[last].end > merged.end { merged.end = ranges[last].end }
            last += 1
        }
        if last == first {
            ranges.insert(merged, at: first)
        } else {
            ranges[first] = merged
            ranges.removeSubrange(first + 1..<last)
        }
        return stored == bytes.count ? .stored : .outOfMemory
    }

    /// Gives every chunk back.
    mutating func removeAll(in pool: inout BufferPool) {
        unread = 0
        ranges = []
        settle(in: &pool)
    }

    // MARK: Inside

    /// Copies octets to their place, `offset` behind `base`, until the pool refuses a chunk.
    private mutating func write(_ bytes: Span<UInt8>, at offset: Int, in pool: inout BufferPool) -> Int {
        var done = 0
        while done < bytes.count {
            let position = start + offset + done
            let slot = position / BufferPool.chunkSize
            let inside = position % BufferPool.chunkSize
            while slots.count <= slot { slots.append(.none) }
            if slots[slot] == .none {
                guard let chunk = pool.take() else { return done }
                slots[slot] = chunk
            }
            let count = min(bytes.count - done, BufferPool.chunkSize - inside)
            let piece = bytes.extracting(done..<done + count)
            pool.withMutableBytes(ByteRun(chunk: slots[slot], offset: inside, count: count)) { $0.copy(piece, at: 0) }
            done += count
        }
        return done
    }

    /// Lets ranges that have come into reach join the unread octets.
    private mutating func joinRanges() {
        var joined = 0
        while joined < ranges.count, ranges[joined].start <= next {
            if ranges[joined].end > next { unread = ranges[joined].end - base }
            joined += 1
        }
        if joined > 0 { ranges.removeSubrange(0..<joined) }
    }

    /// Moves `base` and gives back the chunks that it leaves behind.
    private mutating func move(by count: Int, in pool: inout BufferPool) {
        base += count
        guard !slots.isEmpty else { return }
        start += count
        let passed = min(start / BufferPool.chunkSize, slots.count)
        guard passed > 0 else { return }
        for index in 0..<passed where slots[index] != .none { pool.give(slots[index]) }
        slots.removeSubrange(0..<passed)
        start = slots.isEmpty ? 0 : start - passed * BufferPool.chunkSize
    }

    /// Holds no chunk, and no more than a small table, when nothing waits.
    private mutating func settle(in pool: inout BufferPool) {
        guard unread == 0, ranges.isEmpty, !slots.isEmpty else { return }
        for chunk in slots where chunk != .none { pool.give(chunk) }
        slots.removeAll(keepingCapacity: slots.capacity <= 16)
        if ranges.capacity > 16 { ranges = [] }
        start = 0
    }
}
