/// One event in one line of words.

internal import Profiles

/// What has happened, and when.
struct EventLine: Equatable, Sendable {
    /// Seconds since 1970.
    var at: Int64
    var text: String
    var tint: Style.Tint?
    /// Whether this program has found it out by itself: no event has said it.
    var isOwn = true

    init(at: Int64, _ text: String, _ tint: Style.Tint? = nil) {
        self.at = at
        self.text = text
        self.tint = tint
    }

    /// Reads an event; nil for one that says nothing to people.
    init?(name: String, data: Found, now: Int64) {
        let at = data["at"].integer.map(Int64.init) ?? now
        switch name {
        case "hello": return nil
        case "missed": self.init(at: at, "some events were missed; what is shown is right again", .warning)
        case "health":
            let health = HealthText(health: data)
            self.init(at: at, data["text"].text ?? Self.health(data["profile"].text ?? "?", health), health.tint)
        case "certificate", "flow", "stalled": self.init(at: at, Self.words(name, data), .warning)
        case "switch", "group": self.init(at: at, Self.words(name, data), .bold)
        default: self.init(at: at, Self.words(name, data))
        }
        isOwn = false
    }

    /// `whistle-qa is red: nobody listens at whistle.qa.example:8899`.
    static func health(_ profile: String, _ health: HealthText) -> String {
        "\(profile) is \(health.colour)" + ((health.cause ?? health.note).map { ": \($0)" } ?? "")
    }

    /// What the daemon says in words; where it says none, what stands in the event.
    private static func words(_ name: String, _ data: Found) -> String {
        if let text = data["text"].text { return text }
        switch name {
        case "switch":
            let who = data["device"].text ?? "the default"
            return "\(who) is on \(data["profile"].text ?? "?") now" + (data["by"].text.map { ", by \($0)" } ?? "")
        case "group":
            let cause = data["cause"]["text"].text ?? data["cause"].text
            return "\(data["profile"].text ?? "?") goes by \(data["chosen"].text ?? "none of its members") now"
                + (data["former"].text.map { " in place of \($0)" } ?? "") + (cause.map { ": \($0)" } ?? "")
        case "config":
            return (["revision \(data["revision"].integer ?? 0)"] + data["changed"].texts).joined(separator: ": ")
        default:
            let members = data.members.filter { $0.key != "at" }
            return ([name] + members.map { "\($0.key)=\(ListText.value($0.value))" }).joined(separator: " ")
        }
    }

    /// `2026-12-01 10:00:05 whistle-qa is red: …`.
    func line(_ moment: Moment) -> String { "\(moment.date(at)) \(moment.second(at)) \(text)\n" }

    /// The same for programs.
    var json: String {
        let data = JSON.members(["at": .integer(Int(at)), "text": .string(text)])
        return JSON.members(["event": "note", "data": data]).text + "\n"
    }
}

/// What has been said of changing things, so that nothing is said twice and nothing is missed.
///
/// Events say it first; a poll that sees something else than was said says it when the next poll sees it too, because
/// the event may still be on its way.
struct Told: Sendable {
    private var said: [String: String] = [:]
    private var seen: [String: String] = [:]

    /// Takes what an event says of a thing.
    mutating func hear(_ thing: String, _ state: String) {
        said[thing] = state
        seen[thing] = nil
    }

    /// Takes what a poll sees of a thing, and says whether that has to be said now.
    mutating func see(_ thing: String, _ state: String) -> Bool {
        guard let former = said[thing] else {
            said[thing] = state
            return false
        }
        guard former != state else {
            seen[thing] = nil
            return false
        }
        guard seen[thing] == state else {
            seen[thing] = state
            return false
        }
        hear(thing, state)
        return true
    }
}
