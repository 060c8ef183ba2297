/// The records of a message, one after the other, and what is read of them.

public import Addresses
import Bytes

/// One resource record (RFC 1035, section 4.1.3): where its parts stand.
public struct DNSRecord: Equatable, Sendable {
    /// Which part of the message it stands in.
    public enum Section: Sendable { case answer, authority, additional }

    public var section: Section
    /// Where the owner's name begins, which is where the record does.
    public var start: Int
    public var type: DNSType
    public var `class`: UInt16
    /// As it stands; see `lifetime`.
    public var ttl: UInt32
    public var data: Range<Int>

    /// Where the four octets of the TTL stand.
    public var timeToLiveOffset: Int { data.lowerBound - 6 }

    /// The TTL in seconds: a value with the highest bit set counts as zero (RFC 2181, section 8).
    public var lifetime: UInt32 { ttl > Int32.max ? 0 : ttl }
}

/// A way along the records of a message; the counts of its header are believed only as far as there are octets.
public struct DNSRecords: Sendable {
    private let answersEnd: Int
    private let authoritiesEnd: Int
    private let total: Int
    private var index = 0
    /// Where the next record begins, and the message ends after the last one.
    public private(set) var position: Int

    /// Begins behind the question section.
    public init(_ header: DNSHeader, at position: Int) {
        answersEnd = Int(header.answers)
        authoritiesEnd = answersEnd + Int(header.authorities)
        total = authoritiesEnd + Int(header.additionals)
        self.position = position
    }

    /// The next record, or nil after the last one.
    public mutating func next(in message: Span<UInt8>) throws(WireError) -> DNSRecord? {
        guard index < total else { return nil }
        let start = position
        let fixed = try DNSName.end(in: message, at: start)
        guard fixed + 10 <= message.count else { throw .truncated(needed: fixed + 10, got: message.count) }
        let dataStart = fixed + 10
        let end = dataStart + Int(message.uint16(at: fixed + 8))
        guard end <= message.count else { throw .truncated(needed: end, got: message.count) }
        let section: DNSRecord.Section =
            index < answersEnd ? .answer : index < authoritiesEnd ? .authority : .additional
        index += 1
        position = end
        return DNSRecord(
            section: section, start: start, type: DNSType(rawValue: message.uint16(at: fixed)),
            class: message.uint16(at: fixed + 2), ttl: message.uint32(at: fixed + 4), data: dataStart..<end)
    }
}

extension DNSRecord {
    /// The address of an A or AAAA record, or nil.
    public func address(in message: Span<UInt8>) -> IPAddress? {
        switch (type, data.count) {
        case (.address4, 4): IPAddress(v4: message.uint32(at: data.lowerBound))
        case (.address6, 16):
            IPAddress(high: message.uint64(at: data.lowerBound), low: message.uint64(at: data.lowerBound + 8))
        default: nil
        }
    }

    /// The name that a CNAME or PTR record leads to, or nil.
    public func target(in message: Span<UInt8>) -> String? {
        guard type == .canonicalName || type == .pointer,
            (try? DNSName.end(in: message, at: data.lowerBound)) == data.upperBound
        else { return nil }
        return try? DNSName.text(in: message, at: data.lowerBound)
    }

    /// How long a negative answer with this SOA holds: the lesser of its TTL and its MINIMUM (RFC 2308, section 5).
    public func negativeLifetime(in message: Span<UInt8>) -> UInt32? {
        guard type == .authority, let first = try? DNSName.end(in: message, at: data.lowerBound),
            let second = try? DNSName.end(in: message, at: first), second + 20 == data.upperBound
        else { return nil }
        let minimum = message.uint32(at: second + 16)
        return min(lifetime, minimum > Int32.max ? 0 : minimum)
    }
}
