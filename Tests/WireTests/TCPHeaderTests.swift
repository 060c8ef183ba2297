/// Reading of TCP headers and their options.

import Addresses
import Bytes
import TestSupport
import Testing

@testable import Wire

@Suite struct TCPHeaderTests {
    @Test func readsASegmentWithTimestampsAndSACK() throws {
        let header = try parseTCP(Vectors.dataWithSACK)
        var blocks = SACKBlocks()
        blocks.append(SACKBlock(SequenceNumber(3000), SequenceNumber(4000)))
        blocks.append(SACKBlock(SequenceNumber(5000), SequenceNumber(6000)))
        let expected = TCPSegment(
            sequence: SequenceNumber(1001), acknowledgement: SequenceNumber(0x8000_0001),
            flags: [.push, .acknowledge], window: 502,
            options: TCPOptions(
                timestamps: TCPTimestamps(value: 101, echo: 202), selectiveAcknowledgements: blocks), payloadCount: 5)
        #expect(header.sourcePort == 40001)
        #expect(header.destinationPort == 443)
        #expect(header.segment == expected)
        #expect(header.payload == 72..<77)
    }

    @Test func readsTheOptionsOfASYN() throws {
        let header = try parseTCP(Vectors.synAck6)
        #expect(
            header.segment.options
                == TCPOptions(
                    maximumSegmentSize: 1440, windowScale: 7, selectiveAcknowledgementPermitted: true,
                    timestamps: TCPTimestamps(value: 0x1122_3344, echo: 100)))
        #expect(header.segment.length == 1)
    }

    @Test(
        "reads SYNs that are unusual and legal (B016)",
        arguments: [
            // ECN-setup; Fast Open cookie request; data; MPTCP; nothing.
            (
                "a0c2faf0661d0000020405b40402080a000000640000000001030307",
                TCPOptions(
                    maximumSegmentSize: 1460, windowScale: 7, selectiveAcknowledgementPermitted: true,
                    timestamps: TCPTimestamps(value: 100, echo: 0)), 0
            ),
            ("7002faf0845f0000020405b422020101", TCPOptions(maximumSegmentSize: 1460), 0),
            ("6002faf0c6d20000020405b44541524c59", TCPOptions(maximumSegmentSize: 1460), 5),
            ("9002faf024870000020405b41e0c00811111111111111111", TCPOptions(maximumSegmentSize: 1460), 0),
            ("5002faf0cf1f0000", TCPOptions(), 0),
        ])
    func readsUnusualSYNs(rest: String, options: TCPOptions, count: Int) throws {
        let header = try parseSegment(hex("9c4201bb0000138800000000" + rest))
        #expect(header.segment.sequence == SequenceNumber(5000))
        #expect(header.segment.flags.contains(.syn))
        #expect(header.segment.options == options)
        #expect(header.segment.payloadCount == count)
    }

    @Test(
        "passes over options that are unknown, misplaced or of an impossible length",
        arguments: [
            // An option of length 0, of length 1, and one that leaves the header end the options there (MUST-7).
            (flags: UInt8(0x02), options: "020405b4 04000000 01030307", TCPOptions(maximumSegmentSize: 1460)),
            (0x02, "020405b4 04010000 01030307", TCPOptions(maximumSegmentSize: 1460)),
            (0x02, "020405b4 080affff 01030307", TCPOptions(maximumSegmentSize: 1460)),
            (0x02, "020405b4 01010108", TCPOptions(maximumSegmentSize: 1460)),
            // What follows the end of options is padding.
            (0x02, "0000000001030307", TCPOptions()),
            // A known kind with a wrong length; an MSS of nothing.
            (0x02, "02030501 0303ff07", TCPOptions(windowScale: 0xff)),
            (0x02, "02040000", TCPOptions()),
            // What belongs on a SYN alone does not count elsewhere, and the reverse.
            (0x10, "020405b4 01030307 04020101", TCPOptions()),
            // SACK of 9 octets of blocks.
            (0x10, "050b0000000000000000 0101", TCPOptions()),
            // Timestamps that do not stand where they usually do.
            (0x10, "080a0000000100000002 0101", TCPOptions(timestamps: TCPTimestamps(value: 1, echo: 2))),
        ])
    func passesOver(flags: UInt8, options: String, expected: TCPOptions) throws {
        let bytes = hex(options)
        var packet = hex("9c4201bb000013880000000000 00faf000000000")
        packet[12] = UInt8((20 + bytes.count) / 4) << 4
        packet[13] = flags
        let header = try parseSegment((packet + bytes))
        #expect(header.segment.options == expected)
        #expect(header.segment.payloadCount == 0)
    }

    @Test func readsFourSACKBlocksAndNoMore() throws {
        var packet = hex("9c4201bb00001388000000009010faf0 00000000 0101 0522")
        for number in 1...4 { packet += [0, 0, 0, UInt8(number), 0, 0, 1, UInt8(number)] }
        packet[12] = 0xe0
        let blocks = try parseSegment(packet).segment.options.selectiveAcknowledgements
        #expect(blocks.count == 4)
        #expect(blocks[3] == SACKBlock(SequenceNumber(4), SequenceNumber(0x104)))
    }

    @Test func ignoresTheAcknowledgementWithoutItsFlag() throws {
        let header = try parseSegment(hex("9c4201bb00001388ffffffff5002faf0cf1f0000"))
        #expect(header.segment.acknowledgement == SequenceNumber(0))
    }

    @Test func refusesImpossibleHeaderLengths() {
        let short = hex("9c4201bb00001388000000004002faf0cf1f0000")
        #expect(throws: WireError.inconsistent(.headerLength)) { try parseSegment(short) }
        let long = hex("9c4201bb00001388000000006002faf0cf1f0000")
        #expect(throws: WireError.truncated(needed: 24, got: 20)) { try parseSegment(long) }
        #expect(throws: WireError.truncated(needed: 20, got: 19)) {
            try parseSegment(Array(short[..<19]))
        }
    }

    @Test("never takes a fragment for a header (B126)", arguments: ["ov1", "ov2", "lone"])
    func refusesFragments(label: String) throws {
        let packets = [
            "lone": "4500003c004f0064400645c10a090002c633640aafc801bb000002bc00000000a002faf064230000020405b40402080a"
                + "000000640000000001030307",
            "ov1": "4500002c00502000400626340a090002c633640aafc801bb000002bc00000000a002faf064230000020405b4",
            "ov2": "4500002c00500002400646320a090002c633640a64230000020405b40402080a000000640000000001030307",
        ]
        let packet = hex(try #require(packets[label]))
        let ip = try parseIP(packet)
        #expect(ip.fragment != nil)
        #expect(throws: WireError.inconsistent(.fragment)) { try parseTCP(packet) }
        #expect(!checksumIsValid(packet, ip))
    }
}
