/// What an event is about, in 64 bits and back.

import Bytes
import TestSupport
import Testing

@testable import Gateway

@Suite("Tokens")
struct TokenTests {
    /// A token as its parts, so that it can be compared.
    private func parts(_ token: Token) -> [Int] {
        switch token {
        case .tunnel: [0]
        case .mailbox: [1]
        case .listener(let index): [2, index]
        case .client(let index, let generation): [3, Int(index), Int(generation)]
        case .datagram(let index, let generation): [5, Int(index), Int(generation)]
        case .upstream(let index, let generation, let slot): [4, Int(index), Int(generation), slot]
        }
    }

    @Test func everyKindComesBackAsItWas() {
        let tokens: [Token] = [
            .tunnel, .mailbox, .listener(0), .listener(7), .client(index: 0, generation: 1),
            .client(index: .max, generation: 0xff_ffff), .upstream(index: 0, generation: 1, slot: 0),
            .upstream(index: .max, generation: 0xff_ffff, slot: 0xfa), .datagram(index: 3, generation: 5),
            .upstream(index: 65535, generation: 3, slot: 1),
        ]
        for token in tokens { #expect(parts(Token(rawValue: token.rawValue)) == parts(token)) }
        #expect(Set(tokens.map(\.rawValue)).count == tokens.count)
    }

    @Test func randomPlacesComeBackWithTheLowBitsOfTheirGeneration() {
        var random = SeededGenerator(seed: 4)
        for _ in 0..<1000 {
            let index = UInt32(truncatingIfNeeded: random.next())
            let generation = UInt32(truncatingIfNeeded: random.next())
            let slot = random.number(0..<0xfb)
            let handle = Handle(index: index, generation: generation)
            guard
                case .upstream(let place, let low, let back) = Token(
                    rawValue: Token.upstream(index: index, generation: generation, slot: slot).rawValue)
            else {
                Issue.record("another kind")
                continue
            }
            #expect(place == index)
            #expect(back == slot)
            #expect(handle.matches(generation: low))
            #expect(!handle.matches(generation: low &+ 1), "a successor is not taken for it")
            #expect(!handle.matches(generation: low &+ 2))
        }
    }
}
