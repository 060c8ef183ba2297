/// What a worker says, and the memory that it gives back when it is quiet.

import Bytes
import Flows
import LinuxIO
import Relay
import Wire

extension Worker {
    /// Adds a line, if its level is wanted.
    mutating func log(_ level: LogLevel, _ event: String, _ fill: (inout LogLine) -> Void) {
        guard level <= settings.logLevel else { return }
        var line = LogLine(level, event: event, journal: shared.isJournal)
        fill(&line)
        line.finish()
        logLines.append(contentsOf: line.bytes)
    }

    /// The line of a flow that has ended.
    mutating func logFlow(
        _ key: FlowKey, target: Target?, origin: Origin, relay: Relay, opened: Instant, reason: CloseReason
    ) {
        guard settings.logsFlows, settings.logLevel >= .info else { return }
        var line = LogLine(.info, event: "flow", journal: shared.isJournal)
        line.add("client", key.client.description)
        if let target { line.add("target", target.description) }
        line.add("in", name(of: origin))
        line.add("profile", settings.profile)
        line.add("up", relay.up.bytes)
        line.add("down", relay.down.bytes)
        line.add("ms", Int((now - opened).milliseconds))
        line.add("reason", reason.words)
        line.finish()
        logLines.append(contentsOf: line.bytes)
    }

    /// Writes the lines of this turn in one call.
    mutating func writeLog() {
        guard !logLines.isEmpty else { return }
        StandardError.write(logLines.span)
        logLines.removeAll(keepingCapacity: logLines.capacity <= 64 << 10)
    }

    private func name(of origin: Origin) -> String {
        switch origin {
        case .tunnel: "tun"
        case .listener(let position):
            switch listeners[position].settings.kind {
            case .socks: "socks"
            case .http: "http"
            }
        }
    }
}
