/// The IPv6 header and its extension headers (RFC 8200, sections 3 and 4): reading and writing.

import Addresses
import Bytes

/// What is particular to IPv6 headers.
enum IPv6 {
    static let headerLength = 40

    /// More extension headers than this are nobody's honest packet (RFC 8504, section 5.3).
    static let maximumExtensions = 8

    enum ExtensionHeader {
        static let hopByHop: UInt8 = 0
        static let routing: UInt8 = 43
        static let fragment: UInt8 = 44
        static let destinationOptions: UInt8 = 60
    }

    /// Writes the fixed header at `offset`, in front of a header of the type `next`.
    static func writeHeader(
        into bytes: inout MutableSpan<UInt8>, at offset: Int, source: IPAddress, destination: IPAddress, next: UInt8,
        payloadCount: Int, hopLimit: UInt8 = IPHeader.defaultHopLimit
    ) {
        bytes.store(UInt32(0x6000_0000), at: offset)
        bytes.store(
            UInt32(UInt16(payloadCount)) << 16 | UInt32(next) << 8 | UInt32(hopLimit), at: offset + 4)
        bytes.store(source.high, at: offset + 8)
        bytes.store(source.low, at: offset + 16)
        bytes.store(destination.high, at: offset + 24)
        bytes.store(destination.low, at: offset + 32)
    }
}

extension IPPacket {
    static func parseIPv6(_ packet: Span<UInt8>) throws(WireError) -> IPPacket {
        guard packet.count >= IPv6.headerLength else {
            throw .truncated(needed: IPv6.headerLength, got: packet.count)
        }
        let end = IPv6.headerLength + Int(packet.uint16(at: 4))
        guard end <= packet.count else { throw .truncated(needed: end, got: packet.count) }
        return try readIPv6(packet, end: end)
    }

    /// Reads the headers of a packet of which only the beginning is there, as ICMPv6 errors quote it.
    static func parseQuotedIPv6(_ packet: Span<UInt8>) throws(WireError) -> IPPacket {
        guard packet.count >= IPv6.headerLength else {
            throw .truncated(needed: IPv6.headerLength, got: packet.count)
        }
        guard packet[0] >> 4 == 6 else { throw .unsupported(.version, packet[0] >> 4) }
        return try readIPv6(packet, end: packet.count)
    }

    private static func readIPv6(_ packet: Span<UInt8>, end: Int) throws(WireError) -> IPPacket {
        let source = IPAddress(high: packet.uint64(at: 8), low: packet.uint64(at: 16))
        let destination = IPAddress(high: packet.uint64(at: 24), low: packet.uint64(at: 32))
        // Such an address in a packet would be taken for an IPv4 one (RFC 4291, section 2.5.5.2).
        guard !source.isIPv4, !destination.isIPv4 else { throw .inconsistent(.address) }

        var walk = ExtensionWalk(next: packet[6], position: IPv6.headerLength, end: end)
        try walk.run(packet)
        guard let transport = Transport(rawValue: walk.next), transport != .icmp else {
            throw .unsupported(.transport, walk.next)
        }
        return IPPacket(
            source: source, destination: destination, transport: transport, hopLimit: packet[7],
            payload: walk.position..<end, fragment: walk.fragment)
    }
}

/// The way from the fixed header to the transport.
private struct ExtensionWalk {
    /// The type of what stands at `position`.
    var next: UInt8
    var position: Int
    let end: Int
    var fragment: IPFragment?

    mutating func run(_ packet: Span<UInt8>) throws(WireError) {
        for _ in 0...IPv6.maximumExtensions {
            switch next {
            case IPv6.ExtensionHeader.hopByHop where position == IPv6.headerLength,
                IPv6.ExtensionHeader.destinationOptions:
                try skip(packet)
            case IPv6.ExtensionHeader.routing:
                guard position + 8 <= end else { throw .truncated(needed: position + 8, got: end) }
                // With segments left the destination is not the final one (RFC 8200, section 4.4; RFC 5095).
                guard packet[position + 3] == 0 else { throw .unsupported(.extensionHeader, next) }
                try skip(packet)
            case IPv6.ExtensionHeader.fragment:
                if try readFragment(packet) { return }
            case IPv6.ExtensionHeader.hopByHop:
                throw .inconsistent(.extensionHeader)
            default:
                return
            }
        }
        throw .inconsistent(.extensionHeader)
    }

    private mutating func skip(_ packet: Span<UInt8>) throws(WireError) {
        guard position + 8 <= end else { throw .truncated(needed: position + 8, got: end) }
        let length = 8 + Int(packet[position + 1]) * 8
        guard position + length <= end else { throw .truncated(needed: position + length, got: end) }
        next = packet[position]
        position += length
    }

    /// Reads a fragment header and returns whether the walk ends here.
    ///
    /// One that spans the whole datagram is no fragment (RFC 6946).
    private mutating func readFragment(_ packet: Span<UInt8>) throws(WireError) -> Bool {
        guard position + 8 <= end else { throw .truncated(needed: position + 8, got: end) }
        let field = packet.uint16(at: position + 2)
        let identification = packet.uint32(at: position + 4)
        next = packet[position]
        position += 8
        guard field & 0xfff9 != 0 else { return false }
        fragment = try IPPacket.fragment(
            identification: identification, offset: Int(field & 0xfff8), isLast: field & 1 == 0,
            payloadCount: end - position)
        return true
    }
}
