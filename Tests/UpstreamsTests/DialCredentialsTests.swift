/// Credentials on the way to a proxy: when they are sent, and when they are not.

import Bytes
import LinuxIO
import Synchronization
import Testing
import Upstreams
import Wire

@Suite struct DialCredentialsTests {
    private static let target = Target("api.example.test:443")
    private static let challenge = "HTTP/1.1 407 A\r\nProxy-Authenticate: Basic realm=\"r\"\r\n"

    private func proxy(_ server: ScriptedServer, _ mode: UpstreamSettings.Authentication) throws -> Upstream {
        try upstream(at: server.address) {
            $0.user = "u"
            $0.password = "p"
            $0.authentication = mode
        }
    }

    @Test("credentials are sent with the first CONNECT unless the profile says otherwise")
    func preemptive() throws {
        let server = try ScriptedServer()
        try server.playing([[.expect("Proxy-Authorization: Basic dTpw\r\n\r\n"), .send("HTTP/1.1 200 OK\r\n\r\n")]]) {
            var caller = try Caller()
            #expect(try caller.open(Self.target, through: try proxy(server, .preemptive)).opening != nil)
        }
    }

    @Test("B052: a challenge that closes is answered on a new connection")
    func reconnects() throws {
        let server = try ScriptedServer()
        try server.playing([
            [.expect("\r\n\r\n"), .send(Self.challenge + "Connection: close\r\n\r\nbody")],
            [.expect("Proxy-Authorization: Basic dTpw"), .send("HTTP/1.1 200 OK\r\n\r\nT")],
        ]) {
            var caller = try Caller()
            var outcome = try caller.open(Self.target, through: try proxy(server, .challenge))
            #expect(outcome.readAll() == "T")
            #expect(outcome.registered == 2)
        }
        #expect(!server.received[0].contains("Proxy-Authorization"))
    }

    @Test("B052: a challenge with a page is answered behind it on the same connection")
    func asksAgain() throws {
        let server = try ScriptedServer()
        let half = String(repeating: "x", count: 1000)
        try server.playing([
            [
                .expect("\r\n\r\n"), .send(Self.challenge + "Content-Length: 2000\r\n\r\n"), .send(half),
                .pause(.milliseconds(100)), .send(half), .expect("Proxy-Authorization: Basic dTpw"),
                .send("HTTP/1.1 200 OK\r\n\r\nT"),
            ]
        ]) {
            var caller = try Caller()
            var outcome = try caller.open(Self.target, through: try proxy(server, .challenge))
            #expect(outcome.readAll() == "T")
            #expect(outcome.registered == 1)
        }
    }

    @Test("a connection that ends after its challenge after all is replaced")
    func replacesADeadConnection() throws {
        let server = try ScriptedServer()
        try server.playing([
            [.expect("\r\n\r\n"), .send(Self.challenge + "Content-Length: 2\r\n\r\nno"), .expect("\r\n\r\n")],
            [.expect("Proxy-Authorization: Basic dTpw"), .send("HTTP/1.1 200 OK\r\n\r\nT")],
        ]) {
            var caller = try Caller()
            var outcome = try caller.open(Self.target, through: try proxy(server, .challenge))
            #expect(outcome.readAll() == "T")
        }
    }

    @Test("B057: Basic is never sent where only other schemes are offered, and the cause names them")
    func otherSchemes() throws {
        let server = try ScriptedServer()
        let reply =
            "HTTP/1.1 407 A\r\nProxy-Authenticate: Negotiate\r\nProxy-Authenticate: NTLM\r\nContent-Length: 0\r\n\r\n"
        try server.playing([[.expect("\r\n\r\n"), .send(reply), .expectEnd]]) {
            var caller = try Caller()
            let outcome = try caller.open(Self.target, through: try proxy(server, .challenge))
            #expect(outcome.failure == .schemesNotSupported(["Negotiate", "NTLM"]))
        }
        #expect(!server.received[0].contains("Authorization"))
    }

    @Test("B057: of several schemes the one that we speak is used")
    func mixedSchemes() throws {
        let server = try ScriptedServer()
        let reply =
            "HTTP/1.1 407 A\r\nProxy-Authenticate: Digest realm=\"a, b\", nonce=\"n\", qop=\"auth\", Basic realm=\"x\""
        try server.playing([
            [
                .expect("\r\n\r\n"), .send(reply + "\r\nContent-Length: 0\r\n\r\n"), .expect("Authorization: Basic"),
                .send("HTTP/1.1 200 OK\r\n\r\n"),
            ]
        ]) {
            var caller = try Caller()
            #expect(try caller.open(Self.target, through: try proxy(server, .challenge)).opening != nil)
        }
    }

