/// # What the kernel knows of the network: interfaces, addresses, routes, rules, neighbours
///
/// It is read in one go (rtnetlink(7)) and is a value from then on. Changes are made by ip(8); `NetworkMonitor`
/// says when it is worth reading again.

public import Addresses
internal import CLinux
internal import Glibc

/// Everything at one moment.
public struct KernelNetwork: Equatable, Sendable {
    public var links: [KernelLink] = []
    public var addresses: [KernelAddress] = []
    public var routes: [KernelRoute] = []
    public var rules: [KernelRule] = []
    public var neighbours: [KernelNeighbour] = []
    /// Whether there is IPv6 at all.
    public var hasIPv6 = true

    public init() {}

    /// Whether the kernel has IPv6, in the network namespace of the calling thread.
    static var hasIPv6: Bool { Sysctl.exists("net/ipv6/conf/all/forwarding") }

    /// Reads it for the network namespace of the calling thread.
    public static func read() throws(SystemCallError) -> KernelNetwork {
        let socket = try NetlinkSocket(.route)
        var network = KernelNetwork()
        network.hasIPv6 = hasIPv6
        let any = [UInt8](repeating: 0, count: 16)
        network.links = try socket.dump(UInt16(RTM_GETLINK), body: any, reading: KernelLink.init)
        let names = LinkNames(network.links)
        network.addresses = try socket.dump(UInt16(RTM_GETADDR), body: Array(any.prefix(8))) {
            KernelAddress($0, names)
        }
        for family in [UInt8(AF_INET), UInt8(AF_INET6)] where family == UInt8(AF_INET) || network.hasIPv6 {
            let question = [family] + any.prefix(11)
            network.routes += try socket.dump(UInt16(RTM_GETROUTE), body: question) {
                KernelRoute.read($0, family: family, names)
            }.flatMap(\.self)
            network.rules += try socket.dump(UInt16(RTM_GETRULE), body: question) { KernelRule($0, family: family) }
            network.neighbours += try KernelNeighbour.read(socket, family: family, names)
        }
        return network
    }
}

/// The names of interfaces by their numbers.
struct LinkNames {
    private var names: [UInt32: String]

    init(_ links: [KernelLink]) {
        names = Dictionary(links.map { ($0.index, $0.name) }) { first, _ in first }
    }

    /// Those of the network namespace of the calling thread.
    static func read() throws(SystemCallError) -> LinkNames {
        let question = [UInt8](repeating: 0, count: 16)
        return LinkNames(
            try NetlinkSocket(.route).dump(UInt16(RTM_GETLINK), body: question, reading: KernelLink.init))
    }

    subscript(_ index: UInt32?) -> String? { index.flatMap { names[$0] } }

    subscript(_ index: UInt32) -> String? {
        get { names[index] }
        set { names[index] = newValue }
    }
}

/// A network interface.
public struct KernelLink: Hashable, Sendable {
    public var index: UInt32
    public var name: String
    /// Set up by the administrator; a cable may be missing.
    public var isUp: Bool
    /// Something is at the other end of the cable.
    public var hasCarrier: Bool
    /// Machines on it are asked for their addresses on the link, so that it shows who answers.
    public var asksNeighbours: Bool
    public var mtu: Int

    public init(
        index: UInt32, name: String, isUp: Bool, hasCarrier: Bool = true, asksNeighbours: Bool = true, mtu: Int
    ) {
        self.index = index
        self.name = name
        self.isUp = isUp
        self.hasCarrier = hasCarrier
        self.asksNeighbours = asksNeighbours
        self.mtu = mtu
    }

    init?(_ message: NetlinkMessage) {
        guard message.type == UInt16(RTM_NEWLINK), message.payload.count >= 16 else { return nil }
        let attributes = message.attributes(after: 16)
        guard let name = message.text(attributes[UInt16(IFLA_IFNAME)]) else { return nil }
        index = message.payload.native32(at: 4)
        self.name = name
        let flags = message.payload.native32(at: 8)
        isUp = flags & UInt32(IFF_UP) != 0
        // IFF_LOWER_UP, which glibc's net/if.h does not have (linux/if.h).
        hasCarrier = flags & 1 << 16 != 0
        asksNeighbours = flags & UInt32(IFF_NOARP) == 0
        mtu = Int(message.number(attributes[UInt16(IFLA_MTU)]) ?? 0)
    }
}

/// An address of an interface of this machine.
public struct KernelAddress: Hashable, Sendable {
    public var interface: String
    public var address: IPAddress
    /// The network that is reached on the interface by this address.
    public var prefix: IPPrefix

    public init(interface: String, address: IPAddress, prefix: IPPrefix) {
        self.interface = interface
        self.address = address
        self.prefix = prefix
    }

    init?(_ message: NetlinkMessage, _ names: LinkNames) {
        guard message.type == UInt16(RTM_NEWADDR), message.payload.count >= 8 else { return nil }
        let attributes = message.attributes(after: 8)
        let length = Int(message.payload[1])
        // IFA_ADDRESS is the peer's address where there is one, IFA_LOCAL always ours.
        guard let name = names[message.payload.native32(at: 4)],
            let network = message.address(attributes[UInt16(IFA_ADDRESS)] ?? attributes[UInt16(IFA_LOCAL)]),
            let prefix = IPPrefix(network, length: length)
        else { return nil }
        interface = name
        address = message.address(attributes[UInt16(IFA_LOCAL)]) ?? network
        self.prefix = prefix
    }
}
