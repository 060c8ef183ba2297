/// Any bytes as a client's requests that are rewritten on the way: pieces must give what the whole gives.

import Addresses
import Bytes
import Wire

func fuzzHTTPRequest(_ input: [UInt8]) {
    guard input.count > 1 else { return }
    let bytes = Array(input.dropFirst())
    let size = Int(input[0] >> 1) % 40 + 1
    let form: HTTPForward.Form = input[0] & 1 == 0 ? .absolute : .origin
    let whole = forward(bytes, by: bytes.count, as: form)
    let pieces = forward(bytes, by: size, as: form)
    precondition(whole.error == pieces.error, "pieces are judged otherwise")
    // What stood in front of an error may have gone out already.
    precondition(
        whole.error == nil ? whole.output == pieces.output : pieces.output.starts(with: whole.output),
        "pieces are forwarded otherwise")
    _ = Target.parse(bytes.span)
    _ = Host.parse(bytes.span)
    if let head = try? HTTPRequestHead.parse(bytes.span) {
        precondition(head.methodRange.upperBound <= bytes.count && head.targetRange.upperBound <= bytes.count)
        precondition(head.hostRange.map { $0.upperBound <= bytes.count } ?? true)
    }
}

private func forward(
    _ bytes: [UInt8], by size: Int, as form: HTTPForward.Form
) -> (output: [UInt8], error: HTTPError?) {
    var forward = HTTPForward(to: Target(host: .name("www.example.test"), port: 80), as: form)
    var output: [UInt8] = []
    var position = 0
    do throws(HTTPError) {
        while position < bytes.count {
            let piece = bytes.span.extracting(position..<min(bytes.count, position + size))
            let taken = try forward.rewrite(piece, into: &output)
            if taken < piece.count { return (output, nil) }
            position += taken
        }
        return (output, nil)
    } catch {
        return (output, error)
    }
}
