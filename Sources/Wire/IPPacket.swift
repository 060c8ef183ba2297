/// # Wire: bytes become values, and values bytes
///
/// A packet is read in two steps: `IPPacket.parse` finds the ends, the transport and where its bytes stand,
/// then the transport's own parser reads those bytes. Each parser checks every length once and is total:
/// whatever the bytes, it returns a value that makes sense or says why not.
///
///     Span<UInt8> ─ VirtioHeader ─ IPPacket ─┬─ TCPHeader ─ TCPSegment
///                                            ├─ UDPHeader
///                                            └─ ICMPMessage
///
/// A fragment has no transport header that could be read: the parsers that take an `IPPacket` refuse one.

public import Addresses
import Bytes

/// What the payload of an IP packet is.
public enum Transport: UInt8, Sendable {
    case icmp = 1
    case tcp = 6
    case udp = 17
    case icmpv6 = 58
}

/// Where a fragment belongs in its datagram.
public struct IPFragment: Hashable, Sendable {
    public var identification: UInt32
    /// The octets of the datagram's payload in front of it.
    public var offset: Int
    /// Whether nothing follows it.
    public var isLast: Bool

    public init(identification: UInt32, offset: Int, isLast: Bool) {
        self.identification = identification
        self.offset = offset
        self.isLast = isLast
    }
}

/// One IP packet, whichever its family.
public struct IPPacket: Equatable, Sendable {
    public var source: IPAddress
    public var destination: IPAddress
    public var transport: Transport
    /// Time to live or hop limit.
    public var hopLimit: UInt8
    /// Where transport header and data stand in the packet, without link padding.
    public var payload: Range<Int>
    /// Set if this is one piece of a larger datagram: then `payload` must not be read as a transport header.
    public var fragment: IPFragment?

    public init(
        source: IPAddress, destination: IPAddress, transport: Transport, hopLimit: UInt8, payload: Range<Int>,
        fragment: IPFragment? = nil
    ) {
        self.source = source
        self.destination = destination
        self.transport = transport
        self.hopLimit = hopLimit
        self.payload = payload
        self.fragment = fragment
    }

    /// Reads an IPv4 or IPv6 packet.
    ///
    /// Every length is checked here, so `payload` lies inside the packet; what stands behind it is padding.
    public static func parse(_ packet: Span<UInt8>) throws(WireError) -> IPPacket {
        guard packet.count > 0 else { throw .truncated(needed: 1, got: 0) }
        switch packet[0] >> 4 {
        case 4: return try parseIPv4(packet)
        case 6: return try parseIPv6(packet)
        default: throw .unsupported(.version, packet[0] >> 4)
        }
    }

    /// Whether both ends are single hosts.
    ///
    /// A segment that fails this is discarded in silence (RFC 1122, section 4.2.3.10).
    public var isUnicast: Bool {
        !source.isMulticast && !source.isUnspecified && !source.isLimitedBroadcast && !destination.isMulticast
            && !destination.isUnspecified && !destination.isLimitedBroadcast
    }

    /// Where the transport's bytes stand, unless they are a piece of a datagram.
    func wholePayload(_ expected: Transport, in packet: Span<UInt8>) throws(WireError) -> Range<Int> {
        guard fragment == nil else { throw .inconsistent(.fragment) }
        guard transport == expected else { throw .unsupported(.transport, transport.rawValue) }
        guard payload.lowerBound >= 0, payload.upperBound <= packet.count else {
            throw .truncated(needed: payload.upperBound, got: packet.count)
        }
        return payload
    }
}
