/// Every parser is total: whatever the bytes, it returns or throws, and what it returns lies inside the bytes.

import Addresses
import Bytes
import TestSupport
import Testing

@testable import Wire

@Suite struct TotalityTests {
    static let seeds: [[UInt8]] =
        [
            Vectors.dataWithSACK, Vectors.answer, Vectors.synAck6, Vectors.extended6, Vectors.udp4, Vectors.udp6,
            Vectors.unreachable4, Vectors.unreachable6, Vectors.fragmentationNeeded, Vectors.packetTooBig,
            Vectors.echo4, Vectors.echo6, Vectors.super4, Vectors.super6, Vectors.superUDP,
        ] + FragmentVectors.fragments4 + FragmentVectors.fragments6

    @Test("survives mutated packets", arguments: 0..<8)
    func survivesMutations(seed: Int) {
        var random = SeededGenerator(seed: UInt64(seed))
        for round in 0..<LongRun.rounds(5000, long: 1_000_000) {
            var packet = Self.seeds[random.number(0..<Self.seeds.count)]
            for _ in 0..<random.number(1..<5) { mutate(&packet, &random) }
            if random.chance(0.8) { repairHeaderChecksum(&packet) }
            if !read(packet, &random) {
                Issue.record("seed \(seed), round \(round): a range leaves its packet")
                return
            }
        }
    }

    @Test("survives bytes that nobody meant", arguments: 0..<8)
    func survivesNoise(seed: Int) {
        var random = SeededGenerator(seed: UInt64(seed) + 1000)
        for round in 0..<LongRun.rounds(5000, long: 1_000_000) {
            var packet = random.bytes(random.number(0..<120))
            if !packet.isEmpty, random.chance(0.9) {
                packet[0] = random.chance(0.5) ? 0x40 | UInt8(random.number(4..<8)) : 0x60
            }
            if random.chance(0.9) { repairHeaderChecksum(&packet) }
            if !read(packet, &random) {
                Issue.record("seed \(seed), round \(round): a range leaves its packet")
                return
            }
        }
    }

    private func mutate(_ packet: inout [UInt8], _ random: inout SeededGenerator) {
        guard !packet.isEmpty else { return }
        let index = random.number(0..<packet.count)
        switch random.number(0..<5) {
        case 0: packet[index] ^= 1 << UInt8(random.number(0..<8))
        case 1: packet[index] = UInt8(truncatingIfNeeded: random.next())
        case 2: packet[index] = random.chance(0.5) ? 0 : 0xff
        case 3: packet.removeLast(random.number(0..<packet.count))
        default: packet.insert(contentsOf: random.bytes(random.number(1..<12)), at: index)
        }
    }

    /// Without this nearly every IPv4 mutant would end at its header checksum.
    private func repairHeaderChecksum(_ packet: inout [UInt8]) {
        guard packet.count >= 20, packet[0] >> 4 == 4 else { return }
        if packet.count < 1 << 16 {
            packet[2] = UInt8(packet.count >> 8)
            packet[3] = UInt8(packet.count & 255)
        }
        let length = min(packet.count, Int(packet[0] & 15) * 4)
        guard length >= 20 else { return }
        packet[10] = 0
        packet[11] = 0
        var sum = InternetChecksum()
        sum.add(packet.span.extracting(0..<length))
        packet[10] = UInt8(sum.value >> 8)
        packet[11] = UInt8(sum.value & 255)
    }

    /// Runs everything that reads a packet and returns whether all ranges lie inside it.
    private func read(_ packet: [UInt8], _ random: inout SeededGenerator) -> Bool {
        let virtio = try? VirtioHeader.parse(packet.span)
        _ = try? TCPHeader.parse(packet.span)
        guard let ip = try? IPPacket.parse(packet.span) else { return true }
        guard contains(packet, ip.payload) else { return false }
        _ = ip.transportChecksumIsValid(in: packet.span)
        if let tcp = try? TCPHeader.parse(packet.span, of: ip) {
            guard contains(packet, tcp.payload), tcp.payload.count == tcp.segment.payloadCount else { return false }
        }
        if let udp = try? UDPHeader.parse(packet.span, of: ip), !contains(packet, udp.payload) { return false }
        if case .echoRequest(_, _, let data) = try? ICMPMessage.parse(packet.span, of: ip) {
            guard contains(packet, data) else { return false }
            var reply = [UInt8](repeating: 0, count: packet.count + 100)
            var span = reply.mutableSpan
            _ = ICMPEchoReply.write(to: packet.span, ip, identification: 1, into: &span, withVirtio: true)
        }
        var error = [UInt8](repeating: 0, count: ICMPError.maximumLength)
        var span = error.mutableSpan
        if ICMPError.isAllowed(about: packet.span, ip) {
            _ = ICMPError.portUnreachable.write(about: packet.span, ip, into: &span, withVirtio: true)
        }
        return cut(packet, virtio ?? VirtioHeader(segmentation: .tcp4, segmentSize: UInt16(random.number(0..<20))))
    }

    private func cut(_ packet: [UInt8], _ virtio: VirtioHeader) -> Bool {
        guard let cutter = try? PacketCutter(packet.span, virtio: virtio) else { return true }
        var bytes = [UInt8](repeating: 0, count: packet.count)
        for index in 0..<min(cutter.segmentCount, 20) {
            var span = bytes.mutableSpan
            guard cutter.write(index, of: packet.span, into: &span) <= packet.count else { return false }
        }
        return true
    }

    private func contains(_ packet: [UInt8], _ range: Range<Int>) -> Bool {
        range.lowerBound >= 0 && range.upperBound <= packet.count
    }
}
