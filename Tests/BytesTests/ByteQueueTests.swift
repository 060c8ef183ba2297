/// The queue of bytes against an array that does the same.

import Bytes
import TestSupport
import Testing

@Suite struct ByteQueueTests {
    @Test func anEmptyQueueHoldsNothing() {
        var pool = BufferPool(budget: 4 * BufferPool.chunkSize)
        var queue = ByteQueue()
        let stored1 = queue.append([1, 2, 3].span, in: &pool)
        #expect(stored1 == 3)
        var used = pool.used
        #expect(used == 1)
        queue.removeFirst(3, in: &pool)
        used = pool.used
        #expect(used == 0)
        let isEmpty = queue.isEmpty
        #expect(isEmpty)
    }

    @Test func takesWhatTheBudgetHolds() {
        var pool = BufferPool(budget: 2 * BufferPool.chunkSize)
        var queue = ByteQueue()
        let bytes = [UInt8](repeating: 5, count: 3 * BufferPool.chunkSize)
        let stored2 = queue.append(bytes.span, in: &pool)
        #expect(stored2 == 2 * BufferPool.chunkSize)
        let count = queue.count
        #expect(count == 2 * BufferPool.chunkSize)
        let stored3 = queue.append([1].span, in: &pool)
        #expect(stored3 == 0)
        queue.removeAll(in: &pool)
        let used = pool.used
        #expect(used == 0)
    }

    @Test func givesReservedSpaceBackThatWasNotFilled() {
        var pool = BufferPool(budget: 10 * BufferPool.chunkSize)
        var queue = ByteQueue()
        var space = queue.reserve(65536, in: &pool)
        #expect(space.byteCount == 65536)
        queue.commit(0, of: space, in: &pool)
        var used = pool.used
        #expect(used == 0)
        space = queue.reserve(65536, in: &pool)
        queue.commit(BufferPool.chunkSize, of: space, in: &pool)
        used = pool.used
        #expect(used == 1)
        // The chunk that is held is full: the next reservation begins another one, and nothing comes.
        space = queue.reserve(100, in: &pool)
        queue.commit(0, of: space, in: &pool)
        used = pool.used
        #expect(used == 1)
        queue.removeAll(in: &pool)
    }

    @Test func aReservationHasAtMostEightRuns() {
        var pool = BufferPool(budget: 20 * BufferPool.chunkSize)
        var queue = ByteQueue()
        let space = queue.reserve(20 * BufferPool.chunkSize, in: &pool)
        #expect(space.runCount == 8)
        queue.commit(space.byteCount, of: space, in: &pool)
        let count = queue.count
        #expect(count == 8 * BufferPool.chunkSize)
        queue.removeAll(in: &pool)
    }

    @Test("behaves like an array", arguments: 0..<8)
    func behavesLikeAnArray(seed: Int) {
        var random = SeededGenerator(seed: UInt64(seed))
        var pool = BufferPool(budget: 12 * BufferPool.chunkSize)
        var queue = ByteQueue()
        var model: [UInt8] = []
        for round in 0..<LongRun.rounds(80, long: 20000) {
            switch random.number(0..<10) {
            case 0..<3:
                let bytes = random.bytes(random.number(0..<random.number(1..<50000)))
                let taken = queue.append(bytes.span, in: &pool)
                model += bytes.prefix(taken)
                let room = pool.available
                if taken < bytes.count { #expect(room == 0) }
            case 3..<6:
                fill(&queue, &model, &pool, &random)
            case 6..<9:
                let count = random.chance(0.2) ? model.count : random.number(0..<model.count + 1)
                queue.removeFirst(count, in: &pool)
                model.removeFirst(count)
            default:
                if random.chance(0.1) {
                    queue.removeAll(in: &pool)
                    model = []
                }
            }
            guard agree(queue, model, pool, &random) else {
                Issue.record("seed \(seed), round \(round): the queue differs from its model")
                return
            }
        }
        queue.removeAll(in: &pool)
        let used = pool.used
        #expect(used == 0)
    }

    /// Reserves some space and fills a part of it.
    private func fill(
        _ queue: inout ByteQueue, _ model: inout [UInt8], _ pool: inout BufferPool, _ random: inout SeededGenerator
    ) {
        let space = queue.reserve(random.number(1..<100_000), in: &pool)
        let filled = random.chance(0.3) ? space.byteCount : random.number(0..<space.byteCount + 1)
        let bytes = random.bytes(filled)
        var done = 0
        for index in 0..<space.runCount where done < filled {
            let count = min(space[index].count, filled - done)
            let run = ByteRun(chunk: space[index].chunk, offset: space[index].offset, count: count)
            pool.withMutableBytes(run) { $0.copy(bytes.span.extracting(done..<done + count), at: 0) }
            done += count
        }
        queue.commit(filled, of: space, in: &pool)
        model += bytes
    }

    /// Whether the queue holds the model's bytes, and no more chunks than it needs.
    private func agree(
        _ queue: borrowing ByteQueue, _ model: [UInt8], _ pool: borrowing BufferPool, _ random: inout SeededGenerator
    ) -> Bool {
        guard queue.count == model.count, queue.isEmpty == model.isEmpty else { return false }
        guard pool.used <= (model.count + 2 * BufferPool.chunkSize - 2) / BufferPool.chunkSize else { return false }
        if model.isEmpty { return pool.used == 0 }
        let start = random.number(0..<model.count)
        let runs = queue.runs(from: start, count: model.count - start, in: pool)
        var position = start
        for index in 0..<runs.runCount {
            let run = runs[index]
            let bytes = pool.withBytes(run) { [UInt8](copying: $0) }
            guard bytes[...] == model[position..<position + run.count] else { return false }
            position += run.count
        }
        return runs.isFull || position == model.count
    }
}
