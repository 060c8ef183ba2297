/// Whatever the bytes, reading DNS ends, and what is written of it can be read again.

import Bytes
import TestSupport
import Testing

@testable import Wire

@Suite struct DNSTotalityTests {
    static let seeds = [
        DNSVectors.query, DNSVectors.answer, DNSVectors.nameError, DNSVectors.pointer, DNSVectors.address6,
    ]

    @Test("survives mutated messages", arguments: 0..<8)
    func survivesMutations(seed: Int) throws {
        var random = SeededGenerator(seed: UInt64(seed))
        for round in 0..<LongRun.rounds(3000, long: 1_000_000) {
            var message = Self.seeds[random.number(0..<Self.seeds.count)]
            for _ in 0..<random.number(1..<4) { mutate(&message, &random) }
            if !read(message) {
                Issue.record("seed \(seed), round \(round): what was written cannot be read")
                return
            }
        }
    }

    private func mutate(_ message: inout [UInt8], _ random: inout SeededGenerator) {
        guard message.count > 12 else { return }
        let index = random.number(0..<message.count)
        switch random.number(0..<6) {
        case 0: message[index] ^= 1 << UInt8(random.number(0..<8))
        case 1: message[index] = UInt8(truncatingIfNeeded: random.next())
        case 2: message[index] = 0xc0
        case 3: message.removeLast(random.number(0..<message.count - 12))
        case 4: message.insert(contentsOf: random.bytes(random.number(1..<12)), at: index)
        default: message.replaceSubrange(6..<12, with: [0, UInt8(random.number(0..<9)), 0, 1, 0, 2])
        }
    }

    private func read(_ message: [UInt8]) -> Bool {
        if let query = try? DNSQuery.parse(message.span) {
            guard query.questionEnd <= message.count else { return false }
            var writer = DNSWriter()
            writer.begin(answering: message.span, query, .nameError)
            writer.addAuthority(seconds: 1, isOfParent: true)
            writer.finish(query.edns)
            guard (try? DNSAnswer.parse(writer.bytes.span, to: message.span.extracting(query.question))) != nil else {
                return false
            }
        }
        guard let end = try? DNSName.end(in: message.span, at: 12), end + 4 <= message.count,
            let answer = try? DNSAnswer.parse(message.span, to: message.span.extracting(12..<end + 4)),
            answer.questionEnd == end + 4
        else { return true }
        _ = answer.addresses
        var asked = [UInt8](repeating: 0, count: 12) + message[12..<end + 4]
        asked[5] = 1
        guard let query = try? DNSQuery.parse(asked.span) else { return true }
        var output: [UInt8] = []
        answer.write(answering: asked.span, query, age: 1, maximumTTL: 60, limit: 65_535, into: &output)
        return (try? DNSAnswer.parse(output.span, to: asked.span.extracting(query.question))) != nil
    }
}
