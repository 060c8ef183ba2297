/// Probes over loopback, against proxies that follow a script.

import Addresses
import Bytes
import Health
import LinuxIO
import Testing
import Upstreams
import Wire

@Suite struct ProbeTests {
    static let ok = "HTTP/1.1 200 Connection established\r\n\r\n"
    static let target = Target("intranet.example.test:80")

    /// A page of the lab's.
    static func page(_ change: (inout ProbePage) -> Void = { _ in }) -> ProbePage {
        var page = ProbePage(target, path: "/ok")
        change(&page)
        return page
    }

    @Test("a page through CONNECT: each step has its time, and both layers are good")
    func goodPage() throws {
        let server = try ScriptedServer()
        let answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
        let result = try server.playing([[.expect("\r\n\r\n"), .send(Self.ok), .expect("\r\n\r\n"), .send(answer)]]) {
            try probe(ProbeRequest(try upstream(at: server.address), page: Self.page { $0.body = "o*k" }))
        }
        #expect(result.steps.map(\.name) == [.connect, .proxy, .request, .page])
        #expect(result.steps.allSatisfy { $0.failure == nil && $0.took >= .zero && $0.took < .seconds(5) })
        #expect(result.connect?.isGood == true && result.request?.isGood == true, "\(result)")
        let said = server.received.first ?? ""
        let connect = "CONNECT intranet.example.test:80 HTTP/1.1\r\nHost: intranet.example.test:80\r\n\r\n"
        #expect(said.hasPrefix(connect + "GET /ok HTTP/1.1\r\nHost: intranet.example.test\r\n"), "\(said)")
        #expect(said.contains("\r\nCache-Control: no-cache\r\n"), "no cache may answer in the origin's place")
    }

    /// A proxy's conduct, and what a probe makes of it.
    struct Row: Sendable, CustomTestStringConvertible {
        var what: String
        var script: [Step]
        var cause: Cause
        var page = ProbeTests.page()
        var socks = false
        var user = false
        var timeout = Interval.seconds(10)

        var testDescription: String { what }
    }

    private static let asked = Step.expect("\r\n\r\n")
    /// CONNECT is granted, and the request for the page has come.
    private static let tunnel: [Step] = [asked, .send(ok), asked]
    private static let granted: [Step] = [.expect("\u{5}"), .send("\u{5}\u{0}"), .expect("example.test")]

    private static let portal = "HTTP/1.1 302 Found\r\nLocation: http://login.hotel.example/?mac=1\r\n\r\n"
    private static let ntlm =
        "HTTP/1.1 407 A\r\nProxy-Authenticate: Negotiate\r\nProxy-Authenticate: NTLM\r\nContent-Length: 0\r\n\r\n"
    private static let endless = String(repeating: "x", count: 65536)

