/// The page's listener and its connections.
///
/// It listens on every address of its port, so that a LAN's addresses may come and go, and looks at who has come: whoever
/// is not on a LAN of ours is reset at once. Work is bounded, whoever asks for however much: so many connections in all and
/// for each device, so many requests a second of a device, and so much of everything in one call.

internal import Addresses
public import Bytes
internal import Flows
public import LinuxIO
public import Page

public struct PageServer: ~Copyable {
    /// The most connections at a time, and the most of one address.
    public static let connectionLimit = 64
    public static let deviceLimit = 16
    /// How many requests a second an address has, and how many at once after a quiet time.
    public static let requestsPerSecond = 20
    public static let burst = 40

    /// How many newcomers one call looks at, for each door; then the door rests for a moment.
    private static let newcomers = 64
    private static let shortRest = Interval.milliseconds(20)
    /// How long nobody is taken in where there is no descriptor for anybody.
    private static let longRest = Interval.milliseconds(100)
    /// How many pieces and answers one call has for a connection; the rest gets the next.
    private static let turn = 4
    /// How long a connection is not listened to that has asked for too much: as long as its answer says.
    static let pause = Interval.seconds(1)
    /// How long it is believed that this machine has the addresses that it had.
    private static let lookTime = Interval.seconds(1)

    struct Connection: ~Copyable {
        var socket: Socket
        var session: PageSession
        /// When it was last heard, or took something.
        var active: Instant
        /// Until when it is not listened to.
        var pausedUntil: Instant?
        /// What the poller was asked for.
        var interest: Interest = .reading
        /// The client has finished sending.
        var isGone = false
        /// The last answer was sent, and the client knows that there is no other.
        var isFinished = false
    }

    private var poller: Poller
    private let doors: [PageDoor]
    /// When the doors are looked at again; never: they are watched.
    private var reopening = Instant.never
    private var connections = Slab<Connection>()
    private var limiter: RateLimiter
    private var events = [PolledEvent](repeating: .none, count: 2 * connectionLimit)
    private var neighbourhood = PageNeighbourhood()
    private var lookedAt: Instant?
    private let look: () -> PageNeighbourhood

    /// Listens, and welcomes who is on one of these interfaces.
    public init(port: UInt16, lan: [String], mark: UInt32? = nil) throws(SystemCallError) {
        let look = { PageNeighbourhood((try? NetworkInterface.addresses()) ?? [], lan: lan) }
        try self.init(doors: Self.listen(on: port, mark), look: look)
    }

    init(doors: [PageDoor], look: @escaping () -> PageNeighbourhood) throws(SystemCallError) {
        let poller = try Poller()
        for (index, door) in doors.enumerated() {
            try poller.add(door.socket.descriptor.number, token: UInt64(index), events: .readable)
        }
        self.poller = poller
        self.doors = doors
        self.look = look
        var random = SystemRandom()
        limiter = RateLimiter(perSecond: Self.requestsPerSecond, burst: Self.burst, seed: random.key())
    }

    /// Both families, as far as the kernel has them.
    private static func listen(on port: UInt16, _ mark: UInt32?) throws(SystemCallError) -> [PageDoor] {
        let anyone = SocketAddress(IPAddress(v4: 0), port)
        var doors = [PageDoor(try Socket.listen(on: anyone, backlog: 256, mark: mark))]
        do throws(SystemCallError) {
            let anyone = SocketAddress(IPAddress(high: 0, low: 0), port)
            doors.append(PageDoor(try Socket.listen(on: anyone, backlog: 256, mark: mark)))
        } catch {
            guard error.errno == .familyNotSupported else { throw error }
        }
        return doors
    }

    /// What the owner's loop watches for reading.
    public var descriptor: CInt { poller.descriptor.number }

    /// When `serve` is called at the latest.
    public private(set) var deadline = Instant.never

    /// Has the addresses of this machine be looked at anew before the next newcomer is let in.
    public mutating func addressesChanged() { lookedAt = nil }

    /// Serves what is ready: each request is answered before the next one is looked at.
    public mutating func serve(now: Instant, _ answer: (PageVisit) -> PageAnswer) {
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
        expire(now, answer)
    }

    /// The token of the first connection; below are the doors.
    private static let firstToken: UInt64 = 0x1_0000

    private static func token(_ handle: Handle) -> UInt64 { firstToken + UInt64(handle.index) }

    // MARK: Newcomers

    private mutating func accept(_ door: Int, _ now: Instant) {
        for _ in 0..<Self.newcomers {
            switch doors[door].socket.accept() {
            case .accepted(let socket, from: let client): admit(socket, client, now)
            case .nothing: return
            case .exhausted: return close(until: now + Self.longRest)
            case .failed: return close(until: now + Self.longRest)
            }
        }
        close(until: now + Self.shortRest)
    }

    private mutating func admit(_ socket: consuming Socket, _ client: SocketAddress, _ now: Instant) {
        lookAround(now)
        guard let local = socket.localAddress?.address, neighbourhood.welcomes(client.address, at: local),
            makeRoom(for: client.address)
        else { return socket.resetOnClose() }
        let asked = socket.originalDestination?.address ?? local
        let number = socket.descriptor.number
        let handle = connections.insert(
            Connection(
                socket: socket, session: PageSession(client: client, local: asked, now: now), active: now))
        do throws(SystemCallError) {
            try poller.add(number, token: Self.token(handle), events: .reading)
        } catch {
            drop(handle)
        }
    }

