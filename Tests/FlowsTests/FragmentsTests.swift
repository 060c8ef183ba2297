/// Datagrams that come in pieces.

import Addresses
import Bytes
import TestSupport
import Testing
import Wire

@testable import Flows

@Suite struct FragmentsTests {
    /// A DNS query of 1,330 octets with EDNS padding, cut at 1,200; and the same sent in the other order.
    static let query = [
        padded(
            "450004c4004d2000401141c80a0900020a090001c35a0035053a84701a2b010000010000000000010466726167076578616d706c65047465737400000100010000291000000000000504000c05",
            to: 1220),
        padded("4500009e004d0096401165580a0900020a090001", to: 158),
    ]
    static let reversed = [
        padded("4500009e004e0096401165570a0900020a090001", to: 158),
        padded(
            "450004c4004e2000401141c70a0900020a090001c35a0035053a84701a2b010000010000000000010466726167076578616d706c65047465737400000100010000291000000000000504000c05",
            to: 1220),
    ]

    /// The second half of a SYN alone, and two pieces of one that overlap.
    static let lone = hex(
        "4500003c004f0064400645c10a090002c633640aafc801bb000002bc00000000a002faf064230000020405b40402080a000000640000000001030307"
    )
    static let overlapping = [
        hex("4500002c00502000400626340a090002c633640aafc801bb000002bc00000000a002faf064230000020405b4"),
        hex("4500002c00500002400646320a090002c633640a64230000020405b40402080a000000640000000001030307"),
    ]

    static func padded(_ text: String, to count: Int) -> [UInt8] {
        let bytes = hex(text)
        return bytes + [UInt8](repeating: 0, count: count - bytes.count)
    }

    static let start = Instant(nanoseconds: 0)

    @Test("puts a fragmented DNS query together, in either order (B126)", arguments: [query, reversed])
    func completesAQuery(pieces: [[UInt8]]) throws {
        var fragments = Fragments()
        let first = try add(pieces[0], to: &fragments)
        #expect(first == .incomplete)
        guard case .complete(let packet) = try add(pieces[1], to: &fragments) else {
            Issue.record("the datagram is not complete")
            return
        }
        let ip = try IPPacket.parse(packet.span)
        let udp = try UDPHeader.parse(packet.span, of: ip)
        let isValid = ip.transportChecksumIsValid(in: packet.span)
        #expect(isValid)
        #expect(udp.sourcePort == 0xc35a)
        #expect(udp.destinationPort == 53)
        #expect(udp.payload.count == 1330)
        let (count, used) = (fragments.count, fragments.used)
        #expect(count == 0)
        #expect(used == 0)
    }

    @Test("keeps a lone later fragment until its time is over (B126)")
    func givesUp() throws {
        var fragments = Fragments()
        let outcome = try add(Self.lone, to: &fragments)
        #expect(outcome == .incomplete)
        let deadline = fragments.nextDeadline
        #expect(deadline == Self.start + .seconds(30))
        fragments.expire(Self.start + .seconds(30))
        let (count, used, expired) = (fragments.count, fragments.used, fragments.expired)
        #expect(count == 0)
        #expect(used == 0)
        #expect(expired == 1)
    }

    @Test("drops datagrams whose pieces overlap, and what comes of them later (B126)")
    func dropsOverlaps() throws {
        for pieces in [Self.overlapping, Self.overlapping.reversed()] {
            var fragments = Fragments()
            let first = try add(pieces[0], to: &fragments)
            let second = try add(pieces[1], to: &fragments)
            let third = try add(pieces[0], to: &fragments)
            #expect(first == .incomplete)
            #expect(second == .refused(.overlap))
            #expect(third == .refused(.overlap))
        }
    }

