/// Who is let in to the page, and who gives way where there are too many.

internal import Addresses
internal import Bytes
internal import LinuxIO

extension PageServer {
    /// How many newcomers one call looks at, for each door; then the doors rest for a moment.
    private static let newcomers = 64
    private static let shortRest = Interval.milliseconds(20)
    /// How long nobody is taken in where there is no descriptor for anybody.
    private static let longRest = Interval.milliseconds(100)
    /// How long it is believed that this machine has the addresses that it had.
    private static let lookTime = Interval.seconds(1)

    mutating func accept(_ door: Int, _ now: Instant, _ device: (IPAddress) -> IPAddress) {
        for _ in 0..<Self.newcomers {
            switch doors[door].socket.accept() {
            case .accepted(let socket, from: let client): admit(socket, client, now, device)
            case .nothing: return
            // One each: there are no patterns of several for what can't be copied.
            case .exhausted: return poller.restDoors(until: now + Self.longRest)
            case .failed: return poller.restDoors(until: now + Self.longRest)
            }
        }
        poller.restDoors(until: now + Self.shortRest)
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
        let handle = connections.insert(
            Connection(
                client: ClientSocket(socket, now: now), device: device,
                session: PageSession(client: client, local: asked, now: now)))
        do throws(SystemCallError) {
            try poller.add(connections[handle].client, handle)
        } catch {
            drop(handle)
        }
    }

    private mutating func lookAround(_ now: Instant) {
        if let lookedAt, now < lookedAt + Self.lookTime { return }
        lookedAt = now
        neighbourhood = look()
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
            let active = connections[handle].client.active
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
}
