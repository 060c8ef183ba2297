/// Any bytes as a TCP header; what is read survives being written and read again.

import Addresses
import Bytes
import Wire

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let bytes = unsafe [UInt8](UnsafeBufferPointer(start: start, count: count))
    guard let header = try? TCPHeader.parse(bytes.span) else { return 0 }
    precondition(header.payload.upperBound == count && header.payload.count == header.segment.payloadCount)

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
    return 0
}
