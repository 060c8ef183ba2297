/// One connection through the measuring upstream: the request, the dial, and the two directions.

internal import Addresses
internal import Bytes
internal import LinuxIO

/// A client and, unless the upstream echoes by itself, its target.
struct UpstreamSession: ~Copyable {
    private enum Stage {
        case request
        case dialling
        case open
    }

    enum Outcome {
        case waiting
        case more
        case over
        /// The target's socket is new and has to be watched.
        case dialled
    }

    let client: Socket
    private var target: Socket?
    private let echoes: Bool
    private var stage = Stage.request
    private var request = ProxyRequest()
    private var arrived: [UInt8] = []
    /// The client sent more while the target was dialled; its event will not come again.
    private var clientWaits = false
    private var up = Pump()
    private var down = Pump()

    init(client: consuming Socket, echoes: Bool) {
        self.client = client
        self.echoes = echoes
    }

    /// The target's descriptor, once it is dialled.
    var targetNumber: CInt? {
        switch target {
        case .none: nil
        case .some(let target): target.descriptor.number
        }
    }

    /// The client's socket is ready.
    mutating func clientReady(_ event: PolledEvent, room: inout PumpRoom) -> Outcome {
        switch stage {
        case .request: return readRequest(&room)
        case .dialling:
            clientWaits = true
            return event.error ? .over : .waiting
        case .open: break
        }
        // With EPOLLRDHUP the end may stand behind the bytes, and no further event will tell.
        let drained = !event.hungUp
        if echoes { return pumpEcho(&room, drained: drained) }
        var outcome = Outcome.waiting
        if event.readable || event.hungUp || event.error { outcome = pumpUp(&room, drained: drained) }
        if case .over = outcome { return outcome }
        guard down.isBlocked, event.writable else { return outcome }
        return Self.join(outcome, pumpDown(&room, drained: false))
    }

    /// The target's socket is ready.
    mutating func targetReady(_ event: PolledEvent, room: inout PumpRoom) -> Outcome {
        switch stage {
        case .request: return .waiting
        case .dialling: return finishDial(event, &room)
        case .open: break
        }
        var outcome = Outcome.waiting
        if event.readable || event.hungUp || event.error { outcome = pumpDown(&room, drained: !event.hungUp) }
        if case .over = outcome { return outcome }
        guard up.isBlocked, event.writable else { return outcome }
        return Self.join(outcome, pumpUp(&room, drained: false))
    }

    /// Goes on where the last turn ended before everything was moved.
    mutating func goOn(room: inout PumpRoom) -> Outcome {
        guard case .open = stage else { return .waiting }
        if echoes { return pumpEcho(&room, drained: false) }
        let outcome = pumpUp(&room, drained: false)
        if case .over = outcome { return outcome }
        return Self.join(outcome, pumpDown(&room, drained: false))
    }

    /// Gives pipes back before the session goes away.
    mutating func release(_ room: inout PumpRoom) {
        up.release(&room)
        down.release(&room)
    }

    private mutating func readRequest(_ room: inout PumpRoom) -> Outcome {
        switch client.read(appendingTo: &arrived, limit: 4096) {
        case .bytes: break
        case .wouldBlock: return .waiting
        case .end, .failed: return .over
        }
        while true {
            switch request.read(arrived) {
            case .incomplete: return .waiting
            case .refused: return .over
            case .answer(let bytes, let consumed):
                arrived.removeFirst(consumed)
                guard client.write(bytes.span) == .bytes(bytes.count) else { return .over }
            case .connect(let address, let consumed):
                arrived.removeFirst(consumed)
                return dial(address, &room)
            }
        }
    }

    private mutating func dial(_ address: SocketAddress, _ room: inout PumpRoom) -> Outcome {
        if echoes {
            guard sayYes() else { return .over }
            return pumpEcho(&room, drained: false)
        }
        do throws(SystemCallError) {
            target = try Socket.connectTCP(to: address)
            stage = .dialling
            return .dialled
        } catch {
            _ = client.write(request.failure.span)
            return .over
        }
    }

    private mutating func finishDial(_ event: PolledEvent, _ room: inout PumpRoom) -> Outcome {
        switch target {
        case .none: return .over
        case .some(let target):
            guard target.connectError() == nil else {
                _ = client.write(request.failure.span)
                return .over
            }
        }
        guard sayYes() else { return .over }
        // What has not arrived yet brings an event of its own.
        let outcome = clientWaits ? pumpUp(&room, drained: false) : .waiting
        if case .over = outcome { return outcome }
        guard event.readable else { return outcome }
        return Self.join(outcome, pumpDown(&room, drained: false))
    }

    /// Says that the tunnel is open and passes on what came behind the request.
    private mutating func sayYes() -> Bool {
        let answer = request.success
        guard client.write(answer.span) == .bytes(answer.count) else { return false }
        stage = .open
        if arrived.isEmpty { return true }
        let early = arrived
        arrived = []
        // A fresh connection takes the few bytes of one read.
        let outcome = echoes ? client.write(early.span) : writeToTarget(early)
        return outcome == .bytes(early.count)
    }

    private func writeToTarget(_ bytes: [UInt8]) -> WriteOutcome {
        switch target {
        case .none: .wouldBlock
        case .some(let target): target.write(bytes.span)
        }
    }

    private mutating func pumpEcho(_ room: inout PumpRoom, drained: Bool) -> Outcome {
        switch up.run(from: client, to: client, room: &room, drained: drained) {
        case .waiting: .waiting
        case .more: .more
        case .finished, .failed: .over
        }
    }

    private mutating func pumpUp(_ room: inout PumpRoom, drained: Bool) -> Outcome {
        switch target {
        case .none: return .over
        case .some(let target):
            return ended(up.run(from: client, to: target, room: &room, drained: drained), other: down)
        }
    }

    private mutating func pumpDown(_ room: inout PumpRoom, drained: Bool) -> Outcome {
        switch target {
        case .none: return .over
        case .some(let target):
            return ended(down.run(from: target, to: client, room: &room, drained: drained), other: up)
        }
    }

    /// A session is over when both directions are, or when one has failed: then both ends are reset.
    private func ended(_ outcome: Pump.Outcome, other: Pump) -> Outcome {
        switch outcome {
        case .waiting: return .waiting
        case .more: return .more
        case .finished: return other.isFinished ? .over : .waiting
        case .failed:
            resetBoth()
            return .over
        }
    }

    private func resetBoth() {
        client.resetOnClose()
        switch target {
        case .none: break
        case .some(let target): target.resetOnClose()
        }
    }

    private static func join(_ first: Outcome, _ second: Outcome) -> Outcome {
        if case .waiting = second { return first }
        return second
    }
}
