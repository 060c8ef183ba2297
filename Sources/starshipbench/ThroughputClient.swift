/// Streams as fast as they go: N connections, up, down or both ways, for a time.
///
/// After the warm-up everything that arrives within the window counts. The client then ends its side and waits for
/// the server's trailer, which tells whether both ends counted the same; with `--drain 0` it resets instead, for
/// links where emptying the buffers would take longer than the measurement.

internal import Addresses
internal import Bytes
internal import LinuxIO

/// One stream of the measurement.
struct LoadStream: ~Copyable {
    let socket: Socket
    var isOpen = false
    var isOver = false
    var sent = 0
    var received = 0
    /// The last 16 bytes that came, once the client has ended its side.
    var tail: [UInt8] = []

    func read(into buffer: inout [UInt8]) -> ReadOutcome {
        var space = buffer.mutableSpan
        return socket.read(into: &space)
    }

    /// Whether both ends have counted the same, as the trailer says.
    var matches: Bool {
        guard tail.count == 16 else { return false }
        return tail.span.uint64(at: 0) == UInt64(received - 16) && tail.span.uint64(at: 8) == UInt64(sent)
    }
}

/// The client's loop and everything that it owns.
struct ThroughputClient: ~Copyable {
    private enum Stage {
        case running
        case draining
    }

    private let address: SocketAddress
    private let sends: Bool
    private let streamCount: Int
    private let warmup: Interval
    private let window: Interval
    private let drain: Interval
    private var poller: Poller
    private var streams: Slab<LoadStream>
    private var handles: [Handle] = []
    private var events = [PolledEvent](repeating: .none, count: Poller.batch)
    private var buffer = [UInt8](repeating: 0x33, count: 262_144)
    private var stage = Stage.running
    private var opened = 0
    private var over = 0

    init(_ arguments: inout Arguments) throws {
        let address = try arguments.address("to")
        let direction = try arguments.text("direction")
        guard ["up", "down", "both"].contains(direction) else { throw UsageError("--direction is up, down or both") }
        let streamCount = max(1, try arguments.number("streams", default: 1))
        let warmup = try arguments.seconds("warmup", default: 0.3)
        let window = try arguments.seconds("seconds", default: 3)
        let drain = try arguments.seconds("drain", default: 5)
        try arguments.finish()
        let poller = try Poller()
        self.address = address
        self.streamCount = streamCount
        self.warmup = warmup
        self.window = window
        self.drain = drain
        self.poller = poller
        sends = direction != "down"
        streams = Slab()
    }

    /// Runs the whole measurement and prints its line.
    mutating func run() throws {
        try connect()
        turn(until: Clock.now() + warmup)
        let began = Clock.now()
        let receivedBefore = received
        let sentBefore = sent
        turn(until: began + window)
        let ended = Clock.now()
        var line = JSONLine()
        line.add("streams", streamCount)
        line.add("began", began.nanoseconds)
        line.add("ended", ended.nanoseconds)
        line.add("window_received", received - receivedBefore)
        line.add("window_sent", sent - sentBefore)
        finish()
        line.add("received", received)
        line.add("sent", sent)
        line.add("matched", matched())
        line.print()
    }

    private mutating func connect() throws {
        for _ in 0..<streamCount {
            let socket = try Socket.connectTCP(to: address)
            let number = socket.descriptor.number
            let handle = streams.insert(LoadStream(socket: socket))
            handles.append(handle)
            try poller.add(number, token: UInt64(handles.count - 1), events: .writable)
        }
        let deadline = Clock.now() + .seconds(10)
        while opened < streamCount {
            guard Clock.now() < deadline else { throw UsageError("\(streamCount - opened) streams did not open") }
            let count = poller.wait(into: &events, until: deadline)
            for index in 0..<count { try ready(events[index]) }
        }
    }

    /// Moves bytes until the time has come, or, once draining, until every stream is over.
    private mutating func turn(until deadline: Instant) {
        while over < streamCount, Clock.now() < deadline {
            let count = poller.wait(into: &events, until: deadline)
            for index in 0..<count {
                if (try? ready(events[index])) == nil { end(events[index]) }
            }
        }
    }

    private mutating func ready(_ event: PolledEvent) throws {
        let handle = handles[Int(event.token)]
        if streams[handle].isOver { return }
        if !streams[handle].isOpen {
            if let reason = streams[handle].socket.connectError() {
                throw SystemCallError("connect", address.description, errno: reason)
            }
            streams[handle].isOpen = true
            opened += 1
            let number = streams[handle].socket.descriptor.number
            try poller.modify(number, token: event.token, events: sends ? [.readable, .writable] : .readable)
            return
        }
        if event.readable || event.hungUp || event.error { read(handle, event) }
        if event.writable, sends, stage == .running, !streams[handle].isOver { write(handle, event) }
    }

    private mutating func read(_ handle: Handle, _ event: PolledEvent) {
        switch streams[handle].read(into: &buffer) {
        case .bytes(let count):
            streams[handle].received += count
            if stage == .draining {
                let last = Array(buffer[max(0, count - 16)..<count])
                streams[handle].tail = Array((streams[handle].tail + last).suffix(16))
            }
        case .wouldBlock: break
        case .end, .failed: end(event)
        }
    }

    private mutating func write(_ handle: Handle, _ event: PolledEvent) {
        switch streams[handle].socket.write(buffer.span) {
        case .bytes(let count): streams[handle].sent += count
        case .wouldBlock: break
        case .failed: end(event)
        }
    }

    private mutating func end(_ event: PolledEvent) {
        let handle = handles[Int(event.token)]
        if streams[handle].isOver { return }
        streams[handle].isOver = true
        over += 1
        poller.remove(streams[handle].socket.descriptor.number)
    }

    /// Ends all streams, each with its trailer if there is time for it.
    private mutating func finish() {
        stage = .draining
        for index in handles.indices where !streams[handles[index]].isOver {
            if drain == .zero {
                streams[handles[index]].socket.resetOnClose()
            } else {
                streams[handles[index]].socket.shutdownSend()
                let number = streams[handles[index]].socket.descriptor.number
                _ = try? poller.modify(number, token: UInt64(index), events: .readable)
            }
        }
        if drain > .zero { turn(until: Clock.now() + drain) }
    }

    private var received: Int {
        var sum = 0
        for handle in handles { sum += streams[handle].received }
        return sum
    }

    private var sent: Int {
        var sum = 0
        for handle in handles { sum += streams[handle].sent }
        return sum
    }

    private func matched() -> Int {
        var count = 0
        for handle in handles where streams[handle].matches { count += 1 }
        return count
    }
}
