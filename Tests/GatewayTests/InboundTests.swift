/// Clients that know of a proxy: SOCKS5 and HTTP listeners share dial and relay with the tunnel.

import Addresses
import Bytes
import LinuxIO
import Testing
import Upstreams
import Wire

@testable import Gateway

extension WorkerTests {
    @Suite("Inbound")
    struct Inbound {
        /// A greeting without login and a request to 198.51.100.10:443 (RFC 1928, sections 3 and 4).
        static let greeting: [UInt8] = [5, 1, 0]
        static let request: [UInt8] = [5, 1, 0, 1, 198, 51, 100, 10, 0x01, 0xbb]

        /// A SOCKS5 client whose request is with the upstream.
        private func asking(_ bench: Bench) throws -> Peer {
            let client = try bench.inboundClient()
            client.send(Self.greeting)
            bench.until("the method is chosen") { client.received.count == 2 }
            #expect(client.received == [5, 0])
            client.send(Self.request)
            return client
        }

        /// A SOCKS5 client with an open stream.
        private func open(_ bench: Bench) throws -> (client: Peer, upstream: Peer) {
            let client = try asking(bench)
            let upstream = try bench.acceptTunnel()
            bench.until("the reply is there") { client.received.count == 12 }
            #expect(client.received[2...3] == [5, 0])
            _ = client.take()
            return (client, upstream)
        }

        @Test func aSOCKSClientIsRelayedLikeEverybodyElse() throws {
            let bench = try Bench(listeners: [.socks([])])
            let client = try asking(bench)
            let upstream = try bench.accept()
            bench.until("the CONNECT is there") { upstream.text.hasSuffix("\r\n\r\n") }
            #expect(upstream.take().hasPrefix("CONNECT 198.51.100.10:443 HTTP/1.1\r\n"))
            bench.settle()
            #expect(client.received.count == 2, "nothing is promised before the upstream has said yes")
            upstream.send("HTTP/1.1 200 OK\r\n\r\nbanner")
            bench.until("the banner is there") { client.text.hasSuffix("banner") }
            // RFC 1928, section 6: version, succeeded, reserved, an address.
            #expect(client.received[2..<5] == [5, 0, 0])
            client.send("question")
            bench.until("the question arrives") { upstream.text == "question" }
            client.finish()
            bench.until("the end arrives") { upstream.isEnded }
            upstream.send("answer")
            upstream.close()
            bench.until("the answer ends") { client.isEnded }
            #expect(client.text.hasSuffix("banneranswer"))
            bench.expectNothingLeft()
            #expect(bench.lastFlowLine.contains("target=198.51.100.10:443 in=socks"))
            #expect(bench.lastFlowLine.contains("up=8 down=12"))
        }

        /// B146: the stream would come in again by the listener, and again.
        @Test("our own listener is no target", arguments: ["127.0.0.1", "127.9.9.9", "LocalHost"])
        func ownListener(host: String) throws {
            let bench = try Bench(listeners: [.socks([]), .http([])])
            for listener in bench.shared.listeners {
                let target = "\(host):\(listener.settings.address.port)"
                let client = try bench.inboundClient(1)
                client.send("CONNECT \(target) HTTP/1.1\r\nHost: \(target)\r\n\r\n")
                bench.until("it is refused") { client.isEnded }
                #expect(client.text.hasPrefix("HTTP/1.1 403 "))
                client.close()
                bench.until("it is said") { bench.lastFlowLine.contains("the target is a listener of the gateway") }
            }
            bench.expectNothingLeft()
        }

        /// B146, with the reply of RFC 1928, section 6: connection not allowed by ruleset.
        @Test func aSOCKSClientIsToldThatOurListenerIsNotAllowed() throws {
            let bench = try Bench(listeners: [.socks([])])
            let client = try bench.inboundClient()
            let port = bench.shared.listeners[0].settings.address.port
            client.send(Self.greeting + [5, 1, 0, 1, 127, 0, 0, 1, UInt8(port >> 8), UInt8(port & 0xff)])
            bench.until("it is refused") { client.isEnded }
            #expect(client.received.prefix(4) == [5, 0, 5, 2])
            // A client that doesn't close is waited for, but not for long.
            bench.advance(.seconds(2) + .milliseconds(1))
            bench.expectNothingLeft()
        }

