/// Any bytes as the beginning of a TLS stream, from either side, whole and in pieces.

import Bytes
import Wire

func fuzzTLS(_ input: [UInt8]) {
    guard input.count > 1 else { return }
    let bytes = Array(input.dropFirst())
    let size = Int(input[0]) % 40 + 1
    checkName(bytes)
    var whole = TLSRefusalWatch()
    var pieces = TLSRefusalWatch()
    // Half of it comes from the client, then some from the server, then the rest.
    let (first, second) = (bytes.count / 2, bytes.count * 3 / 4)
    whole.client(bytes.span.extracting(0..<first))
    whole.server(bytes.span.extracting(first..<second))
    whole.client(bytes.span.extracting(second..<bytes.count))
    feed(bytes, 0..<first, by: size) { pieces.client($0) }
    feed(bytes, first..<second, by: size) { pieces.server($0) }
    feed(bytes, second..<bytes.count, by: size) { pieces.client($0) }
    precondition(whole.clientRefused == pieces.clientRefused, "pieces are judged otherwise")
}

private func feed(_ bytes: [UInt8], _ range: Range<Int>, by size: Int, _ take: (Span<UInt8>) -> Void) {
    var position = range.lowerBound
    while position < range.upperBound {
        let next = min(range.upperBound, position + size)
        take(bytes.span.extracting(position..<next))
        position = next
    }
}

/// Once something is said of a stream, more of it changes nothing; a name is one that could be asked for.
private func checkName(_ bytes: [UInt8]) {
    let name = TLSClientHello.serverName(in: bytes.span)
    for end in [bytes.count / 4, bytes.count / 2, bytes.count - 1] {
        let early = TLSClientHello.serverName(in: bytes.span.extracting(0..<end))
        precondition(early == .needsMore || early == name, "a stream's name changes")
    }
    guard case .name(let text) = name else { return }
    precondition(Host.parse(text) == .name(text) && text.utf8.count <= 253, "a name that is none")
}
