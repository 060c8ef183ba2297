/// The page's listener and its connections.
///
/// It listens on every address of its port, so that a LAN's addresses may come and go, and looks at who has come:
/// whoever is neither on a LAN of ours nor a guest of its proxy is reset at once (`PageServer+Newcomers`). Work is
/// bounded, whoever asks for however much: so many connections in all and for each device, so many requests a second of
/// a device and of all together, and so much of everything in one call.

public import Addresses
public import Bytes
internal import Flows
public import LinuxIO
public import Page

/// Browsers' connections, one request each at a time.
///
/// The server has a poller of its own, whose descriptor the owner's loop watches: when it is readable, `serve` is
/// called.
public struct PageServer: ~Copyable {
    /// The most connections at a time, and the most of one address.
    public static let connectionLimit = 64
    public static let deviceLimit = 16
    /// How many requests a second an address has, and how many at once after a quiet time.
    public static let requestsPerSecond = 20
    public static let burst = 40
    /// How many requests a second all of them have together, however many devices somebody makes up.
    public static let requestsOfAll = 400

    /// How many pieces and answers one call has for a connection; the rest gets the next.
    private static let turn = 4
    /// How long a connection is not listened to that has asked for too much: as long as its answer says.
    static let pause = Interval.seconds(1)

    struct Connection: ~Copyable {
        var client: ClientSocket
        /// Whose it is, by one of its addresses.
        let device: IPAddress
        var session: PageSession
        /// Until when it is not listened to.
        var pausedUntil: Instant?

        /// Whether something of a request or of an answer is still to come.
        var isBusy: Bool {
            guard session.output.isEmpty else { return true }
            return !session.isIdle && !session.isOver && pausedUntil == nil
        }
    }

    var poller: ServerPoller
    private(set) var doors: [PageDoor]
    var connections = Slab<Connection>()
    private var limiter: RateLimiter
    private var limiterOfAll: RateLimiter
    /// Connections that gave way to newcomers, and newcomers for whom there was no room.
    var shed = 0
    var neighbourhood = PageNeighbourhood()
    /// When the neighbourhood was looked at; nil: it has to be.
    var lookedAt: Instant?
    let look: () -> PageNeighbourhood

    /// Takes in who comes by these doors, and welcomes who is on one of these interfaces, or one of those guests.
    public init(doors: [PageDoor], lan: [String], guests: PageGuests? = nil) throws(SystemCallError) {
        let look = { PageNeighbourhood((try? NetworkInterface.addresses()) ?? [], lan: lan, guests: guests) }
        try self.init(doors: doors, look: look)
    }

    init(doors: [PageDoor], look: @escaping () -> PageNeighbourhood) throws(SystemCallError) {
        var poller = try ServerPoller(clients: Self.connectionLimit)
        try poller.replaceDoors(by: doors.map { $0.socket.descriptor.number })
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
        try poller.replaceDoors(by: next.map { $0.socket.descriptor.number })
        doors = next
    }

    /// What the owner's loop watches for reading.
    public var descriptor: CInt { poller.descriptor }

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
        let ready = poller.take(now: now)
        for (place, event) in ready.clients {
            guard let handle = connections.handle(at: place) else { continue }
            serve(handle, event, now, answer)
        }
        poller.reopenDoors(now: now)
        // Newcomers come last: they may get the places of those whose events these were.
        for door in ready.doors { accept(door, now, device) }
        expire(now, answer)
    }

    /// Keeps the promise of an answer; a client that is gone is passed over.
    public mutating func deliver(_ answer: PageAnswer, for number: UInt64, now: Instant) {
        let handle = Handle(
            index: UInt32(truncatingIfNeeded: number), generation: UInt32(truncatingIfNeeded: number >> 32))
        guard connections.contains(handle) else { return }
        connections[handle].session.answer(answer, now: now)
        watch(handle, .writable)
    }

    private static func number(_ handle: Handle) -> UInt64 { UInt64(handle.generation) << 32 | UInt64(handle.index) }

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
            guard connections[handle].session.wantsInput, !connections[handle].client.isGone else { return }
            var bytes: [UInt8] = []
            switch connections[handle].client.socket.read(appendingTo: &bytes, limit: 16_384) {
            case .bytes:
                if !connections[handle].session.isOver { connections[handle].client.active = now }
                if let visit = connections[handle].session.receive(bytes.span, now: now) {
                    return give(visit, handle, now, answer)
                }
            case .wouldBlock: return
            // A client that has finished sending may still read its answer.
            case .end: connections[handle].client.isGone = true
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
            switch connections[handle].client.socket.write(output.span) {
            case .bytes(let count):
                connections[handle].client.active = now
                connections[handle].session.sent(count, now: now)
            case .wouldBlock: return watch(handle, .writable)
            case .failed: return drop(handle)
            }
        }
        if connections[handle].client.isGone { return drop(handle) }
        if connections[handle].session.isOver { connections[handle].client.finish() }
        let isPaused = connections[handle].pausedUntil != nil
        watch(handle, isPaused ? .peerFinished : connections[handle].session.wantsInput ? .reading : [])
    }

    private mutating func watch(_ handle: Handle, _ interest: Interest) {
        do throws(SystemCallError) {
            try poller.watch(&connections[handle].client, handle, for: interest)
        } catch {
            drop(handle)
        }
    }

    mutating func drop(_ handle: Handle) { _ = connections.remove(handle) }

    private mutating func expire(_ now: Instant, _ answer: (PageVisit) -> PageAnswer?) {
        deadline = poller.reopening
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
