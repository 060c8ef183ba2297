/// The pseudo-header that the checksums of TCP, UDP and ICMPv6 cover (RFC 9293, section 3.1; RFC 8200,
/// section 8.1).

public import Addresses
public import Bytes

extension InternetChecksum {
    /// The sum over the pseudo-header of a packet with `length` octets of transport header and data.
    public init(source: IPAddress, destination: IPAddress, transport: Transport, length: Int) {
        self.init()
        if source.isIPv4 {
            add(source.v4)
            add(destination.v4)
        } else {
            add(source.high)
            add(source.low)
            add(destination.high)
            add(destination.low)
        }
        add(UInt32(truncatingIfNeeded: length))
        add(UInt16(transport.rawValue))
    }
}

extension IPPacket {
    /// Whether the transport checksum matches, as it must when nobody vouches for the packet.
    ///
    /// UDP over IPv4 may go without (RFC 768); over IPv6 it may not (RFC 8200, section 8.1). A fragment's
    /// checksum can't be known.
    public func transportChecksumIsValid(in packet: Span<UInt8>) -> Bool {
        guard fragment == nil, payload.lowerBound >= 0, payload.upperBound <= packet.count else { return false }
        var covered = payload
        if transport == .udp {
            guard let header = try? UDPHeader.parse(packet, of: self) else { return false }
            guard header.hasChecksum else { return true }
            covered = payload.lowerBound..<header.payload.upperBound
        }
        var checksum =
            transport == .icmp
            ? InternetChecksum()
            : InternetChecksum(source: source, destination: destination, transport: transport, length: covered.count)
        checksum.add(packet.extracting(covered))
        return checksum.value == 0
    }
}
