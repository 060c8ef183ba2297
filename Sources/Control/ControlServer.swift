/// The listeners of the control API and their connections.

public import Addresses
public import Bytes
public import LinuxIO

/// Connections that ask, one request each at a time.
///
/// The server has a poller of its own, whose descriptor the owner's loop watches: when it is readable, `serve` is
/// called.
///
/// There are only so many connections, and nobody can keep others out by holding them: a newcomer takes the place of
/// whoever has been silent for longest.
public struct ControlServer: ~Copyable {
    /// The most connections at a time.
    public static let connectionLimit = 64
    /// How long nobody is taken in where there is no descriptor for anybody.
    private static let rest = Interval.milliseconds(100)
    /// How many newcomers, pieces and answers one call serves, for each door or connection; the rest gets the next.
    private static let turn = 16

    struct Connection: ~Copyable {
        var socket: Socket
        var session: ControlSession
        var isLocal: Bool
        /// When it was last heard, or took something.
        var active: Instant
        /// What the poller was asked for.
        var interest: Interest = .reading
        /// The client has finished sending.
        var isGone = false
        /// The last answer was sent, and the client knows that there is no other.
        var isFinished = false
        /// Under which its request was promised an answer.
        var ticket: UInt64?
    }

    private var poller: Poller
    /// Clients that gave way to newcomers, or could not be taken in.
    private var shed = 0
    private var doors: [ControlDoor] = []
    /// When the doors are looked at again; never: they are watched.
    private var reopening = Instant.never
    var connections = Slab<Connection>()
    /// Streams of events that were refused because there were too many.
    var streamsRefused = 0
    /// What streams read from.
    var history: EventRing
    private var events = [PolledEvent](repeating: .none, count: 2 * connectionLimit)

    public init(history: EventRing = EventRing()) throws(SystemCallError) {
        poller = try Poller()
        self.history = history
    }

    /// What the owner's loop watches for reading.
    public var descriptor: CInt { poller.descriptor.number }

    /// How often bounds were reached, by the names that counters have.
    public var limitHits: [String: Int] { ["control_clients_shed": shed, "event_streams_refused": streamsRefused] }

