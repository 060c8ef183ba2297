/// The far end of every measurement: ports that swallow, produce, do both, or echo.
///
/// When a client ends its side, a swallowing or producing port answers with a trailer of 16 bytes, how many bytes it
/// had sent and how many it had received, so the client knows whether all of them made the way. While bytes
/// arrive, a line with the totals and the time is printed 20 times a second: a receiver's own count is the only
/// honest measure of an upload, because a sender counts what its buffers swallow.

internal import Addresses
internal import Bytes
internal import LinuxIO

/// What a port does with its connections.
struct Service: OptionSet {
    let rawValue: Int

    /// Reads and drops whatever comes.
    static let sink = Service(rawValue: 1)
    /// Writes for as long as it is read.
    static let source = Service(rawValue: 2)
    static let duplex: Service = [.sink, .source]
    static let echo = Service(rawValue: 4)
}

/// One served connection.
struct ServedConnection: ~Copyable {
    let socket: Socket
    let service: Service
    var sent = 0
    var received = 0
    var echo = Pump()
    /// What is left of the trailer, once the client has ended its side.
    var trailer: [UInt8]?
}

/// The server's loop and everything that it owns.
struct Server: ~Copyable {
    private static let reportInterval = Interval.milliseconds(50)
    /// Tokens from here on are listeners, in the order of `services`.
    private static let firstListener = UInt64.max - 16

    private var poller: Poller
    private let listeners: Slab<Socket>
    private let services: [(Handle, Service)]
    private var connections: Slab<ServedConnection>
    private var room: PumpRoom
    private var buffer = [UInt8](repeating: 0x5a, count: 262_144)
    private var received = 0
    private var sent = 0
    private var reported = 0
    private var nextReport = Instant(nanoseconds: 0)

    init(_ arguments: inout Arguments) throws {
        let poller = try Poller()
        var listeners = Slab<Socket>()
        var services: [(Handle, Service)] = []
        let text = try arguments.text("listen")
        guard let address = IPAddress(parsing: text) else { throw UsageError("--listen wants an address, not \(text)") }
        let ports: [(String, Service)] = [
            ("sink", .sink), ("source", .source), ("duplex", .duplex), ("echo", .echo),
        ]
        for (name, service) in ports {
            guard let port = try arguments.port(name) else { continue }
            let listener = try Socket.listen(on: SocketAddress(address, port))
            let token = Self.firstListener + UInt64(services.count)
            try poller.add(listener.descriptor.number, token: token, events: .readable)
            services.append((listeners.insert(listener), service))
        }
        try arguments.finish()
        self.poller = poller
        self.listeners = listeners
        self.services = services
        connections = Slab()
        room = PumpRoom()
    }

    /// Serves until the process is ended.
    mutating func run() {
        var events = [PolledEvent](repeating: .none, count: Poller.batch)
        while true {
            let count = poller.wait(into: &events, until: received + sent == reported ? nil : nextReport)
            for index in 0..<count {
                let event = events[index]
                if event.token >= Self.firstListener {
                    accept(Int(event.token - Self.firstListener))
                } else {
                    ready(event)
                }
            }
            report()
        }
    }

    /// Prints the totals when they have changed and the last line is old enough.
    private mutating func report() {
        guard received + sent != reported else { return }
        let now = Clock.now()
        guard now >= nextReport else { return }
        reported = received + sent
        nextReport = now + Self.reportInterval
        var line = JSONLine()
        line.add("at", now.nanoseconds)
        line.add("received", received)
        line.add("sent", sent)
        line.print()
    }

    private mutating func accept(_ index: Int) {
        let (listener, service) = services[index]
        for _ in 0..<64 {
            switch listeners[listener].accept() {
            case .accepted(let socket, from: _):
                let number = socket.descriptor.number
                let handle = connections.insert(ServedConnection(socket: socket, service: service))
                let events: Interest = service.contains(.source) ? [.readable, .writable] : .readable
                watch(number, handle, events, edge: service == .echo)
            case .nothing: return
            case .exhausted: return
            case .failed: return
            }
        }
    }

    private mutating func watch(_ number: CInt, _ handle: Handle, _ events: Interest, edge: Bool) {
        let token = UInt64(handle.generation) << 32 | UInt64(handle.index)
        let wanted = edge ? [.readable, .writable, .peerFinished] : events
        do throws(SystemCallError) {
            try poller.add(number, token: token, events: wanted, edge: edge)
        } catch {
            _ = connections.remove(handle)
        }
    }

    private mutating func ready(_ event: PolledEvent) {
        let handle = Handle(
            index: UInt32(truncatingIfNeeded: event.token), generation: UInt32(truncatingIfNeeded: event.token >> 32))
        guard connections.contains(handle) else { return }
        let goesOn = connections[handle].service == .echo ? echo(handle, event) : stream(handle, event)
        if goesOn { return }
        var connection = connections.remove(handle)
        connection.echo.release(&room)
    }

    /// Sends back what came; false when the connection is over.
    private mutating func echo(_ handle: Handle, _ event: PolledEvent) -> Bool {
        while true {
            let outcome = connections[handle].runEcho(&room, drained: !event.hungUp)
            switch outcome {
            case .waiting: return true
            case .more: continue
            case .finished, .failed: return false
            }
        }
    }

    /// One read and one write, as far as they are due; false when the connection is over.
    private mutating func stream(_ handle: Handle, _ event: PolledEvent) -> Bool {
        if connections[handle].trailer != nil { return finish(handle) }
        if event.readable || event.hungUp || event.error {
            switch connections[handle].read(into: &buffer) {
            case .bytes(let count):
                connections[handle].received += count
                received += count
            case .wouldBlock: break
            case .failed: return false
            case .end: return beginToFinish(handle)
            }
        }
        guard event.writable, connections[handle].service.contains(.source) else { return true }
        switch connections[handle].socket.write(buffer.span) {
        case .bytes(let count):
            connections[handle].sent += count
            sent += count
        case .wouldBlock: break
        case .failed: return false
        }
        return true
    }

    private mutating func beginToFinish(_ handle: Handle) -> Bool {
        var bytes = [UInt8](repeating: 0, count: 16)
        var span = bytes.mutableSpan
        span.store(UInt64(connections[handle].sent), at: 0)
        span.store(UInt64(connections[handle].received), at: 8)
        connections[handle].trailer = bytes
        let token = UInt64(handle.generation) << 32 | UInt64(handle.index)
        let number = connections[handle].socket.descriptor.number
        guard (try? poller.modify(number, token: token, events: .writable)) != nil else { return false }
        return finish(handle)
    }

    private mutating func finish(_ handle: Handle) -> Bool {
        guard let trailer = connections[handle].trailer else { return false }
        switch connections[handle].socket.write(trailer.span) {
        case .bytes(let count):
            connections[handle].trailer = Array(trailer.dropFirst(count))
            return count < trailer.count
        case .wouldBlock: return true
        case .failed: return false
        }
    }
}

extension ServedConnection {
    func read(into buffer: inout [UInt8]) -> ReadOutcome {
        var space = buffer.mutableSpan
        return socket.read(into: &space)
    }

    mutating func runEcho(_ room: inout PumpRoom, drained: Bool) -> Pump.Outcome {
        echo.run(from: socket, to: socket, room: &room, drained: drained)
    }
}
