/// # Ways around the gateway
///
/// An upstream may be as well as can be, and devices leave by another router all the same. Whoever looks at the colour
/// asks whether all is well, so what is seen is the upstream's own colour, and beside it what leads around the gateway:
///
///     own       seen
///     green     yellow: all of it goes well, and not all comes here
///     grey      yellow: this much is known
///     yellow    yellow, with its own cause: it is the nearer trouble
///     red       red, with its own cause
///
/// Only what is seen changes. Which member of a group is asked, and whether a push is taken back, goes by the own
/// colour: no other proxy would be better.

public import Bytes

/// What leads around the gateway, and since when something has.
public struct WayAround: Equatable, Sendable {
    /// `another router on lan: devices may leave by IPv6 through fe80::1`; several stand behind each other.
    public var words: String
    public var since: Instant

    public init(_ words: String, since: Instant) {
        self.words = words
        self.since = since
    }
}

extension Colour {
    /// Whether a way around the gateway is what there is to be said.
    fileprivate var givesWay: Bool {
        switch self {
        case .green, .grey: true
        case .yellow, .red: false
        }
    }
}

extension HealthReport {
    /// An upstream that nobody looks after.
    public static func untried(since: Instant) -> HealthReport {
        HealthReport(
            colour: .grey, cause: .neverTried, note: nil, since: since, lastGood: nil, connect: nil, request: nil,
            traffic: nil)
    }

    /// The report as it is seen with what leads around the gateway.
    ///
    /// Why an upstream is grey stays as its note.
    public func seen(beside way: WayAround?) -> HealthReport {
        guard let way, colour.givesWay else { return self }
        var report = self
        report.colour = .yellow
        report.cause = .wayAround(way.words)
        report.note = note ?? cause?.sentence("the proxy")
        report.since = max(since, way.since)
        return report
    }
}

extension HealthChange {
    /// The change as it is seen with what leads around the gateway; nil: it is not seen.
    public func seen(beside way: WayAround?) -> HealthChange? {
        guard let way else { return self }
        if former.givesWay, colour.givesWay { return nil }
        var change = self
        if former.givesWay { change.former = .yellow }
        guard colour.givesWay else { return change }
        change.colour = .yellow
        change.cause = .wayAround(way.words)
        change.note = note ?? cause?.sentence("the proxy")
        return change
    }
}