    @Test("puts together what scapy cuts, in any order, with pieces that come twice", arguments: 0..<20)
    func completesShuffled(seed: Int) throws {
        var random = SeededGenerator(seed: UInt64(seed))
        let sets = [
            (FragmentVectors.fragments4, FragmentVectors.whole4), (FragmentVectors.fragments6, FragmentVectors.whole6),
        ]
        for (pieces, whole) in sets {
            var fragments = Fragments()
            let order = pieces.shuffled(using: &random)
            for piece in order.dropLast() {
                for _ in 0..<2 {
                    let outcome = try add(piece, to: &fragments)
                    #expect(outcome == .incomplete)
                }
            }
            guard case .complete(let packet) = try add(order[order.count - 1], to: &fragments) else {
                Issue.record("the datagram is not complete")
                continue
            }
            let headerLength = whole.count - (try IPPacket.parse(whole.span)).payload.count
            #expect(packet[headerLength...] == whole[headerLength...])
            let ip = try IPPacket.parse(packet.span)
            let isValid = ip.transportChecksumIsValid(in: packet.span)
            #expect(isValid)
        }
    }

    @Test func keepsWithinItsMemory() throws {
        var fragments = Fragments()
        for number in 0..<2000 {
            let piece = fragment(
                UInt16(number), at: number % 2 * 32768, Array(repeating: 1, count: 1200), isLast: false)
            let outcome = try add(piece, to: &fragments)
            #expect(outcome == .incomplete)
            let (used, count) = (fragments.used, fragments.count)
            #expect(used <= 1 << 20)
            #expect(count <= 128)
        }
        let displaced = fragments.displaced
        #expect(displaced > 1800)
    }

    @Test func aFloodDisplacesItself() throws {
        var fragments = Fragments()
        _ = try add(Self.query[0], to: &fragments)
        for number in 0..<1000 {
            _ = try add(fragment(UInt16(number), at: 0, [1, 2, 3, 4, 5, 6, 7, 8], isLast: false), to: &fragments)
        }
        guard case .complete = try add(Self.query[1], to: &fragments) else {
            Issue.record("another device's datagram gave way")
            return
        }
    }

    @Test func refusesEndsThatContradictEachOther() throws {
        var fragments = Fragments()
        let piece = [UInt8](repeating: 1, count: 8)
        _ = try add(fragment(1, at: 16, piece, isLast: true), to: &fragments)
        let beyond = try add(fragment(1, at: 24, piece, isLast: false), to: &fragments)
        #expect(beyond == .refused(.contradictoryEnd))
        _ = try add(fragment(2, at: 16, piece, isLast: false), to: &fragments)
        let within = try add(fragment(2, at: 8, piece, isLast: true), to: &fragments)
        #expect(within == .refused(.contradictoryEnd))
    }

    @Test func refusesWhatNoLengthFieldCanHold() throws {
        var fragments = Fragments()
        let outcome = try add(fragment(1, at: 65512, [UInt8](repeating: 1, count: 8), isLast: true), to: &fragments)
        #expect(outcome == .refused(.tooLarge))
    }

    @Test func refusesTooManyHoles() throws {
        var fragments = Fragments()
        var outcome = Fragments.Outcome.incomplete
        for number in 0..<65 {
            outcome = try add(fragment(1, at: number * 16, [1, 2, 3, 4, 5, 6, 7, 8], isLast: false), to: &fragments)
        }
        #expect(outcome == .refused(.tooManyPieces))
    }

    private func add(_ packet: [UInt8], to fragments: inout Fragments) throws -> Fragments.Outcome {
        fragments.add(packet.span, try IPPacket.parse(packet.span), now: Self.start)
    }

    /// A UDP fragment from 10.9.0.77.
    private func fragment(_ identification: UInt16, at offset: Int, _ data: [UInt8], isLast: Bool) -> [UInt8] {
        var packet = WholeDatagram(
            source: IPAddress(v4: 0x0a09_004d), destination: IPAddress(v4: 0x0a09_0001), transport: .udp, hopLimit: 64
        ).packet(data)
        packet[4] = UInt8(identification >> 8)
        packet[5] = UInt8(identification & 255)
        packet[6] = UInt8((offset / 8) >> 8) | (isLast ? 0 : 0x20)
        packet[7] = UInt8(offset / 8 & 255)
        packet[10] = 0
        packet[11] = 0
        var sum = InternetChecksum()
        sum.add(packet.span.extracting(0..<20))
        packet[10] = UInt8(sum.value >> 8)
        packet[11] = UInt8(sum.value & 255)
        return packet
    }
}
