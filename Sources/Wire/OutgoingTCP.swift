/// A TCP segment on its way to the device: the headers in front of a payload that travels separately, by
/// `writev`, from where it was received.

public import Addresses
public import Bytes

/// The headers of one segment, or of one super-segment that the kernel cuts.
public struct OutgoingTCP: Equatable, Sendable {
    /// Room for virtio, IPv6 and TCP headers with all options.
    public static let maximumHeaderLength = VirtioHeader.length + IPv6.headerLength + TCPHeader.maximumLength

    public var source: SocketAddress
    public var destination: SocketAddress
    /// `payloadCount` octets of payload follow the headers: 65,535 at most with the IP and TCP headers for IPv4.
    public var segment: TCPSegment
    /// The payload octets of each segment the device is to see, or 0 for a single segment.
    public var gsoSize: Int
    /// The IPv4 identification; the kernel counts it up for each segment that it cuts.
    public var identification: UInt16

    public init(
        source: SocketAddress, destination: SocketAddress, segment: TCPSegment, gsoSize: Int = 0,
        identification: UInt16 = 0
    ) {
        self.source = source
        self.destination = destination
        self.segment = segment
        self.gsoSize = gsoSize
        self.identification = identification
    }

    /// Writes the headers and returns how many octets they take.
    ///
    /// With virtio the checksum field gets the pseudo-header sum and the kernel does the rest; without, the
    /// checksum is whole and `payloadSum` must be the sum over the payload.
    public func write(
        into bytes: inout MutableSpan<UInt8>, withVirtio: Bool, payloadSum: InternetChecksum = InternetChecksum()
    ) -> Int {
        let start = withVirtio ? VirtioHeader.length : 0
        let isIPv4 = source.address.isIPv4
        let ipLength = IPHeader.length(isIPv4: isIPv4)
        let tcpLength = writeTCP(into: &bytes, at: start + ipLength)
        let count = tcpLength + segment.payloadCount

        _ = IPHeader.write(
            into: &bytes, at: start, source: source.address, destination: destination.address, transport: .tcp,
            payloadCount: count, identification: identification)

        var checksum = InternetChecksum(
            source: source.address, destination: destination.address, transport: .tcp, length: count)
        let checksumPosition = start + ipLength + Self.checksumOffset
        if withVirtio {
            bytes.store(checksum.partial, at: checksumPosition)
            virtioHeader(isIPv4: isIPv4, ipLength: ipLength, tcpLength: tcpLength).write(into: &bytes)
        } else {
            checksum.add(bytes.span.extracting(start + ipLength..<start + ipLength + tcpLength))
            checksum.add(payloadSum)
            bytes.store(checksum.value, at: checksumPosition)
        }
        return start + ipLength + tcpLength
    }

    /// Where the checksum stands in a TCP header.
    static let checksumOffset = 16

    private func virtioHeader(isIPv4: Bool, ipLength: Int, tcpLength: Int) -> VirtioHeader {
        let isCut = gsoSize > 0 && segment.payloadCount > gsoSize
        return VirtioHeader(
            checksum: .partial, segmentation: isCut ? (isIPv4 ? .tcp4 : .tcp6) : .none,
            headerLength: UInt16(ipLength + tcpLength), segmentSize: isCut ? UInt16(gsoSize) : 0,
            checksumStart: UInt16(ipLength), checksumOffset: UInt16(Self.checksumOffset))
    }

    /// Writes the TCP header with a checksum of 0 and returns its length.
    private func writeTCP(into bytes: inout MutableSpan<UInt8>, at offset: Int) -> Int {
        let length = TCPHeader.minimumLength + segment.options.write(into: &bytes, at: offset + 20)
        bytes.store(UInt32(source.port) << 16 | UInt32(destination.port), at: offset)
        bytes.store(segment.sequence.value, at: offset + 4)
        bytes.store(segment.acknowledgement.value, at: offset + 8)
        let control = UInt32(length / 4) << 28 | UInt32(segment.flags.rawValue) << 16 | UInt32(segment.window)
        bytes.store(control, at: offset + 12)
        // Checksum and urgent pointer.
        bytes.store(UInt32(0), at: offset + 16)
        return length
    }
}
