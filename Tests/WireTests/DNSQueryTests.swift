/// Reading queries and names, hostile ones among them.

import Bytes
import TestSupport
import Testing

@testable import Wire

@Suite("DNS queries")
struct DNSQueryTests {
    @Test func readsAQueryOfAnotherProgram() throws {
        let query = try parseQuery(DNSVectors.query)
        #expect(query.header.id == 0x1234)
        #expect(query.name == "www.shop.test")
        #expect(query.type == .address4)
        #expect(query.class == 1)
        #expect(query.question == 12..<31)
        #expect(query.edns == EDNS(payloadSize: 4096, wantsSignatures: true))
        #expect(query.payloadLimit == 4096)
    }

    /// Unknown options are passed over (B089: a query with a cookie).
    @Test func readsAQueryWithACookie() throws {
        let query = try parseQuery(
            hex(
                "1a2b0100000100000000000103617070076578616d706c650474657374000001000100002904d000000000000c000a0008abcdef"
                    + "0123456789"))
        #expect(query.name == "app.example.test")
        #expect(query.edns?.payloadSize == 1232)
    }

    /// A pointer to itself, two to each other, one out of the message, and messages that end early (B087).
    @Test("refuses what has no question", arguments: DNSVectors.hostile)
    func refuses(message: [UInt8]) {
        #expect(throws: message.count < 12 ? DNSRefusal.silence : .code(.formatError)) { try parseQuery(message) }
    }

    @Test func anAnswerIsNotAnswered() {
        #expect(throws: DNSRefusal.silence) { try parseQuery(DNSVectors.answer) }
    }

    @Test func refusesOtherOperations() {
        var update = DNSVectors.query
        update[2] = 0x28
        #expect(throws: DNSRefusal.code(.notImplemented)) { try parseQuery(update) }
    }

    /// RFC 6891, section 6.1.1.
    @Test func refusesTwoOptionRecords() {
        var message = DNSVectors.query + DNSVectors.query.suffix(11)
        message[11] = 2
        #expect(throws: DNSRefusal.code(.formatError)) { try parseQuery(message) }
    }

    @Test func refusesTwoQuestions() {
        var message = DNSVectors.query
        message[5] = 2
        #expect(throws: DNSRefusal.code(.formatError)) { try parseQuery(message) }
    }

    @Test func believesNoCountThatHasNoOctets() {
        var message = DNSVectors.query
        message[7] = 255
        #expect(throws: DNSRefusal.code(.formatError)) { try parseQuery(message) }
    }

    /// A dot inside a label is no border, and what cannot be seen stands as a number (RFC 1035, section 5.1).
    @Test func escapesWhatIsNoHostName() throws {
        let message = [UInt8](repeating: 0, count: 12) + [4, 0x41, 0x2e, 0x20, 0xff, 4] + Array("test".utf8) + [0]
        let text = try nameText(message, at: 12)
        #expect(text == #"a\046\032\255.test"#)
        var written: [UInt8] = []
        #expect(DNSName.write(text, into: &written))
        #expect(written == [4, 0x61, 0x2e, 0x20, 0xff, 4] + Array("test".utf8) + [0])
    }

    @Test("writes no name that is none", arguments: ["a..b", ".", "a.", String(repeating: "a", count: 64), #"a\99"#])
    func writesNoNonsense(text: String) {
        var output: [UInt8] = [7]
        let isName = DNSName.write(text, into: &output)
        #expect(!isName)
        #expect(output == [7])
    }

    /// 255 octets are the most (RFC 1035, section 2.3.4).
    @Test func aNameHas255Octets() throws {
        let label = String(repeating: "a", count: 63)
        var output = [UInt8](repeating: 0, count: 12)
        let longest = [label, label, label, String(repeating: "b", count: 61)].joined(separator: ".")
        #expect(DNSName.write(longest, into: &output))
        #expect(output.count == 12 + 255)
        #expect(try nameText(output, at: 12) == longest)
        #expect(try nameEnd(output, at: 12) == 267)
        let isName = DNSName.write(longest + "b", into: &output)
        #expect(!isName)
        // The same over a pointer: 200 octets that lead to 200 more.
        let part = [UInt8](repeating: 0, count: 12) + [3, 1, 1, 1] + [192, 12]
        #expect(throws: WireError.self) { try nameEnd(part, at: 12) }
    }

    /// Each pointer leads backwards here, so nothing but the bound on their number ends the way in time.
    @Test func manyPointersAreNoName() {
        var message = [UInt8](repeating: 0, count: 13)
        for place in 0..<200 {
            let target = place == 0 ? 12 : 13 + 2 * (place - 1)
            message += [0xc0 | UInt8(target >> 8), UInt8(target & 255)]
        }
        #expect(throws: WireError.inconsistent(.name)) { try nameEnd(message, at: message.count - 2) }
        #expect(throws: Never.self) { try nameEnd(message, at: 13 + 100) }
    }

    @Test func comparesNamesWithoutCase() throws {
        let mixed: [UInt8] = [3] + Array("aPp".utf8) + [4] + Array("tESt".utf8) + [0]
        let lower: [UInt8] = [3] + Array("app".utf8) + [4] + Array("test".utf8) + [0]
        let other: [UInt8] = [3] + Array("app".utf8) + [0]
        #expect(isSameName(mixed, lower))
        #expect(!isSameName(mixed, other))
        #expect(!isSameName(other, mixed))
    }
}
