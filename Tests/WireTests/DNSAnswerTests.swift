/// Answers: reading a resolver's, handing them on, and writing our own.

import Addresses
import Bytes
import TestSupport
import Testing

@testable import Wire

@Suite("DNS answers")
struct DNSAnswerTests {
    static func written(
        _ answer: DNSAnswer, _ asked: [UInt8], age: UInt32 = 0, maximumTTL: UInt32? = nil, limit: Int = 65_535
    ) throws -> [UInt8] {
        var output: [UInt8] = []
        answer.write(
            answering: asked.span, try parseQuery(asked), age: age, maximumTTL: maximumTTL, limit: limit, into: &output)
        return output
    }

    @Test func readsAnAnswerOfAnotherProgram() throws {
        let answer = try parseAnswer(DNSVectors.answer, to: question(of: DNSVectors.query))
        #expect(answer.code == .noError)
        #expect(answer.lifetime == 30)
        #expect(!answer.isNegative)
        // Over the CNAME, and without the address of another name.
        #expect(answer.addresses == [IPAddress(v4: 0xcb00_7109), IPAddress(v4: 0xcb00_710a)])
        #expect(try records(of: answer.message).map(\.type.rawValue) == [5, 1, 1, 1, 2, 1])
    }

    /// A chain that stands backwards is looked for in the whole answer again with each link.
    @Test("a chain is followed through an answer of a thousand records, and given up in one of thousands")
    func longAnswers() throws {
        func record(_ owner: String, _ type: UInt8, _ data: [UInt8]) -> [UInt8] {
            [1] + Array(owner.utf8) + [0, 0, type, 0, 1, 0, 0, 0, 60, 0, UInt8(data.count)] + data
        }
        for (count, addresses) in [(1000, [IPAddress(v4: 0xc000_0201)]), (3000, [])] {
            let answers = count + 3
            var message = hex("0001 8180 0001") + [UInt8(answers >> 8), UInt8(answers & 255), 0, 0, 0, 0]
            message += hex("0161 00 0001 0001")
            message += record("c", 1, [192, 0, 2, 1]) + record("b", 5, hex("0163 00")) + record("a", 5, hex("0162 00"))
            for _ in 0..<count { message += record("x", 1, [192, 0, 2, 9]) }
            let answer = try parseAnswer(message, to: hex("0161 00 0001 0001"))
            #expect(answer.addresses == addresses)
        }
    }

    @Test func readsOtherRecords() throws {
        let six = try parseAnswer(DNSVectors.address6, to: question(of: DNSVectors.address6))
        #expect(six.addresses == [IPAddress(high: 0x2001_0db8_0000_0000, low: 7)])
        let pointer = try records(of: DNSVectors.pointer)[0]
        let message = DNSVectors.pointer
        let target = pointer.target(in: message.span)
        #expect(target == "edge.cdn.test")
    }

    /// The lesser of TTL and MINIMUM (RFC 2308, section 5).
    @Test func keepsWhatDoesNotExistAsLongAsItsZoneSays() throws {
        let answer = try parseAnswer(DNSVectors.nameError, to: question(of: DNSVectors.nameError))
        #expect(answer.code == .nameError)
        #expect(answer.isNegative)
        #expect(answer.lifetime == 120)
    }

    /// OPT has no TTL: it is the same each time, DO as asked, whatever the age; records count down (B082).
    @Test func theOptionRecordDoesNotAge() throws {
        let answer = try parseAnswer(DNSVectors.answer, to: question(of: DNSVectors.query))
        let (fresh, old) = (
            try Self.written(answer, DNSVectors.query), try Self.written(answer, DNSVectors.query, age: 7)
        )
        let options = try records(of: old).last { $0.type == .options }
        #expect(options?.class == 1232)
        #expect(options?.ttl == 0x8000)
        #expect(Array(fresh.suffix(22)) == Array(old.suffix(22)))
        // The resolver's Extended DNS Error stays (RFC 8914), its cookie was ours alone (RFC 7873).
        #expect(Array(old.suffix(11)) == hex("000f00070003") + Array("stale".utf8))
        #expect(try records(of: old).dropLast().map(\.ttl) == [293, 23, 23, 23, 86393, 86393])
        let capped = try Self.written(answer, DNSVectors.query, age: 7, maximumTTL: 60)
        #expect(try records(of: capped).dropLast().map(\.ttl) == [60, 23, 23, 23, 60, 60])
        #expect(try records(of: capped).last?.ttl == 0x8000)
    }

    /// The id and the letters of each query, and no OPT for who has none (RFC 6891, section 7; B098).
    @Test func eachQueryGetsItsOwnIdAndLetters() throws {
        let answer = try parseAnswer(DNSVectors.answer, to: question(of: DNSVectors.query))
        var plain = Array(DNSVectors.query.dropLast(11))
        plain.replaceSubrange(0..<12, with: hex("777701000001000000000000"))
        plain[13] = UInt8(ascii: "w")
        let output = try Self.written(answer, plain)
        #expect(Array(output[0..<2]) == [0x77, 0x77])
        #expect(output[12..<31] == plain[12..<31])
        #expect(try !records(of: output).contains { $0.type == .options })
        #expect(try records(of: output).count == 6)
    }

