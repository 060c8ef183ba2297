/// The flow table against a dictionary.

import Addresses
import Bytes
import TestSupport
import Testing

@testable import Flows

@Suite struct FlowTableTests {
    static func key(_ number: Int) -> FlowKey {
        FlowKey(
            client: SocketAddress(IPAddress(v4: 0x0a09_0002), UInt16(truncatingIfNeeded: number)),
            target: SocketAddress(IPAddress(v4: 0xc633_6400 | UInt32(number >> 16)), 443))
    }

    @Test func aKeyGivesItsEndsBack() {
        let client = SocketAddress(IPAddress(high: 0xfd00_0009_0000_0000, low: 2), 40001)
        let target = SocketAddress(IPAddress(high: 0x2001_0db8_0051_0000, low: 0x10), 443)
        let key = FlowKey(client: client, target: target)
        #expect(key.client == client)
        #expect(key.target == target)
        #expect(MemoryLayout<FlowKey>.size == 36)
    }

    @Test func tellsKeysApartInEveryField() {
        let client = SocketAddress(IPAddress(high: 1, low: 2), 3)
        let target = SocketAddress(IPAddress(high: 4, low: 5), 6)
        let key = FlowKey(client: client, target: target)
        let others = [
            FlowKey(client: SocketAddress(IPAddress(high: 9, low: 2), 3), target: target),
            FlowKey(client: SocketAddress(IPAddress(high: 1, low: 9), 3), target: target),
            FlowKey(client: SocketAddress(IPAddress(high: 1, low: 2), 9), target: target),
            FlowKey(client: client, target: SocketAddress(IPAddress(high: 9, low: 5), 6)),
            FlowKey(client: client, target: SocketAddress(IPAddress(high: 4, low: 9), 6)),
            FlowKey(client: client, target: SocketAddress(IPAddress(high: 4, low: 5), 9)),
            FlowKey(client: target, target: client),
        ]
        var table = FlowTable(capacity: 10, seed: (1, 2))
        let isNew = table.insert(key, Handle(index: 1, generation: 1))
        #expect(isNew)
        for other in others {
            #expect(other != key)
            let found = table.find(other)
            #expect(found == nil)
        }
    }

    @Test func takesEachKeyOnceAndNoMoreThanItsCapacity() {
        var table = FlowTable(capacity: 2, seed: (1, 2))
        let handle = Handle(index: 7, generation: 3)
        let first = table.insert(Self.key(1), handle)
        let again = table.insert(Self.key(1), handle)
        let second = table.insert(Self.key(2), handle)
        let third = table.insert(Self.key(3), handle)
        #expect([first, again, second, third] == [true, false, true, false])
        let removed = table.remove(Self.key(1))
        #expect(removed == handle)
        let fourth = table.insert(Self.key(3), handle)
        #expect(fourth)
    }

    @Test("behaves like a dictionary, while it grows and shrinks", arguments: 0..<4)
    func behavesLikeADictionary(seed: Int) {
        var random = SeededGenerator(seed: UInt64(seed))
        var table = FlowTable(capacity: 5000, seed: (random.next(), random.next()))
        var model: [FlowKey: Handle] = [:]
        for round in 0..<LongRun.rounds(20000, long: 2_000_000) {
            // Waves: mostly coming, then mostly going.
            let key = Self.key(random.number(0..<4000))
            if random.chance(round / 4000 % 2 == 0 ? 0.8 : 0.2) {
                let handle = Handle(index: UInt32(round), generation: 1)
                let isNew = table.insert(key, handle)
                guard isNew == (model[key] == nil) else {
                    Issue.record("seed \(seed), round \(round): a key came twice or never")
                    return
                }
                if isNew { model[key] = handle }
            } else {
                let removed = table.remove(key)
                guard removed == model.removeValue(forKey: key) else {
                    Issue.record("seed \(seed), round \(round): another one was removed")
                    return
                }
            }
            let other = Self.key(random.number(0..<4000))
            let (found, count) = (table.find(other), table.count)
            guard found == model[other], count == model.count else {
                Issue.record("seed \(seed), round \(round): another one was found")
                return
            }
        }
        for (key, handle) in model {
            let found = table.find(key)
            #expect(found == handle)
        }
    }

    @Test("spreads the ports of one client, whatever the seed")
    func spreads() {
        var random = SeededGenerator(seed: 5)
        for _ in 0..<20 {
            let hash = KeyedHash(seed: (random.next(), random.next()))
            var slots = [Int](repeating: 0, count: 1024)
            for number in 0..<4096 { slots[Int(truncatingIfNeeded: hash(Self.key(number))) & 1023] += 1 }
            // Four a slot on average; Poisson puts 16 or more into one of 1,024 slots once in 3,000 tables.
            #expect(slots.max() ?? 0 < 18)
        }
    }

    @Test func hashesDifferBySeed() {
        let first = KeyedHash(seed: (1, 2))
        let second = KeyedHash(seed: (1, 3))
        #expect(first(Self.key(1)) != second(Self.key(1)))
        #expect(first(1, 2) != second(1, 2))
    }
}
