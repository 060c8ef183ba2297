/// Whose certificate a client behind an upstream gets to see, asked of openssl's server and of mitmproxy.

import Addresses
import Bytes
import LinuxIO
import TestSupport
import Testing
import Upstreams
import Wire

@Suite(.enabled(if: Lab.has("openssl"))) struct CertificateLookTests {
    /// An authority, and a server's certificate that it has signed for this machine.
    private static let files = """
        openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout a.key -out a.pem \
            -days 2 -subj '/O=QA/CN=Lab authority'
        openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout s.key -out s.csr \
            -subj '/CN=localhost'
        printf 'subjectAltName=DNS:localhost' >names
        openssl x509 -req -in s.csr -CA a.pem -CAkey a.key -days 2 -extfile names -out s.pem
        """

    /// A web server behind TLS.
    private struct Server {
        let program: PartnerProgram
        let port: UInt16

        init(_ directory: String, _ options: [String] = []) throws {
            let made = try Command.run(["bash", "-euc", files], in: directory)
            guard made.status == 0 else { throw LabError(made.errors) }
            let command = ["openssl", "s_server", "-accept", "127.0.0.1:0", "-cert", "s.pem", "-key", "s.key", "-www"]
            program = try PartnerProgram(command + options, in: directory)
            try program.waitFor("ACCEPT 127.0.0.1:")
            let line = program.output.split(separator: "\n").first { $0.hasPrefix("ACCEPT ") } ?? ""
            port = line.split(separator: ":").last.flatMap { UInt16($0.prefix { $0.isNumber }) } ?? 0
        }
    }

    private static func direct() throws -> Upstreams.Upstream {
        var settings = UpstreamSettings(.direct)
        settings.policy.allowed = ["127.0.0.0/8", "::1/128"].compactMap { IPPrefix(parsing: $0) }
        return try Upstreams.Upstream(settings)
    }

    private static func look(_ upstream: Upstreams.Upstream, _ target: Target) throws -> CertificateLook? {
        var request = ProbeRequest(upstream)
        request.certificate = target
        return try probe(request).certificate
    }

    @Test("the authority that has signed the server's certificate")
    func issuer() throws {
        let scratch = try Scratch()
        let server = try Server(scratch.directory, ["-cert_chain", "a.pem"])
        #expect(try Self.look(Self.direct(), Target("localhost:\(server.port)")) == .issuer("Lab authority"))
    }

    @Test("a server without TLS 1.2, one that is none, and none at all are named")
    func unreadable() throws {
        let scratch = try Scratch()
        let server = try Server(scratch.directory, ["-tls1_3"])
        let words = "no TLS 1.2 there (TLS alert protocol_version), so no certificate in clear"
        #expect(try Self.look(Self.direct(), Target("localhost:\(server.port)")) == .unreadable(words))
        let plain = try ScriptedServer()
        let looks = try plain.playing([
            [.expect("localhost"), .send("HTTP/1.1 400 Bad Request\r\n\r\n")], [.expect("localhost")],
        ]) {
            let target = Target("localhost:\(plain.address.port)")
            return [try Self.look(Self.direct(), target), try Self.look(Self.direct(), target)]
        }
        let wanted: [CertificateLook?] = [
            .unreadable("not TLS: \"HTTP/1.1 400 Bad Request\""),
            .unreadable("the connection was closed without a certificate"),
        ]
        #expect(looks == wanted)
        var gone = plain.address
        do { gone = try ScriptedServer().address }
        let look = try Self.look(try upstream(at: gone), Target("localhost:443"))
        #expect(look == .unreadable("no connection to the proxy: Connection refused"))
    }

    @Test("a page first, and the look after it in the same probe")
    func afterThePage() throws {
        let proxy = try ScriptedServer()
        let page: [Step] = [
            .expect("\r\n\r\n"), .send(ProbeTests.ok), .expect("\r\n\r\n"), .send("HTTP/1.1 200 OK\r\n\r\n"),
        ]
        let result = try proxy.playing([
            page, [.expect("\r\n\r\n"), .send("HTTP/1.1 403 F\r\nContent-Length: 2\r\n\r\nno"), .expectEnd],
        ]) {
            var request = ProbeRequest(try upstream(at: proxy.address), page: ProbeTests.page())
            request.certificate = Target("shop.example.test:443")
            return try probe(request)
        }
        #expect(result.request?.isGood == true && result.steps.count == 4)
        let words = "the proxy refused CONNECT shop.example.test:443 with 403: no"
        #expect(result.certificate == .unreadable(words), "\(result)")
        #expect(result.issuer == nil)
    }

    @Test("behind mitmproxy the issuer is mitmproxy", .enabled(if: Lab.has("mitmdump")))
    func mitmproxy() throws {
        let scratch = try Scratch()
        let server = try Server(scratch.directory)
        var address = SocketAddress(IPAddress(v4: 0x7f00_0001), 0)
        do { address = try ScriptedServer().address }
        let proxy = try PartnerProgram(
            [
                "mitmdump", "--listen-host", "127.0.0.1", "--listen-port", "\(address.port)", "--set",
                "confdir=\(scratch.directory)", "--set",
                "ssl_verify_upstream_trusted_ca=\(scratch.directory)/a.pem",
            ], in: scratch.directory)
        try proxy.waitForPort(address.port, within: 60)
        let look = try Self.look(try upstream(at: address), Target("localhost:\(server.port)"))
        #expect(look == .issuer("mitmproxy"), "\(proxy.output)")
    }
}
