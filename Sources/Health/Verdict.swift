/// What the evidence comes to at a moment: the table of colours.

internal import Bytes

/// A colour with its reason.
struct Verdict: Equatable, Sendable {
    var colour: Colour
    var cause: Cause?
    var note: String?

    init(_ colour: Colour, _ cause: Cause? = nil, note: String? = nil) {
        self.colour = colour
        self.cause = cause
        self.note = note
    }

    /// Whether nobody needs to hear of the difference: numbers change all the time.
    func isSame(as other: Verdict) -> Bool {
        colour == other.colour && cause?.word == other.cause?.word && (note == nil) == (other.note == nil)
    }
}

extension Evidence {
    /// So many other hosts speak for a proxy whose probe fails behind it.
    static let enoughHosts = 3

    /// What the evidence says now; `staysGreen` when it said green before.
    func verdict(_ settings: HealthSettings, staysGreen: Bool, at now: Instant) -> Verdict {
        let tries = misses + burst
        if tries >= 2, let failing { return Verdict(.red, failing) }
        if let rejected { return Verdict(.red, rejected) }
        if let hindered { return Verdict(.yellow, hindered) }
        let missed = tries == 1 ? failing.map { Verdict(.yellow, $0) } : nil
        guard settings.hasPage else { return missed ?? Verdict(.grey, isTried ? .notVerified : .neverTried) }
        switch answered {
        case nil: return missed ?? Verdict(.grey, .neverTried)
        case .bad(let cause):
            // The page's failure goes on being the cause: one lost probe is no news.
            guard missed == nil, staysGreen, cause.isBehindProxy, otherHosts >= Self.enoughHosts else {
                return Verdict(.yellow, cause)
            }
            return Verdict(.green, note: Self.note(cause, otherHosts))
        case .good(let latency):
            if let missed { return missed }
            if let lastGood, now - lastGood >= settings.freshness { return Verdict(.yellow, .stale(now - lastGood)) }
            return isSlow ? Verdict(.yellow, .slow(latency)) : Verdict(.green)
        }
    }

    /// Whether anything but users' streams has said something.
    private var isTried: Bool { connect.outcome != nil || request.outcome != nil }

    private static func note(_ cause: Cause, _ hosts: Int) -> String {
        "\(cause.sentence("the proxy")); \(hosts) other hosts were reached through it within the last minute"
    }
}
