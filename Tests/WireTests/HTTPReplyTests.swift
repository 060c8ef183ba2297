/// Reading the head of a reply.

import Testing
import Wire

@Suite struct HTTPReplyTests {
    /// Feeds text in pieces of `size` octets and returns the head and what follows it.
    private func read(_ text: String, by size: Int) throws -> (head: HTTPReplyHead, rest: String)? {
        let bytes = Array(text.utf8)
        var reader = HTTPReplyReader()
        var position = 0
        while position < bytes.count {
            let piece = Array(bytes[position..<min(position + size, bytes.count)])
            if let end = try reader.read(piece.span) {
                return (reader.head, String(decoding: bytes[(position + end)...], as: UTF8.self))
            }
            position += piece.count
        }
        return nil
    }

    @Test("B030, B047: any split and any tolerable form gives the same head", arguments: [1, 2, 3, 7, 4096])
    func splits(size: Int) throws {
        for text in [
            "HTTP/1.1 200 Connection established\r\nProxy-Agent: whistle\r\n\r\nabc", "HTTP/1.1 200 \r\n\r\nabc",
            "HTTP/1.1 200\r\n\r\nabc", "HTTP/1.1 200 OK\n\nabc", "HTTP/1.1 200 OK\r\nX-Fold: a\r\n b\r\n\r\nabc",
            "HTTP/1.0 200 Connection established\r\nproxy-agent: tinyproxy/1.11\r\n\r\nabc",
            "\r\nHTTP/1.1 200 OK\r\n\r\nabc", "http/1.1 200 ok\r\nno colon here\r\n: empty name\r\n\r\nabc",
        ] {
            let result = try #require(try read(text, by: size))
            #expect(result.head.status == 200)
            #expect(result.rest == "abc")
        }
    }

    @Test func readsWhatFramesTheBody() throws {
        let chunked = try #require(try read("HTTP/1.1 403 No\r\ntransfer-encoding: chunked\r\n\r\n", by: 5)).head
        #expect(chunked.body(answeringHead: false) == .chunked(.start))
        #expect(chunked.body(answeringHead: true) == .none)
        let counted = try #require(try read("HTTP/1.1 403 No\r\nContent-Length : 12\r\n\r\n", by: 5)).head
        #expect(counted.body(answeringHead: false) == .length(12))
        let open = try #require(try read("HTTP/1.1 403 No\r\n\r\n", by: 5)).head
        #expect(open.body(answeringHead: false) == .untilClose)
        let broken = try #require(try read("HTTP/1.1 403 No\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", by: 9))
            .head
        #expect(broken.body(answeringHead: false) == .untilClose)
        let bare = try #require(try read("HTTP/1.1 304 Same\r\nContent-Length: 9\r\n\r\n", by: 9)).head
        #expect(bare.body(answeringHead: false) == .none)
    }

    @Test(
        "knows whether the connection goes on (RFC 9112, section 9.3)",
        arguments: [
            ("HTTP/1.1 407 A\r\n\r\n", true), ("HTTP/1.1 407 A\r\nConnection: close\r\n\r\n", false),
            ("HTTP/1.0 407 A\r\n\r\n", false), ("HTTP/1.0 407 A\r\nProxy-Connection: Keep-Alive\r\n\r\n", true),
            ("HTTP/1.1 407 A\r\nConnection: x, Close\r\n\r\n", false),
        ])
    func keepAlive(text: String, expected: Bool) throws {
        let result = try #require(try read(text, by: 100))
        #expect(result.head.keepsAlive == expected)
    }

    @Test("joins challenges over fields and folded lines")
    func challenges() throws {
        let text = "HTTP/1.1 407 A\r\nProxy-Authenticate: Digest a=b,\r\n nonce=c\r\nproxy-authenticate: Basic\r\n\r\n"
        let result = try #require(try read(text, by: 3))
        #expect(HTTPChallenge(result.head.challenges).schemes == ["Digest", "Basic"])
    }

    @Test(
        "refuses what is no reply as soon as it shows",
        arguments: [
            ("SSH-2.0-OpenSSH_9.6\r\n", HTTPError.notHTTP), ("H2", .notHTTP), ("\u{15}\u{3}\u{3}", .speaksTLS),
            ("HTTP/1.1 2000 X\r\n", .badStatusLine), ("HTTP/1.1\r\n", .badStatusLine),
            ("HTTP/1.1 OK\r\n", .badStatusLine), ("HTTP/1.1 099 X\r\n", .badStatusLine),
        ])
    func refuses(text: String, error: HTTPError) {
        #expect(throws: error) { try read(text, by: 100) }
        #expect(throws: error) { try read(text, by: 1) }
    }

    @Test("B047: a head has 64 KiB at most", arguments: [1, 1000, 1 << 20])
    func limit(size: Int) throws {
        let fitting = "HTTP/1.1 200 OK\r\nX-Big: " + String(repeating: "a", count: 65536 - 28) + "\r\n\r\n"
        #expect(fitting.utf8.count == 65536)
        #expect(try read(fitting, by: size)?.head.status == 200)
        let over = "HTTP/1.1 200 OK\r\nX-Big: " + String(repeating: "a", count: 1 << 20)
        #expect(throws: HTTPError.headTooLong) { try read(over, by: size) }
        let endless = "HTTP/1.1 200 OK\r\n" + String(repeating: "X: y\r\n", count: 20_000)
        #expect(throws: HTTPError.headTooLong) { try read(endless, by: size) }
    }

    @Test(
        "names the schemes of a challenge (RFC 9110, section 11.7.1)",
        arguments: [
            ("Digest realm=\"a, b\", nonce=\"n\", qop=\"auth\", Basic realm=\"x\"", ["Digest", "Basic"]),
            ("Negotiate,NTLM", ["Negotiate", "NTLM"]),
            ("Negotiate YII=, Basic realm=\"q\\\"uo, te\"", ["Negotiate", "Basic"]),
            ("NTLM TlRMTVNTUAA=", ["NTLM"]), ("", []), (",,, ,", []),
            ("basic realm = \"x\" , charset=\"UTF-8\"", ["basic"]),
            ("\"", []), ("Basic realm=\"unterminated", ["Basic"]),
        ])
    func schemes(field: String, expected: [String]) {
        #expect(HTTPChallenge(Array(field.utf8)).schemes == expected)
    }
}
