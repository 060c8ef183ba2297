/// IPv4 addresses that devices write as IPv6 ones (RFC 6052), and how the network's own prefix is found (RFC 7050).

import Addresses
import Bytes
import LinuxIO
import Names
import Testing
import Wire

@testable import Gateway

extension WorkerTests {
    @Suite("Translation")
    struct Translation {
        /// RFC 6052, section 2.4: 192.0.2.33 in prefixes of two lengths.
        @Test(
            "a stream to a translated address is asked for as IPv4",
            arguments: ["64:ff9b::192.0.2.33", "2001:db8:122:344:c0:2:2100::"])
        func stream(target: String) throws {
            let bench = try Bench()
            let network = try #require(IPPrefix(parsing: "2001:db8:122:344::/64"))
            bench.shared.learn([try #require(NAT64Prefix(network))])
            let device = Bench.address("fd00:9::2", 0).address
            let client = bench.client(from: device, to: Bench.address(target, 443))
            try client.sendSYN()
            let peer = try bench.accept()
            bench.until("the CONNECT is there") { peer.text.hasSuffix("\r\n\r\n") }
            #expect(peer.take().hasPrefix("CONNECT 192.0.2.33:443 HTTP/1.1\r\n"))
            peer.send("HTTP/1.1 200 OK\r\n\r\n")
            try client.establish()
            try client.reset()
            bench.expectNothingLeft()
        }

        /// A datagram goes out over IPv4, and its answer comes back over IPv6 from where it was asked.
        @Test func aDatagramIsTranslatedBothWays() throws {
            let outside = try Outside()
            let bench = try Bench { $0.datagrams.directPorts = [outside.address.port] }
            try bench.inject(
                Datagram.udp(from: "fd00:9::2", to: "64:ff9b::127.0.0.1", outside.address.port, [1, 2]))
            let asked = try bench.next(at: outside)
            #expect(asked.data == [1, 2])
            outside.send(pattern(2000), to: asked.peer)
            let pieces = bench.nextStrays(2)
            #expect(pieces.allSatisfy { $0.ip.source == Bench.address("64:ff9b::127.0.0.1", 0).address })
            #expect(pieces.allSatisfy { $0.bytes.count <= 1500 && $0.ip.fragment != nil })
        }

        @Test func theNetworksPrefixIsAskedOfItsResolver() throws {
            let resolver = try Outside()
            var settings = NameServerSettings()
            settings.resolvers = [.address(resolver.address)]
            let directory = NameDirectory(
                verdict: { _, _ in .fake }, fakeAddress: { _, _, _, _ in nil }, fakeName: { _ in nil },
                isFake: { _ in false }, note: { _, _, _, _, _ in }, device: { _, _ in nil })
            let service = try NameService(settings, directory)
            defer { service.stop() }
            let bench = try Bench()
            let shared = Shared(
                bench.settings, board: bench.shared.board, service: service, listeners: [], mailboxes: [],
                control: try WakeUp(),
                tap: nil)
            let (target, inside) = ("2001:db8:43::192.0.2.33", "192.0.2.33")
            #expect(shared.realAddress(of: Bench.address(target, 0).address) == Bench.address(target, 0).address)
            shared.discoverTranslation()
            let question = try bench.next(at: resolver)
            // 2001:db8:43::192.0.0.170, which is RFC 7050's own example (section 3).
            let address: [UInt8] = [0x20, 1, 0x0d, 0xb8, 0, 0x43, 0, 0, 0, 0, 0, 0, 192, 0, 0, 170]
            resolver.send(answer(to: question.data, address), to: question.peer)
            bench.until("the prefix is learned") {
                shared.realAddress(of: Bench.address(target, 0).address) == Bench.address(inside, 0).address
            }
        }

        /// One AAAA record for the question (RFC 1035, section 4.1; RFC 3596, section 2).
        private func answer(to query: [UInt8], _ address: [UInt8]) -> [UInt8] {
            var end = 12
            while query[end] != 0 { end += Int(query[end]) + 1 }
            let header = Array(query[..<2]) + [0x81, 0x80, 0, 1, 0, 1, 0, 0, 0, 0]
            let record: [UInt8] = [0xc0, 12, 0, 28, 0, 1, 0, 0, 0, 60, 0, 16] + address
            return header + query[12..<end + 5] + record
        }
    }
}
