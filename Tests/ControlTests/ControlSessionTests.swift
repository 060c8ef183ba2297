/// A connection as its client sees it: RFC 9110 and RFC 9112.

import Bytes
import Testing

@testable import Control

private let status = "GET /v1/status HTTP/1.1\r\nHost: localhost\r\n\r\n"
private let confirm =
    "POST /v1/confirm HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 14\r\n\r\n"
    + "{\"revision\":1}"
private let chunked =
    "PUT /v1/config HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2;x=y\r\nde\r\n0\r\nA: b\r\n\r\n"

/// The status line's number of what a session has to say to a text that no request comes of.
private func refused(_ text: String) throws -> (status: String, ends: Bool) {
    let session = Client()
    #expect(session.send(text) == nil, "\(text)")
    let ends = session.isOver
    return (String(session.readAll().text.split(separator: " ")[1]), ends)
}

struct ControlSessionTests {
    @Test("requests are the same in pieces of every size, and all are answered in their order")
    func pieces() {
        let text = Array((status + confirm + "\r\n" + chunked + status).utf8)
        let whole = Client()
        let expected = whole.converse([String(decoding: text, as: UTF8.self)])
        #expect(expected.components("HTTP/1.1 200 OK") == 4)
        for size in 1...text.count {
            let session = Client()
            let pieces = stride(from: 0, to: text.count, by: size).map { start in
                String(decoding: text[start..<min(start + size, text.count)], as: UTF8.self)
            }
            let answers = session.converse(pieces)
            #expect(answers == expected, "in pieces of \(size)")
        }
    }

    @Test("a request is whole when it is handed out")
    func whole() throws {
        let session = Client()
        let request = try #require(session.send(chunked))
        #expect(request.body == Array("abcde".utf8))
        #expect(request.method == .put)
        #expect(!request.isJSON)
        #expect(request.host == "localhost")
    }

    @Test("the next request is looked at when the answer was sent, so nothing piles up")
    func oneAtATime() throws {
        let session = Client()
        #expect(session.send(status + status) != nil)
        #expect(!session.wantsInput)
        session.answer("0123456789")
        #expect(!session.wantsInput)
        let count = session.output.count
        #expect(session.read(count - 1) == nil)
        #expect(!session.wantsInput)
        #expect(session.read(1) != nil)
    }

