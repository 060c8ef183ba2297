/// Reading the head of a request: strictly.

import Testing
import Wire

@Suite struct HTTPRequestTests {
    private func parse(_ text: String) throws -> HTTPRequestHead {
        try HTTPRequestHead.parse(Array(text.utf8).span)
    }

    @Test func readsARequest() throws {
        let text = "\r\nPOST /a?b HTTP/1.1\r\nHost: example.test\r\nContent-Length: 3\r\n\r\n"
        let bytes = Array(text.utf8)
        let request = try parse(text)
        #expect(String(decoding: bytes[request.methodRange], as: UTF8.self) == "POST")
        #expect(String(decoding: bytes[request.targetRange], as: UTF8.self) == "/a?b")
        #expect(String(decoding: bytes[try #require(request.hostRange)], as: UTF8.self) == "example.test")
        #expect(request.body == .length(3))
        #expect(try parse("GET / HTTP/1.0\n\n").hostRange == nil)
    }

    @Test(
        "refuses what two readers could read in two ways (RFC 9112, section 11.2)",
        arguments: [
            ("Content-Length: 1\r\nTransfer-Encoding: chunked\r\n", HTTPError.ambiguousLength),
            ("Content-Length: 1\r\nContent-Length: 1\r\n", .ambiguousLength),
            ("Content-Length: 1, 1\r\n", .ambiguousLength),
            ("Content-Length: +1\r\n", .ambiguousLength), ("Content-Length: 0x1\r\n", .ambiguousLength),
            ("Content-Length:\r\n", .ambiguousLength), ("Content-Length: 99999999999999999999\r\n", .ambiguousLength),
            ("Transfer-Encoding: gzip, chunked\r\n", .ambiguousLength),
            ("Transfer-Encoding: xchunked\r\n", .ambiguousLength),
            ("Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n", .ambiguousLength),
            ("Transfer-Encoding : chunked\r\n", .badField), ("X: a\r\n folded\r\n", .badField),
            ("X: a\rb\r\n", .badField),
            ("X: a\0b\r\n", .badField), ("no colon\r\n", .badField), (": x\r\n", .badField), ("X Y: z\r\n", .badField),
            ("Host: other.test\r\n", .badHost),
        ])
    func refuses(fields: String, error: HTTPError) {
        #expect(throws: error) { try parse("POST / HTTP/1.1\r\nHost: example.test\r\n\(fields)\r\n") }
    }

    @Test(
        "refuses other request lines",
        arguments: [
            ("GET / HTTP/2.0\r\n\r\n", HTTPError.badVersion), ("PRI * HTTP/2.0\r\n\r\n", .badVersion),
            ("GET /\r\n\r\n", .badRequestLine), ("GET  / HTTP/1.1\r\nHost: a\r\n\r\n", .badRequestLine),
            ("G(T / HTTP/1.1\r\nHost: a\r\n\r\n", .badRequestLine),
            ("GET /\u{7f} HTTP/1.1\r\nHost: a\r\n\r\n", .badTarget),
            ("GET /é HTTP/1.1\r\nHost: a\r\n\r\n", .badTarget), ("GET / HTTP/1.1\r\n\r\n", .badHost),
            ("\u{16}\u{3}\u{1}\r\n\r\n", .badRequestLine), ("GET / HTTP/1.1 x\r\nHost: a\r\n\r\n", .badVersion),
        ])
    func refusesLines(text: String, error: HTTPError) {
        #expect(throws: error) { try parse(text) }
    }

    @Test("an HTTP/1.0 request has no chunks")
    func noChunksBefore11() {
        #expect(throws: HTTPError.ambiguousLength) {
            try parse("POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n")
        }
    }

    @Test func finishesAHeadAnywhere() throws {
        let bytes = Array("\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\nrest".utf8)
        for split in 0..<bytes.count - 4 {
            var collector = HTTPHeadCollector()
            #expect(try collector.collect(bytes.span.extracting(0..<split)) == nil)
            #expect(try collector.collect(bytes.span.extracting(split..<bytes.count)) == bytes.count - 4 - split)
            if split > 0 { #expect(collector.kept == Array(bytes.dropLast(4))) }
        }
    }

    @Test func boundsAHead() throws {
        var collector = HTTPHeadCollector()
        let piece = [UInt8](repeating: 0x61, count: 4096)
        for _ in 0..<16 { #expect(try collector.collect(piece.span) == nil) }
        #expect(throws: HTTPError.headTooLong) { try collector.collect(piece.span) }
    }
}
