/// A real browser that is offered HTTP/3 and must not wait for it.

import Foundation
import TestSupport
import Testing

extension LabTests {
    @Suite("a browser", .enabled(if: RouteLab.isPossible && Lab.has("chromium-headless-shell")))
    struct BrowserTests {
        @Test("B130: a page over HTTPS with HTTP/3 offered loads over TCP, and no request waits 300 ms for QUIC")
        func fallsBackAtOnce() throws {
            let routes = try RouteLab()
            // The name that the proxy knows by its hosts file, on an address of its own.
            let pin = try certify(routes.lab)
            let site = try routes.lab.start(
                .origin, Lab.python(["browser.py", "198.51.100.12", "site.pem", "site.key"]))
            try site.waitFor("ready")
            let daemon = try routes.start(routes.settings("ssh.example"))
            let fake = try routes.address(of: "ssh.example")
            #expect(fake.hasPrefix("198.18."))
            let packets = try routes.watch(.device, "eth0", "udp port 443 or icmp")
            let command = [
                "chromium-headless-shell", "--no-sandbox", "--disable-gpu", "--dump-dom",
                "--user-data-dir=\(routes.lab.directory.path)/browser", "--ignore-certificate-errors-spki-list=\(pin)",
                "--host-resolver-rules=MAP ssh.example \(fake)", "https://ssh.example/",
            ]
            let page = try routes.lab.run(.device, command, within: 60)
            let fetched = page.output.split(whereSeparator: { $0 == "\n" || $0 == ">" || $0 == "<" })
                .filter { $0.hasPrefix("fetched ") }.map { $0.split(separator: " ") }
            try #require(fetched.count == 8, "\(page.output) \(page.errors) \(daemon.program.errors)")
            #expect(fetched.allSatisfy { $0[2] == "http/1.1" && Int($0[1]) ?? .max < 300 }, "\(page.output)")
            // It did try, and was told at once.
            #expect(packets.output.contains("> \(fake).443: UDP"), "\(packets.output)")
            #expect(packets.output.contains("ICMP \(fake) udp port 443 unreachable"), "\(packets.output)")
            #expect(routes.proxyWasAsked("ssh.example:443"))
        }

        /// Makes a certificate and returns the hash of its key, by which the browser trusts it.
        private func certify(_ lab: Lab) throws -> String {
            let commands = """
                openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout site.key -out site.pem \
                    -days 30 -subj /CN=ssh.example -addext subjectAltName=DNS:ssh.example 2>/dev/null
                openssl x509 -in site.pem -pubkey -noout | openssl pkey -pubin -outform der |
                    openssl dgst -sha256 -binary | base64
                """
            return try lab.run(.origin, ["bash", "-euc", commands]).output.trimmingCharacters(in: .newlines)
        }
    }
}
