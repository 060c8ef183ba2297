/// ICMP errors about packets that the gateway does not carry: whether one may be sent, and its bytes.

public import Addresses
import Bytes

/// Why a packet goes nowhere.
public enum ICMPError: Equatable, Sendable {
    /// Nobody listens there: QUIC falls back to TCP at once.
    case portUnreachable
    case hostUnreachable
    case administrativelyProhibited
    /// The packet does not fit a link of this MTU.
    case packetTooBig(mtu: Int)

    /// The most octets that an error takes (RFC 1812, section 4.3.2.3; RFC 4443, section 2.4(c)).
    static func maximumLength(isIPv4: Bool) -> Int { isIPv4 ? 576 : 1280 }

    /// Room for any error, with a virtio header.
    public static let maximumLength = VirtioHeader.length + 1280

    /// Whether an error may be sent about this packet (RFC 1122, section 3.2.2; RFC 4443, section 2.4(e)).
    ///
    /// Never about errors, about anything but the first fragment, about what was sent to many hosts
    /// (`broadcast` is the directed broadcast address of the tunnel's network), or to what is not one host.
    public static func isAllowed(
        about packet: Span<UInt8>, _ ip: IPPacket, broadcast: IPAddress? = nil
    ) -> Bool {
        guard ip.isUnicast, ip.destination != broadcast, ip.source != broadcast else { return false }
        guard !ip.source.isLoopback, !ip.source.isReserved else { return false }
        if let fragment = ip.fragment, fragment.offset > 0 { return false }
        guard ip.transport == .icmp || ip.transport == .icmpv6 else { return true }
        guard let first = ip.payload.first, first >= 0, first < packet.count else { return false }
        return !ICMP.isError(packet[first], isVersion4: ip.transport == .icmp)
    }

    /// Writes the error about a packet that came from the device, and returns its length.
    ///
    /// It comes from the packet's own destination, so that the device finds the flow that it is about, unless
    /// `source` says otherwise. The quote is as long as the RFCs let it be.
    public func write(
        about packet: Span<UInt8>, _ ip: IPPacket, from source: IPAddress? = nil, into bytes: inout MutableSpan<UInt8>,
        withVirtio: Bool
    ) -> Int {
        let source = source ?? ip.destination
        let isIPv4 = source.isIPv4
        let room = Self.maximumLength(isIPv4: isIPv4) - IPHeader.length(isIPv4: isIPv4) - ICMP.headerLength
        // No padding is quoted: the payload's end is the packet's.
        let quote = packet.extracting(0..<min(room, ip.payload.upperBound, packet.count))
        let (type, code, parameter) = numbers(isIPv4: isIPv4)
        return ICMPWriter(source: source, destination: ip.source, type: type, code: code, parameter: parameter)
            .write(quote, into: &bytes, withVirtio: withVirtio)
    }

    private func numbers(isIPv4: Bool) -> (type: UInt8, code: UInt8, parameter: UInt32) {
        let unreachable = isIPv4 ? ICMP.Version4.unreachable : ICMP.Version6.unreachable
        switch self {
        case .portUnreachable: return (unreachable, isIPv4 ? 3 : 4, 0)
        case .hostUnreachable: return (unreachable, isIPv4 ? 1 : 3, 0)
        case .administrativelyProhibited: return (unreachable, isIPv4 ? 13 : 1, 0)
        case .packetTooBig(let mtu):
            return isIPv4
                ? (unreachable, ICMP.Version4.fragmentationNeeded, UInt32(UInt16(clamping: mtu)))
                : (ICMP.Version6.packetTooBig, 0, UInt32(clamping: mtu))
        }
    }
}

/// The answer to an echo request (RFC 792, page 14; RFC 4443, section 4.2).
public enum ICMPEchoReply {
    /// Writes the answer to the request in `packet` and returns its length: the request's data, identifier and
    /// sequence number, from the address that it was sent to.
    ///
    /// `bytes` must have room for the request's length and a virtio header. `identification` must differ from
    /// datagram to datagram: an IPv4 answer may be fragmented on its way, as the request was.
    public static func write(
        to packet: Span<UInt8>, _ ip: IPPacket, identification: UInt16, into bytes: inout MutableSpan<UInt8>,
        withVirtio: Bool
    ) -> Int {
        let data = packet.extracting(ip.payload.lowerBound + ICMP.headerLength..<ip.payload.upperBound)
        return ICMPWriter(
            source: ip.destination, destination: ip.source,
            type: ip.source.isIPv4 ? ICMP.Version4.echoReply : ICMP.Version6.echoReply, code: 0,
            parameter: packet.uint32(at: ip.payload.lowerBound + 4), identification: identification,
            mayBeFragmented: true
        ).write(data, into: &bytes, withVirtio: withVirtio)
    }
}

/// One message of either version.
private struct ICMPWriter {
    var source: IPAddress
    var destination: IPAddress
    var type: UInt8
    var code: UInt8
    /// What stands behind the checksum.
    var parameter: UInt32
    var identification: UInt16 = 0
    var mayBeFragmented = false

    func write(_ body: Span<UInt8>, into bytes: inout MutableSpan<UInt8>, withVirtio: Bool) -> Int {
        let start = withVirtio ? VirtioHeader.length : 0
        if withVirtio { VirtioHeader().write(into: &bytes) }
        let count = ICMP.headerLength + body.count
        let transport: Transport = source.isIPv4 ? .icmp : .icmpv6
        let offset =
            start
            + IPHeader.write(
                into: &bytes, at: start, source: source, destination: destination, transport: transport,
                payloadCount: count, identification: identification, mayBeFragmented: mayBeFragmented)
        bytes.store(UInt32(type) << 24 | UInt32(code) << 16, at: offset)
        bytes.store(parameter, at: offset + 4)
        bytes.copy(body, at: offset + ICMP.headerLength)
        // ICMPv6 covers the pseudo-header (RFC 4443, section 2.3), ICMP does not.
        var checksum =
            source.isIPv4
            ? InternetChecksum()
            : InternetChecksum(source: source, destination: destination, transport: transport, length: count)
        checksum.add(bytes.span.extracting(offset..<offset + count))
        bytes.store(checksum.value, at: offset + 2)
        return offset + count
    }
}
