/// Super-packets cut into segments and datagrams cut into fragments, as scapy makes them.

import Addresses
import Bytes
import TestSupport
import Testing

@testable import Wire

@Suite struct CuttingTests {
    @Test(
        "cuts a super-packet into what the device sees (B225)",
        arguments: [
            (Vectors.super4, VirtioHeader.Segmentation.tcp4, Vectors.segments4),
            (Vectors.super6, .tcp6, Vectors.segments6),
            (Vectors.superUDP, .udp, Vectors.datagramsUDP),
        ])
    func cuts(packet: [UInt8], kind: VirtioHeader.Segmentation, segments: [[UInt8]]) throws {
        // The checksum in the super-packet is whatever the kernel left there.
        let virtio = VirtioHeader(checksum: .partial, segmentation: kind, segmentSize: 4)
        #expect(try cut(packet, virtio) == segments)
    }

    @Test func completesThePartialChecksumOfASinglePacket() throws {
        let outgoing = OutgoingTCPTests.answer
        var header = [UInt8](repeating: 0, count: OutgoingTCP.maximumHeaderLength)
        var span = header.mutableSpan
        let length = outgoing.write(into: &span, withVirtio: true)
        let packet = Array(header[12..<length]) + Array("answer!".utf8)
        #expect(try cut(packet, parseVirtio(header)) == [Vectors.answer])
    }

    @Test func leavesACompletePacketAlone() throws {
        #expect(try cut(Vectors.udp6, VirtioHeader()) == [Vectors.udp6])
        #expect(try cut(Vectors.udp6 + [1, 2], VirtioHeader(checksum: .verified)) == [Vectors.udp6])
    }

    @Test func refusesSegmentsOfNothing() {
        #expect(throws: WireError.inconsistent(.segmentation)) {
            try cut(Vectors.super4, VirtioHeader(segmentation: .tcp4))
        }
    }

    @Test("cuts a datagram into fragments", arguments: [(FragmentVectors.whole6, 576), (FragmentVectors.whole4, 576)])
    func leavesWhatFits(packet: [UInt8], mtu: Int) throws {
        #expect(try fragments(packet, mtu: mtu, identification: 1) == [packet])
    }

    @Test func cutsALargeEchoIntoFragmentsThatAddUp() throws {
        let data = (0..<2000).map { UInt8(truncatingIfNeeded: $0) }
        for whole in [
            WholeDatagram(
                source: IPAddress(v4: 1), destination: IPAddress(v4: 2), transport: .icmp, hopLimit: 64),
            WholeDatagram(
                source: IPAddress(high: 1, low: 1), destination: IPAddress(high: 1, low: 2), transport: .icmpv6,
                hopLimit: 64),
        ] {
            let pieces = try fragments(whole.packet(data), mtu: 600, identification: 0x77)
            var joined: [UInt8] = []
            for piece in pieces {
                #expect(piece.count <= 600)
                let ip = try parseIP(piece)
                #expect(
                    ip.fragment
                        == IPFragment(
                            identification: 0x77, offset: joined.count,
                            isLast: joined.count + ip.payload.count == data.count))
                joined += piece[ip.payload]
            }
            #expect(joined == data)
        }
    }

    private func cut(_ packet: [UInt8], _ virtio: VirtioHeader) throws -> [[UInt8]] {
        let cutter = try PacketCutter(packet.span, virtio: virtio)
        return (0..<cutter.segmentCount).map { index in
            var bytes = [UInt8](repeating: 0xee, count: packet.count)
            var span = bytes.mutableSpan
            let length = cutter.write(index, of: packet.span, into: &span)
            return Array(bytes[..<length])
        }
    }

    private func fragments(_ packet: [UInt8], mtu: Int, identification: UInt32) throws -> [[UInt8]] {
        let cutter = try FragmentCutter(packet.span, mtu: mtu, identification: identification)
        return (0..<cutter.count).map { index in
            var bytes = [UInt8](repeating: 0xee, count: max(mtu, packet.count))
            var span = bytes.mutableSpan
            let length = cutter.write(index, of: packet.span, into: &span)
            return Array(bytes[..<length])
        }
    }
}
