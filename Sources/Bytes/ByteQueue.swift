/// A first-in first-out of bytes in chunks of a pool.
///
/// Every chunk of the chain but the last is full to its end, so the place of a byte is plain arithmetic and
/// a walk along the chain. An empty queue holds no chunk. The queue must be given back with `removeAll`
/// before it goes away: it does not know its pool.
public struct ByteQueue: ~Copyable, Sendable {
    private var head = ChunkID.none
    private var tail = ChunkID.none
    /// Where the first byte stands in the first chunk.
    private var start: Int32 = 0
    private var length: Int32 = 0

    public init() {}

    /// How many bytes wait.
    public var count: Int { Int(length) }

    public var isEmpty: Bool { length == 0 }

    /// Whether bytes beyond the last one fit into the chunk that is already held.
    private var roomInTail: Int {
        guard tail != .none else { return 0 }
        let used = (Int(start) + Int(length)) % BufferPool.chunkSize
        return used == 0 && length > 0 ? 0 : BufferPool.chunkSize - used
    }

    /// Up to `wanted` bytes of free space behind the last byte, taken from the pool as needed.
    ///
    /// Fill it in order, then say with `commit` how much was filled: what was not is given back there.
    public mutating func reserve(_ wanted: Int, in pool: inout BufferPool) -> ByteRuns {
        var space = ByteRuns()
        if roomInTail > 0 {
            let offset = BufferPool.chunkSize - roomInTail
            space.append(ByteRun(chunk: tail, offset: offset, count: min(roomInTail, wanted)))
        }
        while space.byteCount < wanted, !space.isFull, let chunk = pool.take() {
            if tail == .none { head = chunk } else { pool[after: tail] = chunk }
            tail = chunk
            space.append(ByteRun(chunk: chunk, offset: 0, count: min(BufferPool.chunkSize, wanted - space.byteCount)))
        }
        return space
    }

    /// Takes over the first `filled` bytes of the space that `reserve` returned and gives the rest back.
    public mutating func commit(_ filled: Int, of space: ByteRuns, in pool: inout BufferPool) {
        precondition(filled >= 0 && filled <= space.byteCount, "more committed than reserved")
        length += Int32(filled)
        if length == 0 { return dropAfter(.none, in: &pool) }
        if filled == space.byteCount { return }
        dropAfter(lastHeld(of: space, filled: filled, in: pool), in: &pool)
    }

    /// Appends a copy of bytes and returns how many found room.
    public mutating func append(_ bytes: Span<UInt8>, in pool: inout BufferPool) -> Int {
        var done = 0
        while done < bytes.count {
            let space = reserve(bytes.count - done, in: &pool)
            if space.byteCount == 0 { break }
            for index in 0..<space.runCount {
                let run = space[index]
                pool.withMutableBytes(run) { $0.copy(bytes.extracting(done..<done + run.count), at: 0) }
                done += run.count
            }
            commit(space.byteCount, of: space, in: &pool)
        }
        return done
    }

    /// The runs of `count` bytes from `offset` on, as many as fit into one `ByteRuns`.
    public func runs(from offset: Int, count wanted: Int, in pool: borrowing BufferPool) -> ByteRuns {
        precondition(offset >= 0 && wanted >= 0 && offset + wanted <= count, "a run leaves its queue")
        var runs = ByteRuns()
        guard wanted > 0 else { return runs }
        var position = Int(start) + offset
        var chunk = head
        while position >= BufferPool.chunkSize {
            chunk = pool[after: chunk]
            position -= BufferPool.chunkSize
        }
        var left = wanted
        while left > 0, !runs.isFull {
            let piece = min(left, BufferPool.chunkSize - position)
            runs.append(ByteRun(chunk: chunk, offset: position, count: piece))
            left -= piece
            position = 0
            if left > 0 { chunk = pool[after: chunk] }
        }
        return runs
    }

    /// Drops the first `count` bytes and gives chunks that are empty now back.
    public mutating func removeFirst(_ count: Int, in pool: inout BufferPool) {
        precondition(count >= 0 && count <= self.count, "more removed than there is")
        length -= Int32(count)
        guard length > 0 else { return dropAfter(.none, in: &pool) }
        var position = Int(start) + count
        while position >= BufferPool.chunkSize {
            let next = pool[after: head]
            pool.give(head)
            head = next
            position -= BufferPool.chunkSize
        }
        start = Int32(position)
    }

    /// Gives every chunk back; the queue is empty afterwards.
    public mutating func removeAll(in pool: inout BufferPool) {
        length = 0
        dropAfter(.none, in: &pool)
    }

    /// The chunk that holds the last byte after `filled` bytes of `space` were taken over.
    private func lastHeld(of space: ByteRuns, filled: Int, in pool: borrowing BufferPool) -> ChunkID {
        var left = filled
        for index in 0..<space.runCount {
            let run = space[index]
            if left <= run.count, left > 0 || run.offset > 0 { return run.chunk }
            left -= run.count
        }
        // Nothing was filled and the space began a chunk of its own: the last byte is at the end of the one before.
        var chunk = head
        var position = Int(start) + Int(length) - 1
        while position >= BufferPool.chunkSize {
            chunk = pool[after: chunk]
            position -= BufferPool.chunkSize
        }
        return chunk
    }

    /// Gives back what follows `keep` in the chain, or the whole chain for `.none`.
    private mutating func dropAfter(_ keep: ChunkID, in pool: inout BufferPool) {
        var chunk = keep == .none ? head : pool[after: keep]
        while chunk != .none {
            let next = pool[after: chunk]
            pool.give(chunk)
            chunk = next
        }
        if keep == .none {
            head = .none
            start = 0
        } else {
            pool[after: keep] = .none
        }
        tail = keep
    }
}
