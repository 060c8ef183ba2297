/// Devices that are not on a link of ours: packets come from their addresses, and the MAC before them is a router's.

internal import Addresses

extension DeviceTable {
    /// The most of them; those that have a name or a profile stay all the same.
    public static let remoteCapacity = 1024

    /// When packets came from an address.
    struct Remote: Sendable {
        let firstSeen: Int64
        var seen: Int64
    }

    mutating func heardFromAfar(_ address: IPAddress, at now: Int64) {
        guard !address.isLinkLocal, !address.isMulticast, !address.isUnspecified, !address.isLoopback else { return }
        let former = remote[address]
        remote[address] = Remote(firstSeen: former?.firstSeen ?? now, seen: max(former?.seen ?? now, now))
        if former == nil { generation += 1 }
        guard remote.count > Self.remoteCapacity else { return }
        let strangers = remote.filter { !isHeld(.address($0.key)) && $0.key != address }
        let oldest = strangers.sorted { ($0.value.seen, $0.key.low) < ($1.value.seen, $1.key.low) }
        for (address, _) in oldest.prefix(Self.remoteCapacity / 8) { remote[address] = nil }
    }
}
