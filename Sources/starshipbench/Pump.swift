/// One direction of a stream: what one socket receives goes out by another one, or by the same (an echo).
///
/// A short stream is copied through a buffer that all share, which costs no descriptor. What the target does
/// not take at once, and everything once the stream has proved to be long, goes through a pipe of the shelf
/// by splice. The pipe goes back to the shelf whenever it is empty.

internal import Bytes
internal import LinuxIO

/// Pipes that are open and free.
struct PipeShelf: ~Copyable {
    /// Large enough for one pass of a fast stream, and what an unprivileged process may still ask for.
    static let capacity = 1 << 20

    private var pipes = Slab<Pipe>()
    private var free: [Handle] = []

    /// Takes a pipe, opening one when none is free; nil when the process can open no more.
    mutating func take() -> Handle? {
        if let handle = free.popLast() { return handle }
        guard let pipe = try? Pipe(capacity: Self.capacity) else { return nil }
        return pipes.insert(pipe)
    }

    /// Takes an empty pipe back.
    mutating func give(_ handle: Handle) { free.append(handle) }

    /// Closes a pipe that still holds bytes of a stream that is gone.
    mutating func discard(_ handle: Handle) { _ = pipes.remove(handle) }

    subscript(_ handle: Handle) -> Pipe {
        _read { yield pipes[handle] }
    }
}

/// What all pumps of a process share.
struct PumpRoom: ~Copyable {
    var shelf = PipeShelf()
    /// Smaller than a pipe, so that whatever is left of it always finds room in one.
    var buffer = [UInt8](repeating: 0, count: 32768)
}

/// The state of one direction.
struct Pump {
    enum Outcome {
        /// Nothing more to do until a socket is ready.
        case waiting
        /// Its turn is over, and there may be more at once.
        case more
        /// The source has ended and the target has been told.
        case finished
        case failed
    }

    /// From here on bytes move by splice.
    private static let long = 262_144
    /// The calls of one turn, so that one stream does not hold up the others.
    private static let turn = 16

    /// The bytes that went out.
    private(set) var moved = 0
    private var pipe: Handle?
    private var waiting = 0
    private var ended = false
    /// The source has ended and the target knows.
    private(set) var isFinished = false

    /// Whether bytes wait for the target.
    var isBlocked: Bool { waiting > 0 }

    /// Moves what can be moved; `drained` tells that a short read empties the source (no end of stream is due).
    mutating func run(
        from source: borrowing Socket, to target: borrowing Socket, room: inout PumpRoom, drained: Bool
    ) -> Outcome {
        if isFinished { return .finished }
        for _ in 0..<Self.turn {
            if waiting > 0 {
                guard let outcome = empty(into: target, room) else { continue }
                return outcome
            }
            if ended {
                putBack(&room)
                target.shutdownSend()
                isFinished = true
                return .finished
            }
            let outcome =
                moved < Self.long
                ? copy(from: source, to: target, &room, drained: drained) : fill(from: source, &room)
            if let outcome { return outcome }
        }
        return .more
    }

    /// Gives the pipe up when the stream goes away.
    mutating func release(_ room: inout PumpRoom) {
        if waiting > 0, let pipe { room.shelf.discard(pipe) } else { putBack(&room) }
        pipe = nil
        waiting = 0
    }

    /// Passes bytes through the shared buffer; nil when it may go on.
    private mutating func copy(
        from source: borrowing Socket, to target: borrowing Socket, _ room: inout PumpRoom, drained: Bool
    ) -> Outcome? {
        var space = room.buffer.mutableSpan
        switch source.read(into: &space) {
        case .wouldBlock: return .waiting
        case .failed: return .failed
        case .end:
            ended = true
            return nil
        case .bytes(let count):
            var written = 0
            switch target.write(room.buffer.span.extracting(0..<count)) {
            case .bytes(let taken): written = taken
            case .wouldBlock: break
            case .failed: return .failed
            }
            moved += written
            if written < count { return keep(written..<count, &room) }
            return drained && count < room.buffer.count ? .waiting : nil
        }
    }

    /// Puts what the target did not take into a pipe.
    private mutating func keep(_ rest: Range<Int>, _ room: inout PumpRoom) -> Outcome? {
        guard let pipe = pipe ?? room.shelf.take() else { return .failed }
        self.pipe = pipe
        guard room.shelf[pipe].put(room.buffer.span.extracting(rest)) == .bytes(rest.count) else { return .failed }
        waiting = rest.count
        return .waiting
    }

    private mutating func fill(from source: borrowing Socket, _ room: inout PumpRoom) -> Outcome? {
        guard let pipe = pipe ?? room.shelf.take() else { return .failed }
        self.pipe = pipe
        switch room.shelf[pipe].fill(from: source, limit: PipeShelf.capacity) {
        case .bytes(let count): waiting = count
        case .end: ended = true
        case .wouldBlock:
            putBack(&room)
            return .waiting
        case .failed: return .failed
        }
        return nil
    }

    /// Moves bytes out of the pipe; nil when it may go on.
    private mutating func empty(into target: borrowing Socket, _ room: borrowing PumpRoom) -> Outcome? {
        guard let pipe else { preconditionFailure("bytes wait in no pipe") }
        switch room.shelf[pipe].drain(into: target, limit: waiting) {
        case .bytes(let count):
            moved += count
            waiting -= count
            return nil
        case .wouldBlock: return .waiting
        case .failed: return .failed
        }
    }

    private mutating func putBack(_ room: inout PumpRoom) {
        if let pipe { room.shelf.give(pipe) }
        pipe = nil
    }
}
