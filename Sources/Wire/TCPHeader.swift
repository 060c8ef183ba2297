/// The TCP header (RFC 9293, section 3.1): reading.

import Bytes

/// A TCP header with its ports, and where the payload stands.
public struct TCPHeader: Equatable, Sendable {
    public static let minimumLength = 20
    public static let maximumLength = 60

    public var sourcePort: UInt16
    public var destinationPort: UInt16
    public var segment: TCPSegment
    /// Where the payload stands in the bytes that were parsed.
    public var payload: Range<Int>

    /// Reads the segment of a whole packet; `payload` counts from the packet's first octet.
    ///
    /// The checksum is not looked at: `IPPacket.transportChecksumIsValid` does that where it is needed.
    public static func parse(_ packet: Span<UInt8>, of ip: IPPacket) throws(WireError) -> TCPHeader {
        try parse(packet, in: ip.wholePayload(.tcp, in: packet))
    }

    /// Reads a segment that fills `bytes`.
    public static func parse(_ bytes: Span<UInt8>) throws(WireError) -> TCPHeader {
        try parse(bytes, in: 0..<bytes.count)
    }

    private static func parse(_ bytes: Span<UInt8>, in range: Range<Int>) throws(WireError) -> TCPHeader {
        guard range.count >= minimumLength else { throw .truncated(needed: minimumLength, got: range.count) }
        let start = range.lowerBound
        let headerLength = Int(bytes[start + 12] >> 4) * 4
        guard headerLength >= minimumLength else { throw .inconsistent(.headerLength) }
        guard headerLength <= range.count else { throw .truncated(needed: headerLength, got: range.count) }

        let flags = TCPFlags(rawValue: bytes[start + 13])
        let acknowledgement = flags.contains(.acknowledge) ? bytes.uint32(at: start + 8) : 0
        let payload = start + headerLength..<range.upperBound
        let segment = TCPSegment(
            sequence: SequenceNumber(bytes.uint32(at: start + 4)), acknowledgement: SequenceNumber(acknowledgement),
            flags: flags, window: bytes.uint16(at: start + 14),
            options: TCPOptions.parse(
                bytes, in: start + minimumLength..<start + headerLength, isSYN: flags.contains(.syn)),
            payloadCount: payload.count)
        return TCPHeader(
            sourcePort: bytes.uint16(at: start), destinationPort: bytes.uint16(at: start + 2), segment: segment,
            payload: payload)
    }
}
