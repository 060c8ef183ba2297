/// A route of one of the kernel's tables.

public import Addresses
internal import CLinux
internal import Glibc

/// Where packets for a destination go.
public struct KernelRoute: Hashable, Sendable {
    /// What becomes of a packet, by the kernel's numbers (RTN_…).
    public enum Kind: UInt8, Sendable {
        case unicast = 1
        case local = 2
        case broadcast = 3
        case anycast = 4
        case multicast = 5
        case blackhole = 6
        case unreachable = 7
        case prohibit = 8
        /// The table has nothing to say; the next rule is asked.
        case `throw` = 9
    }

    /// The table of all who did not say another one.
    public static let mainTable: UInt32 = 254
    /// What ip(8) gives as its own number to the kernel (RTPROT_BOOT), where nobody says another one.
    public static let madeByHand: UInt8 = 3

    public var table: UInt32
    public var kind: Kind
    public var destination: IPPrefix
    /// Where a unicast route leads; nil for the kinds that lead nowhere.
    public var interface: String?
    public var gateway: IPAddress?
    public var metric: UInt32
    /// Who made it (`proto` of ip-route(8), RTPROT_…).
    public var maker: UInt8

    public init(
        table: UInt32, kind: Kind = .unicast, destination: IPPrefix, interface: String? = nil,
        gateway: IPAddress? = nil, metric: UInt32 = 0, maker: UInt8 = madeByHand
    ) {
        self.table = table
        self.kind = kind
        self.destination = destination
        self.interface = interface
        self.gateway = gateway
        self.metric = metric
        self.maker = maker
    }

    /// Reads a route, one for each of its next hops; cached ones (RTM_F_CLONED) and those of other families are
    /// passed over.
    static func read(_ message: NetlinkMessage, family: UInt8, _ names: LinkNames) -> [KernelRoute] {
        let payload = message.payload
        guard message.type == UInt16(RTM_NEWROUTE), payload.count >= 12, payload[0] == family,
            payload.native32(at: 8) & UInt32(RTM_F_CLONED) == 0, let kind = Kind(rawValue: payload[7])
        else { return [] }
        let attributes = message.attributes(after: 12)
        let unspecified = family == UInt8(AF_INET) ? IPAddress(v4: 0) : IPAddress(high: 0, low: 0)
        let network = message.address(attributes[UInt16(RTA_DST.rawValue)]) ?? unspecified
        guard let destination = IPPrefix(network, length: Int(payload[1])) else { return [] }
        var route = KernelRoute(
            table: message.number(attributes[UInt16(RTA_TABLE.rawValue)]) ?? UInt32(payload[4]), kind: kind,
            destination: destination, metric: message.number(attributes[UInt16(RTA_PRIORITY.rawValue)]) ?? 0,
            maker: payload[5])
        guard kind.leadsSomewhere else { return [route] }
        if let hops = attributes[UInt16(RTA_MULTIPATH.rawValue)] {
            return nextHops(message, hops).map { hop in
                route.interface = names[hop.interface]
                route.gateway = hop.gateway
                return route
            }
        }
        route.interface = names[message.number(attributes[UInt16(RTA_OIF.rawValue)])]
        route.gateway = message.address(attributes[UInt16(RTA_GATEWAY.rawValue)])
        return [route]
    }

    /// The next hops of a route with several (rtnetlink(7), struct rtnexthop).
    private static func nextHops(
        _ message: NetlinkMessage, _ range: Range<Int>
    ) -> [(interface: UInt32, gateway: IPAddress?)] {
        var hops: [(interface: UInt32, gateway: IPAddress?)] = []
        var start = range.lowerBound
        while start + 8 <= range.upperBound {
            let length = Int(message.payload.native16(at: start))
            guard length >= 8, start + length <= range.upperBound else { break }
            let attributes = NetlinkMessage.attributes(of: message.payload, in: start + 8..<start + length)
            hops.append(
                (
                    message.payload.native32(at: start + 4),
                    message.address(attributes[UInt16(RTA_GATEWAY.rawValue)])
                ))
            start += (length + 3) & ~3
        }
        return hops
    }
}

extension KernelRoute.Kind {
    /// Whether an interface belongs to a route of this kind; IPv6 names "lo" where none does.
    var leadsSomewhere: Bool {
        switch self {
        case .unicast, .local, .broadcast, .anycast, .multicast: true
        case .blackhole, .unreachable, .prohibit, .throw: false
        }
    }
}
