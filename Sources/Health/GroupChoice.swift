/// # Which members of a group carry new streams
///
/// A group is an upstream made of others. It looks at their colours and says whom to try, in which order. It leaves a
/// member at once when that is red, and for everything else it takes its time: nobody is served by streams that hop.
///
///     fallback   the first in order; back to a better one that has been well for a while
///     fastest    the fastest; another one when that has been faster by more than the tolerance for a while
///     balance    all that are well, by device; a member that went comes back when it has been well for a while
///
/// A member is well when it is green, or when it has no page that could make it so. One that is yellow is kept for as
/// long as it is the only choice, or for that while: a miss makes it yellow for three seconds, a captive portal for
/// longer.

public import Bytes

/// How a group chooses.
public enum GroupKind: Equatable, Sendable {
    case fallback
    case fastest(tolerance: Interval)
    case balance
}

/// What a group knows of a member.
public struct MemberState: Equatable, Sendable {
    public var colour: Colour
    public var cause: Cause?
    /// A typical one, such as the median of the last few: single ones jump.
    public var latency: Interval?
    public var greenSince: Instant?

    public init(colour: Colour, cause: Cause? = nil, latency: Interval? = nil, greenSince: Instant? = nil) {
        self.colour = colour
        self.cause = cause
        self.latency = latency
        self.greenSince = greenSince
    }
}

/// The choice of one group; its members are named by their position in the configured order.
public struct GroupChoice: Sendable {
    private let kind: GroupKind
    private let returnAfter: Interval
    private var members: [Standing]
    /// Whom streams go to first, or with `balance` by device.
    private var inUse: [Int]
    /// The members to try, best first; empty when all are red.
    ///
    /// With `balance`, those that share the devices, in the configured order.
    public private(set) var order: [Int]
    /// When `update` is to be called again without news.
    public private(set) var deadline = Instant.never

    /// A group whose members nobody has tried.
    ///
    /// It goes back to a better member that has been well for `returnAfter`.
    public init(_ kind: GroupKind, members: Int, returnAfter: Interval = .seconds(60)) {
        precondition(members > 0, "a group without members")
        self.kind = kind
        self.returnAfter = returnAfter
        self.members = [Standing](repeating: Standing(), count: members)
        order = Array(0..<members)
        inUse = kind == .balance ? order : [0]
    }

    /// Takes what is known of each member; returns what changes for new streams.
    public mutating func update(_ states: [MemberState], at now: Instant) -> GroupChange? {
        precondition(states.count == members.count, "another group's members")
        for (position, state) in states.enumerated() { members[position].take(state, at: now) }
        let former = inUse
        deadline = .never
        let reason = kind == .balance ? share(at: now) : choose(at: now)
        order = kind == .balance ? inUse : inUse + others
        guard inUse != former else { return nil }
        let left = former.first { !inUse.contains($0) }
        return GroupChange(former: former, now: inUse, reason: reason, cause: left.flatMap { members[$0].state.cause })
    }

    /// The members that streams go on to when the chosen one fails them.
    private var others: [Int] {
        guard let chosen = inUse.first else { return [] }
        let usable = members.indices.filter { $0 != chosen && members[$0].rank < .red }
        return usable.sorted { isBetter($0, than: $1) }
    }
}

// MARK: - One for all

extension GroupChoice {
    private mutating func choose(at now: Instant) -> GroupChange.Reason {
        let best = members.indices.filter { members[$0].rank < .red }.min { isBetter($0, than: $1) }
        guard let best else {
            inUse = []
            return .failed
        }
        guard let chosen = inUse.first else {
            use(best)
            return .recovered
        }
        if members[chosen].rank == .red {
            use(best)
            return .failed
        }
        if isUnmeasured(chosen, best) {
            use(best)
            return .faster
        }
        if members[best].rank == .well, isOver(members[chosen].yellowSince, at: now) {
            use(best)
            return .failed
        }
        switch kind {
        case .fastest(let tolerance): return overtake(chosen, tolerance, at: now)
        case .fallback, .balance: return goBack(chosen, at: now)
        }
    }

    /// Whether nobody has measured the chosen one yet, and there is one that was.
    private func isUnmeasured(_ chosen: Int, _ best: Int) -> Bool {
        guard kind != .fallback, members[chosen].rank == .untried else { return false }
        return members[best].rank == .well && members[best].state.latency != nil
    }

