/// A resolver's answer: checked against the question, kept without what is between two hops, written for others.
///
/// EDNS is such a thing (RFC 6891, section 6.1.1): the OPT record of the resolver is taken off, and who asked
/// with EDNS is given one of ours. Everything else goes on as it came, of whatever type, but for the id, the
/// letters' case in the question, and the TTLs.

public import Addresses
import Bytes

public struct DNSAnswer: Equatable, Sendable {
    /// The message without OPT.
    public private(set) var message: [UInt8]
    /// Where the question ends.
    public private(set) var questionEnd: Int
    /// With the upper bits that EDNS adds.
    public private(set) var code: DNSCode
    /// The seconds for which it may be kept: 0 for what may not.
    public private(set) var lifetime: UInt32
    /// Whether nothing of the type in question was there.
    public private(set) var isNegative: Bool
    /// The options of the resolver that explain its answer (RFC 8914), as they stood in OPT.
    private var explanations: [UInt8] = []

    public var isTruncated: Bool { message.span.uint16(at: 2) & DNSHeader.Bits.truncated != 0 }

    /// The longest time for which anything is kept (RFC 8767, section 4, advises seven days at most).
    static let maximumLifetime: UInt32 = 86_400
    /// The same for what is not there (RFC 2308, section 5).
    static let maximumNegativeLifetime: UInt32 = 3_600

    /// Reads the answer to a question; the caller has compared the ids.
    ///
    /// Refused is everything that does not answer exactly this question, or is not whole.
    public static func parse(
        _ message: Span<UInt8>, to question: Span<UInt8>
    ) throws(WireError) -> DNSAnswer {
        let header = try DNSHeader.parse(message)
        guard header.isResponse, header.opcode == 0 else { throw .inconsistent(.type) }
        if header.questions == 0, [.formatError, .notImplemented].contains(header.code) {
            // So answers who could not read the question, perhaps because of its EDNS.
            return DNSAnswer(
                message: Array(copying: message.extracting(0..<DNSHeader.length)), questionEnd: DNSHeader.length,
                code: header.code, lifetime: 0, isNegative: true)
        }
        let questionEnd = DNSHeader.length + question.count
        guard header.questions == 1, message.count >= questionEnd,
            isSame(message.extracting(DNSHeader.length..<questionEnd), question)
        else { throw .inconsistent(.question) }
        var reading = Reading(type: question.uint16(at: question.count - 4))
        var records = DNSRecords(header, at: questionEnd)
        while let record = try records.next(in: message) { try reading.note(record, in: message) }
        let answer = reading.answer(message, header, questionEnd, end: records.position)
        try answer.checkThatTimesAreNoNames()
        return answer
    }

    /// Refuses a message in which the length of a label stands in a TTL: it would be another message with each age.
    private func checkThatTimesAreNoNames() throws(WireError) {
        let header = try DNSHeader.parse(message.span)
        var marked = message
        var records = DNSRecords(header, at: questionEnd)
        while let record = try records.next(in: message.span) {
            // Read as a length this points to octet 16,383, behind every name of a message of usual size.
            var span = marked.mutableSpan
            span.store(UInt32.max, at: record.timeToLiveOffset)
        }
        var again = DNSRecords(header, at: questionEnd)
        while try again.next(in: marked.span) != nil {}
        guard again.position == records.position else { throw .inconsistent(.name) }
    }

    /// Whether two questions are the same, letters' case aside; lengths of labels are no letters.
    private static func isSame(_ question: Span<UInt8>, _ other: Span<UInt8>) -> Bool {
        for index in 0..<question.count - 4 where ASCII.lowercase(question[index]) != ASCII.lowercase(other[index]) {
            return false
        }
        let end = question.count - 4
        return question.uint32(at: end) == other.uint32(at: end)
    }

    /// What is learned on the way along the records.
    private struct Reading {
        let type: UInt16
        var answered = false
        var shortest = UInt32.max
        var negative: UInt32?
        var options: (record: DNSRecord, edns: EDNS)?
        var answers: UInt16 = 0
        var authorities: UInt16 = 0
        var additionals: UInt16 = 0

        init(type: UInt16) { self.type = type }

        mutating func note(_ record: DNSRecord, in message: Span<UInt8>) throws(WireError) {
            if record.type == .options {
                guard options == nil, record.section == .additional else { throw .inconsistent(.type) }
                options = (record, EDNS(record))
            }
            switch record.section {
            case .answer:
                answers += 1
                shortest = min(shortest, record.lifetime)
                if record.type.rawValue == type || type == 255 { answered = true }
            case .authority:
                authorities += 1
                if let lifetime = record.negativeLifetime(in: message) { negative = lifetime }
            case .additional:
                // What stands behind OPT is given up with it: names in it may point across the gap.
                if options == nil { additionals += 1 }
            }
        }

