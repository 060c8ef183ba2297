/// The cache: true TTLs, bounds, and who goes first.

import Addresses
import Bytes
import Testing

@testable import Names
@testable import Wire

@Suite("answer cache")
struct AnswerCacheTests {
    static let start = Instant(nanoseconds: 1_000_000_000_000)

    static func answer(_ name: String, ttl: UInt32 = 300) throws -> (AnswerKey, DNSAnswer) {
        let asked = query(name)
        let answer = try parseAnswer(reply(to: asked, [IPAddress("192.0.2.1")], ttl: ttl), to: question(name))
        return (AnswerKey(try parse(asked)), answer)
    }

    @Test func anAnswerIsKeptForItsLifetime() throws {
        var cache = AnswerCache(capacity: 10)
        let (key, answer) = try Self.answer("a.test")
        cache.insert(key, answer, now: Self.start)
        let found = cache.find(key, now: Self.start + .milliseconds(7_900))
        #expect(found?.age == 7)
        #expect(found?.answer == answer)
        #expect(cache.find(key, now: Self.start + .milliseconds(299_999))?.age == 299)
        #expect(cache.find(key, now: Self.start + .seconds(300)) == nil)
        #expect(cache.count == 0)
        #expect(cache.byteCount == 0)
    }

    /// The case of letters does not matter, and everything that changes an answer does.
    @Test func whatMakesQuestionsTheSame() throws {
        let plain = AnswerKey(try parse(query("a.test")))
        #expect(AnswerKey(try parse(query("A.Test", id: 7))) == plain)
        #expect(AnswerKey(name: "a.test", type: .address4) == plain)
        #expect(AnswerKey(try parse(query("a.test", edns: true))) != plain)
        #expect(AnswerKey(try parse(query("a.test", bits: 0x0110))) != plain)
        #expect(AnswerKey(try parse(query("a.test", .address6))) != plain)
    }

    @Test func whatHasNoTimeIsNotKept() throws {
        var cache = AnswerCache(capacity: 10)
        let (key, answer) = try Self.answer("a.test", ttl: 0)
        cache.insert(key, answer, now: Self.start)
        #expect(cache.count == 0)
        let failure = try parseAnswer(reply(to: query("a.test"), code: .serverFailure), to: question("a.test"))
        cache.insert(key, failure, now: Self.start)
        // NXDOMAIN without SOA: nobody knows how long it holds (RFC 2308, section 5).
        let bare = try parseAnswer(reply(to: query("a.test"), code: .nameError), to: question("a.test"))
        cache.insert(key, bare, now: Self.start)
        #expect(cache.count == 0)
    }

    @Test func theLeastRecentlyUsedGoesFirst() throws {
        var cache = AnswerCache(capacity: 3)
        let all = try ["a.test", "b.test", "c.test", "d.test"].map { try Self.answer($0) }
        for (key, answer) in all.prefix(3) { cache.insert(key, answer, now: Self.start) }
        #expect(cache.find(all[0].0, now: Self.start) != nil)
        cache.insert(all[3].0, all[3].1, now: Self.start)
        let left = all.map { cache.find($0.0, now: Self.start) != nil }
        #expect(left == [true, false, true, true])
    }

    @Test func octetsAreBoundedToo() throws {
        let (_, one) = try Self.answer("n0000.test")
        var cache = AnswerCache(capacity: 10_000, byteLimit: (one.byteCount + 200) * 50)
        for number in 0..<500 {
            let (key, answer) = try Self.answer("n\(1000 + number).test")
            cache.insert(key, answer, now: Self.start)
        }
        #expect(cache.count == 50)
        #expect(cache.find(AnswerKey(name: "n1499.test", type: .address4), now: Self.start) != nil)
        #expect(cache.find(AnswerKey(name: "n1449.test", type: .address4), now: Self.start) == nil)
    }

    /// Against a plain model: a dictionary and a list of keys in the order of use.
    @Test func keepsItsOrderWhateverHappens() throws {
        var cache = AnswerCache(capacity: 8)
        var order: [Int] = []
        let all = try (0..<20).map { try Self.answer("m\($0).test") }
        var state: UInt64 = 1
        for _ in 0..<2000 {
            state = state &* 6_364_136_223_846_793_005 &+ 1
            let number = Int(state >> 33) % 20
            let isThere = order.contains(number)
            #expect((cache.find(all[number].0, now: Self.start) != nil) == isThere)
            order.removeAll { $0 == number }
            if !isThere { cache.insert(all[number].0, all[number].1, now: Self.start) }
            order.append(number)
            if order.count > 8 { order.removeFirst() }
        }
        #expect(cache.count == 8)
    }
}
