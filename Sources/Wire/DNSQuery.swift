/// What a client asks: one question, and what EDNS says about the client (RFC 6891).

import Bytes

/// What an OPT record says; one was there.
public struct EDNS: Equatable, Sendable {
    /// The octets of a UDP answer that the sender takes; at least 512, whatever it says.
    public var payloadSize: Int
    public var version: UInt8
    /// DO: signatures are wanted (RFC 3225).
    public var wantsSignatures: Bool
    /// The upper eight bits of an answer's code.
    public var upperCode: UInt8

    init(_ record: DNSRecord) {
        payloadSize = max(512, Int(record.class))
        upperCode = UInt8(record.ttl >> 24)
        version = UInt8(record.ttl >> 16 & 255)
        wantsSignatures = record.ttl & 0x8000 != 0
    }

    public init(payloadSize: Int, wantsSignatures: Bool) {
        self.payloadSize = payloadSize
        self.wantsSignatures = wantsSignatures
        version = 0
        upperCode = 0
    }
}

/// Why a query is not answered from a name's point of view; with it goes what the asker is told.
public enum DNSRefusal: Error, Equatable, Sendable {
    /// Too short, or an answer: nothing is sent, or two servers would answer each other for ever.
    case silence
    /// The message has no question that could be repeated; the answer has none.
    case code(DNSCode)
}

/// A client's message, read.
///
/// The octets stay with the caller: answers repeat the question as it stands there.
public struct DNSQuery: Equatable, Sendable {
    public var header: DNSHeader
    /// As `DNSName.text`.
    public var name: String
    public var type: DNSType
    /// 1 is the Internet.
    public var `class`: UInt16
    /// Where the question ends; it begins behind the header.
    public var questionEnd: Int
    public var edns: EDNS?

    public var question: Range<Int> { DNSHeader.length..<questionEnd }

    /// Reads a query, whatever it is about; what cannot be answered says how it is to be refused.
    public static func parse(_ message: Span<UInt8>) throws(DNSRefusal) -> DNSQuery {
        guard let header = try? DNSHeader.parse(message), !header.isResponse else { throw .silence }
        guard header.opcode == 0 else { throw .code(.notImplemented) }
        guard header.questions == 1 else { throw .code(.formatError) }
        do throws(WireError) {
            return try parse(message, header)
        } catch {
            throw .code(.formatError)
        }
    }

    private static func parse(_ message: Span<UInt8>, _ header: DNSHeader) throws(WireError) -> DNSQuery {
        // Nothing stands before the first name that it could point to, so it is not compressed.
        let name = try DNSName.text(in: message, at: DNSHeader.length)
        let end = try DNSName.end(in: message, at: DNSHeader.length) + 4
        guard end <= message.count else { throw .truncated(needed: end, got: message.count) }
        var query = DNSQuery(
            header: header, name: name, type: DNSType(rawValue: message.uint16(at: end - 4)),
            class: message.uint16(at: end - 2), questionEnd: end)
        var records = DNSRecords(header, at: end)
        while let record = try records.next(in: message) {
            guard record.type == .options else { continue }
            guard query.edns == nil, record.section == .additional else { throw .inconsistent(.type) }
            query.edns = EDNS(record)
        }
        return query
    }

    /// The octets that an answer over UDP may have.
    public var payloadLimit: Int { edns?.payloadSize ?? 512 }

    public var wantsSignatures: Bool { edns?.wantsSignatures ?? false }
}
