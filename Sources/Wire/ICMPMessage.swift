/// ICMP (RFC 792) and ICMPv6 (RFC 4443) messages: reading.

public import Addresses
import Bytes

/// The two ends of a packet that an ICMP error is about, as far as the error quotes it.
public struct ICMPQuote: Equatable, Sendable {
    /// Who sent the quoted packet: us, if the error is meant for one of our flows.
    public var source: SocketAddress
    public var destination: SocketAddress
    public var transport: Transport
    /// The quoted segment's sequence number, by which a forged error is told from a true one (RFC 5927).
    public var sequence: SequenceNumber?

    public init(
        source: SocketAddress, destination: SocketAddress, transport: Transport, sequence: SequenceNumber? = nil
    ) {
        self.source = source
        self.destination = destination
        self.transport = transport
        self.sequence = sequence
    }
}

/// What an ICMP or ICMPv6 message says, as far as the gateway acts on it.
public enum ICMPMessage: Equatable, Sendable {
    /// Asks for the data, which stands at `payload` in the packet, to be sent back.
    case echoRequest(identifier: UInt16, sequence: UInt16, payload: Range<Int>)
    /// The quoted packet was too big for a link of this MTU; 0 from a router that is older than RFC 1191.
    case packetTooBig(mtu: Int, quote: ICMPQuote)
    /// Any other error.
    case error(type: UInt8, code: UInt8)
    /// Everything else: neighbour discovery, listeners' reports, echo replies.
    case other(type: UInt8, code: UInt8)

    /// Reads the message of a whole packet.
    ///
    /// The checksum is not looked at, as with TCP.
    public static func parse(_ packet: Span<UInt8>, of ip: IPPacket) throws(WireError) -> ICMPMessage {
        let isVersion4 = ip.transport == .icmp
        let range = try ip.wholePayload(isVersion4 ? .icmp : .icmpv6, in: packet)
        guard range.count >= ICMP.headerLength else {
            throw .truncated(needed: ICMP.headerLength, got: range.count)
        }
        let start = range.lowerBound
        let type = packet[start]
        let code = packet[start + 1]
        if type == (isVersion4 ? ICMP.Version4.echoRequest : ICMP.Version6.echoRequest), code == 0 {
            return .echoRequest(
                identifier: packet.uint16(at: start + 4), sequence: packet.uint16(at: start + 6),
                payload: start + ICMP.headerLength..<range.upperBound)
        }
        if isVersion4, type == ICMP.Version4.unreachable, code == ICMP.Version4.fragmentationNeeded {
            let quote = try ICMPQuote.parse(packet, in: start + ICMP.headerLength..<range.upperBound, isIPv4: true)
            return .packetTooBig(mtu: Int(packet.uint16(at: start + 6)), quote: quote)
        }
        if !isVersion4, type == ICMP.Version6.packetTooBig {
            let quote = try ICMPQuote.parse(packet, in: start + ICMP.headerLength..<range.upperBound, isIPv4: false)
            return .packetTooBig(mtu: Int(packet.uint32(at: start + 4)), quote: quote)
        }
        return ICMP.isError(type, isVersion4: isVersion4)
            ? .error(type: type, code: code) : .other(type: type, code: code)
    }
}

/// The numbers of both versions.
enum ICMP {
    /// Type, code, checksum and four octets that depend on the type.
    static let headerLength = 8

    enum Version4 {
        static let echoReply: UInt8 = 0
        static let unreachable: UInt8 = 3
        static let sourceQuench: UInt8 = 4
        static let redirect: UInt8 = 5
        static let echoRequest: UInt8 = 8
        static let timeExceeded: UInt8 = 11
        static let parameterProblem: UInt8 = 12
        static let fragmentationNeeded: UInt8 = 4
    }

    enum Version6 {
        static let unreachable: UInt8 = 1
        static let packetTooBig: UInt8 = 2
        static let echoRequest: UInt8 = 128
        static let echoReply: UInt8 = 129
        static let redirect: UInt8 = 137
    }

    /// Whether a message is one that must not be answered by an error (RFC 1122, section 3.2.2; RFC 4443,
    /// section 2.4(e)).
    static func isError(_ type: UInt8, isVersion4: Bool) -> Bool {
        guard isVersion4 else { return type < 128 || type == Version6.redirect }
        switch type {
        case Version4.unreachable, Version4.sourceQuench, Version4.redirect, Version4.timeExceeded,
            Version4.parameterProblem:
            return true
        default:
            return false
        }
    }
}

extension ICMPQuote {
    /// Reads the beginning of the packet that an error quotes: its header and the first eight octets behind it.
    static func parse(_ packet: Span<UInt8>, in range: Range<Int>, isIPv4: Bool) throws(WireError) -> ICMPQuote {
        let quoted = packet.extracting(range)
        let ip = try isIPv4 ? IPPacket.parseQuotedIPv4(quoted) : IPPacket.parseQuotedIPv6(quoted)
        let start = ip.payload.lowerBound
        guard start + 8 <= quoted.count else { throw .truncated(needed: start + 8, got: quoted.count) }
        // A later fragment has no ports.
        guard ip.fragment?.offset ?? 0 == 0 else { throw .inconsistent(.fragment) }
        guard ip.transport == .tcp || ip.transport == .udp else {
            throw .unsupported(.transport, ip.transport.rawValue)
        }
        return ICMPQuote(
            source: SocketAddress(ip.source, quoted.uint16(at: start)),
            destination: SocketAddress(ip.destination, quoted.uint16(at: start + 2)), transport: ip.transport,
            sequence: ip.transport == .tcp ? SequenceNumber(quoted.uint32(at: start + 4)) : nil)
    }
}
