/// Short connections, so many at a time: connect, one byte there and back, close.

internal import Addresses
internal import Bytes
internal import LinuxIO

/// One of the places in which connection follows connection.
struct Lane: ~Copyable {
    var socket: Socket?
    var began = Instant(nanoseconds: 0)
    var hasSent = false
}

/// The client's loop and everything that it owns.
struct RateClient: ~Copyable {
    private let address: SocketAddress
    private let atOnce: Int
    private let window: Interval
    private var poller: Poller
    private var lanes: Slab<Lane>
    private var handles: [Handle] = []
    private var samples = Samples()
    private var failed = 0
    private var lastFailure: ErrorNumber?

    init(_ arguments: inout Arguments) throws {
        let address = try arguments.address("to")
        let atOnce = max(1, try arguments.number("at-once", default: 32))
        let window = try arguments.seconds("seconds", default: 3)
        try arguments.finish()
        let poller = try Poller()
        self.address = address
        self.atOnce = atOnce
        self.window = window
        self.poller = poller
        lanes = Slab()
    }

    /// Runs for the window and prints the line.
    mutating func run() throws {
        var events = [PolledEvent](repeating: .none, count: Poller.batch)
        let began = Clock.now()
        let deadline = began + window
        for index in 0..<atOnce {
            handles.append(lanes.insert(Lane()))
            start(index)
        }
        var now = began
        while now < deadline {
            let count = poller.wait(into: &events, until: deadline)
            for index in 0..<count {
                let lane = Int(events[index].token)
                guard let outcome = step(lane, events[index]) else { continue }
                if outcome { samples.add(Clock.now() - lanes[handles[lane]].began) } else { failed += 1 }
                start(lane)
            }
            now = Clock.now()
        }
        var line = JSONLine()
        line.add("connections", samples.count)
        line.add("failed", failed)
        line.add("rate", Double(samples.count) / (Double((now - began).nanoseconds) / 1e9))
        samples.report(to: &line)
        line.print()
        if let lastFailure, samples.count == 0 {
            throw SystemCallError("connect", address.description, errno: lastFailure)
        }
    }

    /// Begins the lane's next connection; a lane that cannot connect at all counts a failure and rests.
    private mutating func start(_ lane: Int) {
        var next = Lane()
        next.began = Clock.now()
        do throws(SystemCallError) {
            let socket = try Socket.connectTCP(to: address)
            let number = socket.descriptor.number
            try poller.add(number, token: UInt64(lane), events: [.readable, .writable, .peerFinished], edge: true)
            next.socket = consume socket
        } catch {
            failed += 1
            lastFailure = error.errno
        }
        lanes[handles[lane]] = next
    }

    /// Takes a connection a step further; true or false when it is over, well or badly.
    private mutating func step(_ lane: Int, _ event: PolledEvent) -> Bool? {
        let handle = handles[lane]
        switch lanes[handle].socket {
        case .none: return nil
        case .some(let socket):
            if event.error {
                lastFailure = socket.connectError()
                return false
            }
        }
        if !lanes[handle].hasSent {
            guard event.writable else { return nil }
            lanes[handle].hasSent = true
            return lanes[handle].writeByte() ? nil : false
        }
        guard event.readable || event.hungUp else { return nil }
        return lanes[handle].readByte()
    }
}

extension Lane {
    /// Sends the one byte; a fresh connection always takes it.
    func writeByte() -> Bool {
        let byte: [UInt8] = [0x2a]
        switch socket {
        case .none: return false
        case .some(let socket): return socket.write(byte.span) == .bytes(1)
        }
    }

    /// Reads the byte that came back; nil when it is not there yet.
    func readByte() -> Bool? {
        var byte: [UInt8] = [0]
        var space = byte.mutableSpan
        switch socket {
        case .none: return false
        case .some(let socket):
            switch socket.read(into: &space) {
            case .bytes: return true
            case .wouldBlock: return nil
            case .end, .failed: return false
            }
        }
    }
}