    /// RFC 2181, section 9: what does not fit is cut with TC, and the client comes by TCP.
    @Test func whatIsTooLongIsCut() throws {
        let answer = try parseAnswer(DNSVectors.answer, to: question(of: DNSVectors.query))
        let cut = try Self.written(answer, DNSVectors.query, limit: 100)
        let header = try parseDNSHeader(cut)
        #expect(header.isTruncated)
        #expect([header.answers, header.authorities, header.additionals] == [0, 0, 1])
        #expect(cut.count == 31 + 11)
        let whole = try Self.written(answer, DNSVectors.query, limit: answer.message.count + 22)
        #expect(try !parseDNSHeader(whole).isTruncated)
        #expect(try parseDNSHeader(Self.written(answer, DNSVectors.query, limit: whole.count - 1)).isTruncated)
    }

    @Test func anotherQuestionIsNoAnswer() throws {
        var other = try question(of: DNSVectors.query)
        other[1] = UInt8(ascii: "x")
        #expect(throws: WireError.inconsistent(.question)) { try parseAnswer(DNSVectors.answer, to: other) }
        var otherType = try question(of: DNSVectors.query)
        otherType[otherType.count - 3] = 28
        #expect(throws: WireError.inconsistent(.question)) { try parseAnswer(DNSVectors.answer, to: otherType) }
    }

    @Test func anAnswerThatLiesAboutItsCountsIsRefused() throws {
        let asked = try question(of: DNSVectors.query)
        var more = DNSVectors.answer
        more[11] = 3
        #expect(throws: WireError.self) { try parseAnswer(more, to: asked) }
        for length in 31..<DNSVectors.answer.count {
            #expect(throws: WireError.self) { try parseAnswer(Array(DNSVectors.answer.prefix(length)), to: asked) }
        }
    }

    @Test func ourOwnAnswersRepeatTheQuestion() throws {
        var writer = DNSWriter()
        let asked = DNSVectors.query
        let query = try parseQuery(asked)
        writer.begin(answering: asked.span, query)
        writer.addAddress(IPAddress(v4: 0xc612_0010), ttl: 1)
        writer.finish(query.edns)
        let bytes = writer.bytes
        #expect(
            bytes == hex("123481800001000100000001") + DNSVectors.query[12..<31]
                + hex("c00c00010001000000010004c6120010" + "00002904d0000080000000"))
    }

    /// NODATA names its zone and how long it holds (RFC 2308, section 3; B095).
    @Test func ourNegativeAnswersHaveAnAuthority() throws {
        var writer = DNSWriter()
        let asked = DNSVectors.query
        let query = try parseQuery(asked)
        for isOfParent in [false, true] {
            writer.begin(answering: asked.span, query, isOfParent ? .nameError : .noError)
            writer.addAuthority(seconds: 1, isOfParent: isOfParent)
            writer.finish(query.edns)
            let all = try records(of: writer.bytes)
            #expect(all.map(\.type) == [.authority, .options])
            #expect(all[0].section == .authority)
            #expect(all[0].ttl == 1)
            #expect(negativeLifetime(all[0], writer.bytes) == 1)
            let owner = try nameText(writer.bytes, at: all[0].start)
            #expect(owner == (isOfParent ? "shop.test" : "www.shop.test"))
            #expect(try parseAnswer(writer.bytes, to: question(of: DNSVectors.query)).lifetime == 1)
        }
    }

    @Test func writesPointersAndQuestions() throws {
        var writer = DNSWriter()
        let asked = Array(DNSVectors.pointer[0..<12]) + (try question(of: DNSVectors.pointer))
        var plain = asked
        plain.replaceSubrange(2..<8, with: [1, 0, 0, 1, 0, 0])
        writer.begin(answering: plain.span, try parseQuery(plain))
        writer.addPointer(to: "edge.cdn.test", ttl: 60)
        writer.finish(nil)
        #expect(writer.bytes.dropFirst(4) == DNSVectors.pointer.dropFirst(4))
        let wanted = try question(of: DNSVectors.query)
        writer.begin(asking: wanted.span, id: 0x1234, bits: 0x0120)
        writer.finish(EDNS(payloadSize: 4096, wantsSignatures: true))
        // Our own size, whatever the client's is.
        #expect(writer.bytes.dropLast(8) == DNSVectors.query.dropLast(8))
        #expect(writer.bytes.suffix(8) == hex("04d0000080000000"))
    }

    /// RFC 7766, section 8: wherever the pieces end (B092).
    @Test("cuts a stream into messages", arguments: 1...40)
    func cutsAStream(size: Int) {
        var bytes: [UInt8] = []
        let messages = [DNSVectors.query, [], DNSVectors.answer, DNSVectors.hostile[0]]
        for message in messages { DNSStream.write(message.span, into: &bytes) }
        var stream = DNSStream()
        var found: [[UInt8]] = []
        for start in stride(from: 0, to: bytes.count, by: size) {
            stream.append(bytes.span.extracting(start..<min(bytes.count, start + size)))
            while let message = stream.next() { found.append(message) }
        }
        #expect(found == messages)
        #expect(stream.count == 0)
    }
}
