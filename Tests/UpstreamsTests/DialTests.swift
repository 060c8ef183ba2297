/// Dials over loopback, against servers that follow a script.

import Addresses
import Bytes
import LinuxIO
import Testing
import Upstreams
import Wire

@Suite struct DialTests {
    private static let target = Target("api.example.test:443")
    private static let ok = "HTTP/1.1 200 Connection established\r\n\r\n"

    @Test("B030: a reply in single octets opens the tunnel, and the stream begins behind it")
    func pieces() throws {
        let server = try ScriptedServer()
        let text = try server.playing([
            [
                .expect("\r\n\r\n"), .trickle(Self.ok, octets: 1, pause: .milliseconds(2)), .send("abc"),
            ]
        ]) {
            var caller = try Caller()
            var outcome = try caller.open(Self.target, through: try upstream(at: server.address))
            return outcome.readAll()
        }
        #expect(text == "abc")
        #expect(server.received == ["CONNECT api.example.test:443 HTTP/1.1\r\nHost: api.example.test:443\r\n\r\n"])
    }

    @Test("B032: a banner in the same segment as the reply is handed over, with one descriptor and one read")
    func banner() throws {
        let server = try ScriptedServer()
        try server.playing([[.expect("\r\n\r\n"), .send(Self.ok + "SSH-2.0-OpenSSH_9.6\r\n"), .expectEnd]]) {
            var caller = try Caller()
            let outcome = try caller.open(Target("git.example.test:22"), through: try upstream(at: server.address))
            let opening = outcome.opening
            #expect(outcome.leftover == "SSH-2.0-OpenSSH_9.6\r\n")
            #expect(outcome.registered == 1)
            #expect(opening?.mayRead == false && opening?.inAbsoluteForm == false)
            #expect(outcome.server == server.address)
        }
    }

    @Test("B036: a stream whose reply said close carries data both ways")
    func echoes() throws {
        let server = try ScriptedServer()
        let head = "HTTP/1.1 200 OK\r\nConnection: close\r\nProxy-Connection: close\r\n\r\n"
        let text = try server.playing([[.expect("\r\n\r\n"), .send(head), .expect("ping"), .send("pong")]]) {
            var caller = try Caller()
            var outcome = try caller.open(Self.target, through: try upstream(at: server.address))
            _ = outcome.socket?.write(Array("ping".utf8).span)
            return outcome.readAll()
        }
        #expect(text == "pong")
    }

    @Test("B038: a proxy that drips has one deadline over all", arguments: ["HTTP/1.1 200 OK\r\nX: aaaaaaaaaaaa", ""])
    func silence(reply: String) throws {
        let server = try ScriptedServer()
        let script: [Step] = [.expect("\r\n\r\n"), .trickle(reply, octets: 1, pause: .milliseconds(20)), .expectEnd]
        try server.playing([script]) {
            var caller = try Caller()
            let proxy = try upstream(at: server.address) { $0.overallTimeout = .milliseconds(300) }
            let outcome = try caller.open(Self.target, through: proxy)
            #expect(outcome.failure == .proxySilent)
            #expect(outcome.took >= .milliseconds(300) && outcome.took < .seconds(3))
        }
    }

    @Test("B069: a proxy that closes, resets or does not listen")
    func noAnswer() throws {
        var address = SocketAddress(IPAddress(v4: 0x7f00_0001), 0)
        var caller = try Caller()
        do {
            let server = try ScriptedServer()
            address = server.address
            try server.playing([[.expect("\r\n\r\n")], [.expect("\r\n\r\n"), .reset], []]) {
                let proxy = try upstream(at: server.address)
                for _ in 0..<3 {
                    let outcome = try caller.open(Self.target, through: proxy)
                    #expect(outcome.failure == .proxyClosed)
                }
            }
        }
        let outcome = try caller.open(Self.target, through: try upstream(at: address))
        #expect(outcome.failure == .proxyUnreachable(.connectionRefused))
    }

    @Test("B044: a refused connection is closed, and the next stream has one of its own")
    func refusedThenOpen() throws {
        let server = try ScriptedServer()
        let refusal = "HTTP/1.1 403 Forbidden\r\nContent-Length: 9\r\nConnection: keep-alive\r\n\r\nforbidden"
        try server.playing([
            [.expect("CONNECT deny"), .send(refusal), .expectEnd],
            [.expect("CONNECT ok"), .send("HTTP/1.1 200 OK\r\n\r\nfine")],
        ]) {
            var caller = try Caller()
            let proxy = try upstream(at: server.address)
            let refused = try caller.open(Target("deny.example.test:443"), through: proxy)
            #expect(refused.failure == .refused(status: 403, text: "forbidden"))
            var opened = try caller.open(Target("ok.example.test:443"), through: proxy)
            #expect(opened.readAll() == "fine")
        }
    }