    /// tinyproxy challenges with 407 and rejects with 401.
    @Test(
        "rejected credentials are not sent again, by either mode", arguments: [true, false],
        [Self.challenge + "Connection: close\r\n\r\n", "HTTP/1.0 401 Unauthorized\r\nConnection: close\r\n\r\nno"])
    func lockOut(preemptive: Bool, rejecting: String) throws {
        let server = try ScriptedServer()
        let reply = Self.challenge + "Connection: close\r\n\r\n"
        let rejection: [Step] = [.expect("Basic dTpw"), .send(rejecting), .expectEnd]
        let asking: [Step] = [.expect("\r\n\r\n"), .send(reply)]
        try server.playing(preemptive ? [rejection] : [asking, rejection, asking]) {
            var caller = try Caller()
            let upstream = try proxy(server, preemptive ? .preemptive : .challenge)
            #expect(try caller.open(Self.target, through: upstream).failure == .credentialsRejected)
            #expect(upstream.credentialsAreLockedOut(at: Clock.now()))
            #expect(!upstream.credentialsAreLockedOut(at: Clock.now() + .seconds(901)))
            let second = try caller.open(Self.target, through: upstream)
            #expect(second.failure == .credentialsRejected)
            #expect(second.registered == (preemptive ? 0 : 1))
        }
        #expect(server.received.filter { $0.contains("Basic dTpw") }.count == 1)
    }

    @Test("a 401 to which no credentials were shown is a refusal like any other")
    func unauthorized() throws {
        let server = try ScriptedServer()
        try server.playing([[.expect("\r\n\r\n"), .send("HTTP/1.1 401 No\r\nContent-Length: 2\r\n\r\nno")]]) {
            var caller = try Caller()
            let outcome = try caller.open(Self.target, through: try upstream(at: server.address))
            #expect(outcome.failure == .refused(status: 401, text: "no"))
        }
    }

    @Test("without credentials a challenge is a refusal")
    func noCredentials() throws {
        let server = try ScriptedServer()
        try server.playing([[.expect("\r\n\r\n"), .send(Self.challenge + "Content-Length: 5\r\n\r\nlogin")]]) {
            var caller = try Caller()
            let outcome = try caller.open(Self.target, through: try upstream(at: server.address))
            #expect(outcome.failure == .refused(status: 407, text: "login"))
        }
    }

    @Test("B215: a proxy that echoes the credentials does not bring them into the log")
    func echo() throws {
        let server = try ScriptedServer()
        let page = "you sent Basic dTpTM2NyM3QtWnE= for u and S3cr3t-Zq"
        let reply = "HTTP/1.1 502 Bad\r\nContent-Length: \(page.utf8.count)\r\n\r\n\(page)"
        try server.playing([[.expect("\r\n\r\n"), .send(reply)]]) {
            var caller = try Caller()
            let upstream = try upstream(at: server.address) {
                $0.user = "u"
                $0.password = "S3cr3t-Zq"
            }
            let outcome = try caller.open(Self.target, through: upstream)
            #expect(outcome.failure == .refused(status: 502, text: "you sent Basic … for u and …"))
            #expect(outcome.failure?.sentence(for: Self.target).contains("S3cr3t") == false)
        }
    }

    @Test("while one dial shows the credentials for the first time, the others wait for the verdict")
    func oneAtATime() throws {
        let server = try ScriptedServer()
        let upstream = try proxy(server, .preemptive)
        let reply = Self.challenge + "Connection: close\r\n\r\n"
        let failures = Mutex<[DialFailure?]>([])
        try server.playing([
            [.expect("Basic dTpw"), .pause(.milliseconds(150)), .send(reply), .expectEnd], [.expectEnd], [.expectEnd],
        ]) {
            let open: @Sendable () -> Void = {
                guard var caller = try? Caller(), let outcome = try? caller.open(Self.target, through: upstream) else {
                    return
                }
                let failure = outcome.failure
                failures.withLock { $0.append(failure) }
            }
            let first = try WorkerThread.start(name: "first", open)
            sleep(.milliseconds(50))
            let second = try WorkerThread.start(name: "second", open)
            let third = try WorkerThread.start(name: "third", open)
            first.join()
            second.join()
            third.join()
        }
        #expect(failures.withLock { $0 } == [.credentialsRejected, .credentialsRejected, .credentialsRejected])
        #expect(server.received.filter { $0.contains("Basic") }.count == 1)
    }
}
