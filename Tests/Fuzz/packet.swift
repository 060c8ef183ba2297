/// Any bytes as a packet from the TUN device: everything that reads one, and what answers it.

import Addresses
import Bytes
import Wire

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    var bytes = unsafe [UInt8](UnsafeBufferPointer(start: start, count: count))
    repairHeaderChecksum(&bytes)
    let packet = bytes.span
    guard let ip = try? IPPacket.parse(packet) else { return 0 }
    precondition(ip.payload.lowerBound >= 20 && ip.payload.upperBound <= count, "a payload leaves its packet")
    _ = ip.transportChecksumIsValid(in: packet)
    if let tcp = try? TCPHeader.parse(packet, of: ip) {
        precondition(tcp.payload.upperBound == ip.payload.upperBound && tcp.payload.count == tcp.segment.payloadCount)
        precondition(tcp.segment.options.length <= 40, "options that do not fit")
    }
    if let udp = try? UDPHeader.parse(packet, of: ip) {
        precondition(udp.payload.lowerBound > ip.payload.lowerBound && udp.payload.upperBound <= ip.payload.upperBound)
    }
    var output = [UInt8](repeating: 0, count: count + 2048)
    var answer = output.mutableSpan
    if case .echoRequest = try? ICMPMessage.parse(packet, of: ip) {
        let length = ICMPEchoReply.write(to: packet, ip, identification: 1, into: &answer, withVirtio: false)
        checkAnswer(answer.span.extracting(0..<length))
    }
    if ICMPError.isAllowed(about: packet, ip) {
        let length = ICMPError.portUnreachable.write(about: packet, ip, into: &answer, withVirtio: false)
        checkAnswer(answer.span.extracting(0..<length))
    }
    return 0
}

/// What we write is well formed, whatever it answers.
private func checkAnswer(_ packet: Span<UInt8>) {
    guard let ip = try? IPPacket.parse(packet), ip.transportChecksumIsValid(in: packet) else {
        preconditionFailure("a broken answer")
    }
}

/// Without this nearly every IPv4 mutant would end at its header checksum.
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
