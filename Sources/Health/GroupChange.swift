/// That a group's new streams go another way, and why.

/// A failover or a return.
public struct GroupChange: Equatable, Sendable {
    /// Whom streams went to: one member, with `balance` several; none when all were red.
    public var former: [Int]
    public var now: [Int]
    public var reason: Reason
    /// What is wrong with the one that was left.
    public var cause: Cause?

    /// Why it was made.
    public enum Reason: Equatable, Sendable {
        /// Somebody has been left for being red, or yellow for long; when nobody remains, all are red.
        case failed
        /// A better one has been well for a while.
        case returned
        /// Another one is faster.
        case faster
        /// All were red, and one is not any more.
        case recovered
    }
}

extension GroupChange {
    /// One line for logs and events; the names are those of the members in the configured order.
    public func sentence(_ group: String, members names: [String]) -> String {
        let left = former.filter { !now.contains($0) }
        let joined = now.filter { !former.contains($0) }
        let gone = Self.list(left, names)
        let news = Self.list(joined, names)
        let why = cause.map { cause in ": \(cause.sentence(left.first.map { names[$0] } ?? group))" } ?? ""
        if now.isEmpty { return "\(group) has nobody left, all its members are red; the last was \(gone)\(why)" }
        switch reason {
        case .failed where joined.isEmpty: return "\(group) does without \(gone)\(why)"
        case .failed: return "\(group) goes from \(gone) to \(news)\(why)"
        case .returned:
            return left.isEmpty ? "\(group) has \(news) again" : "\(group) goes from \(gone) back to \(news)"
        case .faster: return "\(group) goes from \(gone) to \(news), which is faster"
        case .recovered: return "\(group) has \(news) again, after all its members were red"
        }
    }

    private static func list(_ members: [Int], _ names: [String]) -> String {
        members.map { names[$0] }.joined(separator: ", ")
    }
}
