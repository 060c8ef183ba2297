/// Names that every machine knows, and names that none may know.

import Addresses
import Bytes
import LinuxIO
import Testing

@Suite("Name resolver")
struct NameResolverTests {
    /// Fetches so many answers, in the order in which they come.
    private static func answers(_ count: Int, _ resolver: NameResolver, _ wakeUp: WakeUp) throws -> [Resolution] {
        var poller = try Poller()
        try poller.add(wakeUp.descriptor.number, token: 1, events: .readable)
        var events = [PolledEvent.none]
        var found: [Resolution] = []
        let deadline = Clock.now() + .seconds(20)
        while found.count < count, poller.wait(into: &events, until: deadline) > 0 {
            wakeUp.clear()
            while let answer = resolver.nextResult() { found.append(answer) }
        }
        return found
    }

    @Test func answersCarryTheirTickets() throws {
        let wakeUp = try WakeUp()
        let resolver = try NameResolver(wakeUp: wakeUp)
        #expect(resolver.resolve("localhost", ticket: 11))
        #expect(resolver.resolve("192.0.2.7", ticket: 12))
        #expect(resolver.resolve("2001:db8::7", ticket: 13))
        let found = try Self.answers(3, resolver, wakeUp).sorted { $0.ticket < $1.ticket }
        try #require(found.map(\.ticket) == [11, 12, 13])
        let home = try found[0].result.get()
        #expect(!home.isEmpty)
        #expect(home.allSatisfy { $0.isLoopback })
        #expect(found[1].result == .success([IPAddress(v4: 0xc000_0207)]))
        #expect(found[2].result == .success([IPAddress(high: 0x2001_0db8_0000_0000, low: 7)]))
        #expect(resolver.nextResult() == nil)
    }

    @Test func aNameThatCannotExistHasNoAddress() throws {
        let wakeUp = try WakeUp()
        let resolver = try NameResolver(wakeUp: wakeUp, threads: 1)
        // A label of 64 octets is longer than any may be (RFC 1035, section 2.3.4).
        #expect(resolver.resolve(String(repeating: "a", count: 64) + ".example", ticket: 1))
        let found = try Self.answers(1, resolver, wakeUp)
        try #require(found.count == 1)
        guard case .failure = found[0].result else {
            Issue.record("\(found[0])")
            return
        }
    }

    @Test func moreQuestionsThanFitAreRefused() throws {
        let wakeUp = try WakeUp()
        let resolver = try NameResolver(wakeUp: wakeUp, threads: 1, capacity: 4)
        var taken = 0
        var refused = 0
        for ticket in 0..<200 as Range<UInt64> {
            if resolver.resolve("127.0.0.1", ticket: ticket) { taken += 1 } else { refused += 1 }
        }
        let found = try Self.answers(taken, resolver, wakeUp)
        #expect(taken + refused == 200)
        #expect(taken >= 4)
        #expect(found.count == taken)
    }
}
