/// When the profiles end that devices have for a while, and when to warn of it.

/// At most one assignment for each device.
public struct Assignments: Equatable, Sendable {
    /// How many seconds before its end an assignment is warned of.
    public static let warning: Int64 = 300

    /// In the order in which they were made.
    public let all: [Assignment]

    /// Takes assignments; of two for one device the later one counts.
    public init(_ all: [Assignment] = []) {
        var kept: [Assignment] = []
        for assignment in all {
            kept.removeAll { $0.device == assignment.device }
            kept.append(assignment)
        }
        self.all = kept
    }

    /// Those whose last second has passed.
    public func expired(at now: Int64) -> [Assignment] { all.filter { $0.isOver(at: now) } }

    /// Those that came within five minutes of their end since the last look, so that each is warned of once.
    ///
    /// One that was made for less than five minutes is not warned of.
    public func ending(since last: Int64, at now: Int64) -> [Assignment] {
        all.filter { assignment in
            guard let warned = assignment.warnedAt else { return false }
            return warned > last && warned <= now && !assignment.isOver(at: now)
        }
    }

    /// The next second at which an assignment is over or to be warned of.
    public func nextMoment(after now: Int64) -> Int64? {
        all.flatMap { [$0.warnedAt, $0.until.map { $0 + 1 }] }.compactMap { $0 }.filter { $0 > now }.min()
    }
}

extension Assignment {
    public func isOver(at now: Int64) -> Bool { until.map { $0 < now } ?? false }

    /// When to warn of its end.
    fileprivate var warnedAt: Int64? {
        guard let until, until - Assignments.warning > since else { return nil }
        return until - Assignments.warning
    }
}
