/// The loop: two devices, two directions, one thread.

import Bytes
import LinuxIO

struct Link: ~Copyable {
    private enum Token: UInt64 {
        case left
        case right
        case signals
        case input
    }

    /// Packets read from one device before the clock is read again and the other one has its turn.
    private static let burst = 16

    private let left: TunnelQueue
    private let right: TunnelQueue
    private var up: Direction
    private var down: Direction
    private var poller: Poller
    private let signals: Signals
    private var buffer = PacketBuffer()

    init(_ options: Options, signals: consuming Signals) throws {
        let left = try Self.open(options.left, options)
        let right = try Self.open(options.right, options)
        let poller = try Poller()
        try poller.add(left.descriptor.number, token: Token.left.rawValue, events: .readable)
        try poller.add(right.descriptor.number, token: Token.right.rawValue, events: .readable)
        try poller.add(signals.descriptor.number, token: Token.signals.rawValue, events: .readable)
        // Standard input ends the emulator where it is something that can be waited for.
        try? poller.add(0, token: Token.input.rawValue, events: .readable)
        self.left = left
        self.right = right
        self.poller = poller
        self.signals = signals
        up = Direction(options.up, isTap: options.isTap, seed: options.seed &* 2)
        down = Direction(options.down, isTap: options.isTap, seed: options.seed &* 2 &+ 1)
    }

    /// The counters of both directions.
    var json: String { "{\"up\":\(up.counters.json),\"down\":\(down.counters.json)}" }

    /// Runs until it is told to stop (true) or a device is gone (false).
    mutating func run() -> Bool {
        var events = [PolledEvent](repeating: .none, count: 8)
        while true {
            let count = poller.wait(into: &events, until: min(up.nextDue, down.nextDue))
            for index in 0..<count {
                switch Token(rawValue: events[index].token) {
                case .left: if !readLeft() { return false }
                case .right: if !readRight() { return false }
                case .signals: if isToldToStop() { return true }
                case .input: if events[index].hungUp || Self.inputHasEnded() { return true }
                case nil: break
                }
            }
            let now = Clock.now()
            guard up.deliver(to: right, now: now), down.deliver(to: left, now: now) else { return false }
        }
    }

    private mutating func readLeft() -> Bool {
        let now = Clock.now()
        for _ in 0..<Self.burst {
            switch left.read(into: &buffer) {
            case .packet(let count): up.receive(&buffer, count: count, now: now)
            case .nothing, .failed: return true
            case .gone: return false
            }
        }
        return true
    }

    private mutating func readRight() -> Bool {
        let now = Clock.now()
        for _ in 0..<Self.burst {
            switch right.read(into: &buffer) {
            case .packet(let count): down.receive(&buffer, count: count, now: now)
            case .nothing, .failed: return true
            case .gone: return false
            }
        }
        return true
    }

    private func isToldToStop() -> Bool {
        while let signal = signals.next() {
            switch signal {
            case .interrupt, .terminate, .hangUp: return true
            case .user1: StandardOutput.write(json + "\n")
            }
        }
        return false
    }

    private static func inputHasEnded() -> Bool { readLine() == nil }

    /// Opens one end's device in its namespace and sets it up; packets come without offload, one by one.
    private static func open(_ end: End, _ options: Options) throws -> TunnelQueue {
        let home = try NetworkNamespace.current()
        if !end.namespace.isEmpty { try NetworkNamespace(named: end.namespace).enter() }
        defer { try? home.enter() }
        var device = try TunnelDevice.open(
            name: end.interface, queues: 1, offload: .none, layer: options.isTap ? .link : .network)
        let settings = [
            "link", "set", "dev", device.name, "mtu", "\(options.mtu)", "txqueuelen", "\(options.queueLength)", "up",
        ]
        guard try Tool.run("ip", settings) == 0 else { throw UsageError(text: "ip could not set \(end.interface) up") }
        guard let queue = device.takeQueue() else { throw UsageError(text: "\(end.interface) has no queue") }
        return queue
    }
}
