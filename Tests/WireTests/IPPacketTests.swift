/// Reading of IP packets: what is accepted, what is refused and under which name.

import Addresses
import Bytes
import TestSupport
import Testing

@testable import Wire

@Suite struct IPPacketTests {
    @Test func readsAnIPv4Packet() throws {
        let ip = try parseIP(Vectors.dataWithSACK)
        #expect(ip.source == IPAddress(v4: 0x0a09_0002))
        #expect(ip.destination == IPAddress(v4: 0xc633_640a))
        #expect(ip.transport == .tcp)
        #expect(ip.hopLimit == 64)
        #expect(ip.payload == 20..<77)
        #expect(ip.fragment == nil)
    }

    @Test func readsPastIPv6ExtensionHeaders() throws {
        let ip = try parseIP(Vectors.extended6)
        #expect(ip.source == IPAddress(parsing: "fd00:9::2"))
        #expect(ip.destination == IPAddress(parsing: "2001:db8:51::10"))
        #expect(ip.transport == .udp)
        #expect(ip.payload == 56..<68)
        #expect(checksumIsValid(Vectors.extended6, ip))
        #expect(try parseUDP(Vectors.extended6).payload == 64..<68)
    }

    @Test func leavesLinkPaddingOut() throws {
        let padded = Vectors.dataWithSACK + [1, 2, 3]
        #expect(try parseIP(padded).payload == 20..<77)
        let padded6 = Vectors.synAck6 + [1, 2, 3]
        #expect(try parseIP(padded6).payload == 40..<80)
    }

    @Test func readsIPv4Options() throws {
        // Header length 6 words, a router alert (RFC 2113), checksum by hand: ~(~0xf450 + 0x0100 + 0x0004 + 0x9404).
        let packet = hex("46000024123440004011 5f48 0a090002c633640a 94040000 045801bb000ceaa171756963")
        let ip = try parseIP(packet)
        #expect(ip.payload == 24..<36)
        #expect(try parseUDP(packet).destinationPort == 443)
    }

    @Test(
        "refuses damaged IPv4 headers",
        arguments: [
            (offset: 0, value: UInt8(0x55), error: WireError.unsupported(.version, 5)),
            (offset: 0, value: 0x44, error: .inconsistent(.headerLength)),
            (offset: 3, value: 0x13, error: .inconsistent(.headerLength)),
            (offset: 3, value: 0x4e, error: .truncated(needed: 78, got: 77)),
            (offset: 8, value: 0x3f, error: .checksum),
        ])
    func refuses(offset: Int, value: UInt8, error: WireError) {
        var damaged = Vectors.dataWithSACK
        damaged[offset] = value
        #expect(throws: error) { try parseIP(damaged) }
    }

    @Test func refusesOtherTransports() {
        // GRE and, over IPv6, "no next header"; ICMP of the wrong family is as foreign.
        #expect(throws: WireError.unsupported(.transport, 47)) { try parse(protocol: 47) }
        #expect(throws: WireError.unsupported(.transport, 58)) { try parse(protocol: 58) }
        var packet = Vectors.udp6
        packet[6] = 59
        #expect(throws: WireError.unsupported(.transport, 59)) { try parseIP(packet) }
        packet[6] = 1
        #expect(throws: WireError.unsupported(.transport, 1)) { try parseIP(packet) }
    }

    @Test("refuses nothing at all, and every shorter piece of a packet")
    func refusesPieces() {
        for whole in [Vectors.dataWithSACK, Vectors.synAck6, Vectors.extended6] {
            for count in whole.indices {
                #expect(throws: WireError.self) { try parseIP(Array(whole[..<count])) }
            }
        }
    }

    @Test func refusesIPv4MappedAddressesInIPv6Packets() {
        var packet = Vectors.udp6
        packet.replaceSubrange(8..<24, with: [UInt8](repeating: 0, count: 10) + [0xff, 0xff, 10, 9, 0, 2])
        #expect(throws: WireError.inconsistent(.address)) { try parseIP(packet) }
    }

    @Test func refusesSourceRoutes() {
        // A routing header of 8 octets with one segment left (RFC 5095), then with none.
        var packet = hex("6000000000142b40 fd000009000000000000000000000002 20010db8005100000000000000000010")
        packet += hex("1100000100000000 045708ae000c000064617461")
        #expect(throws: WireError.unsupported(.extensionHeader, 43)) { try parseIP(packet) }
        packet[43] = 0
        #expect((try? parseIP(packet))?.payload == 48..<60)
    }

    @Test func refusesHopByHopOptionsOutOfPlaceAndEndlessExtensions() {
        var packet = hex("6000000000103c40 fd000009000000000000000000000002 20010db8005100000000000000000010")
        packet += hex("0000010400000000 3b00010400000000")
        #expect(throws: WireError.inconsistent(.extensionHeader)) { try parseIP(packet) }
        var many = Array(packet[..<40])
        many[5] = 80
        for _ in 0..<10 { many += hex("3c00010400000000") }
        #expect(throws: WireError.inconsistent(.extensionHeader)) { try parseIP(many) }
    }

    @Test("verifies checksums where nobody else did (B017, B113)")
    func verifiesChecksums() throws {
        for packet in [
            Vectors.dataWithSACK, Vectors.synAck6, Vectors.udp4, Vectors.udp6, Vectors.echo4, Vectors.echo6,
            Vectors.fragmentationNeeded, Vectors.packetTooBig,
        ] {
            let ip = try parseIP(packet)
            #expect(checksumIsValid(packet, ip))
            for index in ip.payload {
                // A UDP length that is less leaves octets behind that no checksum covers; both ends of it are errors.
                if ip.transport == .udp, index - ip.payload.lowerBound == 4 || index - ip.payload.lowerBound == 5 {
                    continue
                }
                var damaged = packet
                damaged[index] ^= 0x10
                #expect(!checksumIsValid(damaged, ip), "octet \(index)")
            }
        }
    }

    @Test func tellsSingleHostsFromGroups() throws {
        let multicast = hex("4500001d1234400040113d960a090002e00000fb0457270f0009716f78")
        let broadcast = hex("4500001d1234400040111e920a090002ffffffff0457270f0009526b78")
        #expect(try !parseIP(multicast).isUnicast)
        #expect(try !parseIP(broadcast).isUnicast)
        #expect(try parseIP(Vectors.udp4).isUnicast)
    }

    private func parse(protocol number: UInt8) throws -> IPPacket {
        var packet = Vectors.udp4
        packet[9] = number
        packet[10] = 0
        packet[11] = 0
        var checksum = InternetChecksum()
        checksum.add(packet.span.extracting(0..<20))
        packet[10] = UInt8(checksum.value >> 8)
        packet[11] = UInt8(checksum.value & 0xff)
        return try parseIP(packet)
    }
}
