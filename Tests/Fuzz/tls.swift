/// Any bytes as the beginning of a TLS stream, from either side, whole and in pieces.

import Bytes
import Wire

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    guard count > 1 else { return 0 }
    let bytes = unsafe [UInt8](UnsafeBufferPointer(start: start + 1, count: count - 1))
    let size = unsafe Int(start[0]) % 40 + 1
    _ = TLSClientHello.serverName(in: bytes.span)
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
    return 0
}

private func feed(_ bytes: [UInt8], _ range: Range<Int>, by size: Int, _ take: (Span<UInt8>) -> Void) {
    var position = range.lowerBound
    while position < range.upperBound {
        let next = min(range.upperBound, position + size)
        take(bytes.span.extracting(position..<next))
        position = next
    }
}
