/// What the gateway's loop does for a dial, for tests.

import Addresses
import Bytes
import LinuxIO
import Upstreams
import Wire

/// A loop that carries one dial at a time to its end.
struct Caller: ~Copyable {
    var memory = UpstreamMemory()
    var buffers = DialBuffers()
    /// What the resolver says.
    var names: [String: [IPAddress]] = [:]
    private var poller: Poller

    init() throws { poller = try Poller() }

    /// How a dial ended.
    struct Outcome: ~Copyable {
        var failure: DialFailure?
        var opening: Opening?
        var server: SocketAddress?
        var leftover = ""
        var socket: Socket?
        /// How many descriptors were registered.
        var registered = 0
        /// How often a deadline had to come.
        var timeouts = 0
        var asked: [String] = []
        var took = Interval.zero

        /// What arrives on the open stream until its end, the first octets included.
        mutating func readAll() -> String {
            var bytes = Array(leftover.utf8)
            while let outcome = socket?.read(appendingTo: &bytes, limit: 65536) {
                switch outcome {
                case .bytes: continue
                case .end, .failed: return String(decoding: bytes, as: UTF8.self)
                case .wouldBlock:
                    guard isReadable() else { return "(silence)" }
                }
            }
            return "(no socket)"
        }

        private func isReadable() -> Bool {
            switch socket {
            case .some(let socket): wait(for: socket)
            case .none: false
            }
        }
    }

    /// Opens a stream.
    mutating func open(
        _ target: Target, through upstream: Upstream, for client: ClientIdentity? = nil
    ) throws -> Outcome {
        let start = Clock.now()
        var dial = Dial(to: target, through: upstream, for: client, now: start)
        var outcome = Outcome()
        var events = [PolledEvent](repeating: .none, count: 8)
        var progress = dial.start(memory: &memory, buffers: &buffers, now: start)
        while true {
            switch progress {
            case .waiting:
                break
            case .register(let descriptor, let slot, let needsWritable):
                outcome.registered += 1
                try poller.add(
                    descriptor, token: UInt64(slot), events: needsWritable ? .everything : .reading, edge: true)
            case .needsName(let name):
                outcome.asked.append(name)
                progress = dial.resolved(
                    names[name] ?? [], memory: &memory, buffers: &buffers, now: Clock.now())
                continue
            case .open(let opening):
                outcome.opening = opening
                outcome.leftover = String(decoding: buffers.input[opening.leftover], as: UTF8.self)
                outcome.server = dial.server
                outcome.socket = dial.takeSocket()
                outcome.took = Clock.now() - start
                return outcome
            case .failed(let failure):
                outcome.failure = failure
                outcome.took = Clock.now() - start
                return outcome
            }
            progress = .waiting
            let count = poller.wait(into: &events, until: dial.deadline)
            let now = Clock.now()
            if count == 0 {
                outcome.timeouts += 1
                progress = dial.timeout(memory: &memory, buffers: &buffers, now: now)
            }
            for index in 0..<count where progress == .waiting {
                progress = dial.ready(
                    slot: UInt8(events[index].token), events[index], memory: &memory, buffers: &buffers, now: now)
            }
        }
    }
}

extension Target {
    /// A target as tests write it.
    init(_ text: String) {
        guard let target = Target.parse(Array(text.utf8).span) else { preconditionFailure("no target: \(text)") }
        self = target
    }
}

/// An upstream at a test's server, with settings changed as needed.
func upstream(
    at server: SocketAddress, _ change: (inout UpstreamSettings) -> Void = { _ in }
) throws -> Upstream {
    var settings = UpstreamSettings(.http(server: Target(server)))
    change(&settings)
    return try Upstream(settings)
}
