/// News of the kernel's network, on descriptors for a poller.

internal import CLinux
internal import Glibc

/// Says that interfaces, addresses, routes, neighbours or rules of the firewall have changed.
///
/// It does not say what: news can be lost, and the state itself never lies (`KernelNetwork.read`).
public struct NetworkMonitor: ~Copyable, Sendable {
    private let route: NetlinkSocket
    private let firewall: NetlinkSocket?

    /// What has changed since the last look.
    public struct Changes: OptionSet, Sendable {
        public let rawValue: UInt8

        public init(rawValue: UInt8) { self.rawValue = rawValue }

        public static let links = Changes(rawValue: 1)
        public static let addresses = Changes(rawValue: 2)
        public static let routes = Changes(rawValue: 4)
        public static let rules = Changes(rawValue: 8)
        public static let neighbours = Changes(rawValue: 16)
        public static let firewall = Changes(rawValue: 32)
        public static let everything: Changes = [.links, .addresses, .routes, .rules, .neighbours, .firewall]
    }

    /// Watches the network namespace of the calling thread; news of the firewall need CAP_NET_ADMIN and are done
    /// without where they are refused.
    public init() throws(SystemCallError) {
        let groups = [
            RTNLGRP_LINK, RTNLGRP_NEIGH, RTNLGRP_IPV4_IFADDR, RTNLGRP_IPV4_ROUTE, RTNLGRP_IPV4_RULE,
            RTNLGRP_IPV6_IFADDR, RTNLGRP_IPV6_ROUTE, RTNLGRP_IPV6_RULE,
        ]
        route = try NetlinkSocket(.route, groups: groups.reduce(0) { $0 | 1 << ($1.rawValue - 1) })
        firewall = try? NetlinkSocket(.netfilter, groups: 1 << (Self.firewallGroup - 1))
    }

    /// NFNLGRP_NFTABLES (linux/netfilter/nfnetlink.h).
    private static let firewallGroup: UInt32 = 7

    /// What to watch for being readable; then call `changes`.
    public var descriptors: [CInt] {
        var numbers = [route.descriptor.number]
        if firewall != nil { numbers.append(firewallNumber) }
        return numbers
    }

    private var firewallNumber: CInt {
        switch firewall {
        case .some(let socket): socket.descriptor.number
        case .none: -1
        }
    }

    /// Reads everything that waits.
    public func changes() -> Changes {
        var changes = Self.drain(route) { Self.meaning(of: $0) }
        switch firewall {
        case .some(let socket): changes.formUnion(Self.drain(socket) { _ in .firewall })
        case .none: break
        }
        return changes
    }

    private static func drain(_ socket: borrowing NetlinkSocket, _ meaning: (UInt16) -> Changes) -> Changes {
        var changes: Changes = []
        while true {
            switch socket.read() {
            case .datagram(let datagram):
                for message in NetlinkMessage.split(datagram) { changes.formUnion(meaning(message.type)) }
            case .overrun: changes = .everything
            case .nothing, .failed: return changes
            }
        }
    }

    private static func meaning(of type: UInt16) -> Changes {
        switch Int(type) {
        case RTM_NEWLINK, RTM_DELLINK: .links
        case RTM_NEWADDR, RTM_DELADDR: .addresses
        case RTM_NEWROUTE, RTM_DELROUTE: .routes
        case RTM_NEWRULE, RTM_DELRULE: .rules
        case RTM_NEWNEIGH, RTM_DELNEIGH: .neighbours
        default: []
        }
    }
}
