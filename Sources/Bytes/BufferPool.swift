/// All bytes that wait in the gateway, under one budget.
///
/// A pool hands out chunks of one size. The most recently returned chunk is handed out first, because its
/// memory is still in the cache. Chunks form chains through a table of the pool's own, so a queue of bytes
/// is two numbers and a count and needs no allocation of its own.
///
/// Memory is taken from the system when a chunk is used for the first time and given back by
/// `releaseCold`, so what the process holds follows the data and not its highest tide.

/// The number of a chunk of a `BufferPool`.
public struct ChunkID: Hashable, Sendable {
    @usableFromInline let number: UInt32

    @usableFromInline init(number: UInt32) { self.number = number }

    /// The end of a chain.
    public static let none = ChunkID(number: .max)
}

/// A bounded store of equal chunks of bytes.
///
/// One worker owns it; it is not shared between threads.
@safe public struct BufferPool: ~Copyable {
    /// The octets of a chunk.
    public static let chunkSize = 16384

    @usableFromInline var memory: [UnsafeMutablePointer<UInt8>?] = unsafe []
    @usableFromInline var successors: [ChunkID] = []
    private var free: [ChunkID] = []

    /// The most chunks that may be in use at a time.
    public let limit: Int

    /// How many chunks are in use.
    public private(set) var used = 0

    /// How many chunks hold memory of the system, in use or free.
    public private(set) var resident = 0

    /// How often a chunk was wanted and the budget was spent.
    public private(set) var refusals = 0

    /// Makes a pool of at most `budget` octets, rounded down to whole chunks, and at least one chunk.
    public init(budget: Int) {
        limit = max(1, budget / Self.chunkSize)
    }

    deinit {
        for index in unsafe memory.indices { unsafe memory[index]?.deallocate() }
    }

    /// How many octets may still be taken.
    public var available: Int { (limit - used) * Self.chunkSize }

    /// Takes a chunk, or returns nil when the budget is spent.
    ///
    /// Its bytes are whatever was there before.
    public mutating func take() -> ChunkID? {
        guard used < limit else {
            refusals += 1
            return nil
        }
        used += 1
        guard let chunk = free.popLast() else {
            let chunk = unsafe ChunkID(number: UInt32(memory.count))
            unsafe memory.append(Self.allocate())
            successors.append(.none)
            resident += 1
            return chunk
        }
        if unsafe memory[Int(chunk.number)] == nil {
            unsafe memory[Int(chunk.number)] = Self.allocate()
            resident += 1
        }
        successors[Int(chunk.number)] = .none
        return chunk
    }

    /// Gives a chunk back; nobody may use it afterwards.
    public mutating func give(_ chunk: ChunkID) {
        used -= 1
        free.append(chunk)
    }

    /// Returns the memory of free chunks to the system until at most `keeping` chunks hold any, the longest
    /// unused ones first.
    public mutating func releaseCold(keeping: Int) {
        for chunk in free where resident > keeping {
            guard let bytes = unsafe memory[Int(chunk.number)] else { continue }
            unsafe bytes.deallocate()
            unsafe memory[Int(chunk.number)] = nil
            resident -= 1
        }
    }

    /// The chunk that follows in a chain, or `.none`.
    @inlinable public subscript(after chunk: ChunkID) -> ChunkID {
        get { successors[Int(chunk.number)] }
        set { successors[Int(chunk.number)] = newValue }
    }

    /// Lends `count` bytes of a chunk from `offset` on.
    public func withBytes<Result, Failure: Error>(
        _ run: ByteRun, _ body: (Span<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        // Safe: `pointer` has checked the range, and UInt8 accepts every bit pattern.
        try unsafe body(Span(_unsafeStart: pointer(to: run), count: run.count))
    }

    /// Lends `count` bytes of a chunk for writing.
    public mutating func withMutableBytes<Result, Failure: Error>(
        _ run: ByteRun, _ body: (inout MutableSpan<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        // Safe: as above, and the pool is borrowed exclusively.
        var span = unsafe MutableSpan(_unsafeStart: pointer(to: run), count: run.count)
        return try body(&span)
    }

    /// Where a run's bytes stand, for scatter/gather system calls (LinuxIO) alone.
    ///
    /// The pointer is good for `run.count` bytes until the chunk is given back.
    public func pointer(to run: ByteRun) -> UnsafeMutablePointer<UInt8> {
        precondition(
            run.offset >= 0 && run.count >= 0 && run.offset + run.count <= Self.chunkSize, "a run leaves its chunk")
        guard let base = unsafe memory[Int(run.chunk.number)] else { preconditionFailure("a run of a cold chunk") }
        return unsafe base + run.offset
    }

    /// Memory that nobody has touched: pages of a chunk that hold no data cost nothing.
    ///
    /// UInt8 accepts every bit pattern, and a queue lends only bytes that were filled.
    private static func allocate() -> UnsafeMutablePointer<UInt8> {
        .allocate(capacity: chunkSize)
    }
}
