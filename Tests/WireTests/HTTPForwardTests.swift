/// Plain http on its way to a proxy in absolute form, and to an origin in origin form.

import Testing
import Wire

@Suite struct HTTPForwardTests {
    private static let name = Target(host: .name("www.example.test"), port: 80)

    /// What goes upstream when the client sends `text` in pieces of `size`.
    private func upstream(_ forward: inout HTTPForward, _ text: String, by size: Int = 4096) throws -> String {
        var output: [UInt8] = []
        let bytes = Array(text.utf8)
        for start in stride(from: 0, to: bytes.count, by: size) {
            let piece = Array(bytes[start..<min(start + size, bytes.count)])
            let taken = try forward.rewrite(piece.span, into: &output)
            #expect(taken == piece.count)
        }
        return String(decoding: output, as: UTF8.self)
    }

    private func answer(_ forward: inout HTTPForward, _ text: String, by size: Int = 4096) {
        let bytes = Array(text.utf8)
        for start in stride(from: 0, to: bytes.count, by: size) {
            forward.observe(bytes.span.extracting(start..<min(start + size, bytes.count)))
        }
    }

    @Test("rewrites each head and passes each body, however they are cut", arguments: [1, 3, 10, 4096])
    func keepsAlive(size: Int) throws {
        var forward = HTTPForward(to: Self.name, as: .absolute)
        let sent = """
            GET /a?b=c HTTP/1.1\r\nHost: www.example.test\r\nConnection: keep-alive\r\n\r\n\
            POST / HTTP/1.1\r\nHost: www.example.test\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\nGET /\
            PUT /x HTTP/1.1\r\nhost:www.example.test\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n\
            HEAD /end HTTP/1.1\r\nHost: www.example.test\r\n\r\n
            """
        let expected = """
            GET http://www.example.test/a?b=c HTTP/1.1\r\nHost: www.example.test\r\nConnection: keep-alive\r\n\r\n\
            POST http://www.example.test/ HTTP/1.1\r\nHost: www.example.test\r\nContent-Length: 5\r\n\
            Expect: 100-continue\r\n\r\nGET /\
            PUT http://www.example.test/x HTTP/1.1\r\nhost: www.example.test\r\nTransfer-Encoding: chunked\r\n\r\n\
            3\r\nabc\r\n0\r\n\r\n\
            HEAD http://www.example.test/end HTTP/1.1\r\nHost: www.example.test\r\n\r\n
            """
        #expect(try upstream(&forward, sent, by: size) == expected)
    }

    @Test func passesBodiesByRange() throws {
        var forward = HTTPForward(to: Self.name, as: .absolute)
        let bytes = Array("POST / HTTP/1.1\r\nHost: www.example.test\r\nContent-Length: 5\r\n\r\nhelloGET".utf8)
        var output: [UInt8] = []
        #expect(try forward.next(bytes.span, output: &output) == .head(bytes.count - 8))
        #expect(try forward.next(bytes.span.extracting(bytes.count - 8..<bytes.count), output: &output) == .pass(5))
        #expect(try forward.next(bytes.span.extracting(bytes.count - 3..<bytes.count), output: &output) == .needsMore)
    }

