/// What the device sees of a super-packet: segments with whole checksums, made with scapy.

import Bytes
import Capture
import TestSupport
import Testing
import Wire

@Suite("Captured super-packets")
struct SuperPacketTests {
    static let data = (0..<2500).map { UInt8(truncatingIfNeeded: $0 * 7 + $0 >> 8) }

    /// FIN, PSH and ACK with 2,500 octets, sequence number 0xfffffe00; the checksum field holds the pseudo-header sum.
    static let header = hex(
        "450009ec123440004006ea8fc633640a0a090002 01bb9c41fffffe0001020304501901f53e270000")

    static let virtio = VirtioHeader(
        checksum: .partial, segmentation: .tcp4, headerLength: 40, segmentSize: 1000, checksumStart: 20,
        checksumOffset: 16)

    /// IP identification and sequence number count on, FIN and PSH stand on the last one only.
    static let segmentHeaders = [
        hex("45000410123440004006f06bc633640a0a09000201bb9c41fffffe0001020304501001f5bde70000"),
        hex("45000410123540004006f06ac633640a0a09000201bb9c41000001e801020304501001f5367f0000"),
        hex("4500021c123640004006f25dc633640a0a09000201bb9c41000005d001020304501901f533550000"),
    ]

    static var segments: [[UInt8]] {
        segmentHeaders.indices.map { index in
            segmentHeaders[index] + data[(index * 1000)..<min(2500, index * 1000 + 1000)]
        }
    }

    private static func read(_ path: String) throws -> [CapturedPacket] {
        var reader = try CaptureReader(path: path)
        var packets: [CapturedPacket] = []
        while let packet = try reader.next() { packets.append(packet) }
        return packets
    }

    @Test func aPacketReadFromTheDeviceIsCut() throws {
        let scratch = try Scratch()
        let path = scratch.path("super.pcap")
        var writer = try CaptureWriter(CaptureSettings(path: path))
        try writer.record((Self.header + Self.data).span, virtio: Self.virtio, at: CaptureFileTests.noon)
        try writer.flush()
        let packets = try Self.read(path)
        #expect(packets.map(\.bytes) == Self.segments)
        #expect(packets.map(\.originalLength) == [1040, 1040, 540])
    }

    @Test func aPacketWrittenFromAPoolIsCutToo() throws {
        let scratch = try Scratch()
        let path = scratch.path("gathered.pcap")
        var writer = try CaptureWriter(CaptureSettings(path: path, snapLength: 60))
        var pool = BufferPool(budget: 1 << 20)
        var queue = ByteQueue()
        _ = queue.append(Self.data.span, in: &pool)
        var header = [UInt8](repeating: 0, count: VirtioHeader.length) + Self.header
        var space = header.mutableSpan
        Self.virtio.write(into: &space)
        try writer.record(
            header: header.span, payload: queue.runs(from: 0, count: 2500, in: pool), pool: pool,
            hasVirtioHeader: true, at: CaptureFileTests.noon)
        try writer.flush()
        queue.removeAll(in: &pool)
        let packets = try Self.read(path)
        #expect(packets.map(\.bytes) == Self.segments.map { Array($0[..<60]) })
        #expect(packets.map(\.originalLength) == [1040, 1040, 540])
    }

    @Test func theFilterSeesTheSegments() throws {
        let scratch = try Scratch()
        let path = scratch.path("fin.pcap")
        var writer = try CaptureWriter(CaptureSettings(path: path, filter: "tcp[tcpflags] & tcp-fin != 0"))
        try writer.record((Self.header + Self.data).span, virtio: Self.virtio, at: CaptureFileTests.noon)
        try writer.flush()
        #expect(try Self.read(path).map(\.bytes) == [Self.segments[2]])
    }

    @Test func whatNobodyUnderstandsIsRecordedAsItIs() throws {
        let scratch = try Scratch()
        let path = scratch.path("odd.pcap")
        var writer = try CaptureWriter(CaptureSettings(path: path))
        let odd: [UInt8] = [0x45, 0, 0xff, 0xff, 1, 2, 3]
        try writer.record(odd.span, virtio: Self.virtio, at: CaptureFileTests.noon)
        try writer.flush()
        #expect(try Self.read(path).map(\.bytes) == [odd])
    }
}
