/// The pool's budget and memory.

import Bytes
import TestSupport
import Testing

@Suite struct BufferPoolTests {
    @Test func staysWithinItsBudget() {
        var pool = BufferPool(budget: 3 * BufferPool.chunkSize + 100)
        let taken = (0..<5).map { _ in pool.take() }
        #expect(taken.prefix(3).allSatisfy { $0 != nil })
        #expect(taken.suffix(2).allSatisfy { $0 == nil })
        let (used, available, refusals) = (pool.used, pool.available, pool.refusals)
        #expect(used == 3)
        #expect(available == 0)
        #expect(refusals == 2)
    }

    @Test func hasOneChunkAtLeast() {
        var pool = BufferPool(budget: 1)
        let chunk = pool.take()
        #expect(chunk != nil)
    }

    @Test func handsTheWarmestChunkOutFirst() throws {
        var pool = BufferPool(budget: 4 * BufferPool.chunkSize)
        let first = try taken(&pool)
        let second = try taken(&pool)
        pool.give(first)
        pool.give(second)
        let again = pool.take()
        #expect(again == second)
    }

    @Test func givesColdMemoryBackAndTakesItAgain() throws {
        var pool = BufferPool(budget: 8 * BufferPool.chunkSize)
        let chunks = try (0..<8).map { _ in try taken(&pool) }
        for chunk in chunks.prefix(6) { pool.give(chunk) }
        pool.releaseCold(keeping: 3)
        var resident = pool.resident
        #expect(resident == 3)
        // What is in use is never taken away.
        pool.releaseCold(keeping: 0)
        resident = pool.resident
        #expect(resident == 2)
        let again = try (0..<6).map { _ in try taken(&pool) }
        for chunk in again {
            let run = ByteRun(chunk: chunk, offset: 0, count: BufferPool.chunkSize)
            pool.withMutableBytes(run) { $0[BufferPool.chunkSize - 1] = 1 }
        }
        let (used, all) = (pool.used, pool.resident)
        #expect(used == 8)
        #expect(all == 8)
    }

    @Test func lendsTheBytesOfARun() throws {
        var pool = BufferPool(budget: BufferPool.chunkSize)
        let chunk = try taken(&pool)
        pool.withMutableBytes(ByteRun(chunk: chunk, offset: 100, count: 3)) { $0.copy([1, 2, 3].span, at: 0) }
        let read = pool.withBytes(ByteRun(chunk: chunk, offset: 101, count: 2)) { [UInt8](copying: $0) }
        #expect(read == [2, 3])
    }

    @Test func trapsOnRunsThatLeaveTheirChunk() async {
        await #expect(processExitsWith: .failure) {
            var pool = BufferPool(budget: BufferPool.chunkSize)
            guard let chunk = pool.take() else { return }
            pool.withBytes(ByteRun(chunk: chunk, offset: 1, count: BufferPool.chunkSize)) { _ in }
        }
    }

    private func taken(_ pool: inout BufferPool) throws -> ChunkID {
        let chunk = pool.take()
        return try #require(chunk)
    }
}
