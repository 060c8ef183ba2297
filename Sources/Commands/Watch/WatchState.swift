/// # Watch: the gateway as it is now, on one screen
///
///     answers, events ──▶ WatchState ──▶ screen(columns, rows) ──▶ Screen.update ──▶ (the terminal)
///     octets ── KeyReader ──▶ Key ──▶ WatchState.press ──▶ WatchWish ──▶ (the daemon)
///
/// Events say at once what has changed, and polls every second correct what they have missed. What is shown is what the
/// daemon said last; while there is none, the screen says so and keeps the rest.

/// Everything that the screen shows, and what the keys mean just now.
public struct WatchState: Sendable {
    /// What the keys do.
    enum Mode: Equatable, Sendable {
        case normal
        /// A filter is typed.
        case filter
        /// Which devices get this profile?
        case scope(String)
        /// Which one device gets it? The mark stays with the device when the list changes.
        case device(String, marked: String)
        case help
    }

    /// Whether there is a daemon.
    enum Link: Equatable, Sendable {
        case connecting
        case live
        /// For how long there was none, and what was found in its place.
        case lost(since: Int64, String)
    }

    var moment: Moment
    var link = Link.connecting
    var mode = Mode.normal

    var status = Found(nil)
    var profiles: [Found] = []
    var devices: [Found] = []
    var flows: [Found] = []
    var flowTotal = 0

    var latencies = Samples()
    var downRates = Samples()
    var upRates = Samples()
    /// When the latest latency was measured.
    var measured: Int?
    var events: [EventLine] = []
    /// Those that nobody has taken yet, for whom lines are written in place of a screen.
    private var news: [EventLine] = []
    var told = Told()

    var selection = 0
    var order = FlowOrder.newest
    var filter = ""
    /// How many flows above the first that is shown.
    var skipped = 0
    /// What became of the last wish; it is shown for a while.
    var message: (text: String, tint: Style.Tint, at: Int64)?
    /// What is being done.
    var work: String?

    /// No more events are kept than a tall screen shows.
    static let eventLimit = 200
    /// How long a message stays, in seconds.
    static let messageTime: Int64 = 10

    public init(_ moment: Moment) { self.moment = moment }

    /// Takes the time of day.
    public mutating func tick(_ moment: Moment) { self.moment = moment }

    /// The ids of the profiles, in the order of their numbers.
    var ids: [String] { profiles.compactMap { $0["id"].text } }

    var health: HealthText { HealthText(health: status["health"]) }

    mutating func note(_ line: EventLine) {
        if events.count == Self.eventLimit { events.removeFirst() }
        events.append(line)
        if news.count == Self.eventLimit { news.removeFirst() }
        news.append(line)
    }

    /// What has happened since the last call, a line each; as JSON what no event has said, since events are passed on
    /// as they come.
    public mutating func takeNews(asJSON: Bool) -> String {
        defer { news = [] }
        return asJSON
            ? news.filter(\.isOwn).map(\.json).joined() : news.map { $0.line(moment) }.joined()
    }

    /// Flows as they are chosen and sorted.
    var shownFlows: [Found] {
        let wanted = filter.lowercased()
        let chosen = wanted.isEmpty ? flows : flows.filter { Self.text(of: $0).contains(wanted) }
        return order.sorted(chosen)
    }

    /// What a filter looks into.
    private static func text(of flow: Found) -> String {
        ["device", "client", "name", "target", "profile", "upstream", "rule", "state"].compactMap { flow[$0].text }
            .joined(separator: " ").lowercased()
    }
}

/// By what flows are sorted.
enum FlowOrder: String, CaseIterable, Sendable {
    case newest
    case oldest
    case down
    case up
    case device
    case target

    var next: FlowOrder {
        let all = Self.allCases
        return all[((all.firstIndex(of: self) ?? 0) + 1) % all.count]
    }

    /// Sorts flows; those that are alike by their clients, so that none jumps.
    func sorted(_ flows: [Found]) -> [Found] {
        let keyed = flows.map { (key: key($0), client: $0["client"].text ?? "", flow: $0) }
        return keyed.sorted { ($0.key.number, $0.key.text, $0.client) < ($1.key.number, $1.key.text, $1.client) }
            .map(\.flow)
    }

    private func key(_ flow: Found) -> (number: Int, text: String) {
        switch self {
        case .newest: (flow["ms"].integer ?? 0, "")
        case .oldest: (-(flow["ms"].integer ?? 0), "")
        case .down: (-(flow["down"].integer ?? 0), "")
        case .up: (-(flow["up"].integer ?? 0), "")
        case .device: (0, flow["device"].text ?? "")
        case .target: (0, ListText.target(flow))
        }
    }
}
