/// News of the machines on our links, on a descriptor for a poller.

public import Addresses
internal import CLinux
internal import Glibc

/// What the kernel says about one machine.
public enum NeighbourNews: Equatable, Sendable {
    /// It is new, has proved to be there, or has not for a while.
    case found(KernelNeighbour)
    /// It does not answer, or was not asked for so long that the kernel has forgotten it.
    case gone(IPAddress, interface: String)
    /// News were lost: the whole table has to be read again (`KernelNeighbour.readAll`).
    case lost
}

/// Says what changes in the neighbour table, entry by entry.
public struct NeighbourMonitor: ~Copyable, Sendable {
    private let socket: NetlinkSocket
    private var names: LinkNames

    /// Watches the network namespace of the calling thread.
    public init() throws(SystemCallError) {
        let groups = [RTNLGRP_LINK, RTNLGRP_NEIGH].reduce(0 as UInt32) { $0 | 1 << ($1.rawValue - 1) }
        let socket = try NetlinkSocket(.route, groups: groups)
        // Asked for only now, so that no interface comes between the list and the news.
        names = try LinkNames.read()
        self.socket = socket
    }

    /// What to watch for being readable; then call `news`.
    public var descriptor: CInt { socket.descriptor.number }

    /// Reads everything that waits; after `lost` nothing else is worth looking at.
    public mutating func news() -> [NeighbourNews] {
        var news: [NeighbourNews] = []
        var isLost = false
        while true {
            switch socket.read() {
            case .datagram(let datagram):
                for message in NetlinkMessage.split(datagram) { if let item = take(message) { news.append(item) } }
            case .overrun: isLost = true
            case .nothing, .failed: return isLost ? [.lost] : news
            }
        }
    }

    private mutating func take(_ message: NetlinkMessage) -> NeighbourNews? {
        switch Int(message.type) {
        case RTM_NEWLINK:
            if let link = KernelLink(message) { names[link.index] = link.name }
            return nil
        case RTM_NEWNEIGH, RTM_DELNEIGH:
            if let neighbour = KernelNeighbour(message, names) { return .found(neighbour) }
            guard let place = NeighbourPlace(message, names) else { return nil }
            return .gone(place.address, interface: place.interface)
        default: return nil
        }
    }
}
