/// Opening a stream: the device hears yes after the upstream has said it, and no as soon as it has.

import Addresses
import Bytes
import Testing
import Upstreams
import Wire

@testable import Gateway

extension WorkerTests {
    @Suite("Handshake")
    struct Handshake {
        /// B001: a target that is refused must look refused, so nothing is promised before.
        @Test func theSYNIsAnsweredOnlyAfterTheUpstreamHasSaidYes() throws {
            let bench = try Bench()
            let client = bench.client()
            try client.sendSYN()
            let peer = try bench.accept()
            bench.until("the CONNECT is there") { peer.text.hasSuffix("\r\n\r\n") }
            // CONNECT with Host and nothing else (RFC 9110, section 9.3.6).
            #expect(peer.text == "CONNECT 198.51.100.10:443 HTTP/1.1\r\nHost: 198.51.100.10:443\r\n\r\n")
            bench.settle()
            #expect(client.segments.isEmpty)

            peer.send("HTTP/1.1 200 OK\r\n\r\n")
            bench.until("the SYN is answered") { !client.segments.isEmpty }
            let answer = try #require(client.takeSegments().first)
            #expect(answer.flags == [.syn, .acknowledge])
            #expect(answer.acknowledgement == SequenceNumber(1001))
            // RFC 9293, section 3.7.1: the MTU of 1500 less both headers.
            #expect(answer.options.maximumSegmentSize == 1460)
            client.next = SequenceNumber(1001)
            client.expected = answer.sequence + 1
            try client.acknowledge()
            try client.send("ping")
            bench.until("the bytes arrive") { peer.text.hasSuffix("ping") }
            try client.reset()
            bench.expectNothingLeft()
        }

        /// B001: what the proxy refuses is a refused connection for the device (RFC 9293, section 3.10.7.3: a
        /// RST in SYN-SENT must acknowledge the SYN).
        @Test(
            "a refusal is a RST that acknowledges the SYN",
            arguments: [
                "HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n",
                "HTTP/1.1 403 Forbidden\r\nContent-Length: 3\r\n\r\nno!",
                "HTTP/1.1 407 No\r\nContent-Length: 0\r\n\r\n",
                "SSH-2.0-OpenSSH_9.6\r\n",
            ])
        func refused(answer: String) throws {
            let bench = try Bench()
            let client = bench.client()
            try client.sendSYN()
            _ = try bench.acceptTunnel(answer)
            bench.until("the SYN is refused") { client.wasReset }
            let reset = try #require(client.takeSegments().first)
            #expect(reset.flags == [.reset, .acknowledge])
            #expect(reset.acknowledgement == SequenceNumber(1001))
            #expect(client.received.isEmpty)
            #expect(bench.counter(\.flowsRefused) == 1)
            bench.expectNothingLeft()
        }

        /// B042 with `http80: connect`: the reason names the status and the port, and not a byte of the page gets
        /// to the device.
        @Test func theReasonOfARefusalNamesStatusAndPort() throws {
            let bench = try Bench(upstreamSettings: { $0.plainHTTP = .connect })
            let client = bench.client(to: Bench.address("198.51.100.10", 80))
            try client.sendSYN()
            _ = try bench.acceptTunnel("HTTP/1.1 403 Forbidden\r\nContent-Length: 3\r\n\r\nno!")
            bench.until("the SYN is refused") { client.wasReset }
            bench.expectNothingLeft()
            #expect(bench.lastFlowLine.contains("403"))
            #expect(bench.lastFlowLine.contains("198.51.100.10:80"))
            #expect(bench.machines[0].reasons == ["refused": 1])
        }

        @Test func aProxyThatNobodyRunsIsARefusal() throws {
            // Port 1 of loopback: nobody listens there.
            let bench = try Bench(kind: .http(server: Target(Bench.address("127.0.0.1", 1))))
            let client = bench.client()
            try client.sendSYN()
            bench.until("the SYN is refused") { client.wasReset }
            #expect(client.segments.first?.acknowledgement == SequenceNumber(1001))
            bench.expectNothingLeft()
            #expect(bench.lastFlowLine.contains("no connection to the proxy"))
        }

        /// CONNECT may take 20 s overall.
        @Test func aSilentProxyIsATimeoutAfter20Seconds() throws {
            let bench = try Bench()
            let client = bench.client()
            try client.sendSYN()
            let peer = try bench.accept()
            bench.until("the CONNECT is there") { peer.text.hasSuffix("\r\n\r\n") }
            bench.advance(.seconds(19))
            #expect(client.segments.isEmpty)
            bench.advance(.seconds(2))
            bench.until("the SYN is refused") { client.wasReset }
            bench.expectNothingLeft()
            #expect(bench.lastFlowLine.contains("the proxy did not answer in time"))
        }

        /// B015: copies of a SYN join the dial that runs; each is answered with the same sequence number.
        @Test func aRepeatedSYNJoinsTheDial() throws {
            let bench = try Bench()
            let client = bench.client()
            client.offer.timestamps = TCPTimestamps(value: 0, echo: 0)
            try client.sendSYN()
            let peer = try bench.accept()
            for seconds in 1...2 {
                bench.advance(.seconds(Int64(seconds)))
                client.clock += 1000
                try client.sendSYN()
            }
            bench.until("the CONNECT is there") { peer.text.hasSuffix("\r\n\r\n") }
            bench.settle()
            #expect(bench.nextPeer() == nil)
            #expect(bench.machines[0].flows == 1)
            peer.send("HTTP/1.1 200 OK\r\n\r\n")
            bench.until("the SYN is answered") { !client.segments.isEmpty }
            try client.sendSYN()
            bench.until("the copy is answered") { client.segments.count >= 2 }
            let answers = client.takeSegments()
            #expect(Set(answers.map(\.sequence)).count == 1)
            // An old echo ruins the client's RTO.
            #expect(answers.allSatisfy { $0.options.timestamps?.echo == client.clock })
            client.next = client.next + 1
            try client.reset()
            bench.expectNothingLeft()
        }