    /// Back to the first of the better ones that has been well for long enough.
    private mutating func goBack(_ chosen: Int, at now: Instant) -> GroupChange.Reason {
        if let better = (0..<chosen).first(where: { isOver(members[$0].wellSince, at: now) }) { use(better) }
        return .returned
    }

    /// On to the fastest of those that have been clearly faster for long enough.
    private mutating func overtake(_ chosen: Int, _ tolerance: Interval, at now: Instant) -> GroupChange.Reason {
        var fastest: Int?
        for position in members.indices {
            let leads = isFaster(position, than: chosen, by: tolerance)
            members[position].fasterSince = leads ? members[position].fasterSince ?? now : nil
            guard isOver(members[position].fasterSince, at: now) else { continue }
            if fastest.map({ isBetter(position, than: $0) }) ?? true { fastest = position }
        }
        if let fastest { use(fastest) }
        return .faster
    }

    private func isFaster(_ position: Int, than chosen: Int, by tolerance: Interval) -> Bool {
        guard members[position].rank == .well, let mine = members[position].state.latency,
            let current = members[chosen].state.latency
        else { return false }
        return mine + tolerance < current
    }

    private mutating func use(_ position: Int) {
        inUse = [position]
        for other in members.indices { members[other].fasterSince = nil }
    }

    /// Whether one member is to be tried before another: by what is known of it, then as the group's kind says.
    private func isBetter(_ one: Int, than other: Int) -> Bool {
        let (left, right) = (members[one], members[other])
        // In a fallback nobody is passed over for not having been tried.
        let ranks = kind == .fallback ? (left.rank.asUsable, right.rank.asUsable) : (left.rank, right.rank)
        if ranks.0 != ranks.1 { return ranks.0 < ranks.1 }
        if kind == .fallback { return one < other }
        let never = Interval(nanoseconds: .max)
        return (left.state.latency ?? never, one) < (right.state.latency ?? never, other)
    }
}

// MARK: - All for some

extension GroupChoice {
    /// Who shares the devices.
    private mutating func share(at now: Instant) -> GroupChange.Reason {
        let isAnyoneWell = members.indices.contains { members[$0].rank == .well && inUse.contains($0) }
        var sharing: [Int] = []
        for position in members.indices {
            let member = members[position]
            if !inUse.contains(position) {
                if isOver(member.wellSince, at: now) { sharing.append(position) }
            } else if member.rank < .red, !(isAnyoneWell && isOver(member.yellowSince, at: now)) {
                sharing.append(position)
            }
        }
        if sharing.isEmpty { sharing = members.indices.filter { members[$0].rank < .red } }
        let reason: GroupChange.Reason =
            inUse.isEmpty ? .recovered : inUse.contains { !sharing.contains($0) } ? .failed : .returned
        inUse = sharing
        return reason
    }

    /// Whether something has lasted for long enough; if not, its end is a deadline.
    private mutating func isOver(_ since: Instant?, at now: Instant) -> Bool {
        guard let since else { return false }
        let end = since + returnAfter
        if end > now { deadline = min(deadline, end) }
        return end <= now
    }
}

/// What a group remembers of a member.
private struct Standing {
    var state = MemberState(colour: .grey, cause: .neverTried)
    /// Since when it has been well.
    var wellSince: Instant?
    var yellowSince: Instant?
    /// Since when it has been clearly faster than the chosen one.
    var fasterSince: Instant?

    /// What a member is good for, the best first.
    enum Rank: Int, Comparable {
        case well
        case untried
        case yellow
        case red

        /// The same where it does not matter whether a member was tried.
        var asUsable: Rank { self == .untried ? .well : self }

        static func < (left: Rank, right: Rank) -> Bool { left.rawValue < right.rawValue }
    }

    var rank: Rank {
        switch state.colour {
        case .green: .well
        case .grey: state.cause == .notVerified ? .well : .untried
        case .yellow: .yellow
        case .red: .red
        }
    }

    mutating func take(_ new: MemberState, at now: Instant) {
        state = new
        yellowSince = rank == .yellow ? yellowSince ?? now : nil
        guard rank == .well else {
            wellSince = nil
            return
        }
        // It may have been something else between two looks.
        let since = new.greenSince ?? now
        wellSince = wellSince.map { new.colour == .green ? max($0, since) : $0 } ?? since
    }
}