    static let atTheProxy: [Row] = [
        Row(
            what: "B150: an HTML 504 to CONNECT is the origin's failure, and no success",
            script: [asked, .send("HTTP/1.1 504 Gateway Timeout\r\nContent-Length: 6\r\n\r\n<html>")],
            cause: .originFailing("the proxy says 504: Gateway Timeout")),
        Row(
            what: "502 to CONNECT", script: [asked, .send("HTTP/1.1 502 B\r\nContent-Length: 4\r\n\r\nno way")],
            cause: .originFailing("the proxy says 502: no w")),
        Row(
            what: "squid's 503 for a name that does not resolve",
            script: [asked, .send("HTTP/1.1 503 S\r\nX-Squid-Error: ERR_DNS_FAIL 0\r\nContent-Length: 0\r\n\r\n")],
            cause: .originFailing("the proxy says 503: ERR_DNS_FAIL: S")),
        Row(
            what: "tinyproxy's 500 for a host that it can't reach",
            script: [asked, .send("HTTP/1.0 500 Unable to connect\r\nContent-Length: 0\r\n\r\n")],
            cause: .originFailing("the proxy says 500: Unable to connect")),
        Row(
            what: "503 of a proxy that is busy",
            script: [asked, .send("HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n")],
            cause: .refused(status: 503, text: "Busy")),
        Row(
            what: "a captive portal redirects CONNECT", script: [asked, .send(portal)],
            cause: .wrongPage("302, as a captive portal says it, in place of a yes")),
        Row(
            what: "403 to CONNECT where nothing else is wanted",
            script: [asked, .send("HTTP/1.1 403 F\r\nContent-Length: 6\r\n\r\npolicy")],
            cause: .refused(status: 403, text: "policy"), page: page { $0.via = .connect }),
        Row(
            what: "407 without credentials", script: [asked, .send("HTTP/1.1 407 A\r\nContent-Length: 0\r\n\r\n")],
            cause: .credentialsRejected),
        Row(
            what: "407 to credentials", script: [asked, .send("HTTP/1.1 407 A\r\nContent-Length: 0\r\n\r\n")],
            cause: .credentialsRejected, user: true),
        Row(
            what: "a login that we don't speak", script: [asked, .send(ntlm)],
            cause: .schemesNotSupported(["Negotiate", "NTLM"]), user: true),
        Row(
            what: "garbage in the place of an answer", script: [asked, .send("\u{16}\u{3}\u{1}")],
            cause: .malformed(.proxy, "TLS where plain HTTP was expected")),
        Row(
            what: "megabytes in the place of an answer", script: [asked, .send("HTTP/1.1 200 OK\r\nX: " + endless)],
            cause: .malformed(.proxy, "head over 64 KiB")),
        Row(what: "the proxy closes", script: [asked], cause: .closed(.proxy)),
        Row(what: "the proxy resets", script: [asked, .reset], cause: .closed(.proxy)),
        Row(
            what: "the proxy accepts and is silent", script: [asked, .expectEnd], cause: .silent(.proxy),
            timeout: .milliseconds(200)),
        Row(
            what: "SOCKS5: connection refused by who is behind it",
            script: granted + [.send("\u{5}\u{5}\u{0}\u{1}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}")],
            cause: .originFailing("the SOCKS5 proxy says connection refused"), socks: true),
        Row(
            what: "SOCKS5: not allowed",
            script: granted + [.send("\u{5}\u{2}\u{0}\u{1}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}")],
            cause: .socksRefused("not allowed by its rules"), socks: true),
        Row(
            what: "HTTP in the place of SOCKS5", script: [.expect("\u{5}"), .send("HTTP/1.1 400 B\r\n\r\n")],
            cause: .malformed(.proxy, "not SOCKS5 (first octet 72)"), socks: true),
    ]

