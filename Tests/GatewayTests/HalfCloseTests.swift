/// Ends and resets pass through, each as what it is, after the bytes before it.

import Bytes
import LinuxIO
import Relay
import Streams
import Testing
import Upstreams
import Wire

@testable import Gateway

extension WorkerTests {
    @Suite("Ends")
    struct Ends {
        /// B020: request, FIN, and then the whole answer.
        @Test func theClientsFINIsPassedOnAndTheAnswerComesWhole() throws {
            let bench = try Bench()
            let client = bench.client()
            let peer = try client.open()
            try client.send("REQ")
            try client.finish()
            bench.until("the end arrives") { peer.isEnded }
            #expect(peer.text == "REQ")
            bench.advance(.seconds(3))
            #expect(!client.hasEnded)
            let answer = pattern(200_000)
            var sent = 0
            bench.until("the answer is taken") {
                sent += peer.send(Array(answer[sent...]))
                return sent == answer.count
            }
            peer.close()
            bench.until("the answer ends") { client.hasEnded }
            let isWhole = client.received == answer
            #expect(isWhole)
            #expect(!client.wasReset)
            bench.expectNothingLeft()
            #expect(bench.lastFlowLine.contains("up=3 down=200000"))
            #expect(bench.lastFlowLine.contains("reason=\"client closed\""))
        }

        /// B023, B025: the server closes first; the device hears of it at once, and its own FIN ends the flow.
        @Test func theServersEndIsPassedOnAtOnce() throws {
            let bench = try Bench()
            let client = bench.client()
            let peer = try client.open()
            peer.send("bye")
            peer.finish()
            bench.until("the end arrives") { client.hasEnded }
            #expect(client.text == "bye")
            try client.send("last words")
            try client.finish()
            bench.until("the end arrives") { peer.isEnded }
            #expect(peer.text == "last words")
            bench.expectNothingLeft()
            #expect(bench.lastFlowLine.contains("reason=\"upstream closed\""))
        }

        /// What the device has sent and we have acknowledged is delivered, however slow the upstream is and
        /// whoever has closed.
        @Test("an upload reaches a slow server whole", arguments: [true, false])
        func slowServer(serverEndsFirst: Bool) throws {
            let bench = try Bench()
            let client = bench.client()
            let peer = try client.open()
            peer.isReading = false
            if serverEndsFirst {
                peer.finish()
                bench.until("the end arrives") { client.hasEnded }
            }
            let data = pattern(16 << 20)
            let taken = try client.upload(data) { bench.machines[0].chunksUsed >= 4 }
            #expect(taken < data.count, "the upstream was to be slow")
            try client.finish()
            bench.settle()
            if !serverEndsFirst {
                peer.finish()
                bench.until("the end arrives") { client.hasEnded }
            }
            bench.advance(.seconds(1))
            peer.isReading = true
            bench.until("the upload ends") { peer.isOver }
            #expect(peer.isEnded, "an end, not a reset")
            let isWhole = peer.received == Array(data[..<taken])
            #expect(isWhole)
            bench.expectNothingLeft()
        }

        /// B022: a slow reader gets everything, then FIN.
        @Test func aDownloadReachesASlowClientWhole() throws {
            let bench = try Bench()
            let client = bench.client()
            let peer = try client.open()
            client.acknowledges = false
            client.window = 4000
            try client.acknowledge()
            let data = pattern(300_000)
            var sent = 0
            bench.until("the answer is taken") {
                sent += peer.send(Array(data[sent...]))
                return sent == data.count
            }
            peer.close()
            // Ten minutes for 300,000 bytes: no half-close limit may cut that off.
            var rounds = 0
            try bench.until("the answer ends") {
                rounds += 1
                try client.acknowledge()
                bench.advance(.seconds(8))
                return client.hasEnded || client.wasReset
            }
            #expect(rounds > 60)
            #expect(!client.wasReset)
            let isWhole = client.received == data
            #expect(isWhole)
            try client.finish()
            bench.expectNothingLeft()
        }

        // MARK: halfClose: hold

        @Test func aHeldEndWaitsForTheUpstreams() throws {
            let bench = try Bench(upstreamSettings: { $0.halfClose = .hold })
            let client = bench.client()
            let peer = try client.open()
            try client.send("REQ")
            try client.finish()
            bench.until("the request arrives") { peer.text == "REQ" }
            bench.advance(.seconds(10))
            #expect(!peer.isEnded)
            peer.send("answer")
            peer.finish()
            bench.until("the answer ends") { client.hasEnded }
            bench.until("the end follows") { peer.isEnded }
            #expect(client.text == "answer")
            bench.expectNothingLeft()
        }

        @Test func aHeldEndIsKeptBackFor60SecondsAtMost() throws {
            let bench = try Bench(upstreamSettings: { $0.halfClose = .hold })
            let client = bench.client()
            let peer = try client.open()
            try client.finish()
            bench.advance(.seconds(59))
            #expect(!peer.isEnded)
            bench.advance(.seconds(2))
            bench.until("the end follows") { peer.isEnded }
            peer.send("late")
            peer.finish()
            bench.until("the answer ends") { client.hasEnded }
            #expect(client.text == "late")
            bench.expectNothingLeft()
        }

        // MARK: Limits

