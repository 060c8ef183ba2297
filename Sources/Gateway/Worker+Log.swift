/// What a worker says.

import Addresses
import Bytes
import Flows
import LinuxIO
import Relay
import Streams
import Wire

/// What was not written of one kind of event.
struct Burst {
    var since: Instant
    var count = 0
    /// The last one.
    var key: FlowKey
}

extension Worker {
    /// Adds a line, if its level is wanted.
    mutating func log(_ level: LogLevel, _ event: String, _ fill: (inout LogLine) -> Void) {
        guard level <= shared.settings.logLevel else { return }
        var line = LogLine(level, event: event, journal: shared.settings.isJournal)
        fill(&line)
        line.finish()
        logSink.append(line)
    }

    /// Adds the line of a flow that has ended.
    mutating func logFlow(_ flow: borrowing Flow) {
        let reason = flow.closeReason
        // A monitor that connects and closes has asked for nothing.
        let level: LogLevel = flow.origin != .tunnel && flow.target == nil && reason == .clientGaveUp ? .debug : .info
        guard shared.settings.logLevel >= level, shared.settings.flowLog != .none else { return }
        if shared.settings.flowLog == .failed, !reason.isFailure { return }
        var line = LogLine(level, event: "flow", journal: shared.settings.isJournal)
        line.add("client", flow.key.client.description)
        if let target = flow.target { line.add("target", target.description) }
        line.add("in", name(of: flow.origin))
        line.add("profile", flow.profile)
        if let name = flow.name, flow.nameSource != .client {
            line.add("name", name)
            line.add("by", flow.nameSource.rawValue)
        }
        if let rule = flow.rule { line.add("rule", rule.description) }
        if flow.isFromCookie { line.add("handshake", "cookie") }
        // Of a tunnel's client the endpoint knows best: some of its octets go up by way of a queue.
        line.add("up", flow.endpoint != nil ? flow.endpoint.value.accounts.received : UInt64(flow.relay.up.bytes))
        line.add("down", flow.relay.down.bytes)
        line.add("ms", Int((now - flow.opened).milliseconds))
        line.add("reason", reason.words)
        line.finish()
        logSink.append(line)
    }

    /// Adds the line of something that a stranger can make happen as often as he likes: one line a second for
    /// each kind, which says how many there were.
    mutating func logBurst(_ kind: String, _ key: FlowKey) {
        guard shared.settings.logLevel >= .info, shared.settings.flowLog != .none else { return }
        var burst = bursts[kind] ?? Burst(since: now - Self.burstInterval, key: key)
        burst.count += 1
        burst.key = key
        if now - burst.since >= Self.burstInterval {
            write(burst, kind)
            burst = Burst(since: now, key: key)
        } else {
            burstsDueAt = min(burstsDueAt, burst.since + Self.burstInterval)
        }
        bursts[kind] = burst
    }

    /// Writes what bursts that are over have left: nothing that follows would bring it out.
    mutating func flushBursts(isEnd: Bool = false) {
        guard burstsDueAt <= now || isEnd else { return }
        burstsDueAt = .never
        for (kind, burst) in bursts.sorted(by: { $0.key < $1.key }) {
            let due = burst.since + Self.burstInterval
            if due > now, !isEnd {
                if burst.count > 0 { burstsDueAt = min(burstsDueAt, due) }
                continue
            }
            if burst.count > 0 { write(burst, kind) }
            bursts[kind] = nil
        }
    }

    private mutating func write(_ burst: Burst, _ kind: String) {
        log(.info, kind) { line in
            line.add("client", burst.key.client.description)
            line.add("target", burst.key.target.description)
            line.add("count", burst.count)
        }
    }

    private static var burstInterval: Interval { .seconds(1) }

    private func name(of origin: Origin) -> String {
        switch origin {
        case .tunnel: "tun"
        case .listener(let position):
            shared.listeners[position].settings.kind.name
        }
    }
}
