/// The listeners of the control API and their connections.

public import Addresses
public import Bytes
public import LinuxIO

/// Connections that ask, one request each at a time.
///
/// The server has a poller of its own, whose descriptor the owner's loop watches: when it is readable, `serve` is called.
public struct ControlServer: ~Copyable {
    /// The most connections at a time; one more is closed at once.
    public static let connectionLimit = 64

    struct Connection: ~Copyable {
        var socket: Socket
        var session: ControlSession
        /// What the poller was asked for.
        var interest: Interest = .reading
        var isGone = false
    }

    private var poller: Poller
    private var doors: [ControlDoor] = []
    private var connections = Slab<Connection>()
    private var events = [PolledEvent](repeating: .none, count: 64)

    public init() throws(SystemCallError) {
        poller = try Poller()
    }

    /// What the owner's loop watches for reading.
    public var descriptor: CInt { poller.descriptor.number }

    /// When `serve` is called at the latest: connections that say nothing end.
    public private(set) var deadline = Instant.never

    /// Takes what comes in by a listening socket from now on.
    public mutating func add(_ door: ControlDoor) throws(SystemCallError) {
        try poller.add(door.socket.descriptor.number, token: UInt64(doors.count), events: .readable)
        doors.append(door)
    }

    /// Serves what is ready: each request is answered before the next one is looked at.
    public mutating func serve(now: Instant, _ answer: (ControlRequest) -> ControlAnswer) {
        let count = poller.wait(into: &events, until: now)
        for position in 0..<count {
            let event = events[position]
            if event.token < UInt64(doors.count) {
                accept(Int(event.token), now)
            } else if let handle = connections.handle(at: UInt32(truncatingIfNeeded: event.token - 0x1_0000)) {
                serve(handle, event, now, answer)
            }
        }
        expire(now)
    }

    private static func token(_ handle: Handle) -> UInt64 { 0x1_0000 + UInt64(handle.index) }

    private mutating func accept(_ door: Int, _ now: Instant) {
        // A flood at one door must not keep the loop from everything else.
        for _ in 0..<Self.connectionLimit {
            guard let peer = doors[door].accept() else { return }
            let source = peer.source
            guard connections.count < Self.connectionLimit else { continue }
            let session = ControlSession(source: source, now: now)
            let handle = connections.insert(Connection(socket: peer.takeSocket(), session: session))
            let number = connections[handle].socket.descriptor.number
            do throws(SystemCallError) {
                try poller.add(number, token: Self.token(handle), events: .reading)
            } catch {
                _ = connections.remove(handle)
            }
        }
    }

    private mutating func serve(
        _ handle: Handle, _ event: PolledEvent, _ now: Instant, _ answer: (ControlRequest) -> ControlAnswer
    ) {
        if event.error { return drop(handle) }
        if event.readable || event.hungUp { read(handle, now, answer) }
        guard connections.contains(handle) else { return }
        write(handle, now)
    }

    private mutating func read(_ handle: Handle, _ now: Instant, _ answer: (ControlRequest) -> ControlAnswer) {
        // A client that never stops sending gets its turn like the others.
        for _ in 0..<16 {
            guard connections[handle].session.wantsInput else { return }
            var bytes: [UInt8] = []
            switch connections[handle].socket.read(appendingTo: &bytes, limit: 65_536) {
            case .bytes:
                var request = connections[handle].session.receive(bytes.span, now: now)
                while let complete = request {
                    let reply = answer(complete)
                    request = connections[handle].session.answer(reply, now: now)
                }
            case .wouldBlock: return
            // A client that has finished sending may still read its answer.
            case .end:
                connections[handle].isGone = true
                return
            case .failed: return drop(handle)
            }
        }
    }

    private mutating func write(_ handle: Handle, _ now: Instant) {
        while !connections[handle].session.output.isEmpty {
            let output = connections[handle].session.output
            switch connections[handle].socket.write(output.span) {
            case .bytes(let count): connections[handle].session.sent(count, now: now)
            case .wouldBlock:
                return watch(handle, [.writable])
            case .failed: return drop(handle)
            }
        }
        if connections[handle].session.isOver || connections[handle].isGone { return drop(handle) }
        watch(handle, .reading)
    }

    private mutating func watch(_ handle: Handle, _ interest: Interest) {
        guard connections[handle].interest != interest else { return }
        connections[handle].interest = interest
        let number = connections[handle].socket.descriptor.number
        do throws(SystemCallError) {
            try poller.modify(number, token: Self.token(handle), events: interest)
        } catch {
            drop(handle)
        }
    }

    private mutating func drop(_ handle: Handle) { _ = connections.remove(handle) }

    private mutating func expire(_ now: Instant) {
        deadline = .never
        for place in 0..<connections.capacity {
            guard let handle = connections.handle(at: place) else { continue }
            let end = connections[handle].session.deadline
            if end <= now { drop(handle) } else { deadline = min(deadline, end) }
        }
    }
}

/// A listening socket of the control API.
public final class ControlDoor: Sendable {
    let socket: Socket
    private let isLocal: Bool
    /// Who may connect over TCP.
    private let allow: [IPPrefix]

    /// A Unix socket.
    public init(unix socket: consuming Socket) {
        self.socket = socket
        isLocal = true
        allow = []
    }

    /// A TCP listener for those who sign; whoever is in none of the networks is turned away.
    public init(tcp socket: consuming Socket, allow: [IPPrefix]) {
        self.socket = socket
        isLocal = false
        self.allow = allow
    }

    /// Somebody at the door.
    struct Visitor: ~Copyable {
        var socket: Socket
        let source: ControlRequest.Source

        consuming func takeSocket() -> Socket { socket }
    }

    func accept() -> Visitor? {
        if isLocal {
            guard let peer = socket.acceptUnix() else { return nil }
            let source = ControlRequest.Source.local(peer.credentials)
            return Visitor(socket: peer.takeSocket(), source: source)
        }
        while true {
            switch socket.accept() {
            case .accepted(let client, let address):
                guard allow.contains(where: { $0.contains(address.address) }) else { continue }
                return Visitor(socket: client, source: .remote(address))
            case .nothing: return nil
            case .exhausted: return nil
            case .failed: return nil
            }
        }
    }
}
