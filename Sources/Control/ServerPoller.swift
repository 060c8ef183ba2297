/// What both servers of this module wait for, their doors and their clients, and what both know of a client's socket.

internal import Bytes
internal import LinuxIO

/// The poller of a server: its doors by their places, its clients by theirs in the server's slab.
///
/// It owns none of their sockets; one that is closed leaves it by itself. A server that can take nobody in has its
/// doors rest, and those who wait there wait in the kernel: otherwise they would be reported all the time.
struct ServerPoller: ~Copyable {
    /// What is ready.
    struct Ready {
        var doors: [Int] = []
        var clients: [(place: UInt32, event: PolledEvent)] = []
    }

    /// The token of the first client; below are the doors.
    private static let firstClient: UInt64 = 0x1_0000

    private var poller: Poller
    /// The doors' descriptors, by their places.
    private var doors: [CInt] = []
    private var events: [PolledEvent]
    /// When the doors are looked at again; never: they are watched.
    private(set) var reopening = Instant.never

    /// Of so many clients one call reports all that is ready.
    init(clients limit: Int) throws(SystemCallError) {
        poller = try Poller()
        events = [PolledEvent](repeating: .none, count: 2 * limit)
    }

    /// What the owner's loop watches for reading.
    var descriptor: CInt { poller.descriptor.number }

    /// Takes what is ready, and waits for nothing.
    mutating func take(now: Instant) -> Ready {
        var ready = Ready()
        let count = poller.wait(into: &events, until: now)
        for event in events[..<count] {
            if event.token < Self.firstClient {
                ready.doors.append(Int(event.token))
            } else {
                ready.clients.append((UInt32(truncatingIfNeeded: event.token - Self.firstClient), event))
            }
        }
        return ready
    }

    // MARK: Doors

    /// Watches one door more.
    mutating func add(door number: CInt) throws(SystemCallError) {
        try poller.add(number, token: UInt64(doors.count), events: .readable)
        doors.append(number)
    }

    /// Watches these doors instead of the former ones; where that can't be, the former ones stay.
    mutating func replaceDoors(by next: [CInt]) throws(SystemCallError) {
        for (place, number) in next.enumerated() { try poller.add(number, token: UInt64(place), events: .readable) }
        doors = next
        reopening = .never
    }

    /// Looks at no door for a while.
    mutating func restDoors(until time: Instant) {
        watchDoors(for: [])
        reopening = time
    }

    /// Looks at the doors again if their rest is over.
    mutating func reopenDoors(now: Instant) {
        guard reopening <= now else { return }
        watchDoors(for: .readable)
        reopening = .never
    }

    private func watchDoors(for interest: Interest) {
        for (place, number) in doors.enumerated() {
            try? poller.modify(number, token: UInt64(place), events: interest)
        }
    }

    // MARK: Clients

    private static func token(_ handle: Handle) -> UInt64 { firstClient + UInt64(handle.index) }

    /// Watches a newcomer.
    func add(_ client: borrowing ClientSocket, _ handle: Handle) throws(SystemCallError) {
        try poller.add(client.socket.descriptor.number, token: Self.token(handle), events: client.interest)
    }

    /// Watches a client for something else from now on.
    func watch(_ client: inout ClientSocket, _ handle: Handle, for interest: Interest) throws(SystemCallError) {
        guard client.interest != interest else { return }
        client.interest = interest
        try poller.modify(client.socket.descriptor.number, token: Self.token(handle), events: interest)
    }
}

/// A client's socket, and how it stands with it.
struct ClientSocket: ~Copyable {
    var socket: Socket
    /// When it was last heard, or took something.
    var active: Instant
    /// What the poller was asked for.
    fileprivate var interest: Interest = .reading
    /// The client has finished sending.
    var isGone = false
    /// The last answer was sent, and the client knows that there is no other.
    private var isFinished = false

    init(_ socket: consuming Socket, now: Instant) {
        self.socket = socket
        active = now
    }

    /// Says that this was the last answer; the client ends the connection.
    ///
    /// Ended by us while octets of it are still on their way, it would be reset, and the answer lost with it (RFC 9112,
    /// section 9.6).
    mutating func finish() {
        guard !isFinished else { return }
        isFinished = true
        socket.shutdownSend()
    }
}
