/// The names that a decrypting proxy answers itself, as flows of a device.

import Addresses
import Names
import Routing
import Testing
import Upstreams
import Wire

@testable import Gateway

extension WorkerTests {
    @Suite("Certificate hosts")
    struct CertificateHosts {
        /// A gateway whose upstream is a proxy that answers `mitm.test` itself, and that name's fake address.
        private func bench(
            domains: [String], listeners: [GatewaySettings.Listener.Kind] = [],
            plainHTTP: UpstreamSettings.PlainHTTP = .auto
        ) throws -> (Bench, IPAddress) {
            let names = NameTable(pool: try NameTableTests.pool())
            let rules = try RuleSet(
                domains: domains.map { SourceText(text: $0) }, bypass: [], rules: [],
                implied: [ImpliedNames(list: "certificate hosts of mitmproxy", names: ["mitm.test"])])
            let bench = try Bench(listeners: listeners, names: names) {
                $0.routing.profiles[0].rules = rules
                $0.routing.profiles[0].upstream.plainHTTP = plainHTTP
            }
            let answer = try #require(names.address(for: "mitm.test", .ipv4, device: Bench.device, now: bench.now))
            return (bench, answer)
        }

        @Test(
            "in both modes they have a fake address, and port 80 goes in absolute form, whatever http80 says",
            arguments: [[], ["shop.test"]], [UpstreamSettings.PlainHTTP.auto, .connect, .absolute])
        func absolute(domains: [String], plainHTTP: UpstreamSettings.PlainHTTP) throws {
            let (bench, fake) = try bench(domains: domains, plainHTTP: plainHTTP)
            let verdict = bench.shared.policy.nameVerdict("mitm.test", for: Bench.device)
            #expect(verdict == .fake)
            let client = bench.client(to: SocketAddress(fake, 80))
            try client.sendSYN()
            let peer = try bench.accept()
            try client.establish()
            try client.send("GET /cert/pem HTTP/1.1\r\nHost: mitm.test\r\n\r\n")
            bench.until("a request arrives") { peer.text.hasSuffix("\r\n\r\n") }
            #expect(peer.take().hasPrefix("GET http://mitm.test/cert/pem HTTP/1.1\r\n"), "no CONNECT")
            peer.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            bench.until("the answer arrives") { client.text.hasSuffix("ok") }
            try client.finish()
            peer.close()
            bench.until("the end comes") { client.hasEnded }
            bench.expectNothingLeft()
            #expect(bench.lastFlowLine.contains("rule=\"certificate hosts of mitmproxy: mitm.test\""))
        }

        @Test("their other ports are asked for with CONNECT, and other names on port 80 as ever")
        func others() throws {
            let (bench, fake) = try bench(domains: [], plainHTTP: .connect)
            let secure = bench.client(to: SocketAddress(fake, 443))
            try secure.sendSYN()
            let peer = try bench.accept()
            bench.until("a request arrives") { peer.text.hasSuffix("\r\n\r\n") }
            #expect(peer.take().hasPrefix("CONNECT mitm.test:443 HTTP/1.1\r\n"))
            try secure.reset()
            let other = bench.client(to: PlainHTTP.web)
            try other.sendSYN()
            let second = try bench.accept()
            bench.until("a request arrives") { second.text.hasSuffix("\r\n\r\n") }
            #expect(second.take().hasPrefix("CONNECT 198.51.100.10:80 HTTP/1.1\r\n"))
            try other.reset()
            bench.expectNothingLeft()
        }

        @Test("a client of the HTTP inbound is served alike")
        func inbound() throws {
            let (bench, _) = try bench(domains: ["shop.test"], listeners: [.http([])], plainHTTP: .connect)
            let client = try bench.inboundClient()
            client.send("GET http://mitm.test/cert/pem HTTP/1.1\r\nHost: mitm.test\r\n\r\n")
            let peer = try bench.accept()
            bench.until("a request arrives") { peer.text.hasSuffix("\r\n\r\n") }
            #expect(peer.take().hasPrefix("GET http://mitm.test/cert/pem HTTP/1.1\r\n"))
            peer.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            peer.close()
            bench.until("the answer arrives, and the end") { client.text.hasSuffix("ok") && client.isEnded }
            client.close()
            bench.expectNothingLeft()
        }
    }
}
