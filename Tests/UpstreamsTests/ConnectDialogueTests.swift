/// CONNECT and what a proxy says to it, without sockets.

import Addresses
import Testing
import Upstreams
import Wire

@Suite struct ConnectDialogueTests {
    /// What the dialogue makes of a reply in pieces: the step that ends it, and the stream's first octets.
    private func play(_ reply: String, by size: Int = .max) -> (step: ConnectDialogue.Step, leftover: String) {
        var dialogue = ConnectDialogue()
        let bytes = Array(reply.utf8)
        var start = 0
        while start < bytes.count {
            let piece = Array(bytes[start..<min(start + min(size, bytes.count), bytes.count)])
            let step = dialogue.receive(piece.span)
            start += piece.count
            if case .open(let leftover) = step {
                return (step, String(decoding: piece[leftover] + bytes[start...], as: UTF8.self))
            }
            if step != .needsMore { return (step, "") }
        }
        return (dialogue.end() ?? .needsMore, "")
    }

    private func isOpen(_ step: ConnectDialogue.Step) -> Bool {
        if case .open = step { return true }
        return false
    }

    private func request(
        _ target: Target, client: ClientIdentity? = nil, credentials: BasicCredentials? = nil
    ) -> String {
        var output: [UInt8] = []
        ConnectDialogue.writeRequest(to: target, identifying: client, credentials: credentials, into: &output)
        return String(decoding: output, as: UTF8.self)
    }

