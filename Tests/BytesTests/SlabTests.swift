/// The slab against a dictionary, and its handles against their successors.

import Bytes
import TestSupport
import Testing

@Suite struct SlabTests {
    /// Counts who lives.
    final class Census {
        var living = 0
    }

    struct Citizen: ~Copyable {
        let number: Int
        let census: Census

        init(_ number: Int, _ census: Census) {
            self.number = number
            self.census = census
            census.living += 1
        }

        deinit { census.living -= 1 }
    }

    @Test func aStaleHandleDoesNotReachItsSuccessor() {
        var slab = Slab<Int>()
        let first = slab.insert(1)
        let removed = slab.remove(first)
        #expect(removed == 1)
        let second = slab.insert(2)
        let isSamePlace = second.index == first.index
        let containsFirst = slab.contains(first)
        let value = slab[second]
        let found = slab.handle(at: second.index)
        #expect(isSamePlace)
        #expect(!containsFirst)
        #expect(value == 2)
        #expect(found == second)
    }

    @Test func knowsNoHandleThatItDidNotGive() {
        let slab = Slab<Int>()
        let contains = slab.contains(Handle(index: 3, generation: 1))
        let found = slab.handle(at: 0)
        #expect(!contains)
        #expect(found == nil)
    }

    @Test func endsWhatLivesWithIt() {
        let census = Census()
        do {
            var slab = Slab<Citizen>()
            var handles: [Handle] = []
            for number in 0..<1000 { handles.append(slab.insert(Citizen(number, census))) }
            for handle in handles.prefix(300) { _ = slab.remove(handle) }
            #expect(census.living == 700)
        }
        #expect(census.living == 0)
    }

    @Test func trapsOnStaleHandles() async {
        await #expect(processExitsWith: .failure) {
            var slab = Slab<Int>()
            let handle = slab.insert(1)
            _ = slab.remove(handle)
            _ = slab.remove(handle)
        }
        await #expect(processExitsWith: .failure) {
            var slab = Slab<Int>()
            let handle = slab.insert(1)
            _ = slab.remove(handle)
            slab[handle] += 1
        }
    }

    @Test("behaves like a dictionary of handles", arguments: 0..<4)
    func behavesLikeADictionary(seed: Int) {
        var random = SeededGenerator(seed: UInt64(seed))
        let census = Census()
        var slab = Slab<Citizen>()
        var model: [Handle: Int] = [:]
        var gone: [Handle] = []
        for round in 0..<LongRun.rounds(4000, long: 200_000) {
            if random.chance(model.count < 600 ? 0.6 : 0.4) {
                let handle = slab.insert(Citizen(round, census))
                #expect(model[handle] == nil)
                model[handle] = round
            } else if let handle = model.keys.randomElement(using: &random) {
                let number = slab.remove(handle).number
                #expect(number == model.removeValue(forKey: handle))
                gone.append(handle)
            }
            let count = slab.count
            guard count == model.count, census.living == model.count else {
                Issue.record("seed \(seed), round \(round): \(count) elements instead of \(model.count)")
                return
            }
        }
        for (handle, number) in model {
            let found = slab[handle].number
            #expect(found == number)
        }
        for handle in gone where slab.contains(handle) { Issue.record("seed \(seed): a stale handle lives") }
        var living = 0
        for index in 0..<slab.capacity where slab.handle(at: index) != nil { living += 1 }
        #expect(living == model.count)
    }
}
