/// A browser's connection as it sees it: RFC 9110 and RFC 9112.

import Addresses
import Bytes
import Page
import Testing

@testable import Control

private let get = "GET /requests?done=direct HTTP/1.1\r\nHost: 10.9.0.1\r\n\r\n"
private let post =
    "POST /switch HTTP/1.1\r\nHost: Starship.Internal:80\r\nOrigin: http://starship.internal\r\n"
    + "Content-Type: application/x-www-form-urlencoded; charset=UTF-8\r\nContent-Length: 10\r\n\r\nprofile=qa"
private let chunked =
    "POST /switch HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\na=b\r\n2;x=y\r\n&c\r\n0\r\n\r\n"

/// The client of a session, at the other end of a network that loses nothing.
private final class Browser {
    private var session: PageSession

    init() {
        session = PageSession(
            client: SocketAddress(IPAddress(v4: 0x0a09_0002), 40_000), local: IPAddress(v4: 0x0a09_0001), now: origin)
    }

    var output: [UInt8] { session.output }
    var isOver: Bool { session.isOver }
    var isIdle: Bool { session.isIdle }
    var wantsInput: Bool { session.wantsInput }

    func send(_ text: String, at time: Interval = .zero) -> PageVisit? {
        let octets = Array(text.utf8)
        return session.receive(octets.span, now: origin + time)
    }

    func answer(_ answer: PageAnswer, at time: Interval = .zero) { session.answer(answer, now: origin + time) }

    /// Reads so many octets, by default all; the text.
    @discardableResult
    func read(_ count: Int? = nil, at time: Interval = .zero) -> String {
        let octets = session.output.prefix(count ?? session.output.count)
        session.sent(octets.count, now: origin + time)
        return String(decoding: octets, as: UTF8.self)
    }

    func next() -> PageVisit? { session.next() }

    /// Has each visit answered with its target and its body; what the browser reads.
    func converse(_ pieces: [String]) -> String {
        var text = ""
        for piece in pieces {
            var visit = send(piece)
            repeat {
                if let visit {
                    answer(.line(visit.target + String(decoding: visit.body, as: UTF8.self), status: 200))
                }
                text += read()
                visit = next()
            } while visit != nil || !output.isEmpty
        }
        return text
    }

    func expectDeadline(_ time: Interval, _ location: SourceLocation = #_sourceLocation) {
        let deadline = session.deadline
        #expect(deadline == origin + time, sourceLocation: location)
    }
}

/// How a text that no visit comes of is answered.
private func refused(_ text: String) -> (answer: String, ends: Bool) {
    let browser = Browser()
    #expect(browser.send(text) == nil, "\(text)")
    let answer = browser.read()
    return (answer, browser.isOver)
}

struct PageSessionTests {
    @Test("visits are the same in pieces of every size, and all are answered in their order")
    func pieces() {
        let text = Array((get + post + "\r\n" + chunked + get).utf8)
        let expected = Browser().converse([String(decoding: text, as: UTF8.self)])
        #expect(expected.split(separator: "HTTP/1.1 200 OK\r\n").count == 4)
        let bodies = expected.split(separator: "\r\n\r\n").dropFirst().map { String($0.prefix { $0 != "\n" }) }
        #expect(bodies == ["/requests?done=direct", "/switchprofile=qa", "/switcha=b&c", "/requests?done=direct"])
        for size in 1...text.count {
            let pieces = stride(from: 0, to: text.count, by: size).map { start in
                String(decoding: text[start..<min(start + size, text.count)], as: UTF8.self)
            }
            #expect(Browser().converse(pieces) == expected, "in pieces of \(size)")
        }
    }

