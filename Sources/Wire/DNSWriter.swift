/// Messages of our own: answers that nobody was asked for, and questions to a resolver.

public import Addresses
import Bytes

/// Writes one message after the other into the same memory.
///
/// Records are added in the order of their sections: answers, then authority; `finish` adds OPT and the counts.
public struct DNSWriter: Sendable {
    /// The octets of UDP answers that we take, and say that we take: no fragments on any usual path
    /// (draft-ietf-dnsop-avoid-fragmentation, "DNS flag day 2020").
    public static let payloadSize = 1232

    /// The message; whole after `finish`.
    public private(set) var bytes: [UInt8] = []
    private var answers: UInt16 = 0
    private var authorities: UInt16 = 0

    public init() { bytes.reserveCapacity(512) }

    /// Begins the answer to a query: its id, its question as it stands, RD and CD as they were.
    public mutating func begin(answering message: Span<UInt8>, _ query: DNSQuery, _ code: DNSCode = .noError) {
        let copied = DNSHeader.Bits.recursionDesired | DNSHeader.Bits.checkingDisabled
        let bits = DNSHeader.Bits.response | DNSHeader.Bits.recursionAvailable | query.header.bits & copied
        begin(id: query.header.id, bits: bits | code.rawValue & 15, questions: 1)
        bytes.append(copying: message.extracting(query.question))
    }

    /// Begins the answer to a message whose question cannot be repeated.
    public mutating func begin(refusing message: Span<UInt8>, _ code: DNSCode) {
        let copied = DNSHeader.Bits.opcode | DNSHeader.Bits.recursionDesired
        let bits = DNSHeader.Bits.response | message.uint16(at: 2) & copied
        begin(id: message.uint16(at: 0), bits: bits | code.rawValue & 15, questions: 0)
    }

    /// Begins a question to a resolver, with these of the flags RD, AD and CD.
    public mutating func begin(asking question: Span<UInt8>, id: UInt16, bits: UInt16) {
        begin(id: id, bits: bits, questions: 1)
        bytes.append(copying: question)
    }

    private mutating func begin(id: UInt16, bits: UInt16, questions: UInt16) {
        answers = 0
        authorities = 0
        bytes.removeAll(keepingCapacity: true)
        append(id)
        append(bits)
        append(questions)
        for _ in 0..<6 { bytes.append(0) }
    }

    /// Adds an A or AAAA record of the name in question.
    public mutating func addAddress(_ address: IPAddress, ttl: UInt32) {
        answers += 1
        if address.isIPv4 {
            beginRecord(.address4, ttl: ttl, count: 4)
            append(address.v4)
        } else {
            beginRecord(.address6, ttl: ttl, count: 16)
            for word in [address.high, address.low] {
                append(UInt32(truncatingIfNeeded: word >> 32))
                append(UInt32(truncatingIfNeeded: word))
            }
        }
    }

    /// Adds the PTR record of the name in question; `name` is a name's text.
    public mutating func addPointer(to name: String, ttl: UInt32) {
        answers += 1
        let start = bytes.count
        beginRecord(.pointer, ttl: ttl, count: 0)
        if DNSName.write(name, into: &bytes) { return finishRecord(from: start) }
        bytes.removeLast(bytes.count - start)
        answers -= 1
    }

    /// Adds the SOA record that says how long a negative answer holds: so many seconds (RFC 2308, section 3).
    ///
    /// Its owner is the name in question, or the one above it: a name that does not exist is no zone.
    public mutating func addAuthority(seconds: UInt32, isOfParent: Bool) {
        authorities += 1
        let start = bytes.count
        let owner = isOfParent ? parent : Self.questionPointer
        beginRecord(.authority, ttl: seconds, count: 0, owner: owner)
        bytes.append(contentsOf: Self.authorityNames)
        // Serial, refresh, retry, expire: of a zone that nobody transfers. Then the minimum.
        for number: UInt32 in [1, 3600, 600, 86400, seconds] { append(number) }
        finishRecord(from: start)
    }

    /// Ends the message; where the query had EDNS the answer has it too, with DO as it was (RFC 6891, section 7).
    public mutating func finish(_ edns: EDNS?, code: DNSCode = .noError) {
        if let edns { Self.appendOptions(edns, code: code, data: [], to: &bytes) }
        let counts: [3 of UInt16] = [answers, authorities, edns == nil ? 0 : 1]
        var span = bytes.mutableSpan
        for index in 0..<3 { span.store(counts[index], at: 6 + 2 * index) }
    }

    /// Appends an OPT record of ours.
    static func appendOptions(_ edns: EDNS, code: DNSCode, data: [UInt8], to bytes: inout [UInt8]) {
        let size = UInt16(payloadSize)
        bytes.append(contentsOf: [0, 0, UInt8(DNSType.options.rawValue), UInt8(size >> 8), UInt8(size & 255)])
        bytes.append(contentsOf: [UInt8(truncatingIfNeeded: code.rawValue >> 4), 0])
        bytes.append(contentsOf: [edns.wantsSignatures ? 0x80 : 0, 0])
        bytes.append(contentsOf: [UInt8(data.count >> 8), UInt8(data.count & 255)])
        bytes.append(contentsOf: data)
    }

    /// A pointer to the name in question.
    private static let questionPointer: [UInt8] = [0xc0, UInt8(DNSHeader.length)]

    /// The names in the SOA record: the server's, and its keeper's mailbox.
    private static let authorityNames: [UInt8] = {
        var names: [UInt8] = []
        _ = DNSName.write("starship.internal", into: &names)
        _ = DNSName.write("hostmaster.starship.internal", into: &names)
        return names
    }()

    /// The name above the one in question, which never is the root.
    private var parent: [UInt8] {
        let next = DNSHeader.length + 1 + Int(bytes[DNSHeader.length])
        return bytes[DNSHeader.length] == 0 || bytes[next] == 0 ? [0] : [0xc0, UInt8(next)]
    }

    private mutating func beginRecord(
        _ type: DNSType, ttl: UInt32, count: UInt16, owner: [UInt8] = questionPointer
    ) {
        bytes.append(contentsOf: owner)
        append(type.rawValue)
        append(UInt16(1))
        append(ttl)
        append(count)
    }

    /// Fills in the length of a record's data, which ends here.
    private mutating func finishRecord(from start: Int) {
        let ownerLength = bytes[start] == 0 ? 1 : 2
        let count = bytes.count - start - ownerLength - 10
        var span = bytes.mutableSpan
        span.store(UInt16(count), at: start + ownerLength + 8)
    }

    private mutating func append(_ value: UInt16) {
        bytes.append(UInt8(value >> 8))
        bytes.append(UInt8(value & 255))
    }

    private mutating func append(_ value: UInt32) {
        append(UInt16(value >> 16))
        append(UInt16(value & 0xffff))
    }
}