        /// B069: each refusal has its reply of ten octets, and then the connection ends.
        @Test(
            "a refusal has its reply code",
            arguments: [
                ("HTTP/1.1 403 X\r\nContent-Length: 0\r\n\r\n", 2), ("HTTP/1.1 407 X\r\nContent-Length: 0\r\n\r\n", 2),
                ("HTTP/1.1 502 X\r\nContent-Length: 0\r\n\r\n", 5), ("HTTP/1.1 504 X\r\nContent-Length: 0\r\n\r\n", 4),
                ("HTTP/1.1 503 X\r\nContent-Length: 0\r\n\r\n", 1), ("nonsense\r\n\r\n", 1),
            ] as [(String, UInt8)])
        func replyCodes(answer: String, code: UInt8) throws {
            let bench = try Bench(listeners: [.socks([])])
            let client = try asking(bench)
            _ = try bench.acceptTunnel(answer)
            bench.until("the connection ends") { client.isOver }
            #expect(client.isEnded)
            #expect(client.received.count == 12)
            #expect(client.received[2...3] == [5, code])
            client.close()
            bench.expectNothingLeft()
        }

        /// What a client sent too early must not turn the end behind its refusal into a reset, which could take
        /// the reply with it (RFC 9293, section 3.10.4, and RFC 9112, section 9.6).
        @Test func aClientThatTalksEarlyStillReadsItsRefusal() throws {
            let bench = try Bench(listeners: [.http([])], upstreamSettings: { $0.plainHTTP = .connect })
            let client = try bench.inboundClient()
            client.send("POST http://198.51.100.10/ HTTP/1.1\r\nHost: 198.51.100.10\r\nContent-Length: 600000\r\n\r\n")
            var sent = 0
            while true {
                let count = client.send([UInt8](repeating: 0x62, count: 600_000 - sent))
                sent += count
                bench.settle()
                if count == 0 { break }
            }
            _ = try bench.acceptTunnel("HTTP/1.1 502 No\r\nContent-Length: 0\r\n\r\n")
            bench.settle()
            client.send("more of it")
            bench.until("the connection ends") { client.isOver }
            #expect(client.failure == nil, "an end, not a reset")
            #expect(client.text.hasPrefix("HTTP/1.1 502 "))
            client.close()
            bench.expectNothingLeft()
        }

        @Test func aClientThatIsRefusedAndStaysIsLetGo() throws {
            let bench = try Bench(listeners: [.socks([])])
            let client = try asking(bench)
            client.send("early words")
            _ = try bench.acceptTunnel("HTTP/1.1 502 X\r\nContent-Length: 0\r\n\r\n")
            bench.until("the connection ends") { client.isEnded }
            bench.advance(.seconds(61))
            bench.expectNothingLeft()
        }

        @Test func aClientThatGoesAwayCancelsItsDial() throws {
            let bench = try Bench(listeners: [.socks([])])
            let client = try asking(bench)
            let upstream = try bench.accept()
            bench.until("the CONNECT is there") { upstream.text.hasSuffix("\r\n\r\n") }
            client.reset()
            bench.until("the upstream is let go") { upstream.isOver }
            bench.expectNothingLeft()
            #expect(bench.machines[0].reasons == ["client-gave-up": 1])
        }

        /// B028, for clients of the listeners.
        @Test func aResetOnOneSideIsOneOnTheOther() throws {
            let bench = try Bench(listeners: [.socks([])])
            let first = try open(bench)
            first.client.send("half a requ")
            bench.until("the bytes arrive") { first.upstream.text == "half a requ" }
            first.client.reset()
            bench.until("the upstream hears of it") { first.upstream.isOver }
            #expect(first.upstream.failure == .connectionReset)

            let second = try open(bench)
            second.upstream.send("half an ans")
            bench.until("the bytes arrive") { second.client.text == "half an ans" }
            second.upstream.reset()
            bench.until("the client hears of it") { second.client.isOver }
            #expect(second.client.failure == .connectionReset)
            bench.expectNothingLeft()
            #expect(bench.machines[0].reasons == ["client-reset": 1, "upstream-reset": 1])
        }

        @Test("a slow side slows the other one, and nothing is lost", arguments: [true, false])
        func backpressure(isUpload: Bool) throws {
            let bench = try Bench(listeners: [.socks([])])
            let pair = try open(bench)
            let source = isUpload ? pair.client : pair.upstream
            let sink = isUpload ? pair.upstream : pair.client
            sink.isReading = false
            let data = pattern(24 << 20)
            var sent = 0
            var last = -1
            while sent != last {
                last = sent
                sent += source.send(Array(data[sent...]))
                bench.settle()
            }
            #expect(sent < data.count, "the source was to be slowed")
            // 256 KiB wait at most, and what one read adds.
            #expect(bench.machines[0].chunksUsed <= 16 + 9)
            sink.isReading = true
            bench.until("everything is taken") {
                sent += source.send(Array(data[sent...]))
                return sent == data.count
            }
            source.finish()
            bench.until("the end arrives") { sink.isEnded }
            let isWhole = sink.received == data
            #expect(isWhole)
            sink.close()
            bench.expectNothingLeft()
        }