    @Test("a visit has the head as it stood there, and who came where")
    func whole() throws {
        let visit = try #require(Browser().send(post))
        #expect(
            visit.head
                == PageHead(
                    method: "POST", host: "Starship.Internal:80", origin: "http://starship.internal",
                    contentType: "application/x-www-form-urlencoded; charset=UTF-8", bodyCount: 10))
        #expect(visit.target == "/switch")
        #expect(visit.body == Array("profile=qa".utf8))
        #expect("\(visit.client)" == "10.9.0.2:40000")
        #expect("\(visit.local)" == "10.9.0.1")
        let bare = try #require(Browser().send("delete /%41?b HTTP/1.0\r\n\r\n"))
        #expect(bare.head == PageHead(method: "delete", host: ""))
        #expect(bare.target == "/%41?b")
    }

    @Test(
        "in the absolute form the target names the host (RFC 9112, section 3.2.2)",
        arguments: [
            ("http://10.9.0.1/a?v=1", "10.9.0.1", "/a?v=1"), ("HTTP://other.example:81", "other.example:81", "/"),
            ("http://10.9.0.1?x", "10.9.0.1", "/?x"), ("http:///x", "", "/x"), ("*", "a", "*"),
        ])
    func absolute(target: String, host: String, path: String) throws {
        let visit = try #require(Browser().send("GET \(target) HTTP/1.1\r\nHost: a\r\n\r\n"))
        #expect(visit.head.host == host)
        #expect(visit.target == path)
    }

    @Test(
        "what is no request of HTTP/1.1 is refused, and the connection ends (RFC 9112, sections 2.2, 3, 5 and 6.3)",
        arguments: [
            ("GET / HTTP/1.1\r\n\r\n", 400), ("GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n", 400),
            ("GET / HTTP/2.0\r\nHost: a\r\n\r\n", 505), ("GET /\r\n\r\n", 400),
            ("GET / HTTP/1.1\r\nHost: a\r\nX : a\r\n\r\n", 400), ("GET / HTTP/1.1\r\nHost: a\r\n b\r\n\r\n", 400),
            ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab", 400),
            ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", 400),
            ("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n", 400),
            // Said twice it is said by two: a proxy may have looked at the other one.
            ("POST / HTTP/1.1\r\nHost: a\r\nOrigin: http://a\r\nOrigin: http://b\r\n\r\n", 400),
            ("POST / HTTP/1.1\r\nHost: a\r\nContent-Type: a/b\r\nContent-Type: c/d\r\n\r\n", 400),
        ])
    func refuses(text: String, status: Int) {
        let (answer, ends) = refused(text + get)
        #expect(answer.hasPrefix("HTTP/1.1 \(status) "), "\(text)")
        #expect(answer.contains("\r\nConnection: close\r\n"))
        #expect(answer.contains("\r\nContent-Security-Policy: default-src 'none';"))
        #expect(answer.split(separator: "HTTP/1.1 ").count == 1)
        #expect(ends)
    }

    @Test("a head over 8 KiB and a form over 16 KiB are refused; at the limit they are not")
    func limits() {
        let long = "GET / HTTP/1.1\r\nHost: a\r\nX: "
        let full = long + String(repeating: "a", count: 8192 - long.utf8.count - 4)
        #expect(Browser().send(full + "\r\n\r\n") != nil)
        #expect(refused(full + "a\r\n\r\n").answer.hasPrefix("HTTP/1.1 431 "))
        #expect(refused(long + String(repeating: "a", count: 8192)).answer.contains("8 KiB"))

        let form = "POST / HTTP/1.1\r\nHost: a\r\n"
        let body = String(repeating: "b", count: 16_384)
        #expect(Browser().send("\(form)Content-Length: 16384\r\n\r\n\(body)")?.body.count == 16_384)
        #expect(refused("\(form)Content-Length: 16385\r\n\r\n").answer.hasPrefix("HTTP/1.1 413 Content Too Large\r\n"))
        let chunk = "\(form)Transfer-Encoding: chunked\r\n\r\n4000\r\n\(body)\r\n"
        #expect(Browser().send("\(chunk)0\r\n\r\n")?.body.count == 16_384)
        #expect(refused("\(chunk)1\r\nb").answer.hasPrefix("HTTP/1.1 413 "))
    }

    @Test("an answer has its fields as they are, its length, and whether the connection ends")
    func writes() throws {
        let browser = Browser()
        _ = try #require(browser.send("GET / HTTP/1.0\r\n\r\n"))
        browser.answer(.line("ü", status: 429))
        let answer = browser.read()
        #expect(answer.hasPrefix("HTTP/1.1 429 Too Many Requests\r\nContent-Type: text/plain; charset=utf-8\r\n"))
        for field in ["Referrer-Policy: same-origin", "Cache-Control: no-store"] {
            #expect(answer.contains("\r\n\(field)\r\n"))
        }
        #expect(answer.hasSuffix("\r\nContent-Length: 3\r\nConnection: close\r\n\r\nü\n"))
    }

    @Test("a redirection has an empty body, an answer to HEAD none, whether it is refused or not")
    func bodiless() throws {
        let browser = Browser()
        _ = try #require(browser.send(post))
        browser.answer(.done(.switched))
        let done = browser.read()
        #expect(done.hasPrefix("HTTP/1.1 303 See Other\r\nContent-Security-Policy: "))
        #expect(done.contains("\r\nLocation: /?done=switched\r\n"))
        #expect(done.hasSuffix("\r\nContent-Length: 0\r\n\r\n"))

        let (whole, head) = (Browser().converse([get]), Browser().converse(["HEAD" + get.dropFirst(3)]))
        #expect(whole.hasPrefix(head))
        #expect(head.contains("\r\nContent-Length: 22\r\n") && head.hasSuffix("\r\n\r\n"))
        let refusal = refused("\r\nHEAD / HTTP/1.1\r\nHost : a\r\n\r\n").answer
        #expect(refusal.hasPrefix("HTTP/1.1 400 ") && refusal.hasSuffix("\r\n\r\n"))
    }

    @Test(
        "the connection goes on unless one side says that it ends (RFC 9112, section 9.3)",
        arguments: [
            ("HTTP/1.1\r\nHost: a\r\n", false), ("HTTP/1.1\r\nHost: a\r\nConnection: keep-alive\r\n", false),
            ("HTTP/1.1\r\nHost: a\r\nConnection: x, Close\r\n", true), ("HTTP/1.0\r\n", true),
        ])
    func keepsAlive(head: String, ends: Bool) {
        let browser = Browser()
        let answer = browser.converse(["GET / \(head)\r\n"])
        #expect(browser.isOver == ends)
        #expect(answer.contains("\r\nConnection: close\r\n") == ends)
    }

    @Test("who waits for 100 gets it before the body (RFC 9110, section 10.1.1)")
    func expectation() {
        let form = "POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-Continue\r\nContent-Length: "
        let browser = Browser()
        #expect(browser.send(form + "2\r\n\r\n") == nil)
        #expect(browser.read() == "HTTP/1.1 100 Continue\r\n\r\n")
        #expect(browser.send("a=") != nil)
        #expect(refused(form + "16385\r\n\r\n").answer.hasPrefix("HTTP/1.1 413 "))
    }

    @Test("the next visit is looked at when the answer was sent, so nothing piles up")
    func oneAtATime() throws {
        let browser = Browser()
        #expect(browser.send(get + get) != nil)
        #expect(!browser.wantsInput && browser.next() == nil)
        browser.answer(.line("a", status: 200))
        #expect(!browser.wantsInput && browser.next() == nil)
        browser.read(browser.output.count - 1)
        #expect(browser.next() == nil)
        browser.read()
        #expect(!browser.isIdle)
        #expect(browser.next() != nil)
        browser.answer(.line("a", status: 200))
        browser.read()
        #expect(browser.isIdle && browser.wantsInput && browser.next() == nil)
    }

    @Test("a request has ten seconds from its first octet, silence fifteen, the end of a connection two")
    func deadlines() {
        let browser = Browser()
        browser.expectDeadline(.seconds(15))
        _ = browser.send("POST / HTTP/1.1\r\n", at: .seconds(14))
        browser.expectDeadline(.seconds(24))
        _ = browser.send("Host: a\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n", at: .seconds(20))
        browser.read(at: .seconds(21))
        _ = browser.send("a", at: .seconds(23))
        browser.expectDeadline(.seconds(24))
        #expect(browser.send("=GET /", at: .seconds(23)) != nil)
        browser.answer(.line("a", status: 200), at: .seconds(23))
        browser.expectDeadline(.seconds(38))
        browser.read(1, at: .seconds(30))
        browser.expectDeadline(.seconds(45))
        // Of the answer the rest is read: what is there of the next request has its ten seconds from now.
        browser.read(at: .seconds(40))
        #expect(browser.next() == nil)
        browser.expectDeadline(.seconds(50))
        _ = browser.send("x HTTP/9.9\r\n\r\n", at: .seconds(49))
        browser.read(at: .seconds(49))
        browser.expectDeadline(.seconds(51))
        _ = browser.send("and so on", at: .seconds(50))
        browser.expectDeadline(.seconds(51))
    }
}
