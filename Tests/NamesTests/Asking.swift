/// Queries and answers for tests, as octets.

import Addresses
import Bytes
import TestSupport

@testable import Names
@testable import Wire

/// A query for a name, with the letters as given.
func query(
    _ name: String, _ type: DNSType = .address4, id: UInt16 = 1, bits: UInt16 = 0x0100, edns: Bool = false
) -> [UInt8] {
    var message: [UInt8] = [
        UInt8(id >> 8), UInt8(id & 255), UInt8(bits >> 8), UInt8(bits & 255), 0, 1, 0, 0, 0, 0, 0, edns ? 1 : 0,
    ]
    message += question(name, type)
    if edns { message += hex("00002904d0000080000000") }
    return message
}

/// A question without its header.
func question(_ name: String, _ type: DNSType = .address4) -> [UInt8] {
    var question: [UInt8] = []
    precondition(DNSName.write(name, into: &question), "no name")
    return question + [UInt8(type.rawValue >> 8), UInt8(type.rawValue & 255), 0, 1]
}

func parse(_ message: [UInt8]) throws -> DNSQuery { try DNSQuery.parse(message.span) }

/// A resolver's answer to a query: addresses of the name, with this TTL, or just a code.
func reply(
    to message: [UInt8], _ addresses: [IPAddress] = [], ttl: UInt32 = 300, code: DNSCode = .noError,
    truncated: Bool = false
) throws -> [UInt8] {
    let query = try parse(message)
    var writer = DNSWriter()
    writer.begin(answering: message.span, query, code)
    for address in addresses { writer.addAddress(address, ttl: ttl) }
    writer.finish(query.edns, code: code)
    var bytes = writer.bytes
    if truncated { bytes[2] |= 2 }
    return bytes
}

func parseAnswer(_ message: [UInt8], to question: [UInt8]) throws -> DNSAnswer {
    try DNSAnswer.parse(message.span, to: question.span)
}

/// The records of an answer.
func records(_ message: [UInt8]) throws -> [DNSRecord] {
    let header = try DNSHeader.parse(message.span)
    var walk = DNSRecords(header, at: try DNSName.end(in: message.span, at: 12) + 4)
    var found: [DNSRecord] = []
    while let record = try walk.next(in: message.span) { found.append(record) }
    return found
}

func code(_ message: [UInt8]) -> UInt16 { UInt16(message[3] & 15) }

func addresses(_ message: [UInt8]) throws -> [String] {
    var found: [String] = []
    for record in try records(message) {
        if let address = record.address(in: message.span) { found.append("\(address)") }
    }
    return found
}

extension IPAddress {
    init(_ text: String) {
        guard let address = IPAddress(parsing: text) else { preconditionFailure("no address") }
        self = address
    }
}
