/// How big what the device gets is: its MSS, the path's MTU, and super-segments that the kernel cuts.

import Addresses
import Bytes
import Streams
import Testing
import Wire

@testable import Gateway

extension WorkerTests {
    @Suite("Segment sizes")
    struct SegmentSizes {
        /// B120: nothing is larger than the peer's MSS, options included (RFC 6691).
        @Test(
            "no segment exceeds the client's MSS", arguments: [true, false],
            [
                (stamps: true, mtu: 1500), (stamps: false, mtu: 1500), (stamps: true, mtu: 9000),
                (stamps: false, mtu: 9000),
            ])
        func maximumSegmentSize(hasVirtioHeader: Bool, kind: (stamps: Bool, mtu: Int)) throws {
            let hasTimestamps = kind.stamps
            let bench = try Bench(hasVirtioHeader: hasVirtioHeader) { $0.tcp.interfaceMTU = kind.mtu }
            let client = bench.client()
            client.offer.maximumSegmentSize = 1240
            if hasTimestamps { client.offer.timestamps = TCPTimestamps(value: 0, echo: 0) }
            let peer = try client.open()
            #expect(client.segments.first?.options.maximumSegmentSize == UInt16(kind.mtu - 40))
            let data = pattern(100_000)
            var sent = 0
            bench.until("it is taken") {
                sent += peer.send(Array(data[sent...]))
                return sent == data.count
            }
            bench.until("it arrives") { client.received.count == data.count }
            let isWhole = client.received == data
            #expect(isWhole)
            let largest = hasTimestamps ? 1228 : 1240
            let pieces = client.sizes.max() ?? 0
            if hasVirtioHeader {
                #expect(pieces > largest, "super-segments")
                #expect(client.largestPiece == largest)
            } else {
                #expect(pieces == largest)
            }
            try client.reset()
            bench.expectNothingLeft()
        }

        /// RFC 1191, section 6.4, and RFC 8201: what was too big is sent again at once, smaller.
        ///
        /// An error that quotes what was never sent is not believed (RFC 5927).
        @Test("a Packet Too Big is believed about what is under way", arguments: Datagrams.pairs)
        func pathMTU(pair: (device: String, target: String)) throws {
            let bench = try Bench()
            let client = bench.client(
                from: Bench.address(pair.device, 0).address, to: Bench.address(pair.target, 443))
            client.acknowledges = false
            let peer = try client.open()
            peer.send([UInt8](repeating: 1, count: 5000))
            bench.until("segments come") { client.sizes.reduce(0, +) == 5000 }
            let headers = pair.device.contains(".") ? 40 : 60
            #expect(client.sizes.max() == 1500 - headers)
            let first = try #require(client.packets.first { $0.payload.count > 1000 })

            var forged = first.bytes
            forged[headers - 20 + 4] ^= 0x40
            try bench.inject(Datagram.tooBig(from: pair.target, to: pair.device, mtu: 1280, about: forged))
            bench.settle()
            #expect(bench.counter(\.icmpErrorsIgnored) == 1)
            client.forget()
            try bench.inject(Datagram.tooBig(from: pair.target, to: pair.device, mtu: 1280, about: first.bytes))
            bench.until("it is sent again") { client.sizes.contains(1280 - headers) }
            #expect(bench.counter(\.icmpErrorsAccepted) == 1)
            #expect(client.sizes.allSatisfy { $0 <= 1280 - headers })
            try client.reset()
            bench.expectNothingLeft()
        }
    }
}
