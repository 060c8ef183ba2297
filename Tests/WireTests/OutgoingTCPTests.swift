/// Headers of segments to the device, byte for byte as scapy makes them.

import Addresses
import Bytes
import TestSupport
import Testing

@testable import Wire

@Suite struct OutgoingTCPTests {
    @Test func writesAnIPv4SegmentWithoutVirtio() {
        #expect(written(Self.answer, payload: Array("answer!".utf8), withVirtio: false) == Vectors.answer)
    }

    @Test func writesAnIPv6SYNACKWithoutVirtio() {
        #expect(written(Self.synAck6, payload: [], withVirtio: false) == Vectors.synAck6)
    }

    @Test func leavesTheChecksumToTheKernelWithVirtio() throws {
        let bytes = written(Self.answer, payload: Array("answer!".utf8), withVirtio: true)
        let virtio = try parseVirtio(bytes)
        #expect(
            virtio
                == VirtioHeader(
                    checksum: .partial, segmentation: .none, headerLength: 52, segmentSize: 0, checksumStart: 20,
                    checksumOffset: 16))
        // What the kernel does then: sum from checksumStart on, and store the complement.
        #expect(completed(Array(bytes[12...])) == Vectors.answer)
    }

    @Test("says how a super-segment is cut, and only of one that is (B120)")
    func describesSuperSegments() throws {
        var outgoing = Self.answer
        outgoing.segment.payloadCount = 60000
        outgoing.gsoSize = 1228
        var virtio = try parseVirtio(headers(outgoing))
        #expect(virtio.segmentation == .tcp4)
        #expect(virtio.segmentSize == 1228)
        #expect(virtio.headerLength == 52)

        outgoing.segment.payloadCount = 1228
        virtio = try parseVirtio(headers(outgoing))
        #expect(virtio.segmentation == .none)
        #expect(virtio.segmentSize == 0)

        var other = Self.synAck6
        other.segment.payloadCount = 1229
        other.gsoSize = 1228
        virtio = try parseVirtio(headers(other))
        #expect(virtio.segmentation == .tcp6)
        #expect(virtio.checksumStart == 40)
    }

    @Test func fitsItsRoom() {
        var outgoing = Self.synAck6
        var blocks = SACKBlocks()
        for number in 0..<4 { blocks.append(SACKBlock(SequenceNumber(UInt32(number)), SequenceNumber(9))) }
        outgoing.segment.options.selectiveAcknowledgements = blocks
        #expect(headers(outgoing).count <= OutgoingTCP.maximumHeaderLength)
    }

    @Test("announces the length that it writes, and reads what it writes, for any options")
    func optionsAreInverse() throws {
        var random = SeededGenerator(seed: 20)
        for round in 0..<2000 {
            let isSYN = random.chance(0.5)
            var options = TCPOptions()
            if random.chance(0.7) {
                options.timestamps = TCPTimestamps(value: UInt32.random(in: 0 ... .max, using: &random), echo: 7)
            }
            if isSYN {
                if random.chance(0.7) { options.maximumSegmentSize = UInt16.random(in: 1 ... .max, using: &random) }
                if random.chance(0.7) { options.windowScale = UInt8.random(in: 0...14, using: &random) }
                options.selectiveAcknowledgementPermitted = random.chance(0.7)
            } else {
                for number in 0..<random.number(0..<5) {
                    options.selectiveAcknowledgements.append(
                        SACKBlock(SequenceNumber(UInt32(number)), SequenceNumber(UInt32(number + 5))))
                }
            }
            let outgoing = OutgoingTCP(
                source: Self.answer.source, destination: Self.answer.destination,
                segment: TCPSegment(
                    sequence: SequenceNumber(1), acknowledgement: SequenceNumber(2),
                    flags: isSYN ? [.syn, .acknowledge] : .acknowledge, window: 3, options: options))
            let bytes = written(outgoing, payload: [], withVirtio: false)
            #expect(bytes.count == 40 + options.length, "round \(round)")
            #expect(options.length % 4 == 0 && options.length <= 40)
            let ip = try parseIP(bytes)
            #expect(checksumIsValid(bytes, ip))
            var expected = outgoing.segment
            if options.timestamps != nil, options.selectiveAcknowledgements.count == 4 {
                // Timestamps leave room for three.
                expected.options.selectiveAcknowledgements = SACKBlocks()
                for index in 0..<3 {
                    expected.options.selectiveAcknowledgements.append(options.selectiveAcknowledgements[index])
                }
            }
            #expect(try parseTCP(bytes).segment == expected, "round \(round)")
        }
    }

    static let answer = OutgoingTCP(
        source: SocketAddress(IPAddress(v4: 0xc633_640a), 443),
        destination: SocketAddress(IPAddress(v4: 0x0a09_0002), 40001),
        segment: TCPSegment(
            sequence: SequenceNumber(901), acknowledgement: SequenceNumber(1006), flags: [.push, .acknowledge],
            window: 501, options: TCPOptions(timestamps: TCPTimestamps(value: 303, echo: 404)), payloadCount: 7),
        identification: 0x0102)

    static let synAck6 = OutgoingTCP(
        source: SocketAddress(IPAddress(high: 0x2001_0db8_0051_0000, low: 0x10), 443),
        destination: SocketAddress(IPAddress(high: 0xfd00_0009_0000_0000, low: 2), 40001),
        segment: TCPSegment(
            sequence: SequenceNumber(900), acknowledgement: SequenceNumber(1001), flags: [.syn, .acknowledge],
            window: 65535,
            options: TCPOptions(
                maximumSegmentSize: 1440, windowScale: 7, selectiveAcknowledgementPermitted: true,
                timestamps: TCPTimestamps(value: 0x1122_3344, echo: 100))))

    private func headers(_ outgoing: OutgoingTCP) -> [UInt8] {
        var bytes = [UInt8](repeating: 0xee, count: OutgoingTCP.maximumHeaderLength)
        var span = bytes.mutableSpan
        let length = outgoing.write(into: &span, withVirtio: true)
        return Array(bytes[..<length])
    }

    private func written(_ outgoing: OutgoingTCP, payload: [UInt8], withVirtio: Bool) -> [UInt8] {
        var bytes = [UInt8](repeating: 0xee, count: OutgoingTCP.maximumHeaderLength)
        var sum = InternetChecksum()
        sum.add(payload.span)
        var span = bytes.mutableSpan
        let length = outgoing.write(into: &span, withVirtio: withVirtio, payloadSum: sum)
        return Array(bytes[..<length]) + payload
    }

    private func completed(_ packet: [UInt8]) -> [UInt8] {
        var packet = packet
        var sum = InternetChecksum()
        sum.add(packet.span.extracting(20..<packet.count))
        packet[36] = UInt8(sum.value >> 8)
        packet[37] = UInt8(sum.value & 0xff)
        return packet
    }
}
