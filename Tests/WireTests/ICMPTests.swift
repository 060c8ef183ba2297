/// ICMP of both versions: what is read, what is answered, and when an error may be sent.

import Addresses
import Bytes
import TestSupport
import Testing

@testable import Wire

@Suite struct ICMPTests {
    @Test func readsEchoRequests() throws {
        #expect(try parseICMP(Vectors.echo4) == .echoRequest(identifier: 7, sequence: 2, payload: 28..<36))
        #expect(try parseICMP(Vectors.echo6) == .echoRequest(identifier: 7, sequence: 1, payload: 48..<56))
    }

    @Test func readsPathMTUErrorsWithTheirFlow() throws {
        let quote = ICMPQuote(
            source: SocketAddress(IPAddress(v4: 0xc633_640a), 443),
            destination: SocketAddress(IPAddress(v4: 0x0a09_0002), 40001), transport: .tcp,
            sequence: SequenceNumber(123_456_789))
        #expect(try parseICMP(Vectors.fragmentationNeeded) == .packetTooBig(mtu: 1280, quote: quote))
        let quote6 = ICMPQuote(
            source: SocketAddress(IPAddress(high: 0x2001_0db8_0051_0000, low: 0x10), 443),
            destination: SocketAddress(IPAddress(high: 0xfd00_0009_0000_0000, low: 2), 40001), transport: .tcp,
            sequence: SequenceNumber(123_456_789))
        #expect(try parseICMP(Vectors.packetTooBig) == .packetTooBig(mtu: 1300, quote: quote6))
    }

    @Test func refusesPathMTUErrorsThatQuoteTooLittle() throws {
        for whole in [Vectors.fragmentationNeeded, Vectors.packetTooBig] {
            let ip = try parseIP(whole)
            for count in ip.payload.lowerBound..<whole.count {
                var shorter = ip
                shorter.payload = ip.payload.lowerBound..<count
                #expect(throws: WireError.self) { try parseICMP(whole, shorter) }
            }
        }
    }

    @Test func refusesAQuotedLaterFragment() throws {
        var packet = Vectors.fragmentationNeeded
        packet[28 + 7] = 1
        let ip = try parseIP(packet)
        #expect(throws: WireError.inconsistent(.fragment)) { try parseICMP(packet, ip) }
    }

    @Test("takes neighbour discovery and listeners' reports for what they are (B115)")
    func readsNoise() throws {
        let solicitation = hex(
            """
            6000000000083a40fe800000000000000000000000000001ff02000000000000000000000000000285007d3600000000
            """)
        #expect(try parseICMP(solicitation) == .other(type: 133, code: 0))
        #expect(try !isErrorAllowed(about: solicitation))
        #expect(try !parseIP(solicitation).isUnicast)
    }

    @Test("answers an echo with its own identifier, sequence and data (B124, B113)", arguments: [false, true])
    func answersEchoes(withVirtio: Bool) throws {
        let none = [UInt8](repeating: 0, count: withVirtio ? 12 : 0)
        for (request, reply) in [(Vectors.echo4, Vectors.echoReply4), (Vectors.echo6, Vectors.echoReply6)] {
            let ip = try parseIP(request)
            var bytes = [UInt8](repeating: 0xee, count: 200)
            var span = bytes.mutableSpan
            let length = ICMPEchoReply.write(
                to: request.span, ip, identification: 0x55, into: &span, withVirtio: withVirtio)
            #expect(Array(bytes[..<length]) == none + reply)
        }
    }

    @Test("refuses a port from the original destination, quoting the packet (B127)")
    func refusesPorts() throws {
        #expect(try error(.portUnreachable, about: Vectors.quic4) == Vectors.unreachable4)
        #expect(try error(.portUnreachable, about: Vectors.quic6) == Vectors.unreachable6)
        // Padding is not quoted.
        #expect(try error(.portUnreachable, about: Vectors.quic4 + [1, 2, 3]) == Vectors.unreachable4)
    }

