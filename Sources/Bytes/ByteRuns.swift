/// Pieces of chunks that make up one stretch of a stream: what scatter/gather I/O moves in one call.

/// A stretch of bytes inside one chunk.
///
/// Eight octets, because runs travel by value through every layer of the data path.
public struct ByteRun: Equatable, Sendable {
    public var chunk: ChunkID
    @usableFromInline var shortOffset: UInt16
    @usableFromInline var shortCount: UInt16

    /// The first octet, 0 ..< `BufferPool.chunkSize`.
    @inlinable public var offset: Int {
        get { Int(shortOffset) }
        set { shortOffset = UInt16(newValue) }
    }

    @inlinable public var count: Int {
        get { Int(shortCount) }
        set { shortCount = UInt16(newValue) }
    }

    @inlinable public init(chunk: ChunkID, offset: Int, count: Int) {
        self.chunk = chunk
        shortOffset = UInt16(offset)
        shortCount = UInt16(count)
    }
}

/// Up to eight runs in the order of the stream; 64 KiB needs five at most.
public struct ByteRuns: Sendable {
    public static let capacity = 8

    @usableFromInline var runs: InlineArray<8, ByteRun>
    @usableFromInline var shortRunCount: UInt32 = 0
    @usableFromInline var shortByteCount: UInt32 = 0

    /// How many runs there are, 0 to 8.
    @inlinable public var runCount: Int { Int(shortRunCount) }

    /// How many bytes all runs have.
    @inlinable public var byteCount: Int { Int(shortByteCount) }

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
        shortRunCount += 1
        shortByteCount += UInt32(run.count)
    }

    @inlinable public subscript(_ index: Int) -> ByteRun { runs[index] }
}
