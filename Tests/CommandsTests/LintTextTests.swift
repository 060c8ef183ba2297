/// `lint` as it is typed and as it is shown.

import Bytes
import Profiles
import Testing

@testable import Commands

struct LintTextTests {
    @Test("what is typed is what is tried")
    func order() throws {
        var wanted = LintOrder(server: try #require(Upstream.Server(host: "proxy.example", port: 8080)))
        #expect(try CommandTable.parse(["lint", "proxy.example:8080"]).command == .lint(wanted))
        wanted.user = "qa"
        wanted.passwordFile = "pw"
        wanted.site = .name("intranet.example")
        wanted.idle = .zero
        wanted.timeout = .seconds(120)
        let words = [
            "lint", "proxy.example:8080", "--user", "qa", "--password-file", "pw", "--site", "intranet.example",
            "--idle", "0s", "--timeout", "2m",
        ]
        #expect(try CommandTable.parse(words).command == .lint(wanted))
        guard case .lint(let six) = try CommandTable.parse(["lint", "[2001:db8::1]:3128"]).command else {
            Issue.record("no lint")
            return
        }
        #expect("\(six.server)" == "[2001:db8::1]:3128")
    }

    @Test(
        "what can't be meant is refused in one line",
        arguments: [
            ("lint", "found no HOST:PORT; expected `starshipctl lint HOST:PORT [options]`"),
            ("lint proxy.example", "HOST:PORT: found no port in \"proxy.example\"; expected one (proxy.example:8080)"),
            (
                "lint http://proxy.example:8080",
                "HOST:PORT: found a URL; expected a host and a port (proxy.example:8080)"
            ),
            (
                "lint qa:secret@proxy.example:8080",
                "HOST:PORT: found a URL; expected a host and a port (proxy.example:8080)"
            ),
            (
                "lint p:80 --password-file f",
                "found --password-file without --user; expected both, or no --password-file"
            ),
            (
                "lint p:80 --user a:b",
                "--user: found \"a:b\"; expected a name without a colon (RFC 7617, section 2)"
            ),
            ("lint p:80 --site a:443", "--site: found \"a:443\"; expected a name or an address, without a port"),
        ] as [(String, String)])
    func refused(line: String, words: String) {
        let error = #expect(throws: ArgumentError.self) {
            try CommandTable.parse(line.split(separator: " ").map(String.init))
        }
        #expect(error?.description == "lint: \(words)")
    }

    private static func sheet() throws -> LintSheet {
        var sheet = LintSheet(server: try #require(Upstream.Server(host: "proxy.example", port: 3128)))
        sheet.type = "http"
        sheet.kind = "squid"
        sheet.grade = .odd
        sheet.rows = [
            .init("connect", .good, "10.0.0.7:3128", milliseconds: 3),
            .init("halfClose", .odd, "the tunnel ends when one end closes, and the answer is lost"),
        ]
        sheet.settings = [
            .init("type", "http", reason: "what it speaks"), .init("halfClose", "hold", reason: "it ends tunnels"),
            .init("connectName", "sni", reason: "it decrypts", isUpstreams: false),
        ]
        sheet.notes = ["look at its window"]
        return sheet
    }

    @Test("the sheet in words, with settings to be copied")
    func text() throws {
        let wanted = """
            proxy.example:3128: an HTTP proxy, squid; it works, with remarks
            ✓ connect     10.0.0.7:3128 (3 ms)
            ! half-close  the tunnel ends when one end closes, and the answer is lost

            settings that fit:
              upstream: {
                host: "proxy.example",
                port: 3128,
                type: "http",       // what it speaks
                halfClose: "hold",  // it ends tunnels
              },
              connectName: "sni",  // it decrypts

            - look at its window

            """
        let rendered = try Self.sheet().rendered(Style(isColoured: false))
        #expect(rendered == Rendered(wanted))
        var bad = try Self.sheet()
        bad.grade = .bad
        bad.type = nil
        let failed = bad.rendered(Style(isColoured: false))
        #expect(
            failed.exitCode == 1 && failed.text.hasPrefix("proxy.example:3128: no proxy that the gateway could use\n"))
    }

    @Test("the sheet as JSON")
    func json() throws {
        let wanted =
            #"{"server":"proxy.example:3128","type":"http","kind":"squid","grade":"odd","checks":["#
            + #"{"name":"connect","verdict":"good","words":"10.0.0.7:3128","ms":3},"#
            + #"{"name":"halfClose","verdict":"odd","words":"the tunnel ends when one end closes, and the answer is lost"}],"#
            + #""settings":[{"key":"upstream.type","value":"http","reason":"what it speaks"},"#
            + #"{"key":"upstream.halfClose","value":"hold","reason":"it ends tunnels"},"#
            + #"{"key":"connectName","value":"sni","reason":"it decrypts"}],"notes":["look at its window"]}"#
        #expect(try Self.sheet().json.text == wanted)
    }
}
