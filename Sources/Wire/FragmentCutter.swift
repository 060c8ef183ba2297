/// Datagrams of ours that do not fit the tunnel's MTU, cut into fragments (RFC 791, section 3.2; RFC 8200,
/// section 4.5).

import Addresses
import Bytes

/// The plan for one datagram: how many fragments it becomes, and how each is made.
///
/// Made for what the gateway itself writes: no IPv4 options and no IPv6 extension headers.
public struct FragmentCutter: Sendable {
    private let ip: IPPacket
    private let identification: UInt32
    /// The octets of IP header, and fragment header with IPv6, in front of each piece.
    private let headerLength: Int
    /// The payload octets of each fragment but the last: a multiple of eight.
    private let pieceSize: Int

    /// How many fragments the datagram becomes; 1 if it fits as it is.
    public let count: Int

    /// Plans the cutting of a datagram for links of this MTU, 576 at least.
    ///
    /// `identification` must differ from datagram to datagram.
    public init(_ packet: Span<UInt8>, mtu: Int, identification: UInt32) throws(WireError) {
        precondition(mtu >= 576, "a link of no IP network")
        ip = try IPPacket.parse(packet)
        self.identification = identification
        headerLength = ip.source.isIPv4 ? IPv4.headerLength : IPv6.headerLength + Self.fragmentHeaderLength
        pieceSize = (mtu - headerLength) & ~7
        guard ip.payload.lowerBound == IPHeader.length(isIPv4: ip.source.isIPv4), ip.fragment == nil else {
            throw .unsupported(.extensionHeader, packet[ip.source.isIPv4 ? 0 : 6])
        }
        count = ip.payload.upperBound <= mtu ? 1 : (ip.payload.count + pieceSize - 1) / pieceSize
    }

    private static let fragmentHeaderLength = 8

    /// Writes one fragment, 0 ..< `count`, of the datagram that the plan is for and returns its length.
    public func write(_ index: Int, of packet: Span<UInt8>, into bytes: inout MutableSpan<UInt8>) -> Int {
        precondition(index >= 0 && index < count, "no such fragment")
        if count == 1 {
            bytes.copy(packet.extracting(0..<ip.payload.upperBound), at: 0)
            return ip.payload.upperBound
        }
        let offset = index * pieceSize
        let size = min(pieceSize, ip.payload.count - offset)
        let isLast = index == count - 1
        if ip.source.isIPv4 {
            IPv4.writeHeader(
                into: &bytes, at: 0, source: ip.source, destination: ip.destination, transport: ip.transport,
                payloadCount: size, identification: UInt16(truncatingIfNeeded: identification),
                fragmentField: UInt16(offset / 8) | (isLast ? 0 : IPv4.moreFragments))
        } else {
            IPv6.writeHeader(
                into: &bytes, at: 0, source: ip.source, destination: ip.destination,
                next: IPv6.ExtensionHeader.fragment, payloadCount: Self.fragmentHeaderLength + size)
            let field = UInt16(offset) | (isLast ? 0 : 1)
            bytes.store(UInt32(ip.transport.rawValue) << 24 | UInt32(field), at: IPv6.headerLength)
            bytes.store(identification, at: IPv6.headerLength + 4)
        }
        let first = ip.payload.lowerBound + offset
        bytes.copy(packet.extracting(first..<first + size), at: headerLength)
        return headerLength + size
    }
}