        /// B010: a client that gives up takes its dial with it.
        @Test("a RST cancels the dial", arguments: [true, false])
        func cancelled(isAsked: Bool) throws {
            let bench = try Bench()
            let client = bench.client()
            try client.sendSYN()
            let peer = try bench.accept()
            if isAsked { bench.until("the CONNECT is there") { peer.text.hasSuffix("\r\n\r\n") } }
            try client.sendRaw([.reset, .acknowledge], sequence: SequenceNumber(1001))
            bench.until("the upstream is let go") { peer.isOver }
            peer.send("HTTP/1.1 200 OK\r\n\r\n")
            bench.expectNothingLeft()
            #expect(client.segments.isEmpty, "nothing is sent to who is gone")
            #expect(bench.machines[0].reasons == ["client-gave-up": 1])
        }

        @Test func aSYNWithAnotherSequenceNumberIsANewAttempt() throws {
            let bench = try Bench()
            let client = bench.client()
            try client.sendSYN()
            let first = try bench.accept()
            client.next = SequenceNumber(70_000)
            try client.sendSYN()
            let second = try bench.acceptTunnel()
            bench.until("the first dial is cancelled") { first.isOver }
            try client.establish()
            try client.send("x")
            bench.until("the bytes arrive") { second.text == "x" }
            #expect(client.segments.first?.acknowledgement == SequenceNumber(70_001))
            // The client took its first SYN back; no TIME-WAIT was used again.
            #expect(bench.machines[0].reasons == ["client-gave-up": 1])
            #expect(bench.counter(\.timeWaitReused) == 0)
            try client.reset()
            bench.expectNothingLeft()
        }

        /// B032: what stands behind the reply's head is the stream's first bytes.
        @Test func aBannerThatComesWithTheReplyReachesTheClient() throws {
            let bench = try Bench()
            let client = bench.client(to: Bench.address("198.51.100.10", 22))
            let peer = try client.open("HTTP/1.1 200 OK\r\n\r\nSSH-2.0-OpenSSH_9.6\r\n")
            bench.until("the banner is there") { client.text == "SSH-2.0-OpenSSH_9.6\r\n" }
            peer.send("more\r\n")
            bench.until("more is there") { client.text == "SSH-2.0-OpenSSH_9.6\r\nmore\r\n" }
            try client.reset()
            bench.expectNothingLeft()
        }

        /// SYN-ACK again after 1, 2, 4, 8 s.
        @Test func aHandshakeThatIsNeverCompletedIsGivenUp() throws {
            let bench = try Bench()
            let client = bench.client()
            try client.sendSYN()
            let peer = try bench.acceptTunnel()
            bench.until("the SYN is answered") { !client.segments.isEmpty }
            // Timers are rounded up to their wheel's tick, about half a millisecond.
            let tick = Interval.milliseconds(1)
            for seconds in [1, 2, 4, 8] as [Int64] {
                let before = client.takeSegments()
                #expect(before.map(\.flags) == [[.syn, .acknowledge]])
                bench.advance(.seconds(seconds) + tick)
            }
            #expect(client.takeSegments().map(\.flags) == [[.syn, .acknowledge]])
            bench.advance(.seconds(16) + tick)
            bench.until("the upstream is let go") { peer.isOver }
            bench.expectNothingLeft()
            #expect(bench.machines[0].reasons == ["handshake-not-completed": 1])
        }

        @Test func theGatewaysOwnDialThatComesBackIsRefused() throws {
            let device = try #require(IPPrefix(Bench.device, length: 32))
            let bench = try Bench(upstreamSettings: { $0.policy.own = [device] })
            let client = bench.client()
            try client.sendSYN()
            bench.until("the SYN is refused") { client.wasReset }
            bench.expectNothingLeft()
            #expect(bench.log.contains("event=route-loop client=\(client.address) target=198.51.100.10:443"))
        }

        @Test(arguments: [true, false])
        func iPv6IsCarriedAsWell(hasVirtioHeader: Bool) throws {
            let bench = try Bench(hasVirtioHeader: hasVirtioHeader)
            let client = bench.client(
                from: Bench.address("fd00:9::2", 0).address, to: Bench.address("2001:db8:51::10", 443))
            try client.sendSYN()
            let peer = try bench.accept()
            bench.until("the CONNECT is there") { peer.text.hasSuffix("\r\n\r\n") }
            #expect(peer.take().hasPrefix("CONNECT [2001:db8:51::10]:443 HTTP/1.1\r\n"))
            peer.send("HTTP/1.1 200 OK\r\n\r\nhello")
            try client.establish()
            bench.until("the bytes arrive") { client.text == "hello" }
            // RFC 9293, section 3.7.1: 1500 less 60.
            #expect(client.segments.first?.options.maximumSegmentSize == 1440)
            try client.reset()
            bench.expectNothingLeft()
        }
    }
}
