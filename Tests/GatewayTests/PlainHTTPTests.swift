/// Plain http through a proxy that takes no CONNECT to port 80.

import Addresses
import Bytes
import Testing
import Upstreams
import Wire

@testable import Gateway

extension WorkerTests {
    @Suite("Plain http")
    struct PlainHTTP {
        static let web = Bench.address("198.51.100.10", 80)

        /// Waits for a request head at the upstream.
        private func request(_ peer: Peer, on bench: Bench) -> String {
            bench.until("a request arrives") { peer.text.contains("\r\n\r\n") }
            return peer.take()
        }

        /// After a 403 the same flow, and every later one, is carried on in absolute form.
        @Test("after a 403 or 405 requests go in absolute form", arguments: [403, 405])
        func absoluteForm(status: Int) throws {
            let bench = try Bench()
            let client = bench.client(to: Self.web)
            try client.sendSYN()
            _ = try bench.acceptTunnel("HTTP/1.1 \(status) No\r\nContent-Length: 3\r\n\r\nno!")
            let peer = try bench.accept()
            try client.establish()
            try client.send("GET /page?x=1 HTTP/1.1\r\nHost: www.example.test\r\nAccept: */*\r\n\r\n")
            let head = request(peer, on: bench)
            #expect(head.hasPrefix("GET http://www.example.test/page?x=1 HTTP/1.1\r\n"))
            #expect(head.contains("\r\nHost: www.example.test\r\n"))
            #expect(head.contains("\r\nAccept: */*\r\n"))
            peer.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            bench.until("the answer arrives") { client.text.hasSuffix("ok") }
            #expect(client.text == "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")

            // Keep-alive: the second request of the connection is rewritten too, its body is not.
            try client.send(
                "POST /form HTTP/1.1\r\nHost: www.example.test\r\nContent-Length: 16\r\n\r\nGET / HTTP/1.1\r\n")
            bench.until("the body arrives") { peer.text.hasSuffix("\r\n\r\nGET / HTTP/1.1\r\n") }
            #expect(peer.take().hasPrefix("POST http://www.example.test/form HTTP/1.1\r\n"))
            try client.reset()

            let later = bench.client(to: Self.web)
            try later.sendSYN()
            let second = try bench.accept()
            try later.establish()
            try later.send("GET / HTTP/1.1\r\nHost: www.example.test\r\n\r\n")
            #expect(request(second, on: bench).hasPrefix("GET http://www.example.test/ HTTP/1.1\r\n"), "no CONNECT")
            try later.reset()
            bench.expectNothingLeft()
        }

        @Test func otherPortsAreStillConnected() throws {
            let bench = try Bench(upstreamSettings: { $0.plainHTTP = .absolute })
            let client = bench.client()
            let peer = try client.open()
            try client.send("GET / HTTP/1.1\r\nHost: www.example.test\r\n\r\n")
            bench.until("the bytes arrive") { !peer.text.isEmpty }
            #expect(peer.text.hasPrefix("GET / HTTP/1.1\r\n"))
            try client.reset()
            bench.expectNothingLeft()
        }

        @Test func bytesThatAreNoRequestEndTheFlowAlone() throws {
            let bench = try Bench(upstreamSettings: { $0.plainHTTP = .absolute })
            let client = bench.client(to: Self.web)
            try client.sendSYN()
            let peer = try bench.accept()
            try client.establish()
            try client.send("\u{0}\u{1}\u{2} not http\r\n\r\n")
            bench.until("the reset comes") { client.wasReset }
            bench.expectNothingLeft()
            #expect(peer.text.isEmpty)
            #expect(bench.machines[0].reasons == ["bad-request": 1])
        }

        /// A half-close ends the request that is under way, not its answer.
        @Test func aClientThatHalfClosesBehindItsRequestGetsTheAnswer() throws {
            let bench = try Bench(upstreamSettings: { $0.plainHTTP = .absolute })
            let client = bench.client(to: Self.web)
            try client.sendSYN()
            let peer = try bench.accept()
            try client.establish()
            try client.send("GET / HTTP/1.0\r\nHost: www.example.test\r\n\r\n")
            try client.finish()
            _ = request(peer, on: bench)
            bench.until("the end arrives") { peer.isEnded }
            peer.send("HTTP/1.0 200 OK\r\n\r\nold style")
            peer.close()
            bench.until("the answer ends") { client.hasEnded }
            #expect(client.text.hasSuffix("old style"))
            bench.expectNothingLeft()
        }
    }
}
