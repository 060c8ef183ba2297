/// Packets of one link, past every address and route of this machine (packet(7)).

public import Addresses
internal import CLinux
internal import Glibc

/// A socket for the IPv4 packets of one interface, closed when the value goes away; it takes CAP_NET_RAW.
public struct LinkSocket: ~Copyable, Sendable {
    public let descriptor: OwnedDescriptor
    private let interface: UInt32

    public init(on name: String) throws(SystemCallError) {
        let interface = try NetworkInterface.index(of: name)
        let number = clinux_open_packets(interface)
        guard number >= 0 else { throw SystemCallError("packet socket", name, negative: number) }
        descriptor = OwnedDescriptor(owning: number)
        self.interface = interface
    }

    /// Sends an IPv4 packet, header and all, to every machine of the link.
    public func broadcast(_ packet: [UInt8]) throws(SystemCallError) {
        let sent = unsafe packet.withUnsafeBytes { bytes in
            retrying {
                unsafe clinux_broadcast_packet(descriptor.number, interface, bytes.baseAddress, bytes.count)
            }
        }
        guard sent >= 0 else { throw SystemCallError("sendto", negative: CInt(sent)) }
    }

    /// The next packet, cut to `limit` octets; nil when none is there, or the interface has gone down.
    public func receive(limit: Int = 2048) -> [UInt8]? {
        var packet = [UInt8](repeating: 0, count: limit)
        let count = retrying { unsafe recv(descriptor.number, &packet, limit, 0) }
        packet.removeLast(limit - max(0, count))
        return packet.isEmpty ? nil : packet
    }
}

extension NetworkInterface {
    /// The address of an Ethernet or Wi-Fi interface on its link.
    public static func mac(of name: String) throws(SystemCallError) -> MACAddress {
        var octets: [UInt8] = [0, 0, 0, 0, 0, 0]
        let result = unsafe clinux_interface_address(name, &octets)
        guard result >= 0 else { throw SystemCallError("ioctl SIOCGIFHWADDR", name, negative: result) }
        return MACAddress(bits: octets.reduce(0) { $0 << 8 | UInt64($1) })
    }
}
