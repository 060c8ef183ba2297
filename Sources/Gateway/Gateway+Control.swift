/// What a running gateway listens to: signals, the kernel's network, the end of loans, and its workers' troubles.
///
/// Whoever runs it asks for the `next` event, again and again: what the gateway can do by itself it does on the way.

public import Bytes
import LinuxIO

/// What whoever runs a gateway has to see to.
public enum GatewayEvent: Equatable, Sendable {
    /// A signal asks for what the configuration says now (SIGHUP).
    case reload
    /// A descriptor that was added by `watch` is readable.
    case readable(UInt32)
    /// Users' streams have shown something about an upstream.
    case upstreams
    /// Something else leads around the gateway than before, or nothing any more (`waysAround`).
    case waysAround
    /// The control thread stood still for so long.
    case stalled(Interval)
    /// The time that was named has come.
    case time
    /// Everything is undone; whether that was wanted, or a worker could not go on.
    case ended(isWanted: Bool)
}

extension Gateway {
    static var networkToken: UInt64 { 2 }
    /// The first token of descriptors that the gateway watches for others.
    private static var watchedToken: UInt64 { 0x100 }

    /// Has `next` return `readable(number)` when a descriptor is; it has to stay open for as long as the gateway runs.
    public func watch(_ descriptor: CInt, as number: UInt32) throws(GatewayError) {
        do throws(SystemCallError) {
            try poller.add(descriptor, token: Self.watchedToken + UInt64(number), events: .readable)
        } catch {
            throw .system(error)
        }
    }

    /// Serves until there is something for the caller to do, or its time has come.
    public mutating func next(until deadline: Instant) -> GatewayEvent {
        var events = [PolledEvent](repeating: .none, count: 8)
        let around = waysAround
        while !shared.isFailed {
            tendWatchdog()
            discoverTranslation()
            let began = Clock.now()
            let planned = min(deadline, nextDeadline, began + StallWatch.pulse)
            let count = poller.wait(into: &events, until: planned)
            let stall = stalls.turn(afterSleep: planned - began)
            control.clear()
            for position in 0..<count where events[position].token == Self.networkToken { followNetwork() }
            takeBackLoans()
            lookAtNetwork()
            watchNames()
            followTranslations()
            // Whatever else there is to do is found again at the next turn.
            if let stall { return .stalled(stall) }
            while let signal = signals.next() {
                switch signal {
                case .interrupt, .terminate:
                    manager?.say(.stopping)
                    try? signals.endProcessAtNext()
                    stop()
                    return .ended(isWanted: !shared.isFailed)
                case .user1: printSnapshot()
                case .hangUp: return .reload
                }
            }
            for position in 0..<count where events[position].token >= Self.watchedToken {
                return .readable(UInt32(truncatingIfNeeded: events[position].token - Self.watchedToken))
            }
            if shared.takeUpstreamNews() { return .upstreams }
            if waysAround != around { return .waysAround }
            if deadline <= Clock.now() { return .time }
        }
        stop()
        return .ended(isWanted: false)
    }

    private var nextDeadline: Instant {
        var deadline = min(watch.deadline, translationDueAt, watchdog?.deadline ?? .never)
        if keeper != nil, let end = keeper.value.nextDeadline { deadline = min(deadline, end) }
        if keeper != nil { deadline = min(deadline, keeper.value.lookDueAt) }
        return deadline
    }

    /// Asks whether the network translates to IPv4: the resolvers' cache makes most of these questions free.
    private mutating func discoverTranslation() {
        guard translationDueAt <= Clock.now() else { return }
        translationDueAt = Clock.now() + .seconds(600)
        shared.discoverTranslation()
    }

    /// Waits until all workers have answered, a second and a half at most; one that does not answer is left out.
    func waitForWorkers(_ answered: () -> Int) {
        let deadline = Clock.now() + .milliseconds(1500)
        while answered() < shared.mailboxes.count, Clock.now() < deadline {
            _ = answers.wait(atMost: deadline - Clock.now())
        }
    }

    // MARK: Saying

    /// Writes one line, if its level is wanted.
    public func say(_ level: LogLevel, _ event: String, _ fill: (inout LogLine) -> Void) {
        guard level <= shared.settings.logLevel else { return }
        Self.say(level, event, isJournal: shared.settings.isJournal, fill)
    }

    static func say(_ level: LogLevel, _ event: String, isJournal: Bool, _ fill: (inout LogLine) -> Void) {
        var line = LogLine(level, event: event, journal: isJournal)
        fill(&line)
        line.finish()
        StandardError.write(String(decoding: line.bytes, as: UTF8.self))
    }
}
