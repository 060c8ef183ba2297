/// Answers to a probe's request, in any pieces and of any kind.

import Bytes
import TestSupport
import Testing
import Wire

@testable import Upstreams

@Suite struct ProbeAnswerTests {
    private static let page: ProbePage = {
        var page = ProbePage(Target("intranet.example.test:80"))
        page.statuses = [200, 204]
        page.body = "a*needle*z"
        return page
    }()

    private static let answers: [(String, PageVerdict)] = [
        ("HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\na needle. zz", .right),
        ("HTTP/1.1 103 E\r\n\r\nHTTP/1.0 200\n\na needle. z", .right),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\na n\r\n6\r\needlez\r\n0\r\n\r\n", .right),
        (
            "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nneedle za",
            .wrong("200 without the text \"a*needle*z\"")
        ),
        ("HTTP/1.1 204 N\r\n\r\n", .wrong("204 without the text \"a*needle*z\"")),
        (
            "HTTP/1.1 301 M\r\nLocation:\thttp://a.example/b#c\r\n\r\n",
            .wrong("301 to http://a.example/b in place of 200 or 204")
        ),
        ("HTTP/1.1 304 N\r\n\r\n", .wrong("304 (N) in place of 200 or 204")),
        ("HTTP/1.1 404 N\r\nContent-Length: 3\r\n\r\nno!", .wrong("404 (no!) in place of 200 or 204")),
        ("HTTP/1.1 502 B\r\nContent-Length: 0\r\n\r\n", .failing(status: 502, text: "B")),
        (
            "HTTP/1.1 407 A\r\nProxy-Authenticate: Basic realm=x\r\n\r\n",
            .wantsLogin(HTTPChallenge(Array("Basic".utf8)))
        ),
        // What comes behind the text, or behind as much of an error page as is read, is no answer's business.
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\na needlez\r\n0\r\nT\n", .right),
        (
            "HTTP/1.1 404 N\r\nTransfer-Encoding: chunked\r\n\r\n1000\r\n\(String(repeating: "n", count: 4096))\n",
            .wrong("404 (\(String(repeating: "n", count: 80))) in place of 200 or 204")
        ),
        ("<html>", .wrong("a page without a head in place of 200 or 204")), ("{}", .malformed("not HTTP")),
        ("HTTP/1.1 2000 OK\r\n", .malformed("malformed status line")),
    ]

    @Test("the verdict is the same in whatever pieces the answer comes", arguments: answers.indices)
    func pieces(index: Int) {
        let (text, wanted) = Self.answers[index]
        let octets = Array(text.utf8)
        for size in [1, 2, 7, octets.count] {
            var reader = PageReader(Self.page)
            var verdict: PageVerdict?
            for start in stride(from: 0, to: octets.count, by: size) where verdict == nil {
                verdict = reader.receive(octets.span.extracting(start..<min(start + size, octets.count)))
            }
            #expect((verdict ?? reader.end(isClosed: true)) == wanted, "in pieces of \(size)")
        }
    }

    @Test("whatever comes, there is a verdict before a quarter of a megabyte", arguments: 0..<8)
    func hostile(seed: Int) {
        var random = SeededGenerator(seed: UInt64(seed))
        for round in 0..<LongRun.rounds(40, long: 10_000) {
            var reader = PageReader(Self.page)
            let beginnings = ["", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\n\r\n", "HTTP/1.1 404 N\r\n\r\na needle"]
            var piece = Array(beginnings[random.number(0..<4)].utf8)
            var total = 0
            var verdict: PageVerdict?
            while verdict == nil, total < 1 << 18 {
                verdict = piece.isEmpty ? nil : reader.receive(piece.span)
                total += piece.count
                let isText = random.chance(0.5)
                piece = random.bytes(random.number(1..<16384)).map { isText ? $0 % 95 + 0x20 : $0 }
            }
            if verdict == nil { Issue.record("seed \(seed), round \(round): no verdict after \(total) octets") }
        }
    }

    /// A trailer field without end; chunks of one octet, each with as long an extension as there may be.
    @Test(
        "framing without end is left after a quarter of a megabyte",
        arguments: [("0\r\nT: ", ""), ("1;", "\r\nx\r\n1;")])
    func framing(start: String, end: String) {
        var reader = PageReader(Self.page)
        let head = Array("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\(start)".utf8)
        let more = Array("\(String(repeating: "x", count: 4090))\(end)".utf8)
        var verdict = reader.receive(head.span)
        var total = 0
        while verdict == nil, total < 1 << 20 {
            verdict = reader.receive(more.span)
            total += more.count
        }
        #expect(verdict == .wrong("200 without the text \"a*needle*z\""))
        #expect(total < 1 << 18 + more.count)
    }

    @Test(
        "a body that is kept is whole or refused, in whatever pieces it comes",
        arguments: [65_537, 65_536, 65_535, 4096])
    func keeps(piece: Int) {
        var page = ProbePage(Target("intranet.example.test:80"))
        page.keepsBody = true
        for (count, verdict) in [(65_536, PageVerdict.right), (65_537, .wrong("more than 64 KiB"))] {
            var reader = PageReader(page)
            let head = Array("HTTP/1.1 200 OK\r\n\r\n".utf8)
            #expect(reader.receive(head.span) == nil)
            var found: PageVerdict?
            var rest = count
            while found == nil, rest > 0 {
                let octets = [UInt8](repeating: 0x78, count: min(piece, rest))
                found = reader.receive(octets.span)
                rest -= octets.count
            }
            #expect((found ?? reader.end(isClosed: true)) == verdict)
        }
    }

    @Test("a pattern is found wherever its pieces stand in their order")
    func patterns() {
        let rows: [(String, String, Bool)] = [
            ("ok", "it is ok", true), ("ok", "o k", false), ("*", "", true), ("", "x", true), ("a*b", "ab", true),
            ("a*b", "ba", false), ("aa*aa", "aaa", false), ("aa*aa", "aaaa", true), ("*x*", "x", true),
            ("\u{e4}", "\u{e4}", true),
        ]
        for (pattern, body, isFound) in rows {
            var whole = BodyPattern(pattern)
            var growing = BodyPattern(pattern)
            let octets = Array(body.utf8)
            var last = growing.isFound(in: [])
            for count in octets.indices { last = growing.isFound(in: Array(octets[...count])) }
            #expect(whole.isFound(in: octets) == isFound && last == isFound, "\(pattern) in \(body)")
        }
    }
}