    static let atThePage: [Row] = [
        Row(
            what: "B150: 504 from behind the tunnel",
            script: tunnel + [.send("HTTP/1.1 504 X\r\nContent-Length: 0\r\n\r\n")], cause: .originFailing("504: X")),
        Row(
            what: "a captive portal redirects; where to is said without the query", script: tunnel + [.send(portal)],
            cause: .wrongPage("302 to http://login.hotel.example/ in place of 200")),
        Row(
            what: "a captive portal answers CONNECT itself",
            script: [asked, .send(ok + "<html><title>Welcome</title>"), .expectEnd],
            cause: .wrongPage("\"<html><title>Welcome</title>\" before anything was asked for")),
        Row(
            what: "another status",
            script: tunnel + [.send("HTTP/1.1 404 N\r\nContent-Length: 9\r\n\r\nnot there")],
            cause: .wrongPage("404 (not there) in place of 200 or 204"), page: page { $0.statuses = [200, 204] }),
        Row(
            what: "another status, whose words don't come",
            script: tunnel + [.send("HTTP/1.1 404 N\r\n\r\n"), .expectEnd],
            cause: .wrongPage("404 (N) in place of 200")),
        Row(
            what: "another text", script: tunnel + [.send("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nnay")],
            cause: .wrongPage("200 without the text \"ok\""), page: page { $0.body = "ok" }),
        Row(
            what: "a text cut short by the end",
            script: tunnel + [.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\no\r\n")],
            cause: .wrongPage("200 without the text \"ok\""), page: page { $0.body = "ok" }),
        Row(
            what: "megabytes without the text", script: tunnel + [.send("HTTP/1.1 200 OK\r\n\r\n" + endless + endless)],
            cause: .wrongPage("200 without the text \"ok\""), page: page { $0.body = "ok" }),
        Row(
            what: "a page that is no HTTP", script: tunnel + [.send("SSH-2.0-OpenSSH_9.6\r\n")],
            cause: .malformed(.page, "not HTTP")),
        Row(
            what: "broken chunks",
            script: tunnel + [.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n")],
            cause: .malformed(.page, "malformed chunk"), page: page { $0.body = "ok" }),
        Row(
            what: "interim answers without end",
            script: tunnel + [.send(String(repeating: "HTTP/1.1 103 E\r\n\r\n", count: 20))],
            cause: .malformed(.page, "interim answers without end")),
        Row(
            what: "nothing comes back through an open tunnel", script: tunnel + [.expectEnd],
            cause: .originFailing("nothing came back through the open tunnel within 300 ms"),
            timeout: .milliseconds(300)),
        Row(
            what: "the tunnel is closed", script: tunnel,
            cause: .originFailing("the open tunnel was closed without an answer")),
        Row(
            what: "an absolute request that is not answered", script: [asked, .expectEnd], cause: .silent(.page),
            page: page { $0.via = .absolute }, timeout: .milliseconds(200)),
        Row(
            what: "an absolute request, and the proxy closes", script: [asked], cause: .closed(.page),
            page: page { $0.via = .absolute }),
        Row(
            what: "an absolute request that squid refuses",
            script: [
                asked, .send("HTTP/1.1 403 F\r\nX-Squid-Error: ERR_ACCESS_DENIED 0\r\nContent-Length: 0\r\n\r\n"),
            ],
            cause: .refused(status: 403, text: "ERR_ACCESS_DENIED: F"), page: page { $0.via = .absolute }),
        Row(
            what: "an absolute request, and a login is wanted", script: [asked, .send(ntlm)],
            cause: .schemesNotSupported(["Negotiate", "NTLM"]), page: page { $0.via = .absolute }),
    ]

    @Test("what is wrong is told by its cause, with the connection good", arguments: atTheProxy + atThePage)
    func causes(row: Row) throws {
        let server = try ScriptedServer()
        let result = try server.playing([row.script]) {
            let upstream = try upstream(at: server.address) { settings in
                if row.socks { settings.kind = .socks5(server: Target(server.address)) }
                if row.user { (settings.user, settings.password) = ("u", "p") }
            }
            var request = ProbeRequest(upstream, page: row.page)
            request.timeout = row.timeout
            return try probe(request)
        }
        let last = result.steps.last
        #expect(result.request == Sample(.request, .bad(row.cause)), "\(result)")
        #expect(result.connect?.isGood == true && last?.failure == row.cause && last?.words.isEmpty == false)
    }

    @Test("no connection: nobody listens, nobody answers, no such name")
    func noConnection() throws {
        var address = SocketAddress(IPAddress(v4: 0x7f00_0001), 0)
        do { address = try ScriptedServer().address }
        let silent = try SilentServer()
        let unknown = UpstreamSettings(.http(server: Target("no-such-proxy.invalid:3128")))
        var causes: [Cause?] = []
        for upstream in [try upstream(at: address), try upstream(at: silent.address), try Upstream(unknown)] {
            var request = ProbeRequest(upstream, page: Self.page())
            request.timeout = .seconds(1)
            let result = try probe(request)
            #expect(result.request == nil && result.steps.count == 1, "\(result)")
            causes.append(result.connect?.cause)
        }
        #expect(causes == [.portClosed, .silent(.connect), .nameUnknown("no-such-proxy.invalid")])
    }

    @Test("without a page, and before a switch, a connection is all that is tried; a name is a step of its own")
    func reach() throws {
        let server = try ScriptedServer()
        let result = try server.playing([[.expectEnd]]) {
            let settings = UpstreamSettings(.http(server: Target("localhost:\(server.address.port)")))
            return try probe(ProbeRequest(try Upstream(settings)))
        }
        #expect(result.steps.map(\.name) == [.resolve, .connect], "\(result)")
        #expect(result.connect?.isGood == true && result.request == nil && server.received == [""])
    }

    @Test("after a 403 or 405 to CONNECT the page is asked for in absolute form", arguments: [80, 8080])
    func fallsBack(port: Int) throws {
        let server = try ScriptedServer()
        let refusal = "HTTP/1.1 405 M\r\nContent-Length: 0\r\n\r\n"
        let page = Self.page { $0.target = Target("intranet.example.test:\(port)") }
        let result = try server.playing([
            [.expect("\r\n\r\n"), .send(refusal), .expectEnd],
            [.expect("\r\n\r\n"), .send("HTTP/1.1 200 OK\r\n\r\n")],
        ]) {
            try probe(ProbeRequest(try upstream(at: server.address) { $0.user = "u" }, page: page))
        }
        #expect(result.request?.isGood == true, "\(result)")
        let said = server.received.last ?? ""
        let host = "intranet.example.test" + (port == 80 ? "" : ":8080")
        #expect(said.hasPrefix("GET http://\(host)/ok HTTP/1.1\r\nHost: \(host)\r\n"), "\(said)")
        #expect(said.contains("\r\nProxy-Authorization: Basic dTo=\r\n"))
    }

    @Test("B152: the timeout that was set is the one that holds")
    func timeouts() throws {
        let server = try ScriptedServer()
        let slow: [Step] = [
            Self.asked, .pause(.seconds(2)), .send(Self.ok), Self.asked,
            .send("HTTP/1.1 204 No Content\r\n\r\n"),
        ]
        let results = try server.playing([slow, slow]) {
            try ([6000, 100] as [Int64]).map { milliseconds in
                var request = ProbeRequest(try upstream(at: server.address), page: Self.page { $0.statuses = [204] })
                request.timeout = .milliseconds(milliseconds)
                return try probe(request)
            }
        }
        #expect(results[1].request?.cause == .silent(.proxy) && results[1].steps[1].took < .milliseconds(1900))
        guard case .good(let took)? = results[0].request?.outcome else {
            Issue.record("\(results[0])")
            return
        }
        #expect(took >= .seconds(2) && took < .seconds(6), "the time counts from CONNECT on")
    }

    @Test("rejected credentials are sent once; until they may be sent again, a connection is all that is tried")
    func lockedOut() throws {
        let server = try ScriptedServer()
        let refusal = "HTTP/1.1 407 A\r\nProxy-Authenticate: Basic realm=\"r\"\r\nContent-Length: 0\r\n\r\n"
        let results = try server.playing([[Self.asked, .send(refusal), .expectEnd], [.expectEnd]]) {
            let upstream = try upstream(at: server.address) { ($0.user, $0.password) = ("u", "wrong") }
            return try (0..<2).map { _ in try probe(ProbeRequest(upstream, page: Self.page())) }
        }
        #expect(results.map { $0.request?.cause } == [.credentialsRejected, .credentialsRejected])
        #expect(results[1].connect?.isGood == true && server.received.last == "", "\(server.received)")
    }

    @Test("an error page that echoes the password is shown without it")
    func echoedPassword() throws {
        let server = try ScriptedServer()
        let page = "HTTP/1.1 404 N\r\n\r\nyour password is hunter22, dTpodW50ZXIyMg=="
        let result = try server.playing([[Self.asked, .send(page)]]) {
            let upstream = try upstream(at: server.address) { ($0.user, $0.password) = ("u", "hunter22") }
            return try probe(ProbeRequest(upstream, page: Self.page { $0.via = .absolute }))
        }
        #expect(result.request?.cause == .wrongPage("404 (your password is …, …) in place of 200"), "\(result)")
    }
}

extension Sample {
    var isGood: Bool {
        if case .good = outcome { true } else { false }
    }

    var cause: Cause? {
        if case .bad(let cause) = outcome { cause } else { nil }
    }
}

/// Runs one probe to its end.
func probe(_ request: ProbeRequest, resolvingTargets resolver: TargetResolver? = nil) throws -> ProbeResult {
    let prober = try Prober(resolvingTargets: resolver)
    #expect(prober.begin(request, ticket: 7))
    for _ in 0..<200 {
        _ = prober.bell.wait(atMost: .milliseconds(100))
        if let result = prober.takeAll().first { return result }
    }
    throw ProbeHung()
}

struct ProbeHung: Error {}