    /// How many clients there are.
    public var clients: Int { connections.count }

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
        for event in events[..<count] where event.token >= Self.firstToken {
            guard let handle = connections.handle(at: UInt32(truncatingIfNeeded: event.token - Self.firstToken)) else {
                continue
            }
            serve(handle, event, now, answer)
        }
        if reopening <= now { watchDoors(true) }
        // Newcomers come last: they may get the places of those whose events these were.
        for event in events[..<count] where event.token < Self.firstToken { accept(Int(event.token), now) }
        expire(now)
    }

    /// The token of the first connection; below are the doors.
    private static let firstToken: UInt64 = 0x1_0000

    private static func token(_ handle: Handle) -> UInt64 { firstToken + UInt64(handle.index) }

    private mutating func accept(_ door: Int, _ now: Instant) {
        for taken in 0..<Self.turn {
            guard let peer = doors[door].accept() else {
                // Somebody waits and can't be taken in: without a rest that would be asked all the time.
                if taken == 0 {
                    watchDoors(false)
                    reopening = now + Self.rest
                }
                return
            }
            let source = peer.source
            guard peer.isWelcome, makeRoom(for: source) else { continue }
            let session = ControlSession(source: source, now: now)
            let handle = connections.insert(
                Connection(socket: peer.takeSocket(), session: session, isLocal: source.isLocal, active: now))
            let number = connections[handle].socket.descriptor.number
            do throws(SystemCallError) {
                try poller.add(number, token: Self.token(handle), events: .reading)
            } catch {
                drop(handle)
            }
        }
    }

    private mutating func watchDoors(_ isWatching: Bool) {
        reopening = .never
        for (index, door) in doors.enumerated() {
            try? poller.modify(
                door.socket.descriptor.number, token: UInt64(index), events: isWatching ? .readable : [])
        }
    }

    /// Ends a connection where there are too many; a newcomer from the network never takes the place of a local one.
    private mutating func makeRoom(for source: ControlRequest.Source) -> Bool {
        guard connections.count >= Self.connectionLimit else { return true }
        var victim: (handle: Handle, isLocal: Bool, active: Instant)?
        for place in 0..<connections.capacity {
            guard let handle = connections.handle(at: place) else { continue }
            let (isLocal, active) = (connections[handle].isLocal, connections[handle].active)
            guard source.isLocal || !isLocal else { continue }
            if let other = victim, (other.isLocal ? 1 : 0, other.active) <= (isLocal ? 1 : 0, active) { continue }
            victim = (handle, isLocal, active)
        }
        shed += 1
        guard let victim else { return false }
        drop(victim.handle)
        return true
    }

    private mutating func serve(
        _ handle: Handle, _ event: PolledEvent, _ now: Instant, _ answer: (ControlRequest) -> ControlAnswer
    ) {
        if event.error { return drop(handle) }
        // A client that waits is watched for its end alone.
        if event.hungUp, connections[handle].ticket != nil { return drop(handle) }
        if event.readable || event.hungUp { read(handle, now, answer) }
        guard connections.contains(handle) else { return }
        if connections[handle].session.isStream { return pump(handle, now) }
        write(handle, now, answer)
    }

    private mutating func read(_ handle: Handle, _ now: Instant, _ answer: (ControlRequest) -> ControlAnswer) {
        for _ in 0..<Self.turn {
            guard connections[handle].session.wantsInput, !connections[handle].isGone else { return }
            var bytes: [UInt8] = []
            switch connections[handle].socket.read(appendingTo: &bytes, limit: 65_536) {
            case .bytes:
                if !connections[handle].session.isOver { connections[handle].active = now }
                if let request = connections[handle].session.receive(bytes.span, now: now) {
                    give(answer(request), to: handle, now)
                }
            case .wouldBlock: return
            // A client that has finished sending may still read its answer.
            case .end: connections[handle].isGone = true
            case .failed: return drop(handle)
            }
        }
    }

    private mutating func write(_ handle: Handle, _ now: Instant, _ answer: (ControlRequest) -> ControlAnswer) {
        var answers = 0
        while !connections[handle].session.output.isEmpty {
            guard answers < Self.turn else { return watch(handle, .writable) }
            let output = connections[handle].session.output
            switch connections[handle].socket.write(output.span) {
            case .bytes(let count):
                connections[handle].active = now
                if let request = connections[handle].session.sent(count, now: now) {
                    give(answer(request), to: handle, now)
                    if connections[handle].session.isStream { return pump(handle, now) }
                    answers += 1
                }
            case .wouldBlock: return watch(handle, .writable)
            case .failed: return drop(handle)
            }
        }
        if connections[handle].session.isAnswering { return watch(handle, []) }
        if connections[handle].isGone { return drop(handle) }
        if connections[handle].session.isOver { finish(handle) }
        watch(handle, .reading)
    }

    /// Says that this was the last answer; the client ends the connection.
    ///
    /// Ended by us while octets of it are still on their way, it would be reset, and the answer lost with it (RFC 9112,
    /// section 9.6).
    private mutating func finish(_ handle: Handle) {
        guard !connections[handle].isFinished else { return }
        connections[handle].isFinished = true
        connections[handle].socket.shutdownSend()
    }

    mutating func watch(_ handle: Handle, _ interest: Interest) {
        guard connections[handle].interest != interest else { return }
        connections[handle].interest = interest
        let number = connections[handle].socket.descriptor.number
        do throws(SystemCallError) {
            try poller.modify(number, token: Self.token(handle), events: interest)
        } catch {
            drop(handle)
        }
    }

    mutating func drop(_ handle: Handle) { _ = connections.remove(handle) }

    private mutating func expire(_ now: Instant) {
        deadline = reopening
        for place in 0..<connections.capacity {
            guard let handle = connections.handle(at: place) else { continue }
            if connections[handle].session.beat <= now { pump(handle, now) }
            guard connections.contains(handle) else { continue }
            let end = connections[handle].session.deadline
            if end <= now { drop(handle) } else { deadline = min(deadline, end, connections[handle].session.beat) }
        }
    }
}

extension ControlRequest.Source {
    fileprivate var isLocal: Bool { if case .local = self { true } else { false } }
}

/// A listening socket of the control API.
public final class ControlDoor: Sendable {
    /// What those who come by it may do.
    private enum Kind {
        case local
        case signed
        case figures
    }

    let socket: Socket
    private let kind: Kind
    /// Who may connect over TCP.
    private let allow: [IPPrefix]

    /// A Unix socket.
    public init(unix socket: consuming Socket) {
        self.socket = socket
        kind = .local
        allow = []
    }

    /// A TCP listener for those who sign; whoever is in none of the networks is turned away.
    public init(tcp socket: consuming Socket, allow: [IPPrefix]) {
        self.socket = socket
        kind = .signed
        self.allow = allow
    }

    /// A TCP listener for those who gather figures.
    public init(figures socket: consuming Socket, allow: [IPPrefix]) {
        self.socket = socket
        kind = .figures
        self.allow = allow
    }

    /// Somebody at the door.
    struct Visitor: ~Copyable {
        var socket: Socket
        let source: ControlRequest.Source
        /// False for a stranger, who is turned away.
        var isWelcome = true

        consuming func takeSocket() -> Socket { socket }
    }

    /// Nil when nobody waits, or nobody can be taken in just now.
    func accept() -> Visitor? {
        if kind == .local {
            guard let peer = socket.acceptUnix() else { return nil }
            let source = ControlRequest.Source.local(peer.credentials)
            return Visitor(socket: peer.takeSocket(), source: source)
        }
        switch socket.accept() {
        case .accepted(let client, let address):
            let isWelcome = allow.contains { $0.contains(address.address) }
            let source = kind == .figures ? ControlRequest.Source.collector(address) : .remote(address)
            return Visitor(socket: client, source: source, isWelcome: isWelcome)
        case .nothing: return nil
        case .exhausted: return nil
        case .failed: return nil
        }
    }
}