    @Test(
        "what is no request of HTTP/1.1 is refused, and the connection ends (RFC 9112, sections 2.2, 3, 5 and 6.3)",
        arguments: [
            ("GET /v1/status HTTP/1.1\r\n\r\n", "400"),
            ("GET /v1/status HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n", "400"),
            ("GET /v1/status HTTP/1.1\r\nHost: a b\r\n\r\n", "400"),
            ("GET /v1/status HTTP/1.1\r\nHost: u@a\r\n\r\n", "400"),
            ("GET /v1/status HTTP/2.0\r\nHost: a\r\n\r\n", "505"),
            ("GET /v1/status\r\n\r\n", "400"),
            ("GET /v1/\u{0}status HTTP/1.1\r\nHost: a\r\n\r\n", "400"),
            ("GET /v1/status HTTP/1.1\r\nHost: a\r\nX: a\rb\r\n\r\n", "400"),
            ("GET /v1/status HTTP/1.1\r\nHost: a\r\nX: \u{0}\r\n\r\n", "400"),
            ("GET /v1/status HTTP/1.1\r\nHost: a\r\nX : a\r\n\r\n", "400"),
            ("GET /v1/status HTTP/1.1\r\nHost: a\r\nX: a\r\n folded\r\n\r\n", "400"),
            ("PUT /v1/config HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab", "400"),
            ("PUT /v1/config HTTP/1.1\r\nHost: a\r\nContent-Length: 1, 1\r\n\r\na", "400"),
            ("PUT /v1/config HTTP/1.1\r\nHost: a\r\nContent-Length: +1\r\n\r\na", "400"),
            ("PUT /v1/config HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", "400"),
            ("PUT /v1/config HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", "400"),
            ("PUT /v1/config HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n", "400"),
            ("PUT /v1/config HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab\r\n", "400"),
            ("PUT /v1/config HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\na\n0\n\n", "400"),
            ("PUT /v1/config HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "400"),
            ("GET status HTTP/1.1\r\nHost: a\r\n\r\n", "400"),
            ("OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n", "400"),
            ("CONNECT a:80 HTTP/1.1\r\nHost: a\r\n\r\n", "400"),
            ("GET http:///v1/status HTTP/1.1\r\nHost: a\r\n\r\n", "400"),
        ])
    func refuses(text: String, expected: String) throws {
        let (found, ends) = try refused(text + status)
        #expect(found == expected, "\(text)")
        #expect(ends)
    }

    @Test("nothing of what comes behind a refused request is a request")
    func deafAfterwards() {
        let session = Client()
        #expect(session.send("GET / HTTP/1.1\r\n\r\n" + status) == nil)
        #expect(session.send(status) == nil)
        let (text, request) = session.readAll()
        #expect(text.components("HTTP/1.1 ") == 1)
        #expect(text.contains("\r\nConnection: close\r\n"))
        #expect(request == nil)
        #expect(session.send(status) == nil)
    }

    @Test("a head over 64 KiB, a target over 8 KiB, a body over 4 MiB are refused; at the limit they are not")
    func limits() throws {
        let long = "GET /v1/status HTTP/1.1\r\nHost: a\r\nX: "
        #expect(try refused(long + String(repeating: "a", count: 65_536)).status == "431")
        let session = Client()
        #expect(session.send(long + String(repeating: "a", count: 65_536 - long.utf8.count - 4) + "\r\n\r\n") != nil)
        let target = "/" + String(repeating: "a", count: ControlHead.targetLimit - 1)
        let fitting = Client()
        #expect(fitting.send("GET \(target) HTTP/1.1\r\nHost: a\r\n\r\n") != nil)
        #expect(try refused("GET \(target)a HTTP/1.1\r\nHost: a\r\n\r\n").status == "400")

        let put = "PUT /v1/config HTTP/1.1\r\nHost: a\r\n"
        #expect(try refused("\(put)Content-Length: \(ControlSession.bodyLimit + 1)\r\n\r\n").status == "413")
        let body = [UInt8](repeating: 0x20, count: ControlSession.bodyLimit)
        let full = Client()
        #expect(full.send("\(put)Content-Length: \(body.count)\r\n\r\n") == nil)
        #expect(full.send(body)?.body.count == body.count)
        let chunks = Client()
        #expect(chunks.send("\(put)Transfer-Encoding: chunked\r\n\r\n400001\r\n") == nil)
        #expect(chunks.send(body) == nil)
        #expect(!chunks.isOver)
        #expect(chunks.send(" ") == nil)
        #expect(chunks.isOver)
        #expect(chunks.readAll().text.hasPrefix("HTTP/1.1 413 "))
    }

    @Test("an answer to HEAD has the length of its body, and no body, refused or not (RFC 9110, section 9.3.2)")
    func head() {
        let session = Client()
        let (get, head) = (session.converse([status]), session.converse(["HEAD" + status.dropFirst(3)]))
        #expect(get.hasPrefix(head))
        #expect(head.contains("\r\nContent-Length: 10\r\n") && head.hasSuffix("\r\n\r\n"))
        for line in ["HEAD /v1/%ff", "HEAD status", "\r\nHEAD http://"] {
            let session = Client()
            #expect(session.send("\(line) HTTP/1.1\r\nHost: a\r\n\r\n") == nil)
            let text = session.readAll().text
            #expect(text.hasPrefix("HTTP/1.1 400 ") && text.hasSuffix("\r\n\r\n"), "\(line)")
        }
        let malformed = Client()
        #expect(malformed.send("HEAD /v1/status HTTP/1.1\r\nHost : a\r\n\r\n") == nil)
        #expect(malformed.readAll().text.hasSuffix("\r\n\r\n"))
    }

    @Test(
        "the connection goes on unless one side says that it ends (RFC 9112, section 9.3)",
        arguments: [
            ("HTTP/1.1\r\nHost: a\r\n", false), ("HTTP/1.1\r\nHost: a\r\nConnection: keep-alive\r\n", false),
            ("HTTP/1.1\r\nHost: a\r\nConnection: x, Close\r\n", true), ("HTTP/1.0\r\n", true),
        ])
    func keepsAlive(head: String, ends: Bool) {
        let session = Client()
        let answer = session.converse(["GET /v1/status \(head)\r\n"])
        let isOver = session.isOver
        #expect(isOver == ends)
        #expect(answer.contains("\r\nConnection: close\r\n") == ends)
    }

    @Test("who waits for 100 gets it before the body, and nobody else does (RFC 9110, section 10.1.1)")
    func expectation() throws {
        let put = "PUT /v1/config HTTP/1.1\r\nHost: a\r\nExpect: 100-Continue\r\n"
        let session = Client()
        #expect(session.send(put + "Content-Length: 2\r\n\r\n") == nil)
        #expect(session.readAll().text == "HTTP/1.1 100 Continue\r\n\r\n")
        #expect(session.send("{}") != nil)
        let empty = Client()
        #expect(empty.send(put + "\r\n") != nil)
        #expect(empty.output.isEmpty)
        #expect(try refused(put + "Content-Length: 5000000\r\n\r\n").status == "413")
        let old = Client()
        let text = "PUT /v1/config HTTP/1.0\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n"
        #expect(old.send(text) == nil)
        #expect(old.output.isEmpty)
    }

    @Test("a request has ten seconds from its first octet, whatever comes meanwhile; silence has a minute")
    func deadlines() {
        let session = Client()
        expectDeadline(session, .seconds(60))
        _ = session.send("PUT /v1/config HTTP/1.1\r\n", at: .seconds(30))
        expectDeadline(session, .seconds(40))
        _ = session.send("Host: a\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n", at: .seconds(35))
        _ = session.readAll(at: .seconds(36))
        _ = session.send("{", at: .seconds(39))
        expectDeadline(session, .seconds(40))
        #expect(session.send("}GET /", at: .seconds(39)) != nil)
        session.answer("", at: .seconds(39))
        expectDeadline(session, .seconds(99))
        // Of the answer a part is read, then the rest: what is there of the next request has its ten seconds from now.
        _ = session.read(1, at: .seconds(50))
        expectDeadline(session, .seconds(110))
        _ = session.readAll(at: .seconds(60))
        expectDeadline(session, .seconds(70))
        _ = session.send("v1", at: .seconds(69))
        expectDeadline(session, .seconds(70))
        _ = session.send(" HTTP/9.9\r\n\r\n", at: .seconds(69))
        _ = session.readAll(at: .seconds(69))
        expectDeadline(session, .seconds(79))
        _ = session.send("and so on", at: .seconds(78))
        expectDeadline(session, .seconds(79))
    }

    private func expectDeadline(
        _ session: Client, _ time: Interval, _ location: SourceLocation = #_sourceLocation
    ) {
        #expect(session.deadline == origin + time, sourceLocation: location)
    }
}

extension String {
    /// How often a text stands in this one.
    fileprivate func components(_ text: String) -> Int {
        var (count, rest) = (0, self[...])
        while let range = rest.firstRange(of: text) {
            count += 1
            rest = rest[range.upperBound...]
        }
        return count
    }
}
