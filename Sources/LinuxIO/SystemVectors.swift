/// Scatter/gather lists (iovec) on the stack.

internal import Bytes
internal import Glibc

/// Lends the kernel's form of runs of a pool.
///
/// The vectors are good during the call alone.
@inline(__always)
func withSystemVectors(
    _ runs: ByteRuns, _ pool: borrowing BufferPool, _ body: (UnsafeMutablePointer<iovec>, CInt) -> Int
) -> Int {
    unsafe withUnsafeTemporaryAllocation(of: iovec.self, capacity: ByteRuns.capacity) { vectors in
        // Safe: the allocation has room for the most runs there are, so it has a base address.
        let base = vectors.baseAddress!
        unsafe fill(base, with: runs, pool)
        return unsafe body(base, CInt(runs.runCount))
    }
}

/// Lends the kernel's form of a header followed by runs of a pool.
@inline(__always)
func withSystemVectors(
    header: Span<UInt8>, _ runs: ByteRuns, _ pool: borrowing BufferPool,
    _ body: (UnsafeMutablePointer<iovec>, CInt) -> Int
) -> Int {
    unsafe header.withUnsafeBufferPointer { bytes in
        unsafe withUnsafeTemporaryAllocation(of: iovec.self, capacity: ByteRuns.capacity + 1) { vectors in
            // Safe: as above; the kernel only reads what a writev names, so the header may be called mutable.
            let base = vectors.baseAddress!
            let header = unsafe UnsafeMutableRawPointer(mutating: bytes.baseAddress)
            unsafe base.initialize(to: iovec(iov_base: header, iov_len: bytes.count))
            unsafe fill(base + 1, with: runs, pool)
            return unsafe body(base, CInt(runs.runCount + 1))
        }
    }
}

@inline(__always)
private func fill(_ vectors: UnsafeMutablePointer<iovec>, with runs: ByteRuns, _ pool: borrowing BufferPool) {
    for index in 0..<runs.runCount {
        let run = runs[index]
        let vector = unsafe iovec(iov_base: pool.pointer(to: run), iov_len: run.count)
        unsafe (vectors + index).initialize(to: vector)
    }
}
