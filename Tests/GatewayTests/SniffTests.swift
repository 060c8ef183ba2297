/// Flows that are decided by what their clients say first.

import Addresses
import Bytes
import TestSupport
import Testing
import Wire

@testable import Gateway

extension WorkerTests {
    @Suite("Sniffing")
    struct Sniffing {
        /// The ClientHello that OpenSSL 3 sends for `shop.example.test` over TLS 1.3.
        static let hello = hex(
            """
            16030100f6010000f20303763d86aa1934570a06fa0bb0f19484b685d0b0b7337ff8298373eb8b2c3e78b920c12b25043c40d7b59c
            c54f2805179ec360127d9266e57a25162989b2e69e0f02000813021303130100ff010000a100000016001400001173686f702e6578
            616d706c652e74657374000b000403000102000a00160014001d0017001e0019001801000101010201030104002300000016000000
            170000000d001e001c040305030603080708080809080a080b080408050806040105010601002b0003020304002d00020101003300
            260024001d00204dd035177b604ecc7549b691e936acdbc4fac978d2fa87958e719c70f5679641
            """)

        private func bench(_ change: (inout GatewaySettings) -> Void = { _ in }) throws -> Bench {
            try Bench {
                $0.routing.sniffPorts = [80, 443]
                $0.routing.profiles[0].sniff = .always
                $0.routing.profiles[0].connectName = .sni
                change(&$0)
            }
        }

        /// Completes the handshake, which waits for nobody.
        private func establish(_ client: Client, on bench: Bench) throws {
            try client.sendSYN()
            try client.establish()
            #expect(bench.nextPeer() == nil, "nobody is dialled yet")
        }

        /// The CONNECT of the next dial, answered with yes.
        private func connect(on bench: Bench) throws -> (line: String, peer: Peer) {
            let peer = try bench.accept()
            bench.until("the CONNECT is there") { peer.text.hasSuffix("\r\n\r\n") }
            let line = peer.take().split(separator: "\r\n").first.map(String.init) ?? ""
            peer.send("HTTP/1.1 200 OK\r\n\r\n")
            return (line, peer)
        }

        /// A ClientHello decides, whatever segments it comes in, and the upstream gets every octet of it.
        @Test("a ClientHello in segments", arguments: [1, 100, 1000])
        func segments(size: Int) throws {
            let bench = try bench()
            let client = bench.client()
            try establish(client, on: bench)
            let stream = Self.hello + Array("more".utf8)
            for start in stride(from: 0, to: stream.count, by: size) {
                try client.send(Array(stream[start..<min(start + size, stream.count)]))
                if start % 50 == 0 { bench.settle() }
            }
            let (line, peer) = try connect(on: bench)
            #expect(line == "CONNECT shop.example.test:443 HTTP/1.1")
            bench.until("every octet is there") { peer.received.count == stream.count }
            #expect(peer.received == stream)
            peer.send("server hello")
            bench.until("the answer comes") { client.text == "server hello" }
            try client.finish()
            peer.finish()
            bench.expectNothingLeft()
            #expect(bench.lastFlowLine.contains("target=shop.example.test:443"))
        }

        @Test func segmentsOutOfOrderAreTheSameStream() throws {
            let bench = try bench()
            let client = bench.client()
            try establish(client, on: bench)
            let first = client.next
            let pieces = [200..<Self.hello.count, 0..<100, 50..<150, 100..<200]
            for range in pieces {
                try client.sendRaw(.acknowledge, sequence: first + range.lowerBound, Array(Self.hello[range]))
                bench.settle()
            }
            client.next = first + Self.hello.count
            let (line, peer) = try connect(on: bench)
            #expect(line == "CONNECT shop.example.test:443 HTTP/1.1")
            bench.until("every octet is there") { peer.received == Self.hello }
            try client.reset()
            bench.expectNothingLeft()
        }

        @Test func aHostDecidesToo() throws {
            let bench = try bench()
            let client = bench.client(to: Bench.address("198.51.100.10", 80))
            try establish(client, on: bench)
            try client.send("GET / HTTP/1.1\r\nHost: Shop.Example.Test\r\n")
            let (line, peer) = try connect(on: bench)
            #expect(line == "CONNECT shop.example.test:80 HTTP/1.1")
            try client.send("\r\n")
            bench.until("the request is whole") { peer.text.hasSuffix("Test\r\n\r\n") }
            try client.reset()
            bench.expectNothingLeft()
        }

        /// B145: the CONNECT bears a name that a client says only where DNS has given it for the
        /// address.
        @Test(
            "a name is asked for where DNS agrees",
            arguments: [
                (["a.test", "shop.example.test"], "shop.example.test:443"),
                (["a.test", "b.test"], "198.51.100.10:443"),
                ([], "198.51.100.10:443"),
            ] as [([String], String)])
        func evidence(known: [String], said: String) throws {
            let names = NameTable(pool: try NameTableTests.pool())
            let bench = try Bench(names: names) {
                $0.routing.profiles[0].sniff = .always
                $0.routing.profiles[0].connectName = .evidence
            }
            for name in known {
                names.note(
                    name: name, addresses: [Bench.target.address], device: Bench.device, ttl: .seconds(60),
                    now: bench.now)
            }
            let client = bench.client()
            try establish(client, on: bench)
            try client.send(Self.hello)
            #expect(try connect(on: bench).line == "CONNECT \(said) HTTP/1.1")
            try client.reset()
            bench.expectNothingLeft()
            #expect(bench.lastFlowLine.contains("shop.example.test"), "the log has what was said")
        }