    @Test("asks with Host and nothing else")
    func asks() {
        #expect(
            request(Target("www.example.test:443"))
                == "CONNECT www.example.test:443 HTTP/1.1\r\nHost: www.example.test:443\r\n\r\n")
    }

    @Test("B040: an IPv6 target has one pair of brackets in request line and Host")
    func brackets() {
        #expect(
            request(Target("[2001:db8::1]:443"))
                == "CONNECT [2001:db8::1]:443 HTTP/1.1\r\nHost: [2001:db8::1]:443\r\n\r\n")
    }

    @Test("says who the client is when the profile wants it, in letters that cannot end a line")
    func identifies() {
        let address = IPAddress(v4: 0x0a09_0002)
        let named = request(Target("a.test:1"), client: ClientIdentity(address: address, name: "Ümit's\r\nphone %"))
        #expect(
            named == "CONNECT a.test:1 HTTP/1.1\r\nHost: a.test:1\r\nX-Forwarded-For: 10.9.0.2\r\n"
                + "X-Whistle-Client-Id: %C3%9Cmit's%0D%0Aphone%20%25\r\n\r\n")
        #expect(
            request(Target("a.test:1"), client: ClientIdentity(address: address)).contains("Client-Id: 10.9.0.2\r\n"))
    }

    @Test("B050: credentials are sent once, as they are")
    func authorizes() throws {
        let credentials = try #require(BasicCredentials(user: "user@corp", password: "p@ss:w/rd"))
        #expect(
            request(Target("a.test:1"), credentials: credentials)
                == "CONNECT a.test:1 HTTP/1.1\r\nHost: a.test:1\r\nProxy-Authorization: Basic dXNlckBjb3JwOnBAc3M6dy9yZA==\r\n\r\n"
        )
    }

    @Test(
        "B030, B032, B033, B036, B047: any 2xx opens the tunnel and what follows its head is the stream",
        arguments: [
            "HTTP/1.1 200 Connection established\r\nProxy-Agent: whistle\r\n\r\n", "HTTP/1.1 200 OK\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
            "HTTP/1.1 200 OK\r\nConnection: close\r\nProxy-Connection: close\r\n\r\n", "HTTP/1.1 200 \r\n\r\n",
            "HTTP/1.1 200 OK\n\n", "HTTP/1.0 200 Connection established\r\nproxy-agent: tinyproxy/1.11\r\n\r\n",
            "HTTP/1.1 200 OK\r\nX-Fold: a\r\n b\r\n\r\n", "HTTP/1.1 201 Created\r\n\r\n", "HTTP/1.1 299\r\n\r\n",
            "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\n\r\n",
            "HTTP/1.1 200 OK\r\n" + String(repeating: "X-Line: y\r\n", count: 40) + "\r\n",
        ])
    func opens(head: String) {
        for size in [1, 2, 5, .max] {
            let result = play(head + "SSH-2.0-x\r\n", by: size)
            #expect(isOpen(result.step))
            #expect(result.leftover == "SSH-2.0-x\r\n")
        }
    }

    @Test("B047: a head without end fails at 64 KiB")
    func limits() {
        let result = play("HTTP/1.1 200 OK\r\nX-Big: " + String(repeating: "a", count: 1 << 20), by: 1000)
        #expect(result.step == .failed(.headTooLong))
    }

    @Test(
        "B042: a refusal keeps the status and the first words of its page",
        arguments: [
            ("HTTP/1.1 403 Forbidden\r\nServer: squid/6.6\r\nContent-Length: 3\r\n\r\nno!", 403, "no!"),
            ("HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n", 502, "Bad Gateway"),
            (
                "HTTP/1.1 503 Busy\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nget\r\n5\r\n lost\r\n0\r\n\r\n", 503,
                "get lost"
            ),
            ("HTTP/1.0 500 X\r\nContent-Type: text/html\r\n\r\n<h1>Down</h1>", 500, "Down"),
            ("HTTP/1.1 301 Moved\r\nLocation: http://x/\r\nContent-Length: 0\r\n\r\n", 301, "Moved"),
            ("HTTP/1.1 101 Switching Protocols\r\n\r\n", 101, ""),
            ("HTTP/1.1 403 Forbidden\r\nTransfer-Encoding: chunked\r\n\r\nzz", 403, "Forbidden"),
        ])
    func refuses(reply: String, status: Int, text: String) {
        for size in [1, 4, .max] { #expect(play(reply, by: size).step == .refused(status: status, text: text)) }
    }

    @Test("the status of a refusal is known before its page")
    func refusesEarly() {
        var dialogue = ConnectDialogue()
        #expect(dialogue.receive(Array("HTTP/1.1 403 No\r\nContent-Length: 9\r\n\r\n".utf8).span) == .needsMore)
        #expect(dialogue.refusal == 403)
        #expect(dialogue.end() == .refused(status: 403, text: "No"))
    }

    @Test(
        "B052, B057: a challenge names its schemes and says whether the same connection can be asked again",
        arguments: [
            (
                "HTTP/1.1 407 A\r\nProxy-Authenticate: Basic realm=\"r\"\r\nConnection: close\r\n\r\nbody", ["Basic"],
                false
            ),
            (
                "HTTP/1.1 407 A\r\nProxy-Authenticate: Basic realm=\"r\"\r\nContent-Length: 4\r\n\r\nbody", ["Basic"],
                true
            ),
            (
                "HTTP/1.1 407 A\r\nProxy-Authenticate: Negotiate\r\nProxy-Authenticate: NTLM\r\nContent-Length: 0\r\n\r\n",
                ["Negotiate", "NTLM"], true
            ),
            ("HTTP/1.0 407 A\r\nProxy-Authenticate: Basic\r\nContent-Length: 0\r\n\r\n", ["Basic"], false),
            ("HTTP/1.1 407 A\r\nProxy-Authenticate: Basic\r\nContent-Length: 3\r\n\r\nbody", ["Basic"], false),
        ])
    func challenges(reply: String, schemes: [String], isReusable: Bool) throws {
        guard case .challenged(let challenge, _, let reusable) = play(reply).step else {
            Issue.record("not a challenge")
            return
        }
        #expect(challenge.schemes == schemes)
        #expect(reusable == isReusable)
    }

    @Test(
        "what is no HTTP fails at once",
        arguments: [
            ("SSH-2.0-OpenSSH\r\n", HTTPError.notHTTP), ("\u{15}\u{3}\u{1}\u{0}\u{2}", .speaksTLS),
            ("HTTP/1.1 abc\r\n\r\n", .badStatusLine),
        ])
    func fails(reply: String, error: HTTPError) {
        #expect(play(reply).step == .failed(error))
    }
}
