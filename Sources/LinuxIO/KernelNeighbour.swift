/// The machines on our links, as the kernel's neighbour table has them (ARP, and RFC 4861 for IPv6).

public import Addresses
public import Bytes
internal import CLinux
internal import Glibc

/// A machine that the kernel has talked to on a link.
public struct KernelNeighbour: Hashable, Sendable {
    /// How sure the kernel is that the machine is there (RFC 4861, section 7.3.2).
    public enum State: Hashable, Sendable {
        /// It has answered within the last half minute or so.
        case reachable
        /// It was there, and nobody has asked since.
        case stale
        /// It is about to be asked, or is being asked.
        case probed
        /// The administrator has entered it.
        case permanent
    }

    public var interface: String
    public var address: IPAddress
    /// Its address on the link.
    public var hardware: MACAddress
    /// It says of itself that it is a router (RFC 4861, section 4.4); IPv6 only.
    public var isRouter: Bool
    public var state: State
    /// How long ago it last proved to be there.
    public var sinceConfirmed: Interval

    public init(
        interface: String, address: IPAddress, hardware: MACAddress, isRouter: Bool, state: State = .reachable,
        sinceConfirmed: Interval = .zero
    ) {
        self.interface = interface
        self.address = address
        self.hardware = hardware
        self.isRouter = isRouter
        self.state = state
        self.sinceConfirmed = sinceConfirmed
    }

    /// All of the network namespace of the calling thread, of both families.
    public static func readAll() throws(SystemCallError) -> [KernelNeighbour] {
        let socket = try NetlinkSocket(.route)
        let names = try LinkNames.read()
        let ipv4 = try read(socket, family: UInt8(AF_INET), names)
        guard KernelNetwork.hasIPv6 else { return ipv4 }
        return ipv4 + (try read(socket, family: UInt8(AF_INET6), names))
    }

    static func read(
        _ socket: borrowing NetlinkSocket, family: UInt8, _ names: LinkNames
    ) throws(SystemCallError) -> [KernelNeighbour] {
        let question = [family] + [UInt8](repeating: 0, count: 11)
        return try socket.dump(UInt16(RTM_GETNEIGH), body: question) { message in
            guard message.payload.first == family else { return nil }
            return KernelNeighbour(message, names)
        }
    }
}

extension KernelNeighbour {
    init?(_ message: NetlinkMessage, _ names: LinkNames) {
        guard message.type == UInt16(RTM_NEWNEIGH), let place = NeighbourPlace(message, names) else { return nil }
        let payload = message.payload
        let attributes = message.attributes(after: NeighbourPlace.bodyLength)
        // Without a link address nobody has answered yet.
        guard let link = attributes[UInt16(NDA_LLADDR)], link.count == 6,
            let state = State(bits: CInt(payload.native16(at: 8)))
        else { return nil }
        interface = place.interface
        address = place.address
        hardware = MACAddress(bits: payload[link].reduce(0) { $0 << 8 | UInt64($1) })
        isRouter = CInt(payload[10]) & NTF_ROUTER != 0
        self.state = state
        // nda_cacheinfo begins with the age of the confirmation, in hundredths of a second (USER_HZ).
        let age = message.number(attributes[UInt16(NDA_CACHEINFO)]) ?? 0
        sinceConfirmed = .milliseconds(Int64(age) * 10)
    }
}

extension KernelNeighbour.State {
    /// Nil where the machine does not answer, has not answered yet, or is not asked at all (NUD_NOARP).
    fileprivate init?(bits: CInt) {
        switch bits {
        case _ where bits & (NUD_FAILED | NUD_NOARP | NUD_INCOMPLETE) != 0: return nil
        case _ where bits & NUD_REACHABLE != 0: self = .reachable
        case _ where bits & NUD_STALE != 0: self = .stale
        case _ where bits & (NUD_DELAY | NUD_PROBE) != 0: self = .probed
        case _ where bits & NUD_PERMANENT != 0: self = .permanent
        default: return nil
        }
    }
}

/// Which entry a message is about.
struct NeighbourPlace {
    /// struct ndmsg.
    static let bodyLength = 12

    let interface: String
    let address: IPAddress

    init?(_ message: NetlinkMessage, _ names: LinkNames) {
        guard message.payload.count >= Self.bodyLength else { return nil }
        let family = CInt(message.payload[0])
        // Bridges have a table of their own, with the same messages.
        guard family == AF_INET || family == AF_INET6, let name = names[message.payload.native32(at: 4)],
            let address = message.address(message.attributes(after: Self.bodyLength)[UInt16(NDA_DST)]),
            !address.isMulticast
        else { return nil }
        interface = name
        self.address = address
    }
}
