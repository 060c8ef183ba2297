/// Groups: several upstreams that stand for one.
///
/// Which of them get through, and in which order they are asked, is decided elsewhere and given with the settings; here
/// each flow finds its own.

import Addresses
import Health
import Upstreams

extension RoutingSettings {
    /// The upstreams of other profiles behind a profile of its own.
    public struct Group: Equatable, Sendable {
        /// The positions of the members' profiles, none of which is a group.
        public var members: [Int]
        /// Their ids in octets, which stay the same wherever the profiles stand.
        public var ids: [[UInt8]]
        /// Each device keeps to one member, as long as that gets through.
        public var isBalanced = false
        /// What none of them carries goes the way of what is not proxied; else it is refused.
        public var goesDirect = false
        /// Those of `members` that are asked, the best one first; empty: none gets through.
        public var order: [Int]

        public init(members: [Int], ids: [String]) {
            precondition(members.count == ids.count, "members without an id")
            self.members = members
            self.ids = ids.map { Array($0.utf8) }
            order = members
        }

        /// The members in the order in which a device asks them.
        func order(for device: IPAddress) -> [Int] {
            guard isBalanced, order.count > 1 else { return order }
            let ranking = GroupChoice.ranking(device: Self.octets(of: device), members: ids, key: (0, 0))
            return ranking.map { members[$0] }.filter(order.contains)
        }

        private static func octets(of address: IPAddress) -> [UInt8] {
            [address.high, address.low].flatMap { word in
                (0..<8).map { UInt8(truncatingIfNeeded: word >> (8 * $0)) }
            }
        }
    }
}

extension Policy {
    /// Where streams of a device are tried under a profile: first there, then with the others.
    ///
    /// There is no first one where no member of a group gets through.
    func candidates(ofProfile position: Int, for device: IPAddress) -> (first: Upstream?, others: [Upstream]) {
        guard let group = settings.profiles[position].group else { return (upstreams[position], []) }
        let order = group.order(for: device)
        return (order.first.map { upstreams[$0] }, order.dropFirst().map { upstreams[$0] })
    }

    /// The upstream that a profile's flows go to first, for what is said of it as a whole.
    static func leader(of profile: RoutingSettings.Profile, among upstreams: [Upstream]) -> Upstream? {
        guard let group = profile.group, let first = group.order.first ?? group.members.first else { return nil }
        return upstreams[first]
    }
}
