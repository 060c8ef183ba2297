/// DNS messages that another implementation wrote (dnspython 2.8), and the queries of the cases.

import Bytes
import TestSupport

@testable import Wire

enum DNSVectors {
    /// `WWW.shop.test A`, id 0x1234, RD and AD, EDNS with 4096 octets and DO.
    static let query = hex("123401200001000000000001035757570473686f70047465737400000100010000291000000080000000")

    /// Its answer: CNAME edge.cdn.test (300 s), two addresses of that (30 s), an address of other.test, NS, glue and
    /// OPT with an Extended DNS Error and a cookie.
    static let answer = hex(
        """
        123481800001000400010002035757570473686f7004746573740000010001c00c000500010000012c000b04656467650363646ec015
        c02b000100010000001e0004cb007109c02b000100010000001e0004cb00710a056f74686572c015000100010000001e0004c0000242
        c03000020001000151800006036e7331c030c07800010001000151800004c000023500002904d000008000001f000f00070003737461
        6c65000a001061626364656667683132333435363738
        """)

    /// `none.shop.test AAAA` does not exist; SOA with TTL 3600 and MINIMUM 120.
    static let nameError = hex(
        """
        010281830001000000010000046e6f6e650473686f70047465737400001c0001c0110006000100000e100021026e73c0110561646d69
        6ec0110000000700001c20000003840012750000000078
        """)

    /// `9.113.0.203.in-addr.arpa PTR` is edge.cdn.test.
    static let pointer = hex(
        """
        00038100000100010000000001390331313301300332303307696e2d61646472046172706100000c0001c00c000c00010000003c000f
        04656467650363646e047465737400
        """)

    /// `shop.test AAAA` is 2001:db8::7.
    static let address6 = hex(
        """
        0004810000010001000000000473686f70047465737400001c0001c00c001c00010000003c001020010db80000000000000000000000
        07
        """)

    /// The hostile ones of B087.
    static let hostile = [
        hex("000701000001000000000000c00c00010001"), hex("0008010000010000000000000161c010c00e00010001"),
        hex("000901000001000000000000c0ff00010001"), hex("1a2b01"), hex("1a2b01000001000000000000"),
    ]
}

func parseQuery(_ message: [UInt8]) throws -> DNSQuery { try DNSQuery.parse(message.span) }

func parseAnswer(_ message: [UInt8], to question: [UInt8]) throws -> DNSAnswer {
    try DNSAnswer.parse(message.span, to: question.span)
}

/// The question of a message, without header.
func question(of message: [UInt8]) throws -> [UInt8] {
    let end = try DNSName.end(in: message.span, at: DNSHeader.length) + 4
    return Array(message[DNSHeader.length..<end])
}

/// All records of a message.
func records(of message: [UInt8]) throws -> [DNSRecord] {
    let header = try DNSHeader.parse(message.span)
    let end = header.questions == 0 ? DNSHeader.length : try DNSName.end(in: message.span, at: DNSHeader.length) + 4
    var walk = DNSRecords(header, at: end)
    var found: [DNSRecord] = []
    while let record = try walk.next(in: message.span) { found.append(record) }
    return found
}

func nameText(_ message: [UInt8], at start: Int) throws -> String { try DNSName.text(in: message.span, at: start) }

func nameEnd(_ message: [UInt8], at start: Int) throws -> Int { try DNSName.end(in: message.span, at: start) }

func isSameName(_ name: [UInt8], _ other: [UInt8]) -> Bool {
    DNSName.isSame(in: name.span, at: 0, as: other.span, at: 0)
}

func parseDNSHeader(_ message: [UInt8]) throws -> DNSHeader { try DNSHeader.parse(message.span) }

func negativeLifetime(_ record: DNSRecord, _ message: [UInt8]) -> UInt32? {
    record.negativeLifetime(in: message.span)
}