    @Test("a target by name is whom the requests are for; for an address the Host decides")
    func authority() throws {
        let other = "GET / HTTP/1.1\r\nHost: other.test\r\n\r\n"
        var byName = HTTPForward(to: Self.name, as: .absolute)
        #expect(
            try upstream(&byName, other) == "GET http://www.example.test/ HTTP/1.1\r\nHost: other.test\r\n\r\n")
        let address = Target(host: try #require(Host.parse("192.0.2.1")), port: 80)
        var byAddress = HTTPForward(to: address, as: .absolute)
        #expect(try upstream(&byAddress, other) == "GET http://other.test/ HTTP/1.1\r\nHost: other.test\r\n\r\n")
        var without = HTTPForward(to: address, as: .absolute)
        #expect(try upstream(&without, "GET / HTTP/1.0\r\n\r\n") == "GET http://192.0.2.1/ HTTP/1.0\r\n\r\n")
        var withPort = HTTPForward(to: Target(host: .name("a.test"), port: 8080), as: .absolute)
        #expect(
            try upstream(&withPort, "GET / HTTP/1.1\r\nHost: a.test:8080\r\n\r\n")
                == "GET http://a.test:8080/ HTTP/1.1\r\nHost: a.test:8080\r\n\r\n")
    }

    @Test(
        "ends the connection at a request that has no place on it",
        arguments: [
            ("GET / HTTP/1.1\r\nHost: other.test\r\n\r\n", HTTPError.otherHost),
            ("GET http://other.test/ HTTP/1.1\r\nHost: www.example.test\r\n\r\n", .otherHost),
            ("CONNECT a.test:443 HTTP/1.1\r\nHost: www.example.test\r\n\r\n", .badTarget),
            ("GET https://www.example.test/ HTTP/1.1\r\nHost: www.example.test\r\n\r\n", .badTarget),
            ("GET http://u:p@www.example.test/ HTTP/1.1\r\nHost: www.example.test\r\n\r\n", .badTarget),
            ("GET * HTTP/1.1\r\nHost: www.example.test\r\n\r\n", .badTarget),
        ])
    func refuses(second: String, error: HTTPError) throws {
        var forward = HTTPForward(to: Self.name, as: .absolute)
        _ = try upstream(&forward, "GET / HTTP/1.1\r\nHost: www.example.test\r\n\r\n")
        #expect(throws: error) { try upstream(&forward, second) }
    }

    @Test("a Host that is none is refused before anything goes upstream")
    func refusesHost() {
        for host in ["", "a b", "a/b", "a@b", "a:x"] {
            var forward = HTTPForward(to: Target(host: .name("a.test"), port: 80), as: .absolute)
            if host.isEmpty { continue }
            #expect(throws: HTTPError.badHost) { try upstream(&forward, "GET / HTTP/1.1\r\nHost: \(host)\r\n\r\n") }
        }
    }

    @Test("what was meant for a proxy ends here, and ours comes in")
    func proxyFields() throws {
        var added: [UInt8] = []
        try #require(BasicCredentials(user: "u", password: "p")).writeProxyAuthorization(into: &added)
        var forward = HTTPForward(to: Self.name, as: .absolute, adding: added)
        let sent =
            "GET / HTTP/1.1\r\nHost: www.example.test\r\nProxy-Authorization: Basic eDp5\r\nProxy-Connection: x\r\n\r\n"
        #expect(
            try upstream(&forward, sent)
                == "GET http://www.example.test/ HTTP/1.1\r\nHost: www.example.test\r\nProxy-Authorization: Basic dTpw\r\n\r\n"
        )
    }

    @Test("a client cannot say of itself what the gateway says of it")
    func identity() throws {
        let added = Array("X-Forwarded-For: 10.9.0.2\r\nX-Whistle-Client-Id: phone\r\n".utf8)
        var forward = HTTPForward(to: Self.name, as: .absolute, adding: added)
        let sent =
            "GET / HTTP/1.1\r\nHost: www.example.test\r\nx-whistle-client-id: other\r\nX-Forwarded-For: 1.1.1.1\r\n\r\n"
        #expect(
            try upstream(&forward, sent)
                == "GET http://www.example.test/ HTTP/1.1\r\nHost: www.example.test\r\nX-Forwarded-For: 10.9.0.2\r\n"
                + "X-Whistle-Client-Id: phone\r\n\r\n")
    }

    @Test("OPTIONS for the whole server keeps its meaning (RFC 9112, section 3.2.4)")
    func options() throws {
        var forward = HTTPForward(to: Self.name, as: .absolute)
        #expect(
            try upstream(&forward, "OPTIONS * HTTP/1.1\r\nHost: www.example.test\r\n\r\n")
                == "OPTIONS http://www.example.test HTTP/1.1\r\nHost: www.example.test\r\n\r\n")
        var origin = HTTPForward(to: Self.name, as: .origin)
        #expect(
            try upstream(&origin, "OPTIONS http://www.example.test HTTP/1.1\r\nHost: x\r\n\r\n")
                == "OPTIONS * HTTP/1.1\r\nHost: www.example.test\r\n\r\n")
    }

    @Test("after 101 both ways are bytes", arguments: [1, 4096])
    func upgrades(size: Int) throws {
        var forward = HTTPForward(to: Self.name, as: .absolute)
        let sent = "GET /chat HTTP/1.1\r\nHost: www.example.test\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"
        #expect(
            try upstream(&forward, sent, by: size)
                == "GET http://www.example.test/chat HTTP/1.1\r\nHost: www.example.test\r\n"
                + "Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
        var output: [UInt8] = []
        let frame: [UInt8] = [0x81, 0x80, 1, 2, 3, 4]
        #expect(try forward.next(frame.span, output: &output) == .wait)
        answer(&forward, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n\u{1}\u{2}", by: size)
        #expect(forward.isTransparent)
        #expect(try forward.next(frame.span, output: &output) == .pass(6))
    }

    @Test("an upgrade that was declined leaves HTTP")
    func declines() throws {
        var forward = HTTPForward(to: Self.name, as: .absolute)
        let get = "GET / HTTP/1.1\r\nHost: www.example.test\r\n"
        _ = try upstream(&forward, get + "\r\n" + get + "Connection: x, upgrade\r\nUpgrade: h2c\r\n\r\n")
        answer(&forward, "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc")
        var output: [UInt8] = []
        let next = Array((get + "\r\n").utf8)
        #expect(try forward.next(next.span, output: &output) == .wait)
        answer(
            &forward, "HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 426 No\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n")
        #expect(!forward.isTransparent && !forward.isAnswering)
        #expect(try forward.next(next.span, output: &output) == .head(next.count))
        #expect(forward.isAnswering)
    }

    @Test("answers are told apart in a pipeline: HEAD, 204 and 304 have no body", arguments: [1, 5, 4096])
    func pipelines(size: Int) throws {
        var forward = HTTPForward(to: Self.name, as: .absolute)
        let rest = " / HTTP/1.1\r\nHost: www.example.test\r\n"
        _ = try upstream(
            &forward, "HEAD\(rest)\r\nGET\(rest)\r\nGET\(rest)\r\nGET\(rest)Connection: Upgrade\r\nUpgrade: x\r\n\r\n")
        answer(
            &forward,
            "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nHTTP/1.1 204 No\r\n\r\nHTTP/1.1 304 Same\r\nContent-Length: 4\r\n\r\n",
            by: size)
        #expect(forward.isAnswering)
        answer(&forward, "HTTP/1.1 101 Go\r\n\r\nHTTP/1.1 500 these are bytes", by: size)
        #expect(forward.isTransparent)
    }

    @Test("more than 64 requests wait for their answers")
    func boundsThePipeline() throws {
        var forward = HTTPForward(to: Self.name, as: .absolute)
        let get = Array("GET / HTTP/1.1\r\nHost: www.example.test\r\n\r\n".utf8)
        var output: [UInt8] = []
        for _ in 0..<64 { #expect(try forward.next(get.span, output: &output) == .head(get.count)) }
        #expect(try forward.next(get.span, output: &output) == .wait)
        answer(&forward, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        #expect(try forward.next(get.span, output: &output) == .head(get.count))
    }

    @Test func noticesThatCredentialsWereRefused() throws {
        var forward = HTTPForward(to: Self.name, as: .absolute)
        _ = try upstream(&forward, "GET / HTTP/1.1\r\nHost: www.example.test\r\n\r\n")
        answer(&forward, "HTTP/1.1 407 No\r\nContent-Length: 0\r\n\r\n")
        #expect(forward.credentialsRefused)
    }

    @Test("our proxy sends one request in origin form and says that the connection ends")
    func origin() throws {
        var forward = HTTPForward(to: Self.name, as: .origin, oneRequest: true)
        let sent = """
            POST http://www.example.test/p?q HTTP/1.1\r\nHost: wrong.test\r\nProxy-Connection: keep-alive\r\n\
            Connection: keep-alive, X-Hop\r\nKeep-Alive: 5\r\nX-Hop: 1\r\nX-End: 2\r\nContent-Length: 2\r\n\r\nok
            """
        let expected = """
            POST /p?q HTTP/1.1\r\nHost: www.example.test\r\nX-End: 2\r\nContent-Length: 2\r\n\
            Via: 1.1 starship\r\nConnection: close\r\n\r\nok
            """
        #expect(try upstream(&forward, sent, by: 7) == expected)
        var output: [UInt8] = []
        let more = Array("GET".utf8)
        #expect(try forward.next(more.span, output: &output) == .finished)
    }

    @Test("an upgrade goes through our proxy")
    func originUpgrade() throws {
        var forward = HTTPForward(to: Self.name, as: .origin, oneRequest: true)
        let sent =
            "GET http://www.example.test HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"
        #expect(
            try upstream(&forward, sent)
                == "GET / HTTP/1.1\r\nHost: www.example.test\r\nUpgrade: websocket\r\nVia: 1.1 starship\r\nConnection: Upgrade\r\n\r\n"
        )
        answer(&forward, "HTTP/1.1 101 Go\r\n\r\n")
        #expect(forward.isTransparent)
    }
}
