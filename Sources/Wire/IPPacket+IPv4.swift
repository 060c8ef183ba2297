/// The IPv4 header (RFC 791, section 3.1): reading and writing.

import Addresses
import Bytes

/// What is particular to IPv4 headers.
enum IPv4 {
    static let headerLength = 20
    static let dontFragment: UInt16 = 0x4000
    static let moreFragments: UInt16 = 0x2000

    /// Writes a header without options at `offset`; flags and fragment offset are given as they stand on the wire.
    static func writeHeader(
        into bytes: inout MutableSpan<UInt8>, at offset: Int, source: IPAddress, destination: IPAddress,
        transport: Transport, payloadCount: Int, identification: UInt16, fragmentField: UInt16,
        hopLimit: UInt8 = IPHeader.defaultHopLimit
    ) {
        let first = UInt32(0x4500) << 16 | UInt32(UInt16(headerLength + payloadCount))
        let second = UInt32(identification) << 16 | UInt32(fragmentField)
        let third = UInt32(hopLimit) << 24 | UInt32(transport.rawValue) << 16
        var checksum = InternetChecksum()
        checksum.add(first)
        checksum.add(second)
        checksum.add(third)
        checksum.add(source.v4)
        checksum.add(destination.v4)
        bytes.store(first, at: offset)
        bytes.store(second, at: offset + 4)
        bytes.store(third | UInt32(checksum.value), at: offset + 8)
        bytes.store(source.v4, at: offset + 12)
        bytes.store(destination.v4, at: offset + 16)
    }
}

extension IPPacket {
    static func parseIPv4(_ packet: Span<UInt8>) throws(WireError) -> IPPacket {
        guard packet.count >= IPv4.headerLength else {
            throw .truncated(needed: IPv4.headerLength, got: packet.count)
        }
        let headerLength = Int(packet[0] & 0x0f) * 4
        let totalLength = Int(packet.uint16(at: 2))
        guard headerLength >= IPv4.headerLength, headerLength <= totalLength else {
            throw .inconsistent(.headerLength)
        }
        guard totalLength <= packet.count else { throw .truncated(needed: totalLength, got: packet.count) }

        var checksum = InternetChecksum()
        checksum.add(packet.extracting(0..<headerLength))
        guard checksum.value == 0 else { throw .checksum }

        return try readIPv4(
            packet, payload: headerLength..<totalLength,
            fragment: fragmentOfIPv4(packet, payloadCount: totalLength - headerLength))
    }

    /// Reads the header of a packet of which only the beginning is there, as ICMP errors quote it.
    ///
    /// Its checksum is not looked at: the way changes headers. A later fragment, which has no ports, is refused.
    static func parseQuotedIPv4(_ packet: Span<UInt8>) throws(WireError) -> IPPacket {
        guard packet.count >= IPv4.headerLength else {
            throw .truncated(needed: IPv4.headerLength, got: packet.count)
        }
        guard packet[0] >> 4 == 4 else { throw .unsupported(.version, packet[0] >> 4) }
        let headerLength = Int(packet[0] & 0x0f) * 4
        guard headerLength >= IPv4.headerLength else { throw .inconsistent(.headerLength) }
        guard headerLength <= packet.count else { throw .truncated(needed: headerLength, got: packet.count) }
        guard packet.uint16(at: 6) & 0x1fff == 0 else { throw .inconsistent(.fragment) }
        return try readIPv4(packet, payload: headerLength..<packet.count, fragment: nil)
    }

    private static func readIPv4(
        _ packet: Span<UInt8>, payload: Range<Int>, fragment: IPFragment?
    ) throws(WireError) -> IPPacket {
        guard let transport = Transport(rawValue: packet[9]), transport != .icmpv6 else {
            throw .unsupported(.transport, packet[9])
        }
        return IPPacket(
            source: IPAddress(v4: packet.uint32(at: 12)), destination: IPAddress(v4: packet.uint32(at: 16)),
            transport: transport, hopLimit: packet[8], payload: payload, fragment: fragment)
    }

    private static func fragmentOfIPv4(
        _ packet: Span<UInt8>, payloadCount: Int
    ) throws(WireError) -> IPFragment? {
        let field = packet.uint16(at: 6)
        guard field & 0x3fff != 0 else { return nil }
        return try fragment(
            identification: UInt32(packet.uint16(at: 4)), offset: Int(field & 0x1fff) * 8,
            isLast: field & IPv4.moreFragments == 0, payloadCount: payloadCount)
    }

    /// A fragment whose place in the datagram makes sense: all but the last are multiples of eight octets, and
    /// none is empty or reaches beyond what a datagram can hold (RFC 791, section 3.2; RFC 8200, section 4.5).
    static func fragment(
        identification: UInt32, offset: Int, isLast: Bool, payloadCount: Int
    ) throws(WireError) -> IPFragment {
        guard payloadCount > 0, isLast || payloadCount % 8 == 0, offset + payloadCount <= 65535 else {
            throw .inconsistent(.fragment)
        }
        return IPFragment(identification: identification, offset: offset, isLast: isLast)
    }
}
