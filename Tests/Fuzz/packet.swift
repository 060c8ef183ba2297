/// Any bytes as a packet from the TUN device: everything that reads one, and what answers it.

import Addresses
import Bytes
import Wire

func fuzzPacket(_ input: [UInt8]) {
    var bytes = input
    repairHeaderChecksum(&bytes)
    let packet = bytes.span
    guard let ip = try? IPPacket.parse(packet) else { return }
    precondition(ip.payload.lowerBound >= 20 && ip.payload.upperBound <= input.count, "a payload leaves its packet")
    _ = ip.transportChecksumIsValid(in: packet)
    precondition(ip.source.isIPv4 == ip.destination.isIPv4 && ip.source.isIPv4 == (bytes[0] >> 4 == 4), "two families")
    if let fragment = ip.fragment {
        precondition(fragment.offset % 8 == 0 && fragment.offset + ip.payload.count <= 65_535, "a fragment outside")
        precondition(!ip.payload.isEmpty && (fragment.isLast || ip.payload.count % 8 == 0), "it fits nowhere")
        precondition((try? TCPHeader.parse(packet, of: ip)) == nil, "a fragment is read as a segment")
        precondition((try? UDPHeader.parse(packet, of: ip)) == nil, "a fragment is read as a datagram")
        precondition((try? ICMPMessage.parse(packet, of: ip)) == nil, "a fragment is read as a message")
    }
    if let tcp = try? TCPHeader.parse(packet, of: ip) {
        precondition(tcp.payload.upperBound == ip.payload.upperBound && tcp.payload.count == tcp.segment.payloadCount)
        precondition(tcp.segment.options.length <= 40, "options that do not fit")
    }
    if let udp = try? UDPHeader.parse(packet, of: ip) {
        precondition(udp.payload.lowerBound > ip.payload.lowerBound && udp.payload.upperBound <= ip.payload.upperBound)
        writeAgain(packet, ip, udp)
    }
    checkPadding(bytes, ip)
    var output = [UInt8](repeating: 0, count: input.count + 2048)
    var answer = output.mutableSpan
    if case .echoRequest(let identifier, let sequence, let payload) = try? ICMPMessage.parse(packet, of: ip) {
        precondition(payload.upperBound == ip.payload.upperBound, "data that is not all of it")
        let length = ICMPEchoReply.write(to: packet, ip, identification: 1, into: &answer, withVirtio: false)
        let reply = answer.span.extracting(0..<length)
        let back = checkAnswer(reply, to: ip)
        // Identifier and sequence number stand behind the checksum, then the data.
        let start = back.payload.lowerBound
        precondition(reply.uint16(at: start + 4) == identifier && reply.uint16(at: start + 6) == sequence, "renumbered")
        precondition(back.payload.count == payload.count + 8, "another length of data")
        for (index, place) in payload.enumerated() {
            precondition(reply[start + 8 + index] == packet[place], "other data")
        }
    }
    guard ICMPError.isAllowed(about: packet, ip) else { return }
    for error in [ICMPError.portUnreachable, .packetTooBig(mtu: 1400)] {
        let length = error.write(about: packet, ip, into: &answer, withVirtio: false)
        let written = answer.span.extracting(0..<length)
        precondition(length <= (ip.source.isIPv4 ? 576 : 1280), "an error that is too long (RFC 1812, RFC 4443)")
        let back = checkAnswer(written, to: ip)
        precondition(!ICMPError.isAllowed(about: written, back), "an error about an error")
        if case .packetTooBig = error { checkQuote(packet, ip, written, back) }
    }
}

/// Where a packet ends its header says: what stands behind it is nobody's.
private func checkPadding(_ bytes: [UInt8], _ ip: IPPacket) {
    let whole = Array(bytes[..<ip.payload.upperBound])
    let padded = whole + [0x45, 0, 0, 20]
    precondition((try? IPPacket.parse(whole.span)) == ip, "a packet that depends on what is behind it")
    precondition((try? IPPacket.parse(padded.span)) == ip, "padding is read")
    let cut = Array(whole.dropLast())
    precondition((try? IPPacket.parse(cut.span)) == nil, "a packet without its end")
}

/// A datagram that is written as it was read is read as the same one.
private func writeAgain(_ packet: Span<UInt8>, _ ip: IPPacket, _ udp: UDPHeader) {
    let data = packet.extracting(udp.payload)
    let outgoing = OutgoingUDP(
        source: SocketAddress(ip.source, udp.sourcePort),
        destination: SocketAddress(ip.destination, udp.destinationPort), payloadCount: data.count)
    var sum = InternetChecksum()
    sum.add(data)
    var output = [UInt8](repeating: 0, count: 48)
    var space = output.mutableSpan
    let length = outgoing.write(into: &space, withVirtio: false, payloadSum: sum)
    output = Array(output[..<length])
    output.append(copying: data)
    guard let again = try? IPPacket.parse(output.span), again.transportChecksumIsValid(in: output.span),
        let header = try? UDPHeader.parse(output.span, of: again)
    else { preconditionFailure("a broken datagram") }
    precondition(again.source == ip.source && again.destination == ip.destination, "other addresses")
    precondition(header.sourcePort == udp.sourcePort && header.destinationPort == udp.destinationPort, "other ports")
    precondition(header.payload.count == data.count && header.hasChecksum, "another datagram")
}

/// What we tell of a packet is found again by who reads it: both ends, and the place in the stream.
private func checkQuote(_ packet: Span<UInt8>, _ ip: IPPacket, _ written: Span<UInt8>, _ back: IPPacket) {
    let room = (ip.source.isIPv4 ? 576 - 20 : 1280 - 40) - 8
    let start = ip.payload.lowerBound
    guard [.tcp, .udp].contains(ip.transport), ip.payload.count >= 8, start + 8 <= room else { return }
    guard case .packetTooBig(1400, let quote) = try? ICMPMessage.parse(written, of: back) else {
        preconditionFailure("an error that cannot be read")
    }
    let sequence = ip.transport == .tcp ? SequenceNumber(packet.uint32(at: start + 4)) : nil
    precondition(
        quote.source == SocketAddress(ip.source, packet.uint16(at: start))
            && quote.destination == SocketAddress(ip.destination, packet.uint16(at: start + 2))
            && quote.transport == ip.transport && quote.sequence == sequence, "an error about another packet")
}

/// What we write is well formed, whatever it answers.
private func checkAnswer(_ packet: Span<UInt8>, to asked: IPPacket) -> IPPacket {
    guard let ip = try? IPPacket.parse(packet), ip.transportChecksumIsValid(in: packet) else {
        preconditionFailure("a broken answer")
    }
    precondition(ip.destination == asked.source && ip.source == asked.destination, "an answer to somebody else")
    return ip
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
