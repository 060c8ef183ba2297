/// Clients of the HTTP inbound.

import Bytes
import Inbound
import Testing
import Wire

@Suite struct HTTPProxySessionTests {
    private static let now = Instant(nanoseconds: 0)

    private func play(
        _ text: String, credentials: BasicCredentials? = nil, by size: Int = .max
    ) -> (answer: String, action: HTTPProxySession.Action) {
        var session = HTTPProxySession(expecting: credentials.map { [$0] } ?? [], now: Self.now)
        var answer: [UInt8] = []
        var action = HTTPProxySession.Action.needsMore
        let bytes = Array(text.utf8)
        var start = 0
        while start < bytes.count, action == .needsMore {
            let piece = Array(bytes[start..<min(start + min(size, bytes.count), bytes.count)])
            action = session.receive(piece.span, output: &answer)
            start += piece.count
        }
        return (String(decoding: answer, as: UTF8.self), action)
    }

    @Test("a CONNECT names its target and keeps what follows", arguments: [1, 10, .max])
    func connects(size: Int) {
        let result = play("CONNECT a.test:443 HTTP/1.1\r\nHost: a.test:443\r\n\r\n\u{16}\u{3}", by: size)
        guard case .connect(let target, let leftover) = result.action else {
            Issue.record("no target")
            return
        }
        #expect(target == Target(host: .name("a.test"), port: 443))
        #expect(leftover.count == (size == .max ? 2 : size == 10 ? 1 : 0))
        #expect(result.answer.isEmpty)
    }

    @Test func opensATunnel() {
        var session = HTTPProxySession(expecting: [], now: Self.now)
        var output: [UInt8] = []
        _ = session.receive(Array("CONNECT [::1]:1 HTTP/1.0\r\n\r\n".utf8).span, output: &output)
        session.opened(output: &output)
        #expect(String(decoding: output, as: UTF8.self) == "HTTP/1.1 200 Connection established\r\n\r\n")
    }

    @Test("plain http in absolute form is forwarded with its whole head", arguments: [1, .max])
    func forwards(size: Int) throws {
        let head = "POST http://a.test:8080/x HTTP/1.1\r\nHost: b.test\r\nContent-Length: 2\r\n\r\n"
        let result = play(head + "ok", by: size)
        guard case .forward(let target, let request, let leftover) = result.action else {
            Issue.record("no target")
            return
        }
        #expect(target == Target(host: .name("a.test"), port: 8080))
        #expect(String(decoding: request, as: UTF8.self) == head)
        #expect(leftover.count == (size == 1 ? 0 : 2))
        var forward = HTTPForward(to: target, as: .origin, oneRequest: true)
        var output: [UInt8] = []
        _ = try forward.rewrite(request.span, into: &output)
        #expect(String(decoding: output, as: UTF8.self).hasPrefix("POST /x HTTP/1.1\r\nHost: a.test:8080\r\n"))
    }

    @Test(
        "answers what it does not serve",
        arguments: [
            ("GET / HTTP/1.1\r\nHost: a.test\r\n\r\n", 400), ("CONNECT a.test HTTP/1.1\r\nHost: a.test\r\n\r\n", 400),
            ("CONNECT a.test:0 HTTP/1.1\r\nHost: a.test\r\n\r\n", 400),
            ("CONNECT a b:1 HTTP/1.1\r\nHost: a\r\n\r\n", 400),
            ("CONNECT 2001:db8::1:443 HTTP/1.1\r\nHost: a\r\n\r\n", 400),
            ("CONNECT 127.1:22 HTTP/1.1\r\nHost: a\r\n\r\n", 400),
            ("GET https://a.test/ HTTP/1.1\r\nHost: a.test\r\n\r\n", 400), ("nonsense\r\n\r\n", 400),
            ("TRACE http://a.test/ HTTP/1.1\r\nHost: a.test\r\n\r\n", 405),
            ("GET http://a.test/ HTTP/3.0\r\n\r\n", 505),
            ("GET http://u:p@a.test/ HTTP/1.1\r\nHost: a.test\r\n\r\n", 400),
            ("POST http://a.test/ HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", 400),
            ("GET http://a.test/ HTTP/1.1\r\nX: " + String(repeating: "x", count: 70_000), 431),
        ])
    func refuses(text: String, status: Int) {
        let result = play(text)
        #expect(result.answer.hasPrefix("HTTP/1.1 \(status) "))
        #expect(result.answer.contains("\r\nConnection: close\r\n"))
        if case .close = result.action { return }
        Issue.record("not closed")
    }

    @Test("wants its credentials before anything else")
    func authenticates() throws {
        let credentials = try #require(BasicCredentials(user: "qa", password: "pw"))
        for line in ["", "Proxy-Authorization: Basic cWE6cHg=\r\n", "Authorization: Basic cWE6cHc=\r\n"] {
            let result = play("CONNECT a.test:1 HTTP/1.1\r\nHost: a\r\n\(line)\r\n", credentials: credentials)
            #expect(result.answer.hasPrefix("HTTP/1.1 407 "))
            #expect(result.answer.contains("\r\nProxy-Authenticate: Basic realm="))
        }
        let right = play(
            "CONNECT a.test:1 HTTP/1.1\r\nHost: a\r\nProxy-Authorization: Basic cWE6cHc=\r\n\r\n",
            credentials: credentials)
        #expect(right.answer.isEmpty)
    }

    @Test func tellsWhyAStreamFailed() {
        var session = HTTPProxySession(expecting: [], now: Self.now)
        var output: [UInt8] = []
        session.failed(status: 504, text: "too late", output: &output)
        #expect(
            String(decoding: output, as: UTF8.self) == "HTTP/1.1 504 Gateway Timeout\r\n"
                + "Content-Type: text/plain; charset=utf-8\r\nContent-Length: 9\r\nConnection: close\r\n\r\ntoo late\n")
    }
}
