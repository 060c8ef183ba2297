/// The UDP header (RFC 768): reading and writing.

public import Addresses
public import Bytes

/// A UDP header, and where the datagram's data stands.
public struct UDPHeader: Equatable, Sendable {
    public static let length = 8

    public var sourcePort: UInt16
    public var destinationPort: UInt16
    /// Where the data stands in the packet; what is left of the IP payload behind it belongs to nobody.
    public var payload: Range<Int>
    /// Whether the sender computed a checksum; always over IPv6.
    public var hasChecksum: Bool

    /// Reads the datagram of a whole packet; `payload` counts from the packet's first octet.
    ///
    /// Over IPv6 a datagram without checksum is refused (RFC 8200, section 8.1).
    public static func parse(_ packet: Span<UInt8>, of ip: IPPacket) throws(WireError) -> UDPHeader {
        let range = try ip.wholePayload(.udp, in: packet)
        guard range.count >= length else { throw .truncated(needed: length, got: range.count) }
        let start = range.lowerBound
        let total = Int(packet.uint16(at: start + 4))
        guard total >= length else { throw .inconsistent(.totalLength) }
        guard total <= range.count else { throw .truncated(needed: total, got: range.count) }
        let hasChecksum = packet.uint16(at: start + 6) != 0
        guard hasChecksum || ip.source.isIPv4 else { throw .inconsistent(.checksum) }
        return UDPHeader(
            sourcePort: packet.uint16(at: start), destinationPort: packet.uint16(at: start + 2),
            payload: start + length..<start + total, hasChecksum: hasChecksum)
    }
}

/// A UDP datagram on its way to the device: the headers in front of its data.
public struct OutgoingUDP: Equatable, Sendable {
    public var source: SocketAddress
    public var destination: SocketAddress
    /// The octets of data that follow the headers.
    public var payloadCount: Int

    public init(source: SocketAddress, destination: SocketAddress, payloadCount: Int) {
        self.source = source
        self.destination = destination
        self.payloadCount = payloadCount
    }

    /// Writes the headers, with a whole checksum, and returns how many octets they take.
    ///
    /// A checksum that comes out as zero is sent as all ones (RFC 768).
    public func write(
        into bytes: inout MutableSpan<UInt8>, withVirtio: Bool, payloadSum: InternetChecksum
    ) -> Int {
        let start = withVirtio ? VirtioHeader.length : 0
        if withVirtio { VirtioHeader().write(into: &bytes) }
        let count = UDPHeader.length + payloadCount
        let offset =
            start
            + IPHeader.write(
                into: &bytes, at: start, source: source.address, destination: destination.address, transport: .udp,
                payloadCount: count)
        bytes.store(UInt32(source.port) << 16 | UInt32(destination.port), at: offset)
        bytes.store(UInt32(UInt16(count)) << 16, at: offset + 4)
        var checksum = InternetChecksum(
            source: source.address, destination: destination.address, transport: .udp, length: count)
        checksum.add(bytes.span.extracting(offset..<offset + UDPHeader.length))
        checksum.add(payloadSum)
        bytes.store(checksum.value == 0 ? 0xffff : checksum.value, at: offset + 6)
        return offset + UDPHeader.length
    }
}
