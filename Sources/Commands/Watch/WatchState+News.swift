/// What the daemon says, into the state.

/// What is asked of the daemon again and again, in this order.
public enum WatchQuestion: CaseIterable, Sendable {
    case status
    case profiles
    case flows
    case devices

    public var request: APIRequest {
        switch self {
        case .status: .status
        case .profiles: .profiles
        case .flows: .flows
        case .devices: .devices
        }
    }
}

extension WatchState {
    /// Takes the answer to a question.
    public mutating func take(_ answer: Found, to question: WatchQuestion) {
        switch question {
        case .status: takeStatus(answer)
        case .profiles:
            profiles = answer["profiles"].elements
            selection = min(selection, max(0, profiles.count - 1))
            for profile in profiles { compare(profile["id"].text ?? "?", profile["health"]) }
        case .flows:
            flows = answer["flows"].elements
            flowTotal = answer["total"].integer ?? flows.count
        case .devices: devices = answer["devices"].elements
        }
    }

    private mutating func takeStatus(_ answer: Found) {
        if case .lost = link { note(EventLine(at: moment.now, "the daemon is back", .good)) }
        let isFirst = link != .live
        link = .live
        status = answer
        let (id, text) = (answer["profile"]["id"].text ?? "no profile", health)
        if isFirst { note(EventLine(at: moment.now, EventLine.health(id, text), text.tint)) }
        if told.see(Self.theDefault, id) { note(EventLine(at: moment.now, "the default is \(id) now", .bold)) }
        measure()
        downRates.add(answer["traffic"]["downRate"].integer ?? 0)
        upRates.add(answer["traffic"]["upRate"].integer ?? 0)
        compare(id, answer["health"])
    }

    /// Under which the gateway's default is compared; no profile's id has a blank.
    private static let theDefault = "the default"

    /// Takes the latest latency, once.
    private mutating func measure() {
        let layers = ["request", "traffic"].map { health.health["layers"][$0] }
        let latest = layers.filter { $0["at"].integer != nil }.max { $0["at"].integer ?? 0 < $1["at"].integer ?? 0 }
        guard let latest, let at = latest["at"].integer, at != measured else { return }
        measured = at
        latencies.add(latest["ok"].flag == true ? latest["ms"].integer : nil)
    }

    /// Says what no event has said.
    private mutating func compare(_ profile: String, _ health: Found) {
        guard health.isThere else { return }
        let text = HealthText(health: health)
        guard told.see(profile, text.colour) else { return }
        note(EventLine(at: moment.now, EventLine.health(profile, text), text.tint))
    }

    /// Takes an event of the stream.
    public mutating func take(event name: String, _ data: Found) {
        if name == "health", let profile = data["profile"].text { told.hear(profile, HealthText(health: data).colour) }
        if name == "switch", let profile = data["profile"].text, !data["device"].isThere {
            told.hear(Self.theDefault, profile)
        }
        if let line = EventLine(name: name, data: data, now: moment.now) { note(line) }
    }

    /// Says that there is no daemon, and why not.
    public mutating func lose(_ reason: String) {
        if case .lost(let since, _) = link {
            link = .lost(since: since, reason)
            return
        }
        link = .lost(since: moment.now, reason)
        note(EventLine(at: moment.now, "the daemon is gone; it is tried again every second", .bad))
        // What the next one says of events of this one is new.
        told = Told()
    }

    /// Takes what became of a wish.
    public mutating func finish(_ text: String, isGood: Bool) {
        work = nil
        let line = text.split(separator: "\n").joined(separator: " · ")
        message = (line, isGood ? .good : .bad, moment.now)
    }
}
