/// Any bytes as a proxy's answer, whole and in pieces: both ways of reading must agree.

import Bytes
import Wire

func fuzzHTTPReply(_ input: [UInt8]) {
    guard input.count > 1 else { return }
    let bytes = Array(input.dropFirst())
    // The first octet says how long the pieces are.
    let size = Int(input[0]) % 40 + 1
    let whole = read(bytes, by: bytes.count)
    let pieces = read(bytes, by: size)
    // A piece may be refused under another name, before its line is complete.
    precondition(whole.end == pieces.end && (whole.error == nil) == (pieces.error == nil), "pieces read another head")
    guard let end = whole.end else { return }
    precondition(whole.head == pieces.head, "pieces read another head")
    precondition(end <= bytes.count, "a head ends behind its bytes")
    _ = HTTPChallenge(whole.head.challenges)
    readBody(whole.head, Array(bytes[end...]), by: size)
}

private func read(_ bytes: [UInt8], by size: Int) -> (head: HTTPReplyHead, end: Int?, error: HTTPError?) {
    var reader = HTTPReplyReader()
    var position = 0
    do throws(HTTPError) {
        while position < bytes.count {
            let next = min(bytes.count, position + size)
            if let end = try reader.read(bytes.span.extracting(position..<next)) {
                return (reader.head, position + end, nil)
            }
            position = next
        }
        return (reader.head, nil, nil)
    } catch {
        return (reader.head, nil, error)
    }
}

private func readBody(_ head: HTTPReplyHead, _ bytes: [UInt8], by size: Int) {
    var body = head.body(answeringHead: false)
    var text = HTTPErrorText()
    var position = 0
    while position < bytes.count, !body.isComplete {
        let piece = bytes.span.extracting(position..<min(bytes.count, position + size))
        guard let (content, end) = try? body.take(piece) else { return }
        precondition(content.lowerBound >= 0 && content.upperBound <= end && end <= piece.count, "content outside")
        precondition(end > 0 || body.isComplete, "a body stands still")
        text.append(piece.extracting(content))
        position += end
    }
    precondition(text.text(of: head).unicodeScalars.count <= 2 * HTTPErrorText.maximumLength)
}
