/// What a running gateway listens to: signals, the kernel's network, the end of loans, and its workers' troubles.

import Bytes
import LinuxIO

extension Gateway {
    static var networkToken: UInt64 { 2 }

    /// Serves until a signal ends it or a worker cannot go on; returns whether the end was a wanted one.
    ///
    /// SIGHUP asks `reload` for what the configuration says now.
    public mutating func run(reload: () -> Reloaded) -> Bool {
        var events = [PolledEvent](repeating: .none, count: 8)
        while !shared.isFailed {
            discoverTranslation()
            let count = poller.wait(into: &events, until: nextDeadline)
            control.clear()
            for position in 0..<count where events[position].token == Self.networkToken { followNetwork() }
            takeBackLoans()
            watchNames()
            while let signal = signals.next() {
                switch signal {
                case .interrupt, .terminate:
                    stop()
                    return !shared.isFailed
                case .user1: printSnapshot()
                case .hangUp: take(reload())
                }
            }
        }
        stop()
        return false
    }

    private var nextDeadline: Instant? {
        var deadline = min(watch.deadline, translationDueAt)
        if keeper != nil, let end = keeper.value.nextDeadline { deadline = min(deadline, end) }
        return deadline == .never ? nil : deadline
    }

    /// Asks whether the network translates to IPv4: the resolvers' cache makes most of these questions free.
    private mutating func discoverTranslation() {
        guard translationDueAt <= Clock.now() else { return }
        translationDueAt = Clock.now() + .seconds(600)
        shared.discoverTranslation()
    }

    // MARK: Saying

    /// Writes one line, if its level is wanted.
    func say(_ level: LogLevel, _ event: String, _ fill: (inout LogLine) -> Void) {
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