        /// B145: a client that waits for its server to speak first waits 300 ms, and no more.
        @Test func aServerThatSpeaksFirstIsNotWaitedFor() throws {
            let bench = try bench()
            let client = bench.client()
            try establish(client, on: bench)
            bench.advance(.milliseconds(290))
            #expect(bench.nextPeer() == nil)
            let wake = try #require(bench.machines[0].nextWake)
            #expect(wake <= bench.now + .milliseconds(11))
            bench.advance(.milliseconds(11))
            let (line, peer) = try connect(on: bench)
            #expect(line == "CONNECT 198.51.100.10:443 HTTP/1.1")
            peer.send("SSH-2.0-x\r\n")
            bench.until("the banner comes") { client.text == "SSH-2.0-x\r\n" }
            try client.send("late")
            bench.until("the octets arrive") { peer.text == "late" }
            try client.reset()
            bench.expectNothingLeft()
        }

        /// The time begins with the end of the handshake: a client behind a slow link has the same 300 ms.
        @Test func aSlowHandshakeTakesNothingFromTheTime() throws {
            let bench = try bench()
            let client = bench.client()
            try client.sendSYN()
            bench.advance(.milliseconds(900))
            try client.establish()
            #expect(bench.nextPeer() == nil)
            try client.send(Self.hello)
            #expect(try connect(on: bench).line == "CONNECT shop.example.test:443 HTTP/1.1")
            try client.reset()
            bench.expectNothingLeft()
        }

        @Test func halfAHelloIsWaitedForAsLong() throws {
            let bench = try bench()
            let client = bench.client()
            try establish(client, on: bench)
            try client.send(Array(Self.hello[..<100]))
            bench.advance(.milliseconds(301))
            let (line, peer) = try connect(on: bench)
            #expect(line == "CONNECT 198.51.100.10:443 HTTP/1.1")
            try client.send(Array(Self.hello[100...]))
            bench.until("every octet is there") { peer.received == Self.hello }
            try client.reset()
            bench.expectNothingLeft()
        }

        /// What is neither TLS nor HTTP is known by its first octets.
        @Test func whatHasNoNameIsNotKept() throws {
            let bench = try bench()
            let client = bench.client()
            try establish(client, on: bench)
            try client.send([0x80, 1, 2, 3])
            let (line, peer) = try connect(on: bench)
            #expect(line == "CONNECT 198.51.100.10:443 HTTP/1.1")
            bench.until("the octets arrive") { peer.received == [0x80, 1, 2, 3] }
            try client.reset()
            bench.expectNothingLeft()
        }

        @Test func eightKilobytesAreEnough() throws {
            let bench = try bench()
            let client = bench.client()
            try establish(client, on: bench)
            let stream = Array("GET /".utf8) + [UInt8](repeating: 0x61, count: 9000)
            for start in stride(from: 0, to: stream.count, by: 1400) {
                try client.send(Array(stream[start..<min(start + 1400, stream.count)]))
            }
            let (line, peer) = try connect(on: bench)
            #expect(line == "CONNECT 198.51.100.10:443 HTTP/1.1")
            bench.until("every octet is there") { peer.received == stream }
            try client.reset()
            bench.expectNothingLeft()
        }

        @Test func aClientThatHasFinishedIsNotWaitedFor() throws {
            let bench = try bench()
            let client = bench.client()
            try establish(client, on: bench)
            try client.send(Array(Self.hello[..<100]))
            try client.finish()
            let (line, peer) = try connect(on: bench)
            #expect(line == "CONNECT 198.51.100.10:443 HTTP/1.1")
            bench.until("octets and end arrive") { peer.isEnded }
            #expect(peer.received == Array(Self.hello[..<100]))
            peer.finish()
            bench.expectNothingLeft()
        }

        /// B010: a client that gives up takes its flow with it, and nobody is asked.
        @Test("a client that gives up", arguments: [true, false])
        func givesUp(isEstablished: Bool) throws {
            let bench = try bench()
            let client = bench.client()
            try client.sendSYN()
            bench.settle()
            if isEstablished { try client.establish() } else { client.next = client.next + 1 }
            try client.reset()
            bench.expectNothingLeft()
            #expect(bench.nextPeer() == nil)
            #expect(bench.lastFlowLine.contains("reason=\"client gave up before the upstream answered\""))
        }

        /// The client believes that it is connected, so a refusal is a reset for it.
        @Test func aRefusalIsAReset() throws {
            let bench = try bench()
            let client = bench.client()
            try establish(client, on: bench)
            try client.send(Self.hello)
            _ = try bench.acceptTunnel("HTTP/1.1 403 No\r\nContent-Length: 0\r\n\r\n")
            bench.until("the reset comes") { client.wasReset }
            #expect(client.segments.last?.sequence == client.expected, "one that the client believes")
            bench.expectNothingLeft()
        }

        /// A flow from a SYN cookie is looked at like any other.
        @Test func aFlowFromACookieIsLookedAtToo() throws {
            let bench = try bench { $0.halfOpen = 1 }
            let waiting = bench.client(to: Bench.address("198.51.100.10", 9000))
            try waiting.sendSYN()
            let first = try bench.accept()
            let client = bench.client()
            try client.sendSYN()
            bench.until("the cookie comes") { !client.segments.isEmpty }
            try client.establish()
            #expect(bench.nextPeer() == nil)
            try client.send(Self.hello)
            let (line, peer) = try connect(on: bench)
            #expect(line == "CONNECT shop.example.test:443 HTTP/1.1")
            bench.until("every octet is there") { peer.received == Self.hello }
            try client.reset()
            try waiting.sendRaw(.reset, sequence: SequenceNumber(1001))
            bench.until("the first dial is over") { first.isOver }
            bench.expectNothingLeft()
        }
    }
}
