/// Which member carries a device, by rendezvous hashing.
///
/// Each member draws a number for each device, and the highest wins (Thaler and Ravishankar, "Using Name-Based Mappings
/// to Increase Hit Rates", IEEE/ACM Transactions on Networking 6(1), 1998). Nothing is remembered: whoever knows the
/// names comes to the same order, after a restart too. When a member goes, its devices go to their second choice,
/// spread over all the others, and no other device moves.

internal import Digest

extension GroupChoice {
    /// All members, that device's first choice first.
    ///
    /// Members and device are named by octets that do not change, such as the profile's id and the hardware address.
    public static func ranking(device: [UInt8], members: [[UInt8]], key: (UInt64, UInt64)) -> [Int] {
        let hash = SipHash(key.0, key.1)
        let draws = members.map { hash.hash24((device + $0).span) }
        return members.indices.sorted { (draws[$0], $1) > (draws[$1], $0) }
    }
}
