/// Many connections that stay open, driven by lines on standard input.
///
/// After the start each connection has echoed one byte, and a line says how many there are. `move COUNT TIMES` sends
/// COUNT bytes on each connection and waits until they came back, and that TIMES times (1); `close` closes them all.
/// Each command is answered by a line.

internal import Addresses
internal import Bytes
internal import LinuxIO

/// One held connection and what it still has to do.
struct HeldConnection: ~Copyable {
    let socket: Socket
    var isOpen = false
    var isOver = false
    /// Bytes to send, and bytes that have to come back.
    var unsent = 1
    var missing = 1

    var isDone: Bool { isOver || (isOpen && unsent == 0 && missing == 0) }

    func read(into buffer: inout [UInt8]) -> ReadOutcome {
        var space = buffer.mutableSpan
        return socket.read(into: &space)
    }
}

/// The client's loop and everything that it owns.
struct HoldClient: ~Copyable {
    private let address: SocketAddress
    private let wanted: Int
    private let limit: Interval
    /// How many connections open, or move, at the same time.
    private let atOnce: Int
    private var poller: Poller
    private var held: Slab<HeldConnection>
    private var handles: [Handle] = []
    private var events = [PolledEvent](repeating: .none, count: Poller.batch)
    private var buffer = [UInt8](repeating: 0x77, count: 65536)
    private var done = 0
    private var failed = 0

    init(_ arguments: inout Arguments) throws {
        let address = try arguments.address("to")
        let wanted = try arguments.number("count")
        let limit = try arguments.seconds("limit", default: 60)
        let atOnce = max(1, try arguments.number("at-once", default: 128))
        try arguments.finish()
        let poller = try Poller()
        self.address = address
        self.wanted = wanted
        self.limit = limit
        self.atOnce = atOnce
        self.poller = poller
        held = Slab()
    }

    /// Opens the connections, then does what it is told until there is nobody who tells.
    mutating func run() throws {
        let began = Clock.now()
        perform(wanted, until: began + limit) { client, index throws(SystemCallError) in try client.open(index) }
        answer(began, [("opened", done - failed), ("failed", wanted - (done - failed))])
        while let text = readLine() {
            let words = text.split(separator: " ")
            switch words.first {
            case "move": try move(words.dropFirst().map { Int($0) ?? 0 })
            case "close": return close()
            default: throw UsageError("commands are: move COUNT [TIMES], close")
            }
        }
    }

    /// Starts up to `atOnce` jobs at a time until all are done or the time is over.
    private mutating func perform(
        _ count: Int, until deadline: Instant, start: (inout HoldClient, Int) throws(SystemCallError) -> Void
    ) {
        done = 0
        failed = 0
        var started = 0
        while done < count, Clock.now() < deadline {
            while started < count, started - done < atOnce {
                do throws(SystemCallError) {
                    try start(&self, started)
                } catch {
                    done += 1
                    failed += 1
                }
                started += 1
            }
            if done == count { break }
            let found = poller.wait(into: &events, until: deadline)
            for index in 0..<found { ready(events[index]) }
        }
    }

    private mutating func open(_ index: Int) throws(SystemCallError) {
        let socket = try Socket.connectTCP(to: address)
        let number = socket.descriptor.number
        try poller.add(number, token: UInt64(handles.count), events: [.readable, .writable, .peerFinished], edge: true)
        handles.append(held.insert(HeldConnection(socket: socket)))
    }

    private mutating func move(_ numbers: [Int]) throws {
        guard let count = numbers.first, count > 0 else { throw UsageError("move how many bytes?") }
        let began = Clock.now()
        let total = handles.count
        var moved = total
        var bytes = 0
        for _ in 0..<(numbers.count > 1 ? numbers[1] : 1) {
            perform(total, until: began + limit) { client, index throws(SystemCallError) in client.begin(index, count) }
            moved = min(moved, done - failed)
            bytes += (done - failed) * count
        }
        answer(began, [("moved", moved), ("bytes", bytes)])
    }

    private mutating func begin(_ index: Int, _ count: Int) {
        let handle = handles[index]
        guard !held[handle].isOver, held[handle].isDone else {
            // It never opened, or its last move is not complete.
            done += 1
            failed += 1
            return
        }
        held[handle].unsent = count
        held[handle].missing = count
        advance(handle)
    }

    private mutating func ready(_ event: PolledEvent) {
        let handle = handles[Int(event.token)]
        if held[handle].isOver { return }
        if event.error || !held[handle].isOpen {
            guard held[handle].socket.connectError() == nil, !event.error else { return end(handle) }
            held[handle].isOpen = true
        }
        if held[handle].isDone, !event.hungUp { return }
        advance(handle)
    }

    /// Writes and reads for as long as something moves.
    private mutating func advance(_ handle: Handle) {
        while held[handle].unsent > 0 {
            let count = min(held[handle].unsent, buffer.count)
            guard case .bytes(let taken) = write(handle, count) else { break }
            held[handle].unsent -= taken
        }
        let wasDone = held[handle].isDone
        while true {
            switch held[handle].read(into: &buffer) {
            case .bytes(let count):
                held[handle].missing -= count
                if count == buffer.count || held[handle].missing > 0 { continue }
            case .wouldBlock: break
            case .end, .failed: return end(handle)
            }
            break
        }
        if held[handle].isDone, !wasDone { done += 1 }
    }

    private func write(_ handle: Handle, _ count: Int) -> WriteOutcome {
        held[handle].socket.write(buffer.span.extracting(0..<count))
    }

    private mutating func end(_ handle: Handle) {
        if !held[handle].isDone {
            done += 1
            failed += 1
        }
        held[handle].isOver = true
        poller.remove(held[handle].socket.descriptor.number)
    }

    private mutating func close() {
        let began = Clock.now()
        let count = handles.count
        for handle in handles { _ = held.remove(handle) }
        handles = []
        answer(began, [("closed", count)])
    }

    private func answer(_ began: Instant, _ members: [(String, Int)]) {
        var line = JSONLine()
        for (name, value) in members { line.add(name, value) }
        line.add("seconds", Double((Clock.now() - began).nanoseconds) / 1e9)
        line.print()
    }
}