    @Test(
        "says why in the numbers of the family (B116)",
        arguments: [
            (ICMPError.portUnreachable, [UInt8(3), 3], [UInt8(1), 4]),
            (.hostUnreachable, [3, 1], [1, 3]),
            (.administrativelyProhibited, [3, 13], [1, 1]),
            (.packetTooBig(mtu: 1400), [3, 4], [2, 0]),
        ])
    func numbers(reason: ICMPError, version4: [UInt8], version6: [UInt8]) throws {
        let first = try error(reason, about: Vectors.quic4)
        #expect(Array(first[20..<22]) == version4)
        let second = try error(reason, about: Vectors.quic6)
        #expect(Array(second[40..<42]) == version6)
        if case .packetTooBig(let mtu) = reason {
            #expect(Array(first[26..<28]) == [UInt8(mtu >> 8), UInt8(mtu & 255)])
            #expect(Array(second[44..<48]) == [0, 0, UInt8(mtu >> 8), UInt8(mtu & 255)])
        }
        for packet in [first, second] {
            #expect(try checksumIsValid(packet))
        }
    }

    @Test func keepsErrorsWithinTheirSize() throws {
        let big = WholeDatagram(
            source: IPAddress(v4: 0x0a09_0002), destination: IPAddress(v4: 0xc633_640a), transport: .udp, hopLimit: 9
        ).packet([UInt8](repeating: 1, count: 1400))
        let message = try error(.portUnreachable, about: big)
        #expect(message.count == 576)
        #expect(Array(message[28...]) == Array(big[..<548]))
        let big6 = WholeDatagram(
            source: IPAddress(high: 0xfd00_0009_0000_0000, low: 2), destination: IPAddress(high: 1, low: 2),
            transport: .udp, hopLimit: 9
        ).packet([UInt8](repeating: 1, count: 1400))
        #expect(try error(.portUnreachable, about: big6).count == 1280)
    }

    @Test(
        "sends no error where none may be sent (B127)",
        arguments: [
            // To a group, to everybody.
            "4500001d1234400040113d960a090002e00000fb0457270f0009716f78",
            "4500001d1234400040111e920a090002ffffffff0457270f0009526b78",
            // About an error.
            """
            45000038123440004001f4480a090002c633640a0303892c000000004500001d12344000401114880a0900020a0900010001000200
            0973c4
            """,
            // About a later fragment.
            """
            4500005412340040401133dd0a090002c633640a787878787878787878787878787878787878787878787878787878787878
            78787878787878787878787878787878787878787878787878787878787878787878
            """,
            // mDNS of the kernel itself.
            """
            4500003e1234400040113d750a090002e00000fb14e914e9002ac8ab1a2b01000001000000000000055f68747470045f746370056c
            6f63616c00000c0001
            """,
        ])
    func staysSilent(text: String) throws {
        let packet = hex(text)
        #expect(try !isErrorAllowed(about: packet))
    }

    @Test(
        "sends none to what is not one host",
        arguments: [
            "0.0.0.0", "127.0.0.1", "255.255.255.255", "224.0.0.1", "240.0.0.1", "10.9.0.255", "::", "::1", "ff02::1",
        ])
    func staysSilentTowards(source: String) throws {
        let source = try #require(IPAddress(parsing: source))
        let packet = WholeDatagram(
            source: source, destination: source.isIPv4 ? IPAddress(v4: 0xc633_640a) : IPAddress(high: 1, low: 1),
            transport: .udp, hopLimit: 1
        ).packet([UInt8](repeating: 0, count: 8))
        #expect(try !isErrorAllowed(about: packet, broadcast: IPAddress(v4: 0x0a09_00ff)))
    }

    @Test func sendsErrorsAboutEchoesFirstFragmentsAndDatagrams() throws {
        for packet in [Vectors.quic4, Vectors.quic6, Vectors.echo4, Vectors.echo6] + [
            FragmentVectors.fragments4[0], FragmentVectors.fragments6[0],
        ] {
            #expect(try isErrorAllowed(about: packet))
        }
        // An ICMP packet too short to tell is not answered.
        let empty = WholeDatagram(
            source: IPAddress(v4: 0x0a09_0002), destination: IPAddress(v4: 0xc633_640a), transport: .icmp, hopLimit: 1
        ).packet([])
        #expect(try !isErrorAllowed(about: empty))
    }

    private func error(_ reason: ICMPError, about packet: [UInt8]) throws -> [UInt8] {
        var bytes = [UInt8](repeating: 0xee, count: ICMPError.maximumLength)
        var span = bytes.mutableSpan
        let length = reason.write(about: packet.span, try parseIP(packet), into: &span, withVirtio: false)
        return Array(bytes[..<length])
    }
}
