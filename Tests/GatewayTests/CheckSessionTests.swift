/// Requests that the gateway answers in the place of a check's host.

import Bytes
import Routing
import TestSupport
import Testing

@testable import Gateway

@Suite("Check sessions")
struct CheckSessionTests {
    static let success = "<HTML><HEAD><TITLE>Success</TITLE></HEAD><BODY>Success</BODY></HTML>"

    static func host(_ name: String, isShared: Bool = false) throws -> CheckAnswers.Host {
        let text = """
            captive.test * 200 \(success)
            android.test /generate_204 204
            ncsi.test /ncsi.txt 200 Microsoft NCSI
            """
        let list = try RuleList.parse(Array("\(isShared ? name : "none.test")\n".utf8).span, name: "shared")
        return try #require(CheckAnswers.parse(Array(text.utf8).span, shared: list).hosts[name])
    }

    private func ask(_ request: String, of name: String, isShared: Bool = false) throws -> (
        step: CheckSession.Step, answer: String
    ) {
        var session = CheckSession(.connectivity(try Self.host(name, isShared: isShared)))
        var output: [UInt8] = []
        let step = session.take(Array(request.utf8).span, output: &output)
        return (step, String(decoding: output, as: UTF8.self))
    }

    /// RFC 9110, sections 8.6 and 15.3.5: a 204 has neither a body nor a length.
    @Test func aCheckIsAnswered() throws {
        let request = "GET /generate_204 HTTP/1.1\r\nHost: android.test\r\n\r\n"
        let empty = try ask(request, of: "android.test")
        #expect(empty.step == .answered(request.utf8.count, isLast: false))
        #expect(empty.answer == "HTTP/1.1 204 No Content\r\nCache-Control: no-store\r\n\r\n")
        let page = try ask(
            "GET /hotspot-detect.html HTTP/1.0\r\nUser-Agent: CaptiveNetworkSupport\r\n\r\n", of: "captive.test")
        #expect(
            page.answer == "HTTP/1.1 200 OK\r\nCache-Control: no-store\r\nContent-Type: text/html\r\n"
                + "Content-Length: 68\r\nConnection: close\r\n\r\n\(Self.success)")
        let text = try ask("GET /ncsi.txt?x=1 HTTP/1.1\r\nHost: ncsi.test\r\n\r\n", of: "ncsi.test")
        #expect(text.answer.contains("\r\nContent-Type: text/plain\r\nContent-Length: 14\r\n"))
        #expect(text.answer.hasSuffix("\r\n\r\nMicrosoft NCSI"))
    }

    /// RFC 9110, section 9.3.2.
    @Test func aHeadHasTheLengthAndNoBody() throws {
        let found = try ask("HEAD / HTTP/1.1\r\nHost: captive.test\r\n\r\n", of: "captive.test")
        #expect(found.answer.contains("\r\nContent-Length: 68\r\n") && found.answer.hasSuffix("\r\n\r\n"))
        #expect(!found.answer.contains("Success"))
    }

    /// RFC 9112, section 3.2.2: a client may write a target in absolute form.
    @Test func theAbsoluteFormIsRead() throws {
        let found = try ask("GET http://ncsi.test/ncsi.txt HTTP/1.1\r\nHost: ncsi.test\r\n\r\n", of: "ncsi.test")
        #expect(found.answer.hasSuffix("Microsoft NCSI"))
    }

    @Test(
        "what is no check is refused",
        arguments: [
            ("GET /else HTTP/1.1\r\nHost: a\r\n\r\n", 404, false), ("GET / HTTP/1.0\r\n\r\n", 404, true),
            ("POST /generate_204 HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nxx", 405, true),
            ("get /generate_204 HTTP/1.1\r\nHost: a\r\n\r\n", 405, true),
            ("OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n", 405, true),
            ("GET /generate_204 HTTP/1.1\r\n\r\n", 400, true), ("nonsense\r\n\r\n", 400, true),
            ("GET /generate_204 HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400, true),
            ("GET /generate_204 HTTP/3.0\r\nHost: a\r\n\r\n", 505, true),
            ("CONNECT a:443 HTTP/1.1\r\nHost: a\r\n\r\n", 400, true),
            ("GET / HTTP/1.1\r\nX: " + String(repeating: "x", count: 9000), 431, true),
        ])
    func refused(request: String, status: Int, isLast: Bool) throws {
        let found = try ask(request, of: "android.test")
        #expect(found.answer.hasPrefix("HTTP/1.1 \(status) "))
        #expect(found.answer.contains("\r\nConnection: close\r\n") == isLast)
        if case .answered(_, isLast) = found.step { return }
        Issue.record("\(found.step)")
    }

    @Test("a host with a second purpose is answered for its checks alone, and the flow is whole for whoever is next")
    func shared() throws {
        let check = "GET /generate_204 HTTP/1.1\r\nHost: a\r\n\r\n"
        let answered = try ask(check, of: "android.test", isShared: true)
        #expect(answered.step == .answered(check.utf8.count, isLast: false))
        for request in ["GET /page HTTP/1.1\r\nHost: a\r\n\r\n", "nonsense\r\n\r\n", "\u{16}\u{3}\n\n"] {
            let found = try ask(request, of: "android.test", isShared: true)
            #expect(found.step == .noCheck && found.answer.isEmpty)
        }
    }

    @Test("a head in pieces is waited for, and requests in one piece are answered one by one", arguments: 0..<64)
    func pieces(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var session = CheckSession(.connectivity(try Self.host("android.test")))
        let one = Array("\r\nGET /generate_204 HTTP/1.1\r\nHost: android.test\r\nX: \(seed)\r\n\r\n".utf8)
        let stream = one + one + one
        var said: [UInt8] = []
        var (output, position, answers) = ([UInt8](), 0, 0)
        while answers < 3 {
            switch session.take(said.span, output: &output) {
            case .needsMore:
                let size = min(Int.random(in: 1...70, using: &random), stream.count - position)
                try #require(size > 0)
                said += stream[position..<position + size]
                position += size
            case .answered(let count, let isLast):
                #expect(count == one.count && !isLast)
                said.removeFirst(count)
                answers += 1
            case .noCheck: Issue.record("no check")
            }
        }
        #expect(said.isEmpty && position == stream.count)
        #expect(String(decoding: output, as: UTF8.self).split(separator: "HTTP/1.1 204").count == 3)
    }

    /// RFC 9110, section 9.3.2; the image is one pixel of PNG (third edition, section 5.2).
    @Test(
        "the image of a self-check is given to who names one, and the nonce is known",
        arguments: ["GET", "HEAD"])
    func image(method: String) throws {
        var session = CheckSession(.image(.cameByRoute))
        var output: [UInt8] = []
        let request = "\(method) /check.png?x=1&n=Ab12 HTTP/1.1\r\nHost: 198.18.0.2\r\n\r\n"
        #expect(session.take(Array(request.utf8).span, output: &output) == .answered(request.utf8.count, isLast: false))
        #expect(session.nonce == "ab12")
        let end = try #require(output.firstRange(of: Array("\r\n\r\n".utf8))).upperBound
        let head = String(decoding: output[..<end], as: UTF8.self)
        #expect(head.hasPrefix("HTTP/1.1 200 OK\r\n"))
        for field in ["Cache-Control: no-store", "Content-Type: image/png", "Content-Length: 68"] {
            #expect(head.contains("\r\n\(field)\r\n"), "\(head)")
        }
        let body = Array(output[end...])
        #expect(body.count == (method == "GET" ? 68 : 0))
        if method == "GET" { #expect(body.starts(with: hex("89504e470d0a1a0a0000000d49484452"))) }
    }

    @Test(
        "nothing else is an image, and nothing is known of it",
        arguments: [
            ("GET /check.png", 404), ("GET /check.png?n=", 404), ("GET /check.png?n=a.b", 404),
            ("GET /check.png?m=a", 404), ("GET /?n=a", 404), ("POST /check.png?n=a", 405),
            ("GET /check.png?n=" + String(repeating: "a", count: 64), 404),
        ])
    func noImage(line: String, status: Int) throws {
        var session = CheckSession(.image(.cameByRoute))
        var output: [UInt8] = []
        let request = "\(line) HTTP/1.1\r\nHost: a\r\n\r\n"
        _ = session.take(Array(request.utf8).span, output: &output)
        #expect(String(decoding: output, as: UTF8.self).hasPrefix("HTTP/1.1 \(status) ") && session.nonce == nil)
    }

    @Test("no octets bring it down", arguments: 0..<200)
    func totality(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var session = CheckSession(.connectivity(try Self.host("captive.test", isShared: seed.isMultiple(of: 2))))
        var bytes = Array("GET /hotspot-detect.html HTTP/1.1\r\nHost: a\r\n\r\n".utf8)
        for _ in 0..<Int.random(in: 0...6, using: &random) {
            bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
        }
        var output: [UInt8] = []
        if case .answered(let count, _) = session.take(bytes.span, output: &output) {
            #expect(count <= bytes.count && output.starts(with: Array("HTTP/1.1 ".utf8)))
        } else {
            #expect(output.isEmpty)
        }
    }
}
