/// Where bodies end.

import Testing
import Wire

@Suite struct HTTPBodyTests {
    /// The content of a chunked body that comes in pieces of `size`, and what follows it.
    private func read(_ text: String, by size: Int) throws -> (content: String, rest: String, isComplete: Bool) {
        var body = HTTPBody.chunked(.start)
        var content: [UInt8] = []
        var rest: [UInt8] = []
        let bytes = Array(text.utf8)
        for start in stride(from: 0, to: bytes.count, by: size) {
            let piece = Array(bytes[start..<min(start + size, bytes.count)])
            var position = 0
            while position < piece.count, !body.isComplete {
                let part = Array(piece[position...])
                let taken = try body.take(part.span)
                content += part[taken.content]
                position += taken.end
            }
            rest += piece[position...]
        }
        return (
            String(decoding: content, as: UTF8.self), String(decoding: rest, as: UTF8.self), body.isComplete
        )
    }

    @Test("reads chunks, extensions and trailers in any pieces (RFC 9112, section 7.1)", arguments: [1, 2, 5, 1000])
    func chunks(size: Int) throws {
        let text = "4\r\nWiki\r\n6;name=value\r\npedia \r\nE\r\nin \r\n\r\nchunks.\r\n0\r\nX: y\r\n\r\nnext"
        let result = try read(text, by: size)
        #expect(result.content == "Wikipedia in \r\n\r\nchunks.")
        #expect(result.rest == "next")
        #expect(result.isComplete)
        #expect(try read("0\r\n\r\nnext", by: size).rest == "next")
    }

    @Test(
        "refuses framing that another reader could read differently",
        arguments: [
            "4\nWiki\r\n", "g\r\n", "\r\n", "4\r\nWikix", "-1\r\n", "0x4\r\nWiki", "4;\nWiki", "0\r\n\n", "0\r\nX: y\n",
            "4\r\nWiki\n", "fffffffffffffffff\r\n", "0\r\n\rx", " 4\r\n", "4;" + String(repeating: "x", count: 5000),
        ])
    func refuses(text: String) {
        #expect(throws: HTTPError.badChunk) { try read(text, by: 1) }
        #expect(throws: HTTPError.badChunk) { try read(text, by: 1000) }
    }

    @Test func countsALength() throws {
        var body = HTTPBody.length(5)
        let bytes = Array("abcdefg".utf8)
        #expect(try body.consume(bytes.span.extracting(0..<3)) == 3)
        #expect(!body.isComplete)
        #expect(try body.consume(bytes.span.extracting(3..<7)) == 2)
        #expect(body.isComplete)
        #expect(try body.consume(bytes.span) == 0)
    }
}
