/// Asks the kernel for one neighbour, for whoever can't wait until its news were read.
///
///     RTM_GETROUTE address ─▶ the interface, unless a router is between ─▶ RTM_GETNEIGH ─▶ whose address it is
///
/// The kernel answers while it is asked, so nobody waits; before Linux 5.0 it has no answer (rtnetlink(7)).

public import Addresses
internal import CLinux
internal import Glibc

public struct NeighbourQuestion: ~Copyable, Sendable {
    private let socket: NetlinkSocket

    /// Asks about the network namespace of the calling thread, whichever thread asks later.
    public init() throws(SystemCallError) { socket = try NetlinkSocket(.route) }

    /// Who has an address on a link of ours; nil where the kernel does not know, or the address is on none.
    ///
    /// Addresses that are valid on their link alone are not asked for: they do not say which it is.
    public func ask(_ address: IPAddress) -> KernelNeighbour? {
        guard !address.isLinkLocal, !address.isMulticast, let interface = interface(towards: address) else {
            return nil
        }
        var question = [Self.family(of: address), 0, 0, 0]
        question.appendNative(interface)
        // struct ndmsg ends with state, flags and type, and then its attributes begin.
        question += [0, 0, 0, 0]
        question.appendAttribute(UInt16(NDA_DST), address)
        guard let message = socket.question(UInt16(RTM_GETNEIGH), body: question), let link = link(interface) else {
            return nil
        }
        return KernelNeighbour(message, LinkNames([link]))
    }

    /// The number of the interface that an address is behind without a router.
    private func interface(towards address: IPAddress) -> UInt32? {
        // struct rtmsg: family, length of the destination, and ten octets that mean "any".
        var question = [Self.family(of: address), address.isIPv4 ? 32 : 128] + [UInt8](repeating: 0, count: 10)
        question.appendAttribute(UInt16(RTA_DST.rawValue), address)
        guard let message = socket.question(UInt16(RTM_GETROUTE), body: question),
            message.type == UInt16(RTM_NEWROUTE), message.payload.count >= 12,
            CInt(message.payload[7]) == CInt(RTN_UNICAST)
        else { return nil }
        let attributes = message.attributes(after: 12)
        guard attributes[UInt16(RTA_GATEWAY.rawValue)] == nil, attributes[UInt16(RTA_VIA.rawValue)] == nil else {
            return nil
        }
        return message.number(attributes[UInt16(RTA_OIF.rawValue)])
    }

    private func link(_ index: UInt32) -> KernelLink? {
        // struct ifinfomsg: family, padding, type, index, flags, change.
        var question: [UInt8] = [0, 0, 0, 0]
        question.appendNative(index)
        question += [UInt8](repeating: 0, count: 8)
        return socket.question(UInt16(RTM_GETLINK), body: question).flatMap { KernelLink($0) }
    }

    private static func family(of address: IPAddress) -> UInt8 { UInt8(address.isIPv4 ? AF_INET : AF_INET6) }
}

extension [UInt8] {
    /// Appends an attribute that holds an address.
    fileprivate mutating func appendAttribute(_ type: UInt16, _ address: IPAddress) {
        let octets: [UInt8] =
            address.isIPv4
            ? (0..<4).map { UInt8(truncatingIfNeeded: address.v4 >> (24 - 8 * $0)) }
            : [address.high, address.low].flatMap { word in
                (0..<8).map { UInt8(truncatingIfNeeded: word >> (56 - 8 * $0)) }
            }
        appendNative(UInt16(4 + octets.count))
        appendNative(type)
        self += octets
    }
}
