/// Trying an upstream once, for whoever is about to rely on it.
///
/// It is asked for a stream to itself: whatever it answers, it is there and understands what it is asked. Nobody else
/// is asked for anything, so a lab without Internet can be tried as well.

internal import Bytes
public import LinuxIO

public enum UpstreamTrial {
    /// Connects and asks, and waits for the answer; returns what is wrong with the upstream, or nil.
    ///
    /// It blocks for at most the upstream's overall timeout. What is learned about the upstream stays with this object
    /// of it.
    public static func run(_ upstream: Upstream) throws(SystemCallError) -> DialFailure? {
        guard let target = upstream.server else { return nil }
        var poller = try Poller()
        let bell = try WakeUp()
        try poller.add(bell.descriptor.number, token: bellToken, events: .readable)
        let resolver = try NameResolver(wakeUp: bell, threads: 1, capacity: 1)
        var memory = UpstreamMemory()
        var buffers = DialBuffers()
        var events = [PolledEvent](repeating: .none, count: 8)
        var dial = Dial(to: target, through: upstream, now: Clock.now())
        var progress = dial.start(memory: &memory, buffers: &buffers, now: Clock.now())
        while true {
            switch progress {
            case .open: return nil
            case .failed(let failure): return failure.concernsUpstream ? failure : nil
            case .register(let descriptor, let slot, let needsWritable):
                try poller.add(
                    descriptor, token: UInt64(slot), events: needsWritable ? .everything : .reading, edge: true)
            case .needsName(let name):
                if !resolver.resolve(name, ticket: 0) { return .proxyUnknown(name) }
            case .waiting: break
            }
            progress = .waiting
            let count = poller.wait(into: &events, until: dial.deadline)
            let now = Clock.now()
            if dial.deadline <= now { progress = dial.timeout(memory: &memory, buffers: &buffers, now: now) }
            for position in 0..<count where progress == .waiting {
                let event = events[position]
                guard event.token != bellToken else {
                    bell.clear()
                    guard let answer = resolver.nextResult() else { continue }
                    let addresses = (try? answer.result.get()) ?? []
                    progress = dial.resolved(addresses, memory: &memory, buffers: &buffers, now: now)
                    continue
                }
                progress = dial.ready(
                    slot: UInt8(truncatingIfNeeded: event.token), event, memory: &memory, buffers: &buffers, now: now)
            }
        }
    }

    private static let bellToken: UInt64 = 256
}
