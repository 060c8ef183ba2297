/// The listeners of the control API and their connections.

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
        var client: ClientSocket
        var session: ControlSession
        var isLocal: Bool
        /// Under which its request was promised an answer.
        var ticket: UInt64?
    }

    private var poller: ServerPoller
    /// Clients that gave way to newcomers, or could not be taken in.
    private var shed = 0
    private var doors: [ControlDoor] = []
    var connections = Slab<Connection>()
    /// Streams of events that were refused because there were too many.
    var streamsRefused = 0
    /// What streams read from.
    var history: EventRing

    public init(history: EventRing = EventRing()) throws(SystemCallError) {
        poller = try ServerPoller(clients: Self.connectionLimit)
        self.history = history
    }

    /// What the owner's loop watches for reading.
    public var descriptor: CInt { poller.descriptor }

    /// How often bounds were reached, by the names that counters have.
    public var limitHits: [String: Int] { ["control_clients_shed": shed, "event_streams_refused": streamsRefused] }

    /// How many clients there are.
    public var clients: Int { connections.count }

    /// When `serve` is called at the latest: connections that say nothing end.
    public private(set) var deadline = Instant.never

    /// Takes what comes in by a listening socket from now on.
    public mutating func add(_ door: ControlDoor) throws(SystemCallError) {
        try poller.add(door: door.socket.descriptor.number)
        doors.append(door)
    }

    /// Serves what is ready: each request is answered before the next one is looked at.
    public mutating func serve(now: Instant, _ answer: (ControlRequest) -> ControlAnswer) {
        let ready = poller.take(now: now)
        for (place, event) in ready.clients {
            guard let handle = connections.handle(at: place) else { continue }
            serve(handle, event, now, answer)
        }
        poller.reopenDoors(now: now)
        // Newcomers come last: they may get the places of those whose events these were.
        for door in ready.doors { accept(door, now) }
        expire(now)
    }

    private mutating func accept(_ door: Int, _ now: Instant) {
        for taken in 0..<Self.turn {
            guard let peer = doors[door].accept() else {
                // Somebody waits and can't be taken in: without a rest that would be asked all the time.
                if taken == 0 { poller.restDoors(until: now + Self.rest) }
                return
            }
            let source = peer.source
            guard peer.isWelcome, makeRoom(for: source) else { continue }
            let session = ControlSession(source: source, now: now)
            let handle = connections.insert(
                Connection(
                    client: ClientSocket(peer.takeSocket(), now: now), session: session, isLocal: source.isLocal))
            do throws(SystemCallError) {
                try poller.add(connections[handle].client, handle)
            } catch {
                drop(handle)
            }
        }
    }

    /// Ends a connection where there are too many; a newcomer from the network never takes the place of a local one.
    private mutating func makeRoom(for source: ControlRequest.Source) -> Bool {
        guard connections.count >= Self.connectionLimit else { return true }
        var victim: (handle: Handle, isLocal: Bool, active: Instant)?
        for place in 0..<connections.capacity {
            guard let handle = connections.handle(at: place) else { continue }
            let (isLocal, active) = (connections[handle].isLocal, connections[handle].client.active)
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
            guard connections[handle].session.wantsInput, !connections[handle].client.isGone else { return }
            var bytes: [UInt8] = []
            switch connections[handle].client.socket.read(appendingTo: &bytes, limit: 65_536) {
            case .bytes:
                if !connections[handle].session.isOver { connections[handle].client.active = now }
                if let request = connections[handle].session.receive(bytes.span, now: now) {
                    give(answer(request), to: handle, now)
                }
            case .wouldBlock: return
            // A client that has finished sending may still read its answer.
            case .end: connections[handle].client.isGone = true
            case .failed: return drop(handle)
            }
        }
    }

    private mutating func write(_ handle: Handle, _ now: Instant, _ answer: (ControlRequest) -> ControlAnswer) {
        var answers = 0
        while !connections[handle].session.output.isEmpty {
            guard answers < Self.turn else { return watch(handle, .writable) }
            let output = connections[handle].session.output
            switch connections[handle].client.socket.write(output.span) {
            case .bytes(let count):
                connections[handle].client.active = now
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
        if connections[handle].client.isGone { return drop(handle) }
        if connections[handle].session.isOver { connections[handle].client.finish() }
        watch(handle, .reading)
    }

    mutating func watch(_ handle: Handle, _ interest: Interest) {
        do throws(SystemCallError) {
            try poller.watch(&connections[handle].client, handle, for: interest)
        } catch {
            drop(handle)
        }
    }

    mutating func drop(_ handle: Handle) { _ = connections.remove(handle) }

    private mutating func expire(_ now: Instant) {
        deadline = poller.reopening
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
