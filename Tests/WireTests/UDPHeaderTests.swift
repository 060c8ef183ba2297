/// UDP headers, both ways.

import Addresses
import Bytes
import TestSupport
import Testing

@testable import Wire

@Suite struct UDPHeaderTests {
    @Test func readsADatagram() throws {
        let header = try parseUDP(Vectors.udp4)
        #expect(header.sourcePort == 53)
        #expect(header.destinationPort == 50000)
        #expect(header.payload == 28..<31)
        #expect(header.hasChecksum)
    }

    @Test("refuses a datagram without checksum over IPv6, takes it over IPv4 (B113)")
    func checksumIsMandatoryOverIPv6() throws {
        let without = hex(
            """
            60000000002a1140fd000009000000000000000000000002fd000009000000000000000000000001c3520035002a00001a2b0100
            000100000000000003617070076578616d706c6504746573740000010001
            """)
        #expect(throws: WireError.inconsistent(.checksum)) { try parseUDP(without) }
        let with = hex(
            """
            60000000002a1140fd000009000000000000000000000002fd000009000000000000000000000001c3530035002a7b771a2b0100
            000100000000000003617070076578616d706c6504746573740000010001
            """)
        #expect(try parseUDP(with).payload.count == 34)
        #expect(try checksumIsValid(with))

        var version4 = Vectors.udp4
        version4[26] = 0
        version4[27] = 0
        #expect(try !parseUDP(version4).hasChecksum)
        #expect(try checksumIsValid(version4))
    }

    @Test func leavesOctetsBehindTheDatagramOut() throws {
        // The IP payload is two octets longer than the UDP length says.
        var packet = Vectors.udp6 + [0xaa, 0xbb]
        packet[5] += 2
        #expect(try parseUDP(packet).payload == 48..<51)
        #expect(try checksumIsValid(packet))
    }

    @Test func refusesImpossibleLengths() {
        var packet = Vectors.udp6
        packet[45] = 7
        #expect(throws: WireError.inconsistent(.totalLength)) { try parseUDP(packet) }
        packet[45] = 12
        #expect(throws: WireError.truncated(needed: 12, got: 11)) { try parseUDP(packet) }
        var short = Array(Vectors.udp6[..<47])
        short[5] = 7
        #expect(throws: WireError.truncated(needed: 8, got: 7)) { try parseUDP(short) }
    }

    @Test("writes a datagram as scapy does", arguments: [false, true])
    func writes(withVirtio: Bool) {
        let client = SocketAddress(IPAddress(v4: 0x0a09_0002), 50000)
        let server = SocketAddress(IPAddress(v4: 0xc633_640a), 53)
        let none = [UInt8](repeating: 0, count: withVirtio ? 12 : 0)
        #expect(written(server, client, withVirtio) == none + Vectors.udp4)
        let client6 = SocketAddress(IPAddress(high: 0xfd00_0009_0000_0000, low: 2), 50000)
        let server6 = SocketAddress(IPAddress(high: 0x2001_0db8_0051_0000, low: 0x10), 53)
        #expect(written(server6, client6, withVirtio) == none + Vectors.udp6)
    }

    @Test func sendsAllOnesForAChecksumOfZero() {
        // Data of 0xffff − the rest of the sum makes the checksum 0.
        let client = SocketAddress(IPAddress(v4: 0), 0)
        let bytes = written(client, client, false, data: hex("ffd9"))
        // Sum: protocol 17, length 10 twice, 0xffd9: 0xfffe; so 0xffda it is.
        let other = written(client, client, false, data: hex("ffda"))
        #expect(Array(bytes[26..<28]) == [0x00, 0x01])
        #expect(Array(other[26..<28]) == [0xff, 0xff])
    }

    private func written(
        _ source: SocketAddress, _ destination: SocketAddress, _ withVirtio: Bool, data: [UInt8] = Array("abc".utf8)
    ) -> [UInt8] {
        var bytes = [UInt8](repeating: 0xee, count: 100)
        var sum = InternetChecksum()
        sum.add(data.span)
        var span = bytes.mutableSpan
        let outgoing = OutgoingUDP(source: source, destination: destination, payloadCount: data.count)
        let length = outgoing.write(into: &span, withVirtio: withVirtio, payloadSum: sum)
        return Array(bytes[..<length]) + data
    }
}
