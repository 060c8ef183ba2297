/// # A gateway on the bench
///
/// The real workers, their queues being socket pairs and their upstream a listener on loopback, all in the test's
/// own thread: the test is the device, the upstream, and the clock.
///
///     device (Client) ── socket pair ── Worker ── loopback ── upstream (Peer)
///
/// The workers' clock stands still but for `advance`: a limit of a day takes no longer than a turn, and a busy
/// machine runs nothing out.

import Addresses
import Bytes
import LinuxIO
import Relay
import Testing
import Upstreams
import Wire

@testable import Gateway

final class Bench {
    let shared: Shared
    let settings: GatewaySettings
    private(set) var machines: [Machine] = []
    private let upstream: Socket
    private let hasVirtioHeader: Bool

    private var peers: [Peer] = []
    private var clients: [Client] = []
    /// What was written for no client of this bench, in order.
    private(set) var strays: [Seen] = []
    private var nextPort: UInt16 = 40001

    /// The target that clients ask for unless they say otherwise.
    static let target = address("198.51.100.10", 443)
    static let device = address("10.9.0.2", 0).address

    init(
        workers: Int = 1, hasVirtioHeader: Bool = false, kind: UpstreamSettings.Kind? = nil,
        listeners: [GatewaySettings.Listener.Kind] = [], outbound: GatewaySettings.Listener.Outbound = .active,
        names: NameTable? = nil,
        _ change: (inout GatewaySettings) -> Void = { _ in },
        upstreamSettings: (inout UpstreamSettings) -> Void = { _ in }
    ) throws {
        let loopback = Bench.address("127.0.0.1", 0)
        upstream = try Socket.listen(on: loopback)
        self.hasVirtioHeader = hasVirtioHeader
        let server = upstream.localAddress ?? loopback
        var way = UpstreamSettings(kind ?? .http(server: Target(server)))
        upstreamSettings(&way)
        var settings = GatewaySettings(upstream: way, profile: "bench")
        settings.workers = workers
        settings.routing.direct.policy.allowed = [IPPrefix(parsing: "127.0.0.0/8"), IPPrefix(parsing: "::1/128")]
            .compactMap(\.self)
        change(&settings)
        self.settings = settings
        let open = try listeners.map { kind in
            let socket = try Socket.listen(on: loopback)
            let address = socket.localAddress ?? loopback
            return Listener(.init(kind: kind, address: address, allow: [], outbound: outbound), socket)
        }
        let mailboxes = try (0..<workers).map { _ in try Mailbox() }
        shared = Shared(
            settings, board: PolicyBoard(try Policy(settings.routing)), names: names, listeners: open,
            mailboxes: mailboxes,
            control: try WakeUp(), tap: nil)
        machines = try (0..<workers).map {
            try Machine($0, shared: shared, hasVirtioHeader: hasVirtioHeader)
        }
    }

    /// An address as tests write it.
    static func address(_ text: String, _ port: UInt16) -> SocketAddress {
        guard let address = IPAddress(parsing: text) else { preconditionFailure("no address: \(text)") }
        return SocketAddress(address, port)
    }

    /// Where the gateway believes the upstream to be.
    var upstreamAddress: SocketAddress { upstream.localAddress ?? Bench.address("127.0.0.1", 0) }

    // MARK: Time

    private(set) var now = Clock.now()

    /// Lets the gateway do what there is to do, then time pass, and the gateway do what is due by then.
    func advance(_ interval: Interval) {
        settle()
        now = now + interval
        settle()
    }

    /// Turns every worker once and hands out what they wrote; returns whether anything happened.
    @discardableResult private func pump() -> Bool {
        var isBusy = false
        for machine in machines {
            if machine.turn(at: now) { isBusy = true }
            while let message = machine.read() {
                isBusy = true
                deliver(message, from: machine)
            }
        }
        for peer in peers { peer.poll() }
        return isBusy
    }

    private func deliver(_ message: [UInt8], from machine: Machine) {
        do {
            let seen = try Seen(message, hasVirtioHeader: hasVirtioHeader, queue: machine.index)
            if let client = clients.last(where: { $0.isMeant(by: seen) }) {
                client.take(seen)
            } else {
                strays.append(seen)
            }
        } catch {
            Issue.record("the gateway wrote nonsense: \(error)")
        }
    }

    /// Goes on until nothing happens any more.
    func settle() {
        var quiet = 0
        while quiet < 3 {
            quiet = pump() ? 0 : quiet + 1
            rest()
        }
    }

