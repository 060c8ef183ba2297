/// The measuring upstream: a CONNECT and SOCKS5 proxy that must never be what limits a gateway.
///
/// One thread, edge-triggered epoll, splice. With `--echo` it ends the CONNECT itself and echoes, so a flow costs
/// this process one descriptor: 10,000 flows fit where descriptors are limited to 20,000.

internal import Addresses
internal import Bytes
internal import LinuxIO

/// The proxy's loop and everything that it owns.
struct Upstream: ~Copyable {
    private static let listenerToken = UInt64.max

    private let echoes: Bool
    private let listener: Socket
    private var poller: Poller
    private var sessions: Slab<UpstreamSession>
    private var room: PumpRoom
    /// Sessions whose turn ended early.
    private var unfinished: [Handle] = []

    init(_ arguments: inout Arguments) throws {
        let address = try arguments.address("listen")
        try arguments.finish()
        let listener = try Socket.listen(on: address)
        let poller = try Poller()
        try poller.add(listener.descriptor.number, token: Self.listenerToken, events: .readable)
        self.listener = listener
        self.poller = poller
        echoes = arguments.flag("echo")
        sessions = Slab()
        room = PumpRoom()
    }

    /// Serves until the process is ended.
    mutating func run() {
        var events = [PolledEvent](repeating: .none, count: Poller.batch)
        while true {
            let count = poller.wait(into: &events, until: unfinished.isEmpty ? nil : Instant(nanoseconds: 0))
            for index in 0..<count {
                let event = events[index]
                if event.token == Self.listenerToken { accept() } else { ready(event) }
            }
            let again = unfinished
            unfinished.removeAll(keepingCapacity: true)
            for handle in again where sessions.contains(handle) {
                settle(handle, sessions[handle].goOn(room: &room))
            }
        }
    }

    private mutating func accept() {
        for _ in 0..<64 {
            switch listener.accept() {
            case .accepted(let client, from: _):
                let number = client.descriptor.number
                let handle = sessions.insert(UpstreamSession(client: client, echoes: echoes))
                watch(number, Self.token(handle, isTarget: false), handle)
            case .nothing: return
            case .exhausted: return
            case .failed: return
            }
        }
    }

    private mutating func ready(_ event: PolledEvent) {
        let (handle, isTarget) = Self.session(of: event.token)
        guard sessions.contains(handle) else { return }
        let outcome =
            isTarget
            ? sessions[handle].targetReady(event, room: &room) : sessions[handle].clientReady(event, room: &room)
        settle(handle, outcome)
    }

    private mutating func settle(_ handle: Handle, _ outcome: UpstreamSession.Outcome) {
        switch outcome {
        case .waiting: break
        case .more: unfinished.append(handle)
        case .over: drop(handle)
        case .dialled:
            guard let number = sessions[handle].targetNumber else { return }
            watch(number, Self.token(handle, isTarget: true), handle)
        }
    }

    private mutating func watch(_ number: CInt, _ token: UInt64, _ handle: Handle) {
        do throws(SystemCallError) {
            try poller.add(number, token: token, events: [.readable, .writable, .peerFinished], edge: true)
        } catch {
            drop(handle)
        }
    }

    private mutating func drop(_ handle: Handle) {
        var session = sessions.remove(handle)
        session.release(&room)
    }

    /// Generation, index and side in one word; there are never 2^31 sessions.
    private static func token(_ handle: Handle, isTarget: Bool) -> UInt64 {
        UInt64(handle.generation) << 32 | UInt64(handle.index) << 1 | (isTarget ? 1 : 0)
    }

    private static func session(of token: UInt64) -> (Handle, isTarget: Bool) {
        let index = UInt32(truncatingIfNeeded: token) >> 1
        return (Handle(index: index, generation: UInt32(truncatingIfNeeded: token >> 32)), token & 1 == 1)
    }
}
