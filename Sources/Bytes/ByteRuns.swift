/// Pieces of chunks that make up one stretch of a stream: what scatter/gather I/O moves in one call.

/// A stretch of bytes inside one chunk.
public struct ByteRun: Equatable, Sendable {
    public var chunk: ChunkID
    /// The first octet, 0 ..< `BufferPool.chunkSize`.
    public var offset: Int
    public var count: Int

    @inlinable public init(chunk: ChunkID, offset: Int, count: Int) {
        self.chunk = chunk
        self.offset = offset
        self.count = count
    }
}

/// Up to eight runs in the order of the stream; 64 KiB needs five at most.
public struct ByteRuns: Sendable {
    public static let capacity = 8

    @usableFromInline var runs: InlineArray<8, ByteRun>

    /// How many runs there are, 0 to 8.
    public private(set) var runCount = 0

    /// How many bytes all runs have.
    public private(set) var byteCount = 0

    public init() {
        runs = InlineArray(repeating: ByteRun(chunk: .none, offset: 0, count: 0))
    }

    public var isFull: Bool { runCount == Self.capacity }

    /// Adds a run; there must be room for it.
    ///
    /// An empty one is passed over.
    public mutating func append(_ run: ByteRun) {
        guard run.count > 0 else { return }
        precondition(!isFull, "too many runs")
        runs[runCount] = run
        runCount += 1
        byteCount += run.count
    }

    @inlinable public subscript(_ index: Int) -> ByteRun { runs[index] }
}
