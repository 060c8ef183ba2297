/// The end of a flow that is a socket: an upstream, or the client of the SOCKS5 and HTTP inbounds.
///
/// Its descriptor is registered once and edge-triggered, so what the kernel said last is remembered here:
/// an end stays readable until a read finds less than it asked for, and writable until a write is cut short.

public import Bytes
public import LinuxIO

/// A socket with what is known about its readiness, and the bytes that it did not take yet.
public struct SocketEnd: ~Copyable {
    public let socket: Socket

    /// Whether a read may bring something.
    public private(set) var isReadable: Bool
    /// Whether a write may be taken.
    public private(set) var isWritable: Bool
    /// Whether the kernel may have announced the end already: then a short read is no sign of "not now", because no
    /// event will come for the end that is behind it.
    private var mayHaveEnded: Bool

    /// Whether the poller tells when the socket takes bytes again.
    public var watchesWritable: Bool
    /// Whether nobody would tell when the socket takes bytes again.
    public var needsWritableWatch: Bool { !isWritable && !watchesWritable && failure == nil }

    /// Bytes on their way to the socket.
    public var waiting = ByteQueue()

    /// Why the connection is over, when it failed.
    public private(set) var failure: ErrorNumber?

    /// Takes over a socket.
    ///
    /// With `mayHaveEnded` events were seen by others before, so its end may have been announced.
    public init(
        _ socket: consuming Socket, isReadable: Bool, isWritable: Bool, mayHaveEnded: Bool = false,
        watchesWritable: Bool = true
    ) {
        self.watchesWritable = watchesWritable
        self.socket = socket
        self.mayHaveEnded = mayHaveEnded
        self.isReadable = isReadable
        self.isWritable = isWritable
    }

    /// Takes note of an event of the poller.
    public mutating func note(_ event: PolledEvent) {
        if event.readable || event.hungUp || event.error { isReadable = true }
        if event.writable || event.error { isWritable = true }
        if event.hungUp || event.error { mayHaveEnded = true }
        // What was received before can still be read.
        if event.error, failure == nil { failure = socket.connectError() }
    }

    /// Sends bytes at once; returns how many the socket took.
    public mutating func send(_ bytes: Span<UInt8>) -> Int {
        guard isWritable, failure == nil, bytes.count > 0 else { return 0 }
        return took(socket.write(bytes), of: bytes.count)
    }

    /// Sends runs of the pool at once; returns how many bytes the socket took.
    public mutating func send(_ runs: ByteRuns, pool: borrowing BufferPool) -> Int {
        guard isWritable, failure == nil, runs.byteCount > 0 else { return 0 }
        return took(socket.write(runs, pool: pool), of: runs.byteCount)
    }

    /// Sends what waits, as far as the socket takes it; returns whether it took something.
    @discardableResult public mutating func flush(pool: inout BufferPool) -> Bool {
        let before = waiting.count
        while !waiting.isEmpty, isWritable, failure == nil {
            let runs = waiting.runs(from: 0, count: waiting.count, in: pool)
            waiting.removeFirst(send(runs, pool: pool), in: &pool)
        }
        return waiting.count < before
    }

    /// Reads into space of the pool.
    public mutating func read(into runs: ByteRuns, pool: inout BufferPool) -> ReadOutcome {
        let outcome = socket.read(into: runs, pool: &pool)
        noted(outcome, of: runs.byteCount)
        return outcome
    }

    /// Reads up to `limit` bytes behind those that an array has.
    public mutating func read(appendingTo bytes: inout [UInt8], limit: Int) -> ReadOutcome {
        let outcome = socket.read(appendingTo: &bytes, limit: limit)
        noted(outcome, of: limit)
        return outcome
    }

    /// Gives back what waits; must be called before the end goes away.
    public mutating func release(pool: inout BufferPool) {
        waiting.removeAll(in: &pool)
    }

    private mutating func took(_ outcome: WriteOutcome, of wanted: Int) -> Int {
        switch outcome {
        case .bytes(let count):
            if count < wanted { isWritable = false }
            return count
        case .wouldBlock:
            isWritable = false
            return 0
        case .failed(let reason):
            failure = reason
            return 0
        }
    }

    private mutating func noted(_ outcome: ReadOutcome, of wanted: Int) {
        switch outcome {
        case .bytes(let count):
            if count < wanted, !mayHaveEnded { isReadable = false }
        case .end:
            isReadable = false
        case .wouldBlock:
            // At its end a socket never says this.
            isReadable = false
            mayHaveEnded = false
        case .failed(let reason):
            isReadable = false
            failure = reason
        }
    }
}
