/// DHCP messages against RFC 2131 (figure 1, table 1, section 4.1) and RFC 2132.

import Addresses
import Bytes
import TestSupport
import Testing

@testable import Wire

@Suite struct DHCPMessageTests {
    static let mac = MACAddress(bits: 0x0200_0000_0001)
    static let transaction: UInt32 = 0x3903_f326

    /// An OFFER as a server would send it, put together by the RFCs: fields, then options behind the cookie.
    static func offer(_ options: [UInt8], file: [UInt8] = [], sname: [UInt8] = []) -> [UInt8] {
        var octets: [UInt8] = [2, 1, 6, 0] + [0x39, 0x03, 0xf3, 0x26] + [0, 0, 0x80, 0]
        octets += [0, 0, 0, 0] + [192, 168, 1, 50] + [192, 168, 1, 1] + [0, 0, 0, 0]
        octets += [2, 0, 0, 0, 0, 1] + [UInt8](repeating: 0, count: 10)
        octets += sname + [UInt8](repeating: 0, count: 64 - sname.count)
        octets += file + [UInt8](repeating: 0, count: 128 - file.count)
        return octets + [99, 130, 83, 99] + options
    }

    static let plain: [UInt8] = [
        53, 1, 2, 54, 4, 192, 168, 1, 1, 51, 4, 0, 0, 14, 16, 3, 8, 192, 168, 1, 1, 192, 168, 1, 2, 6, 4, 9, 9, 9, 9,
        255,
    ]

    private func read(_ octets: [UInt8]) throws(DHCPError) -> DHCPOffer {
        try DHCPMessage.offer(octets.span, to: Self.transaction, of: Self.mac)
    }

    @Test("a DISCOVER has the fields of figure 1, asks for a broadcast, and is as long as a BOOTP message")
    func writes() {
        let octets = DHCPMessage.discover(Self.transaction, from: Self.mac, seconds: 6)
        #expect(octets.count == 300)
        #expect(Array(octets[0..<12]) == [1, 1, 6, 0, 0x39, 0x03, 0xf3, 0x26, 0, 6, 0x80, 0])
        // ciaddr, yiaddr, siaddr, giaddr, then chaddr.
        #expect(octets[12..<28].allSatisfy { $0 == 0 })
        #expect(Array(octets[28..<44]) == [2, 0, 0, 0, 0, 1] + [UInt8](repeating: 0, count: 10))
        #expect(octets[44..<236].allSatisfy { $0 == 0 })
        // The cookie, and DHCPDISCOVER as the first option.
        #expect(Array(octets[236..<243]) == [99, 130, 83, 99, 53, 1, 1])
        #expect(octets.contains(255))
    }

    @Test("its packet comes from 0.0.0.0:68 and goes to everybody's port 67, with right checksums")
    func packet() throws {
        let message = DHCPMessage.discover(Self.transaction, from: Self.mac, seconds: 0)
        let packet = DHCPMessage.packet(message)
        let ip = try IPPacket.parse(packet.span)
        let udp = try UDPHeader.parse(packet.span, of: ip)
        #expect(ip.source == IPAddress(v4: 0) && ip.destination == IPAddress(v4: 0xffff_ffff))
        #expect(udp.sourcePort == 68 && udp.destinationPort == 67)
        #expect(Array(packet[udp.payload]) == message)
        #expect(try checksumIsValid(packet))
    }

    @Test("an OFFER is read: whose it is, the address, routers and resolvers")
    func reads() throws {
        let offer = try read(Self.offer(Self.plain))
        #expect(offer.server?.description == "192.168.1.1")
        #expect(offer.address.description == "192.168.1.50")
        #expect(offer.routers.map(\.description) == ["192.168.1.1", "192.168.1.2"])
        #expect(offer.resolvers.map(\.description) == ["9.9.9.9"])
    }

    @Test("options may stand in the fields of names (RFC 2132, section 9.3), and in pieces (RFC 3396)")
    func overload() throws {
        let split = Self.offer(
            [52, 1, 3, 53, 1, 2, 0, 0, 255], file: [3, 2, 10, 0, 3, 2, 0, 9, 255], sname: [54, 4, 10, 0, 0, 1, 255])
        let offer = try read(split)
        #expect(offer.routers.map(\.description) == ["10.0.0.9"])
        #expect(offer.server?.description == "10.0.0.1")
        // Without option 52 those fields are names.
        #expect(try read(Self.offer([53, 1, 2, 255], file: [3, 4, 1, 2, 3, 4])).routers.isEmpty)
    }

    @Test("an OFFER without a router or an end is one all the same")
    func bare() throws {
        let offer = try read(Self.offer([53, 1, 2]))
        #expect(offer.routers.isEmpty && offer.server == nil)
    }

    @Test(
        "what is no OFFER to us is refused",
        arguments: [
            (at: 0, value: UInt8(1), error: DHCPError.notAReply), (at: 1, value: 6, error: .notAReply),
            (at: 2, value: 16, error: .notAReply), (at: 7, value: 0x27, error: .otherTransaction),
            (at: 33, value: 2, error: .otherTransaction), (at: 239, value: 98, error: .noCookie),
            (at: 242, value: 5, error: .notAnOffer), (at: 241, value: 200, error: .option(53)),
            (at: 244, value: 200, error: .option(54)),
        ])
    func refuses(at: Int, value: UInt8, error: DHCPError) {
        var octets = Self.offer(Self.plain)
        octets[at] = value
        #expect(throws: error) { try read(octets) }
    }

    @Test("an option of addresses has a multiple of four octets, and at least four (RFC 2132, sections 3.5, 9.7)")
    func addresses() {
        #expect(throws: DHCPError.option(54)) { try read(Self.offer([53, 1, 2, 54, 3, 10, 0, 0, 255])) }
        #expect(throws: DHCPError.option(3)) { try read(Self.offer([53, 1, 2, 3, 0, 255])) }
        #expect(throws: DHCPError.option(6)) { try read(Self.offer([53, 1, 2, 6, 5, 1, 2, 3, 4, 5, 255])) }
    }

    @Test("a message cut anywhere is refused or read as what is there, and never past its end")
    func cut() {
        let whole = Self.offer(Self.plain)
        for length in 0..<240 {
            #expect(throws: DHCPError.truncated(needed: 240, got: length)) { try read(Array(whole[..<length])) }
        }
        #expect(throws: DHCPError.notAnOffer) { try read(Array(whole[..<240])) }
        #expect(throws: DHCPError.option(53)) { try read(Array(whole[..<242])) }
    }

    @Test("octets at random are refused, or read, and end nothing")
    func random() {
        var generator = SeededGenerator(seed: 2131)
        for _ in 0..<20_000 {
            var octets = Self.offer((0..<60).map { _ in UInt8.random(in: .min ... .max, using: &generator) })
            octets[240] = 53
            _ = try? read(octets)
        }
    }

    @Test("a packet to another port is passed over")
    func others() {
        let message = Self.offer(Self.plain)
        let packet = DHCPMessage.packet(message)
        #expect(DHCPMessage.payload(of: packet.span) == nil)
        #expect(DHCPMessage.payload(of: [UInt8](repeating: 0x45, count: 19).span) == nil)
    }
}
