/// The page's listener and its connections.
///
/// It listens on every address of its port, so that a LAN's addresses may come and go, and looks at who has come:
/// whoever is neither on a LAN of ours nor a guest of its proxy is reset at once. Work is bounded, whoever asks for
/// however much:
/// so many connections in all and for each device, so many requests a second of a device and of all together, and so
/// much of everything in one call.

public import Addresses
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
    /// How many requests a second all of them have together, however many devices somebody makes up.
    public static let requestsOfAll = 400

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
        /// Whose it is, by one of its addresses.
        let device: IPAddress
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

        /// Whether something of a request or of an answer is still to come.
        var isBusy: Bool {
            guard session.output.isEmpty else { return true }
            return !session.isIdle && !session.isOver && pausedUntil == nil
        }
    }

    private var poller: Poller
    private var doors: [PageDoor]
    /// When the doors are looked at again; never: they are watched.
    private var reopening = Instant.never
    private var connections = Slab<Connection>()
    private var limiter: RateLimiter
    private var limiterOfAll: RateLimiter
    /// Connections that gave way to newcomers, and newcomers for whom there was no room.
    private var shed = 0
    private var events = [PolledEvent](repeating: .none, count: 2 * connectionLimit)
    private var neighbourhood = PageNeighbourhood()
    private var lookedAt: Instant?
    private let look: () -> PageNeighbourhood

    /// Takes in who comes by these doors, and welcomes who is on one of these interfaces, or one of those guests.
    public init(doors: [PageDoor], lan: [String], guests: PageGuests? = nil) throws(SystemCallError) {
        let look = { PageNeighbourhood((try? NetworkInterface.addresses()) ?? [], lan: lan, guests: guests) }
        try self.init(doors: doors, look: look)
    }

    init(doors: [PageDoor], look: @escaping () -> PageNeighbourhood) throws(SystemCallError) {
        let poller = try Poller()
        try Self.watch(doors, poller)
        self.poller = poller
        self.doors = doors
        self.look = look
        var random = SystemRandom()
        limiter = RateLimiter(perSecond: Self.requestsPerSecond, burst: Self.burst, seed: random.key())
        limiterOfAll = RateLimiter(perSecond: Self.requestsOfAll, seed: random.key())
    }

    /// Takes in who comes by other doors from now on; whoever is in stays.
    ///
    /// Where that can't be, the former ones stay open.
    public mutating func move(to next: [PageDoor]) throws(SystemCallError) {
        try Self.watch(next, poller)
        // The former doors leave the poller as they are closed.
        doors = next
        reopening = .never
    }

    private static func watch(_ doors: [PageDoor], _ poller: borrowing Poller) throws(SystemCallError) {
        for (index, door) in doors.enumerated() {
            try poller.add(door.socket.descriptor.number, token: UInt64(index), events: .readable)
        }
    }

    /// What the owner's loop watches for reading.
    public var descriptor: CInt { poller.descriptor.number }

    /// How often bounds were reached, by the names that counters have.
    public var limitHits: [String: Int] { ["page_clients_shed": shed, "page_requests_refused": limiter.refusals] }

    /// How many connections there are.
    public var clients: Int { connections.count }

    /// When `serve` is called at the latest.
    public private(set) var deadline = Instant.never

    /// Has the addresses of this machine be looked at anew before the next newcomer is let in.
    public mutating func addressesChanged() { lookedAt = nil }

    /// Serves what is ready: each request is answered before the next one is looked at.
    ///
    /// `device` gives one address for all that a device has: whoever has many is one all the same. Where `answer` gives
    /// nil, `deliver` brings the answer under the visit's number, within `PageSession.patience`.
    public mutating func serve(
        now: Instant, device: (IPAddress) -> IPAddress = { $0 }, _ answer: (PageVisit) -> PageAnswer?
    ) {
        let count = poller.wait(into: &events, until: now)
        for event in events[..<count] where event.token >= Self.firstToken {
            guard let handle = connections.handle(at: UInt32(truncatingIfNeeded: event.token - Self.firstToken)) else {
                continue
            }
            serve(handle, event, now, answer)
        }
        if reopening <= now { watchDoors(true) }
        // Newcomers come last: they may get the places of those whose events these were.
        for event in events[..<count] where event.token < Self.firstToken { accept(Int(event.token), now, device) }
        expire(now, answer)
    }

    /// The token of the first connection; below are the doors.
    private static let firstToken: UInt64 = 0x1_0000

    /// Keeps the promise of an answer; a client that is gone is passed over.
    public mutating func deliver(_ answer: PageAnswer, for number: UInt64, now: Instant) {
        let handle = Handle(
            index: UInt32(truncatingIfNeeded: number), generation: UInt32(truncatingIfNeeded: number >> 32))
        guard connections.contains(handle) else { return }
        connections[handle].session.answer(answer, now: now)
        watch(handle, .writable)
    }

    private static func number(_ handle: Handle) -> UInt64 { UInt64(handle.generation) << 32 | UInt64(handle.index) }

    private static func token(_ handle: Handle) -> UInt64 { firstToken + UInt64(handle.index) }

    // MARK: Newcomers

    private mutating func accept(_ door: Int, _ now: Instant, _ device: (IPAddress) -> IPAddress) {
        for _ in 0..<Self.newcomers {
            switch doors[door].socket.accept() {
            case .accepted(let socket, from: let client): admit(socket, client, now, device)
            case .nothing: return
            case .exhausted: return close(until: now + Self.longRest)
            case .failed: return close(until: now + Self.longRest)
            }
        }
        close(until: now + Self.shortRest)
    }

    private mutating func admit(
        _ socket: consuming Socket, _ client: SocketAddress, _ now: Instant, _ device: (IPAddress) -> IPAddress
    ) {
        lookAround(now)
        guard let local = socket.localAddress?.address else { return socket.resetOnClose() }
        let asked = socket.originalDestination?.address ?? local
        guard neighbourhood.welcomes(client.address, at: local, asking: asked) else { return socket.resetOnClose() }
        let device = device(client.address)
        guard makeRoom(for: device) else { return socket.resetOnClose() }
        let number = socket.descriptor.number
        let handle = connections.insert(
            Connection(
                socket: socket, device: device, session: PageSession(client: client, local: asked, now: now),
                active: now))
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

    /// Ends a connection where there are too many: of a device that has its share one that nothing is owed, or the
    /// newcomer is refused; else, of all, the one that has been silent for longest.
    ///
    /// One that was told to wait is owed nothing: its place is for the next, who is told the same.
    private mutating func makeRoom(for device: IPAddress) -> Bool {
        var share = 0
        var victim: (handle: Handle, isBusy: Bool, active: Instant)?
        var ownVictim: (handle: Handle, active: Instant)?
        for place in 0..<connections.capacity {
            guard let handle = connections.handle(at: place) else { continue }
            let isBusy = connections[handle].isBusy
            let active = connections[handle].active
            if connections[handle].device == device {
                share += 1
                if !isBusy, active < ownVictim?.active ?? .never { ownVictim = (handle, active) }
            }
            if let other = victim, (other.isBusy ? 1 : 0, other.active) <= (isBusy ? 1 : 0, active) { continue }
            victim = (handle, isBusy, active)
        }
        if share >= Self.deviceLimit {
            shed += 1
            guard let ownVictim else { return false }
            drop(ownVictim.handle)
        } else if connections.count >= Self.connectionLimit, let victim {
            shed += 1
            drop(victim.handle)
        }
        return true
    }

    // MARK: Connections

    private mutating func serve(
        _ handle: Handle, _ event: PolledEvent, _ now: Instant, _ answer: (PageVisit) -> PageAnswer?
    ) {
        if event.error { return drop(handle) }
        if connections[handle].pausedUntil != nil, connections[handle].session.output.isEmpty {
            return event.hungUp ? drop(handle) : ()
        }
        if event.readable || event.hungUp { read(handle, now, answer) }
        guard connections.contains(handle) else { return }
        write(handle, now, answer)
    }

    private mutating func read(_ handle: Handle, _ now: Instant, _ answer: (PageVisit) -> PageAnswer?) {
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

    /// Answers a visit; one too many is told so at hardly any cost, and then nothing of its connection is read for a
    /// while.
    private mutating func give(
        _ visit: PageVisit, _ handle: Handle, _ now: Instant, _ answer: (PageVisit) -> PageAnswer?
    ) {
        if let refusal = refusal(of: connections[handle].device, now) {
            connections[handle].session.answer(refusal.line, now: now)
            // One that ends with this answer is only waited for.
            if !connections[handle].session.isOver { connections[handle].pausedUntil = now + Self.pause }
            return
        }
        var visit = visit
        visit.addresses = neighbourhood.addresses
        visit.number = Self.number(handle)
        if let answer = answer(visit) { connections[handle].session.answer(answer, now: now) }
    }

    private mutating func refusal(of device: IPAddress, _ now: Instant) -> PageRefusal? {
        guard limiter.allow(device, now: now) else { return .tooOften }
        return limiterOfAll.allow(IPAddress(v4: 0), now: now) ? nil : .busy
    }

    private mutating func write(_ handle: Handle, _ now: Instant, _ answer: (PageVisit) -> PageAnswer?) {
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
        let isPaused = connections[handle].pausedUntil != nil
        watch(handle, isPaused ? .peerFinished : connections[handle].session.wantsInput ? .reading : [])
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

    private mutating func expire(_ now: Instant, _ answer: (PageVisit) -> PageAnswer?) {
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
public final class PageDoor: Sendable {
    let socket: Socket

    init(_ socket: consuming Socket) { self.socket = socket }

    /// Listens on a port, for both families as far as the kernel has them.
    public static func open(port: UInt16, mark: UInt32? = nil) throws(SystemCallError) -> [PageDoor] {
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
}
