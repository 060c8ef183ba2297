/// Any bytes as a TCP header; what is read survives being written and read again.

import Addresses
import Bytes
import Wire

func fuzzTCP(_ bytes: [UInt8]) {
    guard let header = try? TCPHeader.parse(bytes.span) else { return }
    precondition(header.payload.upperBound == bytes.count && header.payload.count == header.segment.payloadCount)
    checkOptions(bytes, header)

    let outgoing = OutgoingTCP(
        source: SocketAddress(IPAddress(v4: 1), header.sourcePort),
        destination: SocketAddress(IPAddress(v4: 2), header.destinationPort), segment: header.segment)
    var output = [UInt8](repeating: 0, count: OutgoingTCP.maximumHeaderLength)
    var span = output.mutableSpan
    var sum = InternetChecksum()
    sum.add(bytes.span.extracting(header.payload))
    let length = outgoing.write(into: &span, withVirtio: false, payloadSum: sum)
    output = Array(output[..<length]) + bytes[header.payload]
    guard let ip = try? IPPacket.parse(output.span), ip.transportChecksumIsValid(in: output.span),
        let again = try? TCPHeader.parse(output.span, of: ip)
    else { preconditionFailure("a broken segment") }

    var expected = header.segment
    // Four SACK blocks leave no room for timestamps.
    let written = again.segment.options.selectiveAcknowledgements.count
    if written < expected.options.selectiveAcknowledgements.count {
        precondition(written >= 3, "a block was lost")
        expected.options.selectiveAcknowledgements = again.segment.options.selectiveAcknowledgements
    }
    precondition(again.segment == expected, "another segment")
}

/// The options as RFC 9293, section 3.1, has them, read once more and one after the other.
private func checkOptions(_ bytes: [UInt8], _ header: TCPHeader) {
    let isSYN = header.segment.flags.contains(.syn)
    var expected = TCPOptions()
    var rest = bytes[20..<header.payload.lowerBound]
    while let kind = rest.first, kind != 0 {
        if kind == 1 {
            rest.removeFirst()
            continue
        }
        guard rest.count >= 2, let length = rest.dropFirst().first.map({ Int($0) }), length >= 2, length <= rest.count
        else { break }
        let value = rest.dropFirst(2).prefix(length - 2)
        func word(_ index: Int) -> UInt32 { value.dropFirst(4 * index).prefix(4).reduce(0) { $0 << 8 | UInt32($1) } }
        switch (kind, value.count, isSYN) {
        case (2, 2, true):
            let size = value.reduce(0) { $0 << 8 | UInt16($1) }
            expected.maximumSegmentSize = size == 0 ? nil : size
        case (3, 1, true): expected.windowScale = value.first
        case (4, 0, true): expected.selectiveAcknowledgementPermitted = true
        case (5, 8, _), (5, 16, _), (5, 24, _), (5, 32, _):
            expected.selectiveAcknowledgements = SACKBlocks()
            for index in stride(from: 0, to: value.count / 4, by: 2) {
                expected.selectiveAcknowledgements.append(
                    SACKBlock(SequenceNumber(word(index)), SequenceNumber(word(index + 1))))
            }
        case (8, 8, _): expected.timestamps = TCPTimestamps(value: word(0), echo: word(1))
        default: break
        }
        rest = rest.dropFirst(length)
    }
    precondition(header.segment.options == expected, "other options")
}
