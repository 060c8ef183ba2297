/// One connection at a time: how long the first byte takes, or how long a byte takes on an open stream.

internal import Addresses
internal import Bytes
internal import LinuxIO

/// The client of the two latencies.
struct LatencyClient: ~Copyable {
    private let address: SocketAddress
    private let count: Int
    private let limit: Interval
    private let isPingPong: Bool
    private var poller: Poller
    private var events = [PolledEvent](repeating: .none, count: 4)

    init(_ arguments: inout Arguments) throws {
        let address = try arguments.address("to")
        let kind = try arguments.text("kind")
        guard ["first-byte", "ping-pong"].contains(kind) else { throw UsageError("--kind is first-byte or ping-pong") }
        let count = max(1, try arguments.number("count", default: 1000))
        let limit = try arguments.seconds("limit", default: 30)
        try arguments.finish()
        let poller = try Poller()
        self.address = address
        self.count = count
        self.limit = limit
        self.poller = poller
        isPingPong = kind == "ping-pong"
    }

    /// Measures one after the other until there are enough, or the time is over, and prints the line.
    mutating func run() throws {
        let deadline = Clock.now() + limit
        var whole = Samples()
        var connects = Samples()
        if isPingPong {
            let socket = try open(until: deadline)
            // The first few warm the path up: the connection's first byte takes another way in most gateways.
            for _ in 0..<10 { try exchange(socket, until: deadline) }
            while whole.count < count, Clock.now() < deadline {
                let began = Clock.now()
                try exchange(socket, until: deadline)
                whole.add(Clock.now() - began)
            }
        } else {
            while whole.count < count, Clock.now() < deadline {
                let began = Clock.now()
                let socket = try open(until: deadline)
                connects.add(Clock.now() - began)
                try exchange(socket, until: deadline)
                whole.add(Clock.now() - began)
            }
        }
        var line = JSONLine()
        line.add("count", whole.count)
        whole.report(to: &line)
        connects.report(to: &line, prefix: "connect_")
        line.print()
    }

    private mutating func open(until deadline: Instant) throws(SystemCallError) -> Socket {
        let socket = try Socket.connectTCP(to: address)
        let number = socket.descriptor.number
        try poller.add(number, token: 0, events: [.readable, .writable], edge: true)
        guard poller.wait(into: &events, until: deadline) > 0 else { throw failure(.timedOut) }
        if let reason = socket.connectError() { throw failure(reason) }
        return socket
    }

    /// Sends a byte and waits for the one that comes back.
    private mutating func exchange(_ socket: borrowing Socket, until deadline: Instant) throws(SystemCallError) {
        var byte: [UInt8] = [0x2a]
        guard socket.write(byte.span) == .bytes(1) else { throw failure(.brokenPipe) }
        while true {
            guard poller.wait(into: &events, until: deadline) > 0 else { throw failure(.timedOut) }
            var space = byte.mutableSpan
            switch socket.read(into: &space) {
            case .bytes: return
            case .wouldBlock: continue
            case .end: throw failure(.connectionReset)
            case .failed(let reason): throw failure(reason)
            }
        }
    }

    private func failure(_ reason: ErrorNumber) -> SystemCallError {
        SystemCallError("exchange", address.description, errno: reason)
    }
}
