/// Any bytes as the beginning of a client's stream, whole and in pieces.

import Bytes
import Wire

func fuzzSniffer(_ input: [UInt8]) {
    guard input.count > 1 else { return }
    let bytes = Array(input.dropFirst())
    let size = Int(input[0]) % 40 + 1
    let limit = Int(input[0]) * 8 + 1
    var whole = Sniffer(limit: limit)
    var pieces = Sniffer(limit: limit)
    whole.take(bytes.span)
    var position = 0
    while position < bytes.count {
        let next = min(bytes.count, position + size)
        pieces.take(bytes.span.extracting(position..<next))
        position = next
    }
    precondition(whole == pieces, "pieces are judged otherwise")
    if case .name(let name, _) = whole.outcome {
        precondition(name.utf8.count <= Host.maximumNameLength, "a name that is too long")
        precondition(name == name.lowercased() && Host.parse(name) == .name(name), "a name that is none")
    }
}