    /// Goes on until something is so, twenty seconds at most.
    func until(
        _ what: String, sourceLocation: SourceLocation = #_sourceLocation, _ isSo: () throws -> Bool
    ) rethrows {
        let deadline = Clock.now() + .seconds(20)
        while try !isSo() {
            guard Clock.now() < deadline else {
                Issue.record("waited in vain until \(what)", sourceLocation: sourceLocation)
                return
            }
            if !pump() { rest() }
        }
    }

    /// Waits as long as the kernel may keep an acknowledgement back (40 ms), which no clock of ours can shorten.
    func letKernelAcknowledge() {
        let deadline = Clock.now() + .milliseconds(60)
        while Clock.now() < deadline { settle() }
    }

    /// Leaves the kernel a moment for its part.
    private func rest() {
        var events = [PolledEvent.none]
        guard var poller = try? Poller() else { return }
        _ = poller.wait(into: &events, until: Clock.now() + .microseconds(300))
    }

    // MARK: The device

    /// A TCP client on the device, with a port of its own.
    func client(
        from address: IPAddress = Bench.device, port: UInt16? = nil, to target: SocketAddress = Bench.target,
        at queue: Int = 0
    ) -> Client {
        let own = port ?? nextPort
        if port == nil { nextPort += 1 }
        let client = Client(SocketAddress(address, own), target, on: self, queue: queue)
        clients.append(client)
        return client
    }

    /// Puts an IP packet into a queue.
    func inject(_ packet: [UInt8], at queue: Int = 0) throws {
        try machines[queue].write((hasVirtioHeader ? [UInt8](repeating: 0, count: 12) : []) + packet)
    }

    /// What was written for no client since this was last called.
    func takeStrays() -> [Seen] {
        settle()
        defer { strays = [] }
        return strays
    }

    // MARK: The upstream

    /// The next connection of the gateway to its upstream, if one waits.
    func nextPeer() -> Peer? {
        guard case .accepted(let socket, from: _) = upstream.accept() else { return nil }
        let peer = Peer(socket)
        peers.append(peer)
        return peer
    }

    /// The next connection of the gateway to its upstream.
    func accept(sourceLocation: SourceLocation = #_sourceLocation) throws -> Peer {
        var peer: Peer?
        until("the gateway dials", sourceLocation: sourceLocation) {
            peer = nextPeer()
            return peer != nil
        }
        guard let peer else { throw BenchError("no dial") }
        return peer
    }

    /// Accepts a connection, reads its CONNECT and says yes.
    func acceptTunnel(_ answer: String = "HTTP/1.1 200 OK\r\n\r\n") throws -> Peer {
        let peer = try accept()
        until("the CONNECT is there") { peer.text.hasSuffix("\r\n\r\n") }
        _ = peer.take()
        peer.send(answer)
        return peer
    }

    /// A client of the gateway's listener of that number.
    func inboundClient(_ listener: Int = 0) throws -> Peer {
        let peer = try Peer(to: shared.listeners[listener].settings.address)
        peers.append(peer)
        return peer
    }

    /// Has a client of the first listener, which takes SOCKS5, read nothing until its octets fill a pool of so many
    /// chunks; a flow that is to be there meanwhile has to be open.
    func emptyPool(of chunks: Int) throws -> Peer {
        let hog = try inboundClient()
        hog.send([5, 1, 0, 5, 1, 0, 1, 198, 51, 100, 10, 0x01, 0xbb])
        let source = try acceptTunnel()
        until("the reply is there") { hog.received.count == 12 }
        hog.isReading = false
        let data = pattern(1 << 20)
        until("the pool is empty") {
            source.send(data)
            return machines[0].chunksUsed == chunks
        }
        return hog
    }

    // MARK: What is left

    /// Everything that the workers said.
    var log: String { machines.map(\.log).joined() }

    /// The line of the flow that ended last.
    var lastFlowLine: String {
        log.split(separator: "\n").last { $0.hasPrefix("event=flow") }.map(String.init) ?? ""
    }

    /// A counter over all workers.
    func counter(_ part: KeyPath<Counters, Int>) -> Int { machines.reduce(0) { $0 + $1.counters[keyPath: part] } }

    /// Waits until every flow is gone, and expects that nothing is left of them.
    func expectNothingLeft(sourceLocation: SourceLocation = #_sourceLocation) {
        until("every flow is gone", sourceLocation: sourceLocation) { machines.allSatisfy { $0.flows == 0 } }
        settle()
        for machine in machines {
            #expect(machine.leftovers == "", "worker \(machine.index)", sourceLocation: sourceLocation)
        }
        for peer in peers {
            peer.isReading = true
            until("an upstream's socket is closed", sourceLocation: sourceLocation) { peer.isOver || peer.isClosed }
        }
    }
}