        /// B027: a half-closed flow is reaped after 60 s without a byte, and not before.
        @Test("a half-closed flow has 60 s", arguments: [Side.client, .upstream])
        func halfCloseLimit(_ side: Side) throws {
            let bench = try Bench()
            let client = bench.client()
            let peer = try client.open()
            if side == .client {
                try client.finish()
                bench.until("the end arrives") { peer.isEnded }
            } else {
                peer.finish()
                bench.until("the end arrives") { client.hasEnded }
            }
            bench.advance(.seconds(50))
            if side == .client { peer.send("x") } else { try client.send("x") }
            bench.letKernelAcknowledge()
            bench.advance(.seconds(50))
            #expect(bench.machines[0].flows == 1, "a byte gives it 60 s anew")
            bench.advance(.seconds(11))
            bench.expectNothingLeft()
            #expect(bench.machines[0].reasons == ["half-close-timeout": 1])
            #expect(client.wasReset)
        }

        /// The upstream has finished and the upload goes on, slowly and through our buffer: that is no silence.
        @Test func anUploadThatGoesOnIsNotHalfCloseSilence() throws {
            let bench = try Bench()
            let client = bench.client()
            let peer = try client.open()
            peer.finish()
            bench.until("the end arrives") { client.hasEnded }
            // A hole first, so that everything is stored and nothing goes straight to the socket.
            for round in 0..<8 {
                try client.sendRaw([.acknowledge], sequence: client.next + 1, Array("b".utf8))
                bench.settle()
                try client.sendRaw([.acknowledge], Array("a".utf8))
                client.next = client.next + 2
                bench.advance(.seconds(20))
                #expect(bench.machines[0].flows == 1, "round \(round)")
            }
            bench.until("everything arrives") { peer.text == String(repeating: "ab", count: 8) }
            try client.finish()
            bench.expectNothingLeft()
            #expect(bench.lastFlowLine.contains("up=16 "), "every octet is counted, whichever way it took")
        }

        @Test func anIdleFlowLivesForADay() throws {
            let bench = try Bench { $0.tcp.keepaliveIdle = .hours(100) }
            let client = bench.client()
            let peer = try client.open()
            bench.advance(.hours(23))
            peer.send("still there")
            bench.until("the bytes arrive") { client.text == "still there" }
            bench.advance(.hours(23))
            #expect(bench.machines[0].flows == 1)
            bench.advance(.hours(1) + .seconds(1))
            bench.expectNothingLeft()
            #expect(bench.machines[0].reasons == ["idle-timeout": 1])
        }

        // MARK: Resets

        /// A server that has closed and is talked to answers with a reset: the device hears of it at once.
        @Test func aResetBehindTheServersEndIsPassedOn() throws {
            let bench = try Bench()
            let client = bench.client()
            let peer = try client.open()
            peer.close()
            bench.until("the end arrives") { client.hasEnded }
            try client.send("anybody there?")
            bench.until("the reset comes") { client.wasReset }
            bench.expectNothingLeft()
            #expect(bench.machines[0].reasons == ["upstream-reset": 1])
        }

        /// B028: a reset stays one, and what came before it is delivered.
        @Test func anUpstreamsResetIsOneForTheClientAfterItsBytes() throws {
            let bench = try Bench()
            let client = bench.client()
            let peer = try client.open()
            client.acknowledges = false
            client.window = 2000
            try client.acknowledge()
            let data = [UInt8](repeating: 0x61, count: 10_000)
            peer.send(data)
            bench.settle()
            peer.reset()
            bench.settle()
            #expect(!client.wasReset, "bytes first")
            client.acknowledges = true
            client.window = 65535
            try client.acknowledge()
            bench.until("the reset comes") { client.wasReset }
            #expect(client.received == data)
            #expect(!client.hasEnded)
            bench.expectNothingLeft()
            #expect(bench.machines[0].reasons == ["upstream-reset": 1])
        }

        /// B028: and the other way round.
        @Test func aClientsResetIsOneForTheUpstream() throws {
            let bench = try Bench()
            let client = bench.client()
            let peer = try client.open()
            try client.send("half a requ")
            bench.until("the bytes arrive") { peer.text == "half a requ" }
            try client.reset()
            bench.until("the upstream hears of it") { peer.isOver }
            #expect(peer.failure == .connectionReset)
            bench.expectNothingLeft()
            #expect(bench.machines[0].reasons == ["client-reset": 1])
        }

        @Test func atTheGatewaysStopBothSidesAreReset() throws {
            let bench = try Bench()
            let client = bench.client()
            let peer = try client.open()
            bench.machines[0].worker.endAllFlows()
            bench.until("both hear of it") { client.wasReset && peer.isOver }
            #expect(peer.failure == .connectionReset)
            bench.expectNothingLeft()
            #expect(bench.machines[0].reasons == ["shutdown": 1])
        }

        @Test func aTLSClientThatClosesBehindTheServersFirstFlightRefusedTheCertificate() throws {
            let bench = try Bench()
            let client = bench.client()
            let peer = try client.open()
            // Records as RFC 8446, section 5.1: a ClientHello, a ServerHello with what follows, a fatal alert.
            try client.send([22, 3, 1, 0, 4, 1, 0, 0, 0])
            bench.until("the hello arrives") { peer.received.count == 9 }
            peer.send([22, 3, 3, 0, 4, 2, 0, 0, 0] + [22, 3, 3, 0, 4, 11, 0, 0, 0])
            bench.until("the answer arrives") { client.received.count == 18 }
            try client.send([21, 3, 3, 0, 2, 2, 42])
            try client.finish()
            bench.until("the end arrives") { peer.isEnded }
            peer.close()
            bench.expectNothingLeft()
            #expect(bench.machines[0].reasons == ["client-refused-certificate": 1])
        }
    }
}
