/// The certificate of a proxy, fetched through it: from servers that follow a script, and from mitmproxy.

import Addresses
import Bytes
import Health
import LinuxIO
import TestSupport
import Testing
import Upstreams
import Wire

@Suite(.enabled(if: Lab.has("openssl"))) struct AuthorityFetchTests {
    /// An authority's certificate in PEM.
    private static func certificate() throws -> String {
        let scratch = try Scratch()
        let made = try Command.run(
            [
                "openssl", "req", "-x509", "-nodes", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
                "-keyout",
            ]
                + ["key.pem", "-subj", "/CN=Lab authority"], in: scratch.directory)
        guard made.status == 0 else { throw LabError(made.errors) }
        return String(decoding: made.output, as: UTF8.self)
    }

    /// What a proxy with these answers, one for each request, has to give; and what it was asked.
    private static func fetch(_ answers: [String]) throws -> (step: AuthorityFetch.Step, asked: [String]) {
        let proxy = try ScriptedServer()
        let scripts: [[Step]] = answers.map { [.expect("\r\n\r\n"), .send($0)] }
        let step = try proxy.playing(scripts) {
            var fetch = AuthorityFetch(hosts: ["mitm.test", "other.test"], path: "/cert/pem")
            let upstream = try upstream(at: proxy.address)
            var step = AuthorityFetch.Step.again
            while step == .again { step = fetch.take(try probe(fetch.request(through: upstream))) }
            return step
        }
        let asked = proxy.received.map { String($0.prefix { $0 != "\r\n" }) }
        return (step, asked)
    }

    private static func ok(_ body: String) -> String {
        "HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
    }

    @Test("it is asked for in absolute form, and read, however its body ends")
    func found() throws {
        let pem = try Self.certificate()
        let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
        let half = pem.prefix(100)
        let rest = pem.dropFirst(100)
        for answer in [
            Self.ok(pem), "HTTP/1.0 200 OK\r\n\r\n" + pem,
            chunked + "64\r\n\(half)\r\n\(String(rest.utf8.count, radix: 16))\r\n\(rest)\r\n0\r\n\r\n",
        ] {
            let (step, asked) = try Self.fetch([answer])
            guard case .found(let certificate) = step else {
                Issue.record("\(step)")
                continue
            }
            #expect(certificate.subject == "CN=Lab authority" && certificate.pem == pem)
            #expect(asked == ["GET http://mitm.test/cert/pem HTTP/1.1"])
        }
    }

    @Test(
        "a redirect is followed once, and within the proxy's names alone",
        arguments: [
            ("/pem?x=1", "GET http://mitm.test/pem?x=1 HTTP/1.1"),
            ("HTTP://Other.test:80/a#b", "GET http://other.test/a HTTP/1.1"),
            ("http://other.test?q", "GET http://other.test/?q HTTP/1.1"),
        ])
    func redirected(place: String, asked: String) throws {
        let leading = "HTTP/1.1 302 F\r\nLocation: \(place)\r\nContent-Length: 0\r\n\r\n"
        let once = try Self.fetch([leading, Self.ok(try Self.certificate())])
        guard case .found = once.step else { return #expect(Bool(false), "\(once.step)") }
        #expect(once.asked == ["GET http://mitm.test/cert/pem HTTP/1.1", asked])
        let twice = try Self.fetch([leading, leading])
        guard case .failed(.page(_, let words)) = twice.step else { return #expect(Bool(false), "\(twice.step)") }
        #expect(words.contains("found a redirect to") && words.hasSuffix("expected no more than one"))
    }

    @Test(
        "no other place is asked",
        arguments: [
            "http://elsewhere.test/", "https://mitm.test/", "//elsewhere.test/", "http://mitm.test:8080/",
            "http://mitm.test@elsewhere.test/", "http://10.0.0.1/", "ftp://mitm.test/", "http://", "",
        ])
    func stays(place: String) throws {
        let (step, asked) = try Self.fetch(["HTTP/1.1 301 M\r\nLocation: \(place)\r\nContent-Length: 0\r\n\r\n"])
        guard case .failed(.page(let url, _)) = step else { return #expect(Bool(false), "\(step)") }
        #expect(url == "http://mitm.test/cert/pem" && asked.count == 1)
    }

    @Test("what is no certificate, too much, or cut short is said to be")
    func refused() throws {
        let url = "http://mitm.test/cert/pem"
        let long = String(repeating: "x", count: 65_537)
        let rows: [(String, AuthorityFetchError)] = [
            (Self.ok("<html>If you can see this, traffic is not passing"), .certificate(url: url, .webPage)),
            (Self.ok(""), .certificate(url: url, .empty)),
            (Self.ok(long), .page(url: url, words: "found more than 64 KiB; expected a certificate")),
            (
                "HTTP/1.1 200 OK\r\n\r\n" + long,
                .page(url: url, words: "found more than 64 KiB; expected a certificate")
            ),
            (
                "HTTP/1.1 404 N\r\nContent-Length: 2\r\n\r\nno",
                .page(url: url, words: "found 404 (no) in place of 200; expected a certificate")
            ),
            (
                "HTTP/1.1 407 P\r\nProxy-Authenticate: Basic\r\nContent-Length: 0\r\n\r\n",
                .upstream(.credentialsRejected)
            ),
        ]
        for (answer, error) in rows {
            let step = try Self.fetch([answer]).step
            #expect(step == .failed(error))
        }
        let cut = try Self.fetch(["HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n-----BEGIN"]).step
        guard case .failed(.upstream(.malformed(.page, let words))) = cut else {
            return #expect(Bool(false), "\(cut)")
        }
        #expect(words == "an answer that is cut short")
    }

    @Test("a proxy that is not there is the cause")
    func gone() throws {
        var address = SocketAddress(IPAddress(v4: 0), 0)
        do { address = try ScriptedServer().address }
        var fetch = AuthorityFetch(hosts: ["mitm.test"], path: "/")
        let step = fetch.take(try probe(fetch.request(through: try upstream(at: address))))
        #expect(step == .failed(.upstream(.portClosed)))
    }

    @Test("mitmproxy's own page has mitmproxy's own certificate", .enabled(if: Lab.has("mitmdump")))
    func mitmproxy() throws {
        let scratch = try Scratch()
        var address = SocketAddress(IPAddress(v4: 0x7f00_0001), 0)
        do { address = try ScriptedServer().address }
        let proxy = try PartnerProgram(
            [
                "mitmdump", "--listen-host", "127.0.0.1", "--listen-port", "\(address.port)", "--set",
                "confdir=\(scratch.directory)",
            ], in: scratch.directory)
        try proxy.waitForPort(address.port, within: 60)
        var fetch = AuthorityFetch(hosts: ["mitm.it"], path: "/cert/pem")
        let step = fetch.take(try probe(fetch.request(through: try upstream(at: address))))
        guard case .found(let certificate) = step else { return #expect(Bool(false), "\(step): \(proxy.output)") }
        let shown = try Command.run(
            ["openssl", "x509", "-noout", "-fingerprint", "-sha256", "-in", "mitmproxy-ca-cert.pem"],
            in: scratch.directory)
        let fingerprint = String(decoding: shown.output, as: UTF8.self).split(separator: "=").last ?? ""
        #expect(certificate.fingerprint == fingerprint.filter { !$0.isNewline })
        #expect(certificate.isAuthority && certificate.name == "mitmproxy")
    }
}
