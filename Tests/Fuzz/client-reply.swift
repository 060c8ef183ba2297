/// Any bytes as what answers a program that asks the daemon, or fetches a document, whole and in pieces.

import Bytes
import Wire

@testable import Control

func fuzzClientReply(_ input: [UInt8]) {
    guard input.count > 1 else { return }
    let bytes = Array(input.dropFirst())
    let whole = collect(bytes, by: bytes.count)
    let pieces = collect(bytes, by: Int(input[0]) % 40 + 1)
    // A piece may be refused under another name, before its line is complete.
    precondition((whole == nil) == (pieces == nil), "pieces are judged otherwise")
    if let whole { precondition(whole == pieces, "pieces are another reply") }
}

/// The reply, as far as it came; nil when it is refused.
private func collect(_ bytes: [UInt8], by size: Int) -> ControlReply? {
    let limit = 512
    var collector = ReplyCollector(limit: limit)
    do throws(ExchangeError) {
        for start in stride(from: 0, to: bytes.count, by: size) {
            guard try collector.take(bytes.span.extracting(start..<min(bytes.count, start + size))) else { continue }
            precondition(collector.reply.body.count <= limit, "more than was agreed")
            precondition((101...999).contains(collector.reply.status), "no status")
            return collector.reply
        }
        return try collector.finish()
    } catch {
        precondition(!"\(error)".isEmpty, "a refusal without words")
        return nil
    }
}
