/// # DNS messages (RFC 1035): bytes and values
///
///     DNSHeader    id, flags and the four counts
///     DNSName      names: labels, compression, text
///     DNSQuery     what a client asks: one question, perhaps with EDNS
///     DNSRecords   the records of an answer, one after the other, and what is read of them
///     DNSWriter    an answer of our own, and our question to a resolver
///     DNSAnswer    an answer of a resolver: checked, stripped of what is between two hops, written for others
///     DNSStream    two octets of length in front of each message on TCP
///
/// Whatever the bytes, reading ends: a pointer in a name has to lead backwards, and a name has at most 255
/// octets. The question is kept as it came, octet for octet, because its letters' case is the asker's.

import Bytes

/// What is asked for (RFC 1035, section 3.2.2, and those after it).
public struct DNSType: RawRepresentable, Hashable, Sendable {
    public let rawValue: UInt16

    @inlinable public init(rawValue: UInt16) { self.rawValue = rawValue }

    public static let address4 = DNSType(rawValue: 1)
    public static let canonicalName = DNSType(rawValue: 5)
    public static let authority = DNSType(rawValue: 6)
    public static let pointer = DNSType(rawValue: 12)
    public static let address6 = DNSType(rawValue: 28)
    /// EDNS (RFC 6891): a record that is none.
    public static let options = DNSType(rawValue: 41)
    public static let service = DNSType(rawValue: 64)
    public static let https = DNSType(rawValue: 65)
    /// TKEY, TSIG, transfers and the like (RFC 6895, section 3.1): about the exchange, not about a name.
    public var isMeta: Bool { rawValue == 41 || 128...254 ~= rawValue }
}

extension DNSType: CustomStringConvertible {
    public var description: String {
        switch self {
        case .address4: "A"
        case .canonicalName: "CNAME"
        case .authority: "SOA"
        case .pointer: "PTR"
        case .address6: "AAAA"
        case .service: "SVCB"
        case .https: "HTTPS"
        default: "TYPE\(rawValue)"  // RFC 3597, section 5
        }
    }
}

/// What became of a question (RFC 1035, section 4.1.1; 16 and above need EDNS).
public struct DNSCode: RawRepresentable, Hashable, Sendable {
    public let rawValue: UInt16

    public init(rawValue: UInt16) { self.rawValue = rawValue }

    public static let noError = DNSCode(rawValue: 0)
    public static let formatError = DNSCode(rawValue: 1)
    public static let serverFailure = DNSCode(rawValue: 2)
    public static let nameError = DNSCode(rawValue: 3)
    public static let notImplemented = DNSCode(rawValue: 4)
    public static let refused = DNSCode(rawValue: 5)
    public static let badVersion = DNSCode(rawValue: 16)
}

/// The twelve octets in front of every message.
public struct DNSHeader: Equatable, Sendable {
    public static let length = 12

    public var id: UInt16
    /// The sixteen bits from QR to RCODE.
    public var bits: UInt16
    public var questions: UInt16
    public var answers: UInt16
    public var authorities: UInt16
    public var additionals: UInt16

    public static func parse(_ message: Span<UInt8>) throws(WireError) -> DNSHeader {
        guard message.count >= length else { throw .truncated(needed: length, got: message.count) }
        return DNSHeader(
            id: message.uint16(at: 0), bits: message.uint16(at: 2), questions: message.uint16(at: 4),
            answers: message.uint16(at: 6), authorities: message.uint16(at: 8), additionals: message.uint16(at: 10))
    }

    public var isResponse: Bool { bits & Bits.response != 0 }
    /// 0 is a plain query.
    public var opcode: UInt8 { UInt8(bits >> 11 & 15) }
    public var isTruncated: Bool { bits & Bits.truncated != 0 }
    /// Without the upper bits that EDNS adds.
    public var code: DNSCode { DNSCode(rawValue: bits & 15) }

    /// The flags by their names in RFC 1035 and RFC 4035.
    public enum Bits {
        /// QR.
        public static let response: UInt16 = 0x8000
        public static let opcode: UInt16 = 0x7800
        /// TC.
        public static let truncated: UInt16 = 0x0200
        /// RD.
        public static let recursionDesired: UInt16 = 0x0100
        /// RA.
        public static let recursionAvailable: UInt16 = 0x0080
        /// AD.
        public static let authenticData: UInt16 = 0x0020
        /// CD.
        public static let checkingDisabled: UInt16 = 0x0010
    }
}
