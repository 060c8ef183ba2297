/// A server for tests that does what its script says, on a thread of its own and on loopback.

import Addresses
import Bytes
import LinuxIO
import Synchronization

/// What a scripted server does with one connection.
enum Step: Sendable {
    /// Waits until what was received since the last `expect` contains this text.
    case expect(String)
    case send(String)
    /// Sends so many octets at a time, with pauses.
    case trickle(String, octets: Int, pause: Interval)
    case pause(Interval)
    /// Waits until the client has closed.
    case expectEnd
    /// Closes with a reset.
    case reset
}

/// Listens, plays one script for each connection in order, and keeps what it received.
final class ScriptedServer: Sendable {
    let address: SocketAddress
    private let listener: Socket
    private let texts = Mutex<[String]>([])

    /// Listens on a loopback address, on a free port or on this one.
    init(on host: UInt32 = 0x7f00_0001, port: UInt16 = 0) throws {
        let listener = try Socket.listen(on: SocketAddress(IPAddress(v4: host), port))
        address = listener.localAddress ?? SocketAddress(IPAddress(v4: host), port)
        self.listener = listener
    }

    /// What each connection received.
    var received: [String] { texts.withLock { $0 } }

    /// Plays the scripts while `body` runs, and waits for their end.
    func playing<Result: ~Copyable>(
        _ scripts: [[Step]], _ body: () throws -> Result
    ) throws -> Result {
        let thread = try WorkerThread.start(name: "scripted") { self.play(scripts) }
        do {
            let result = try body()
            thread.join()
            return result
        } catch {
            thread.join()
            throw error
        }
    }

    private func play(_ scripts: [[Step]]) {
        for script in scripts {
            guard wait(for: listener), case .accepted(let socket, from: _) = listener.accept() else { return }
            var connection = Conversation(socket: socket)
            for step in script { connection.play(step) }
            let text = String(decoding: connection.received, as: UTF8.self)
            texts.withLock { $0.append(text) }
        }
    }
}

/// One connection of a scripted server.
private struct Conversation: ~Copyable {
    let socket: Socket
    var received: [UInt8] = []
    var consumed = 0

    init(socket: consuming Socket) { self.socket = socket }

    mutating func play(_ step: Step) {
        switch step {
        case .expect(let text):
            while !String(decoding: received[consumed...], as: UTF8.self).contains(text), read() {}
            consumed = received.count
        case .send(let text):
            _ = socket.write(Array(text.utf8).span)
        case .trickle(let text, let octets, let pause):
            let bytes = Array(text.utf8)
            for start in stride(from: 0, to: bytes.count, by: octets) {
                _ = socket.write(bytes.span.extracting(start..<min(start + octets, bytes.count)))
                sleep(pause)
            }
        case .pause(let time):
            sleep(time)
        case .expectEnd:
            while read() {}
        case .reset:
            socket.resetOnClose()
        }
    }

    /// Reads once more; false at the end or after five seconds of silence.
    private mutating func read() -> Bool {
        while true {
            switch socket.read(appendingTo: &received, limit: 65536) {
            case .bytes: return true
            case .end, .failed: return false
            case .wouldBlock:
                guard wait(for: socket) else { return false }
            }
        }
    }
}

/// Waits until a socket is readable, five seconds at most.
func wait(for socket: borrowing Socket, seconds: Int64 = 5) -> Bool {
    guard var poller = try? Poller() else { return false }
    guard (try? poller.add(socket.descriptor.number, token: 0, events: [.readable])) != nil else { return false }
    var events = [PolledEvent.none]
    return poller.wait(into: &events, until: Clock.now() + .seconds(seconds)) > 0
}

/// Sleeps.
func sleep(_ time: Interval) {
    guard var poller = try? Poller() else { return }
    var events = [PolledEvent.none]
    _ = poller.wait(into: &events, until: Clock.now() + time)
}

/// An address that takes a SYN and never answers: a listener whose queue is full.
struct SilentServer: ~Copyable {
    let address: SocketAddress
    private let listener: Socket
    private let first: Socket
    private let second: Socket
    private let third: Socket

    init(on host: UInt32 = 0x7f00_0001, port: UInt16 = 0) throws {
        let listener = try Socket.listen(on: SocketAddress(IPAddress(v4: host), port), backlog: 0)
        let address = listener.localAddress ?? SocketAddress(IPAddress(v4: host), port)
        let first = try Socket.connectTCP(to: address)
        let second = try Socket.connectTCP(to: address)
        let third = try Socket.connectTCP(to: address)
        sleep(.milliseconds(20))
        self.listener = listener
        self.address = address
        self.first = first
        self.second = second
        self.third = third
    }
}