    @Test("the words of a refusal are waited for a moment, not for ever")
    func slowPage() throws {
        let server = try ScriptedServer()
        let head = "HTTP/1.1 503 Busy\r\nContent-Length: 9\r\n\r\n"
        try server.playing([
            [.expect("\r\n\r\n"), .send(head), .pause(.milliseconds(20)), .send("come back"), .expectEnd],
            [.expect("\r\n\r\n"), .send(head), .expectEnd],
        ]) {
            var caller = try Caller()
            let proxy = try upstream(at: server.address)
            #expect(try caller.open(Self.target, through: proxy).failure == .refused(status: 503, text: "come back"))
            let late = try caller.open(Self.target, through: proxy)
            #expect(late.failure == .refused(status: 503, text: "Busy"))
            #expect(late.took < .seconds(2))
        }
    }

    @Test("B042: port 80 refused ends the stream with http80: connect, and is remembered nowhere")
    func port80Refused() throws {
        let server = try ScriptedServer()
        let refusal = "HTTP/1.1 403 Forbidden\r\nServer: squid/6.6\r\nContent-Length: 3\r\n\r\nno!"
        try server.playing([[.expect("\r\n\r\n"), .send(refusal)]]) {
            var caller = try Caller()
            let proxy = try upstream(at: server.address) { $0.plainHTTP = .connect }
            let outcome = try caller.open(Target("www.example.test:80"), through: proxy)
            #expect(outcome.failure == .refused(status: 403, text: "no!"))
            // Nothing was waited for.
            #expect(outcome.timeouts == 0)
            #expect(!proxy.usesAbsoluteForm)
        }
    }

    @Test("a refused port 80 carries on in absolute form, and later streams begin with it", arguments: [403, 405])
    func absoluteForm(status: Int) throws {
        let server = try ScriptedServer()
        let get = "GET / HTTP/1.1\r\nHost: www.example.test\r\n\r\n"
        try server.playing([
            [.expect("CONNECT www"), .send("HTTP/1.1 \(status) No\r\nContent-Length: 3\r\n\r\n"), .expectEnd],
            [.expect("GET http://www.example.test/ "), .send("HTTP/1.1 200 OK\r\n\r\nfirst")],
            [.expect("GET http://www.example.test/ "), .send("HTTP/1.1 200 OK\r\n\r\nsecond")],
        ]) {
            var caller = try Caller()
            let proxy = try upstream(at: server.address)
            for body in ["first", "second"] {
                let target = Target("www.example.test:80")
                var outcome = try caller.open(target, through: proxy)
                #expect(outcome.opening?.inAbsoluteForm == true)
                var forward = proxy.forward(to: target, for: nil)
                var request: [UInt8] = []
                _ = try forward.rewrite(Array(get.utf8).span, into: &request)
                _ = outcome.socket?.write(request.span)
                #expect(outcome.readAll().hasSuffix(body))
            }
            #expect(proxy.usesAbsoluteForm)
        }
        #expect(server.received.count == 3)
        #expect(server.received[2].hasPrefix("GET http://www.example.test/ HTTP/1.1\r\nHost: www.example.test\r\n\r\n"))
    }

    @Test("a refusal of another port or with another status changes nothing", arguments: [(443, 403), (80, 502)])
    func noFallBack(port: UInt16, status: Int) throws {
        let server = try ScriptedServer()
        try server.playing([[.expect("\r\n\r\n"), .send("HTTP/1.1 \(status) No\r\nContent-Length: 0\r\n\r\n")]]) {
            var caller = try Caller()
            let proxy = try upstream(at: server.address)
            let outcome = try caller.open(Target(host: .name("a.test"), port: port), through: proxy)
            #expect(outcome.failure == .refused(status: status, text: "No"))
            #expect(!proxy.usesAbsoluteForm)
        }
    }

    @Test("a SOCKS5 proxy is asked with the same care")
    func socks5() throws {
        let server = try ScriptedServer()
        try server.playing([
            [
                .expect("\u{5}\u{2}\u{0}\u{2}"), .trickle("\u{5}\u{2}", octets: 1, pause: .milliseconds(5)),
                .expect("\u{1}\u{2}qa\u{2}pw"), .send("\u{1}\0"), .expect("\u{3}\u{6}a.test\u{1}"),
                .send("\u{5}\0\0\u{1}\0\0\0\0\0\0hello"),
            ],
            [.expect("\u{5}"), .send("\u{5}\u{2}"), .expect("qa"), .send("\u{1}\u{1}"), .expectEnd],
        ]) {
            var caller = try Caller()
            let proxy = try upstream(at: server.address) {
                $0.kind = .socks5(server: Target(server.address))
                $0.user = "qa"
                $0.password = "pw"
            }
            var outcome = try caller.open(Target("a.test:300"), through: proxy)
            #expect(outcome.readAll() == "hello")
            #expect(try caller.open(Target("a.test:300"), through: proxy).failure == .credentialsRejected)
            let third = try caller.open(Target("a.test:300"), through: proxy)
            #expect(third.failure == .credentialsRejected)
            #expect(third.registered == 0)
        }
    }
}