        @Test func anHTTPClientsCONNECTOpensATunnel() throws {
            let bench = try Bench(listeners: [.http([])])
            let client = try bench.inboundClient()
            client.send("CONNECT git.example.test:22 HTTP/1.1\r\nHost: git.example.test:22\r\n\r\n")
            let upstream = try bench.accept()
            bench.until("the CONNECT is there") { upstream.text.hasSuffix("\r\n\r\n") }
            // A name is asked for as a name: the proxy resolves it.
            #expect(upstream.take().hasPrefix("CONNECT git.example.test:22 HTTP/1.1\r\n"))
            upstream.send("HTTP/1.1 200 OK\r\n\r\nSSH-2.0-x\r\n")
            bench.until("the banner is there") { client.text.hasSuffix("\r\n\r\nSSH-2.0-x\r\n") }
            #expect(client.text.hasPrefix("HTTP/1.1 200 "))
            client.close()
            bench.until("the end arrives") { upstream.isOver }
            upstream.close()
            bench.expectNothingLeft()
        }

        /// With the outbound `direct` the HTTP inbound is an upstream of its own.
        @Test func aPlainRequestGoesToItsOriginInOriginForm() throws {
            let bench = try Bench(listeners: [.http([])], outbound: .direct)
            let origin = bench.upstreamAddress
            let client = try bench.inboundClient()
            client.send("GET http://\(origin)/page HTTP/1.1\r\nHost: \(origin)\r\nProxy-Connection: keep-alive\r\n\r\n")
            let server = try bench.accept()
            bench.until("the request arrives") { server.text.contains("\r\n\r\n") }
            #expect(server.text.hasPrefix("GET /page HTTP/1.1\r\n"))
            #expect(server.text.contains("\r\nHost: \(origin)\r\n"))
            #expect(!server.text.contains("Proxy-Connection"))
            server.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            bench.until("the answer arrives") { client.text.hasSuffix("ok") }
            client.close()
            bench.until("the end arrives") { server.isOver }
            server.close()
            bench.expectNothingLeft()
        }

        /// Twelve chunks, and a peer that takes nothing: memory that is short slows a request and never drops
        /// a part of it.
        @Test func aRewrittenUploadLosesNothingWhenMemoryIsShort() throws {
            let bench = try Bench(listeners: [.http([])], outbound: .direct) {
                $0.bufferMemory = 12 * BufferPool.chunkSize
            }
            let origin = bench.upstreamAddress
            let client = try bench.inboundClient()
            client.send("POST http://\(origin)/ HTTP/1.1\r\nHost: \(origin)\r\nContent-Length: 8000000\r\n\r\n")
            let server = try bench.accept()
            server.isReading = false
            let body = pattern(8_000_000)
            var sent = 0
            var last = -1
            while sent != last {
                last = sent
                sent += client.send(Array(body[sent...]))
                bench.settle()
            }
            server.isReading = true
            bench.until("everything is taken") {
                sent += client.send(Array(body[sent...]))
                return sent == body.count
            }
            bench.until("the body is there") { server.received.count >= body.count + 40 || server.isOver }
            bench.settle()
            let isWhole = server.received.suffix(body.count) == body[...]
            #expect(isWhole)
            client.reset()
            bench.expectNothingLeft()
        }

        @Test func whoAsksForNothingIsClosedAfterTenSeconds() throws {
            let bench = try Bench(listeners: [.socks([])])
            let client = try bench.inboundClient()
            bench.until("the client is taken") { bench.machines[0].flows == 1 }
            bench.advance(.seconds(9))
            #expect(!client.isOver)
            bench.advance(.seconds(2))
            bench.until("the connection ends") { client.isOver }
            bench.expectNothingLeft()
            #expect(bench.machines[0].reasons == ["bad-request": 1])
        }

        @Test func overTheFlowCapAClientIsResetAtOnce() throws {
            let bench = try Bench(listeners: [.socks([])]) { $0.flows = 1 }
            let first = try bench.inboundClient()
            bench.until("the client is taken") { bench.machines[0].flows == 1 }
            let second = try bench.inboundClient()
            bench.until("the second is refused") { second.isOver }
            #expect(second.failure == .connectionReset)
            #expect(bench.counter(\.flowLimitHits) == 1)
            first.close()
            bench.expectNothingLeft()
        }
    }
}
