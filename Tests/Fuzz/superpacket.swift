/// Any bytes behind a virtio header: super-packets are cut into sound segments, fragments put together in bounds.

import Bytes
import Flows
import Wire

func fuzzSuperpacket(_ bytes: [UInt8]) {
    guard let virtio = try? VirtioHeader.parse(bytes.span) else { return }
    var packet = Array(bytes[VirtioHeader.length...])
    repairHeaderChecksum(&packet)
    if let cutter = try? PacketCutter(packet.span, virtio: virtio) {
        var output = [UInt8](repeating: 0, count: packet.count)
        for index in 0..<cutter.segmentCount {
            var span = output.mutableSpan
            let length = cutter.write(index, of: packet.span, into: &span)
            guard virtio.segmentation != .none else { continue }
            let segment = output.span.extracting(0..<length)
            guard let ip = try? IPPacket.parse(segment), ip.transportChecksumIsValid(in: segment) else {
                preconditionFailure("a broken segment")
            }
        }
    }
    fragments(packet)
}

/// Takes the packet for several fragments of one datagram, the first octet of each saying where it belongs.
private func fragments(_ packet: [UInt8]) {
    guard let ip = try? IPPacket.parse(packet.span), ip.payload.count >= 16 else { return }
    var table = Fragments(budget: 65536)
    var position = ip.payload.lowerBound
    while position + 9 <= ip.payload.upperBound {
        let place = packet[position]
        var piece = ip
        let size = min(8 + Int(place >> 7) * 8, ip.payload.upperBound - position - 1)
        piece.payload = position + 1..<position + 1 + size
        let isLast = place & 0x40 != 0
        if isLast || size % 8 == 0 {
            piece.fragment = IPFragment(identification: 1, offset: Int(place & 0x3f) * 8, isLast: isLast)
            if case .complete(let whole) = table.add(packet.span, piece, now: Instant(nanoseconds: Int64(position))) {
                guard (try? IPPacket.parse(whole.span)) != nil else { preconditionFailure("a broken datagram") }
            }
        }
        precondition(table.used <= 65536 && table.count <= 128, "over the budget")
        position += 1 + size
    }
}

private func repairHeaderChecksum(_ packet: inout [UInt8]) {
    guard packet.count >= 20, packet[0] >> 4 == 4 else { return }
    let length = Int(packet[0] & 15) * 4
    guard length >= 20, length <= packet.count else { return }
    packet[10] = 0
    packet[11] = 0
    var sum = InternetChecksum()
    sum.add(packet.span.extracting(0..<length))
    packet[10] = UInt8(sum.value >> 8)
    packet[11] = UInt8(sum.value & 255)
}
