/// Answers as they are written.

import Profiles
import Testing

@testable import Control

struct ControlAnswerTests {
    private func text(_ answer: ControlAnswer, isHead: Bool = false, closes: Bool = false) -> String {
        var output: [UInt8] = []
        answer.write(into: &output, isHead: isHead, closes: closes)
        return String(decoding: output, as: UTF8.self)
    }

    @Test("an answer has status, type and length in octets, and is for nobody to keep")
    func plain() {
        let answer = ControlAnswer(.members(["name": "客"]), status: 201)
        let body = "{\"name\":\"客\"}\n"
        #expect(
            text(answer)
                == "HTTP/1.1 201 Created\r\nContent-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n"
                + "Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n\r\n" + body)
        #expect(text(answer, isHead: true) + body == text(answer))
        #expect(text(answer, closes: true).contains("\r\nConnection: close\r\n\r\n"))
    }

    @Test("a document keeps its type, and further fields stand in the head")
    func document() {
        var answer = ControlAnswer(document: "openapi: 3", type: "text/plain")
        answer.fields = [("Starship-Signature", "abc")]
        let text = self.text(answer)
        #expect(text.contains("\r\nContent-Type: text/plain\r\nContent-Length: 10\r\n"))
        #expect(text.contains("\r\nStarship-Signature: abc\r\n"))
        #expect(text.hasSuffix("\r\n\r\nopenapi: 3"))
    }

    @Test("405 names the methods that there are (RFC 9110, section 15.5.6), and nothing lets another origin read")
    func notAllowed() throws {
        let text = self.text(ControlAnswer(try refusal("OPTIONS /v1/config")))
        #expect(text.hasPrefix("HTTP/1.1 405 Method Not Allowed\r\n"))
        #expect(text.contains("\r\nAllow: GET, HEAD, PUT\r\n"))
        #expect(!text.lowercased().contains("access-control"))
    }

    @Test(
        "every status that there is has its phrase (RFC 9110, section 15)",
        arguments: [
            (ControlError.Code.badRequest, "400 Bad Request"), (.noTarget, "400 Bad Request"),
            (.forbidden, "403 Forbidden"), (.notFound, "404 Not Found"), (.methodNotAllowed, "405 Method Not Allowed"),
            (.conflict, "409 Conflict"), (.notConfirmed, "409 Conflict"), (.tooLarge, "413 Content Too Large"),
            (.unsupportedMediaType, "415 Unsupported Media Type"), (.misdirected, "421 Misdirected Request"),
            (.storeFailed, "503 Service Unavailable"), (.notApplied, "503 Service Unavailable"),
            (.unavailable, "503 Service Unavailable"),
        ])
    func phrases(code: ControlError.Code, phrase: String) {
        #expect(text(ControlAnswer(ControlError(code, "x"))).hasPrefix("HTTP/1.1 \(phrase)\r\n"))
    }

    @Test(
        "what is wrong with a document decides the status: no JSON, too much of it, a contradiction, its content",
        arguments: [
            (ConfigurationError.Code.encoding, 400), (.syntax, 400), (.tooDeep, 400), (.tooLarge, 413),
            (.conflict, 409),
            (.badValue, 422),
        ])
    func statuses(code: ConfigurationError.Code, status: Int) {
        let error = ControlError(
            ConfigurationError(code, at: TextPosition(line: 3, column: 7), path: "a[0].b", found: "x", expected: "y"))
        #expect(error.status == status)
        #expect(error.code == code.rawValue)
        #expect(error.path == "a[0].b")
        #expect(error.json.text.contains("\"line\":3,\"column\":7"))
    }
}
