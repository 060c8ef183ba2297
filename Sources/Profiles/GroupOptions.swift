/// A group: an upstream that is several others, of which one carries each stream.

public import Bytes

/// What a group is made of, and how one of its members is chosen.
public struct GroupOptions: Equatable, Sendable {
    public var choose = Choice.fallback
    /// The ids of the profiles whose upstreams these are, the preferred one first.
    public var members: [String]
    /// With `fastest`: another member must be faster by more than this to be chosen instead.
    public var tolerance = Interval.milliseconds(50)
    /// With `fallback`: how long a better member has been green before it is used again.
    public var returnAfter = Interval.seconds(60)
    public var whenDown = WhenDown.block

    /// Which member is chosen.
    public enum Choice: String, CaseIterable, Sendable {
        /// The first one that is not red.
        case fallback
        /// The one with the shortest measured latency.
        case fastest
        /// One for each device, always the same while it is there.
        case balance
    }

    /// What becomes of streams while all members are red.
    public enum WhenDown: String, CaseIterable, Sendable {
        /// They are refused at once.
        case block
        /// They leave without any proxy.
        case direct
    }

    public init(members: [String]) { self.members = members }
}

extension Configuration {
    /// The ids of the groups that a profile is a member of: without it they would be no right groups.
    public func groups(with id: String) -> [String] {
        profiles.filter { $0.upstream.group?.members.contains(id) ?? false }.map(\.id)
    }
}