        func answer(_ message: Span<UInt8>, _ header: DNSHeader, _ questionEnd: Int, end: Int) -> DNSAnswer {
            let end = options?.record.start ?? end
            let code = DNSCode(rawValue: header.code.rawValue | UInt16(options?.edns.upperCode ?? 0) << 4)
            var kept = [UInt8](copying: message.extracting(0..<end))
            var span = kept.mutableSpan
            span.store(additionals, at: 10)
            var answer = DNSAnswer(
                message: kept, questionEnd: questionEnd, code: code, lifetime: 0, isNegative: !answered)
            if !header.isTruncated { answer.lifetime = lifetime(code) }
            if let options { answer.explanations = DNSAnswer.explanations(in: message.extracting(options.record.data)) }
            return answer
        }

        private func lifetime(_ code: DNSCode) -> UInt32 {
            guard code == .noError || code == .nameError else { return 0 }
            if answered { return min(shortest, DNSAnswer.maximumLifetime) }
            // Without SOA nobody knows how long it holds (RFC 2308, section 5).
            return min(shortest, negative ?? 0, DNSAnswer.maximumNegativeLifetime)
        }
    }

    /// The Extended DNS Errors among options, as they stand.
    private static func explanations(in options: Span<UInt8>) -> [UInt8] {
        var found: [UInt8] = []
        var position = 0
        while position + 4 <= options.count {
            let end = position + 4 + Int(options.uint16(at: position + 2))
            guard end <= options.count else { break }
            let isExplanation = options.uint16(at: position) == 15 && end - position >= 6
            if isExplanation, found.count + end - position <= 256 {
                found.append(copying: options.extracting(position..<end))
            }
            position = end
        }
        return found
    }
}

extension DNSAnswer {
    /// The octets that it takes in memory.
    public var byteCount: Int { message.count + explanations.count }

    /// Writes the message for a client over what `output` held: its id, its question, TTLs that are `age` seconds
    /// shorter and at most `maximumTTL`, and OPT where it asked with EDNS.
    ///
    /// What is longer than `limit` is cut to the question, with TC: the client asks again over TCP.
    public func write(
        answering asked: Span<UInt8>, _ query: DNSQuery, age: UInt32, maximumTTL: UInt32?, limit: Int,
        into output: inout [UInt8]
    ) {
        output.removeAll(keepingCapacity: true)
        let optionsLength = query.edns == nil ? 0 : 11 + explanations.count
        let isCut = message.count + optionsLength > limit
        output.append(copying: message.span.extracting(0..<(isCut ? questionEnd : message.count)))
        if let edns = query.edns {
            DNSWriter.appendOptions(edns, code: code, data: isCut ? [] : explanations, to: &output)
        }
        var span = output.mutableSpan
        let copied = DNSHeader.Bits.recursionDesired | DNSHeader.Bits.checkingDisabled
        var bits = span.span.uint16(at: 2) & ~copied | query.header.bits & copied
        if isCut {
            bits |= DNSHeader.Bits.truncated
            span.store(UInt32(0), at: 6)
        }
        span.store(query.header.id, at: 0)
        span.store(bits, at: 2)
        let additionals = (isCut ? 0 : message.span.uint16(at: 10)) + (query.edns == nil ? 0 : 1)
        span.store(additionals, at: 10)
        // The same name, so of the same length, and not compressed in either message.
        span.copy(asked.extracting(query.question), at: DNSHeader.length)
        if !isCut { writeLifetimes(into: &span, age: age, maximum: maximumTTL ?? .max) }
    }

    /// Writes the TTLs anew, of all records but OPT, whose field of this name holds flags (RFC 6891, section 6.1.3).
    private func writeLifetimes(into bytes: inout MutableSpan<UInt8>, age: UInt32, maximum: UInt32) {
        guard let header = try? DNSHeader.parse(message.span) else { return }
        var records = DNSRecords(header, at: questionEnd)
        while let record = try? records.next(in: message.span) {
            var ttl = record.lifetime
            if isNegative, let lifetime = record.negativeLifetime(in: message.span) { ttl = lifetime }
            bytes.store(min(ttl > age ? ttl - age : 0, maximum), at: record.timeToLiveOffset)
        }
    }

    /// The addresses that the name in question leads to, over CNAME records, in the order of the answer.
    ///
    /// What else stands in the answer belongs to names that nobody asked for.
    public var addresses: [IPAddress] {
        guard let header = try? DNSHeader.parse(message.span) else { return [] }
        var found: [IPAddress] = []
        var owner = DNSHeader.length
        // A chain has no more links than records; most have none to three. Each is looked for in the whole answer, so
        // that of thousands of records is bounded in all.
        var left = 4096
        for _ in 0..<16 {
            var next: Int?
            var records = DNSRecords(header, at: questionEnd)
            while left > 0, let record = try? records.next(in: message.span), record.section == .answer {
                left -= 1
                guard DNSName.isSame(in: message.span, at: record.start, as: message.span, at: owner) else { continue }
                if let address = record.address(in: message.span), !found.contains(address) { found.append(address) }
                if record.type == .canonicalName { next = record.data.lowerBound }
            }
            guard found.isEmpty, let next else { return found }
            owner = next
        }
        return found
    }
}