    private mutating func lookAround(_ now: Instant) {
        if let lookedAt, now < lookedAt + Self.lookTime { return }
        lookedAt = now
        neighbourhood = look()
    }

    /// No door is looked at for a while: those who wait there wait in the kernel.
    private mutating func close(until reopening: Instant) {
        watchDoors(false)
        self.reopening = reopening
    }

    private mutating func watchDoors(_ isWatching: Bool) {
        reopening = .never
        for (index, door) in doors.enumerated() {
            try? poller.modify(
                door.socket.descriptor.number, token: UInt64(index), events: isWatching ? .readable : [])
        }
    }

    /// Ends a connection where there are too many: of a device that has its share one that says nothing, or the newcomer
    /// is refused; else, of all, the one that has been silent for longest.
    private mutating func makeRoom(for client: IPAddress) -> Bool {
        var share = 0
        var victim: (handle: Handle, isBusy: Bool, active: Instant)?
        var ownVictim: (handle: Handle, active: Instant)?
        for place in 0..<connections.capacity {
            guard let handle = connections.handle(at: place) else { continue }
            let isBusy = !connections[handle].session.isIdle || connections[handle].pausedUntil != nil
            let active = connections[handle].active
            if connections[handle].session.client.address == client {
                share += 1
                if !isBusy, active < ownVictim?.active ?? .never { ownVictim = (handle, active) }
            }
            if let other = victim, (other.isBusy ? 1 : 0, other.active) <= (isBusy ? 1 : 0, active) { continue }
            victim = (handle, isBusy, active)
        }
        if share >= Self.deviceLimit {
            guard let ownVictim else { return false }
            drop(ownVictim.handle)
        } else if connections.count >= Self.connectionLimit, let victim {
            drop(victim.handle)
        }
        return true
    }

    // MARK: Connections

    private mutating func serve(
        _ handle: Handle, _ event: PolledEvent, _ now: Instant, _ answer: (PageVisit) -> PageAnswer
    ) {
        if event.error { return drop(handle) }
        if connections[handle].pausedUntil != nil, connections[handle].session.output.isEmpty {
            return event.hungUp ? drop(handle) : ()
        }
        if event.readable || event.hungUp { read(handle, now, answer) }
        guard connections.contains(handle) else { return }
        write(handle, now, answer)
    }

    private mutating func read(_ handle: Handle, _ now: Instant, _ answer: (PageVisit) -> PageAnswer) {
        for _ in 0..<Self.turn {
            guard connections[handle].session.wantsInput, !connections[handle].isGone else { return }
            var bytes: [UInt8] = []
            switch connections[handle].socket.read(appendingTo: &bytes, limit: 16_384) {
            case .bytes:
                if !connections[handle].session.isOver { connections[handle].active = now }
                if let visit = connections[handle].session.receive(bytes.span, now: now) {
                    return give(visit, handle, now, answer)
                }
            case .wouldBlock: return
            // A client that has finished sending may still read its answer.
            case .end: connections[handle].isGone = true
            case .failed: return drop(handle)
            }
        }
    }

    /// Answers a visit; one too many is told so at hardly any cost, and then nothing of its connection is read for a while.
    private mutating func give(
        _ visit: PageVisit, _ handle: Handle, _ now: Instant, _ answer: (PageVisit) -> PageAnswer
    ) {
        guard limiter.allow(visit.client.address, now: now) else {
            connections[handle].session.answer(PageRefusal.tooOften.line, now: now)
            // One that ends with this answer is only waited for.
            if !connections[handle].session.isOver { connections[handle].pausedUntil = now + Self.pause }
            return
        }
        var visit = visit
        visit.addresses = neighbourhood.addresses
        connections[handle].session.answer(answer(visit), now: now)
    }

    private mutating func write(_ handle: Handle, _ now: Instant, _ answer: (PageVisit) -> PageAnswer) {
        var answers = 0
        while true {
            guard !connections[handle].session.output.isEmpty else {
                guard connections[handle].pausedUntil == nil else { break }
                guard answers < Self.turn else { return watch(handle, .writable) }
                guard let visit = connections[handle].session.next() else {
                    // What was there may have been refused.
                    if connections[handle].session.output.isEmpty { break }
                    continue
                }
                give(visit, handle, now, answer)
                answers += 1
                continue
            }
            let output = connections[handle].session.output
            switch connections[handle].socket.write(output.span) {
            case .bytes(let count):
                connections[handle].active = now
                connections[handle].session.sent(count, now: now)
            case .wouldBlock: return watch(handle, .writable)
            case .failed: return drop(handle)
            }
        }
        if connections[handle].isGone { return drop(handle) }
        if connections[handle].session.isOver { finish(handle) }
        watch(handle, connections[handle].pausedUntil == nil ? .reading : [])
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

    private mutating func expire(_ now: Instant, _ answer: (PageVisit) -> PageAnswer) {
        deadline = reopening
        for place in 0..<connections.capacity {
            guard let handle = connections.handle(at: place) else { continue }
            if let end = connections[handle].pausedUntil, end <= now {
                connections[handle].pausedUntil = nil
                write(handle, now, answer)
            }
            guard connections.contains(handle) else { continue }
            let end = connections[handle].session.deadline
            if end <= now {
                drop(handle)
            } else {
                deadline = min(deadline, end, connections[handle].pausedUntil ?? end)
            }
        }
    }
}

/// A listening socket of the page.
final class PageDoor: Sendable {
    let socket: Socket

    init(_ socket: consuming Socket) { self.socket = socket }
}
