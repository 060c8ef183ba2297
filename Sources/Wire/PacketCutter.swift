/// Super-packets as the device sees them: cut into segments, every checksum whole.
///
/// The kernel does this where a packet leaves for a real link, so what crosses the TUN device is not what the
/// device gets. A capture shows what it gets.

import Addresses
import Bytes

/// The plan for one packet: how many segments it becomes, and how each is made.
///
/// A packet that is none of the kernel's super-packets becomes one segment: itself, with its checksum completed.
public struct PacketCutter: Sendable {
    private let virtio: VirtioHeader
    private let ip: IPPacket
    /// The octets of all headers, which each segment gets.
    private let headerLength: Int
    /// The most payload octets of a segment; all there are if the packet stays whole.
    private let segmentSize: Int

    /// How many segments the packet becomes.
    public let segmentCount: Int

    /// Plans the cutting of a packet that came with this virtio header.
    public init(_ packet: Span<UInt8>, virtio: VirtioHeader) throws(WireError) {
        let ip = try IPPacket.parse(packet)
        self.virtio = virtio
        self.ip = ip
        guard virtio.segmentation != .none else {
            headerLength = ip.payload.lowerBound
            segmentSize = ip.payload.count
            segmentCount = 1
            return
        }
        let payload: Range<Int>
        switch virtio.segmentation {
        case .udp: payload = try UDPHeader.parse(packet, of: ip).payload
        default: payload = try TCPHeader.parse(packet, of: ip).payload
        }
        guard virtio.segmentSize > 0 else { throw .inconsistent(.segmentation) }
        headerLength = payload.lowerBound
        segmentSize = Int(virtio.segmentSize)
        segmentCount = max(1, (payload.count + segmentSize - 1) / segmentSize)
    }

    /// Writes one segment, 0 ..< `segmentCount`, of the packet that the plan is for and returns its length.
    ///
    /// `bytes` must have room for it: the packet's own length is always enough.
    public func write(_ index: Int, of packet: Span<UInt8>, into bytes: inout MutableSpan<UInt8>) -> Int {
        precondition(index >= 0 && index < segmentCount, "no such segment")
        let end = ip.payload.upperBound
        guard virtio.segmentation != .none else {
            bytes.copy(packet.extracting(0..<end), at: 0)
            if virtio.checksum == .partial { complete(&bytes, end: end) }
            return end
        }
        let first = headerLength + index * segmentSize
        let last = min(end, first + segmentSize)
        bytes.copy(packet.extracting(0..<headerLength), at: 0)
        bytes.copy(packet.extracting(first..<last), at: headerLength)
        let length = headerLength + last - first
        correctIP(&bytes, index: index, length: length)
        if ip.transport == .udp {
            correctUDP(&bytes, length: length)
        } else {
            correctTCP(&bytes, index: index, isLast: last == end, length: length)
        }
        return length
    }

    /// Sets length, identification and checksum of the IP header.
    private func correctIP(_ bytes: inout MutableSpan<UInt8>, index: Int, length: Int) {
        guard ip.source.isIPv4 else { return bytes.store(UInt16(length - IPv6.headerLength), at: 4) }
        bytes.store(UInt16(length), at: 2)
        bytes.store(bytes.span.uint16(at: 4) &+ UInt16(truncatingIfNeeded: index), at: 4)
        bytes.store(UInt16(0), at: 10)
        var checksum = InternetChecksum()
        checksum.add(bytes.span.extracting(0..<ip.payload.lowerBound))
        bytes.store(checksum.value, at: 10)
    }

    /// Counts the sequence number on; FIN and PSH belong to the last segment, CWR to the first.
    private func correctTCP(_ bytes: inout MutableSpan<UInt8>, index: Int, isLast: Bool, length: Int) {
        let start = ip.payload.lowerBound
        let sequence = bytes.span.uint32(at: start + 4)
        bytes.store(sequence &+ UInt32(truncatingIfNeeded: index * segmentSize), at: start + 4)
        var flags = TCPFlags(rawValue: bytes[start + 13])
        if !isLast { flags.subtract([.fin, .push]) }
        if index > 0 { flags.remove(.congestionWindowReduced) }
        bytes[start + 13] = flags.rawValue
        bytes.store(UInt16(0), at: start + 16)
        bytes.store(checksum(of: bytes.span, length: length).value, at: start + 16)
    }

    private func correctUDP(_ bytes: inout MutableSpan<UInt8>, length: Int) {
        let start = ip.payload.lowerBound
        bytes.store(UInt16(length - start), at: start + 4)
        bytes.store(UInt16(0), at: start + 6)
        let value = checksum(of: bytes.span, length: length).value
        bytes.store(value == 0 ? 0xffff : value, at: start + 6)
    }

    private func checksum(of bytes: Span<UInt8>, length: Int) -> InternetChecksum {
        let start = ip.payload.lowerBound
        var checksum = InternetChecksum(
            source: ip.source, destination: ip.destination, transport: ip.transport, length: length - start)
        checksum.add(bytes.extracting(start..<length))
        return checksum
    }

    /// Does what NEEDS_CSUM asks for: the sum from `checksumStart` on, over the partial one in its place.
    private func complete(_ bytes: inout MutableSpan<UInt8>, end: Int) {
        let start = Int(virtio.checksumStart)
        let place = start + Int(virtio.checksumOffset)
        guard place + 2 <= end else { return }
        var checksum = InternetChecksum()
        checksum.add(bytes.span.extracting(start..<end))
        let isUDP = ip.transport == .udp && checksum.value == 0
        bytes.store(isUDP ? 0xffff : checksum.value, at: place)
    }
}
