/// Profiles that devices have for a while: given, extended, released, and over.

/// At most one assignment for each device.
public struct Assignments: Equatable, Sendable {
    /// How many seconds before its end an assignment is warned of.
    public static let warning: Int64 = 300

    /// In the order in which they were made.
    public private(set) var all: [Assignment]

    /// Takes assignments; of two for one device the later one counts.
    public init(_ all: [Assignment] = []) {
        self.all = []
        for assignment in all { assign(assignment) }
    }

    public subscript(_ device: DeviceIdentity) -> Assignment? { all.first { $0.device == device } }

    /// Gives a device a profile, in place of the one that is returned.
    @discardableResult
    public mutating func assign(_ assignment: Assignment) -> Assignment? {
        let former = release(assignment.device)
        all.append(assignment)
        return former
    }

    /// Ends an assignment and returns it; nil when the device had none.
    @discardableResult
    public mutating func release(_ device: DeviceIdentity) -> Assignment? {
        guard let index = all.firstIndex(where: { $0.device == device }) else { return nil }
        return all.remove(at: index)
    }

    /// Gives an assignment another end, nil for none, and returns it; nil when the device has no assignment.
    @discardableResult
    public mutating func extend(_ device: DeviceIdentity, until: Int64?) -> Assignment? {
        guard let index = all.firstIndex(where: { $0.device == device }) else { return nil }
        all[index].until = until
        return all[index]
    }

    /// Those whose last second has passed.
    public func expired(at now: Int64) -> [Assignment] { all.filter { $0.isOver(at: now) } }

    /// Ends those whose last second has passed and returns them.
    public mutating func removeExpired(at now: Int64) -> [Assignment] {
        let expired = expired(at: now)
        all.removeAll { $0.isOver(at: now) }
        return expired
    }

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
