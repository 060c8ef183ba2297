/// Real answers remembered: whose, for how long, and how many.

import Addresses
import Bytes
import TestSupport
import Testing

@testable import Names

@Suite struct SeenAnswersTests {
    static let shared = IPAddress(v4: 0xcb00_7109)
    static let other = IPAddress(v4: 0xcb00_710a)
    static let phone = FakePoolTests.phone
    static let tablet = FakePoolTests.tablet

    static func at(_ seconds: Int64) -> Instant { FakePoolTests.at(seconds) }

    @Test("a shared address has the name that this device asked for, not the last one of any (B108)")
    func ownNamesFirst() {
        var seen = SeenAnswers()
        // www.shop.test CNAME edge.cdn.test; A 203.0.113.9: the name of the question is what counts.
        seen.note(
            name: "www.shop.test", addresses: [Self.shared], device: Self.phone, ttl: .seconds(60), now: Self.at(0))
        seen.note(
            name: "img.other.test", addresses: [Self.shared], device: Self.tablet, ttl: .seconds(60), now: Self.at(1))
        #expect(seen.names(of: Self.shared, for: Self.phone, now: Self.at(2)) == ["www.shop.test"])
        #expect(seen.names(of: Self.shared, for: Self.tablet, now: Self.at(2)) == ["img.other.test"])
        // A device that asked somebody else has the others' names, the most recent one first.
        let stranger = IPAddress(v4: 0x0a09_0009)
        let names = seen.names(of: Self.shared, for: stranger, now: Self.at(2))
        #expect(names == ["img.other.test", "www.shop.test"])
        #expect(seen.names(of: Self.other, for: Self.phone, now: Self.at(2)).isEmpty)
    }

    @Test func theMostRecentNameOfADeviceComesFirst() {
        var seen = SeenAnswers()
        for (second, name) in ["a.test", "b.test", "c.test", "a.test"].enumerated() {
            seen.note(
                name: name, addresses: [Self.shared, Self.other], device: Self.phone, ttl: .seconds(60),
                now: Self.at(Int64(second)))
        }
        #expect(seen.names(of: Self.shared, for: Self.phone, now: Self.at(4)) == ["a.test", "c.test", "b.test"])
        #expect(seen.count == 6)
    }

    @Test func namesEndWithTheirTTL() {
        var seen = SeenAnswers()
        seen.note(name: "a.test", addresses: [Self.shared], device: Self.phone, ttl: .seconds(60), now: Self.at(0))
        seen.note(name: "b.test", addresses: [Self.shared], device: Self.phone, ttl: .seconds(20), now: Self.at(1))
        seen.note(name: "zero.test", addresses: [Self.other], device: Self.phone, ttl: .zero, now: Self.at(0))
        #expect(seen.names(of: Self.shared, for: Self.phone, now: Self.at(20)) == ["b.test", "a.test"])
        #expect(seen.names(of: Self.shared, for: Self.phone, now: Self.at(21)) == ["a.test"])
        #expect(seen.names(of: Self.shared, for: Self.phone, now: Self.at(60)).isEmpty)
        // An answer of TTL 0 is used once, and that takes a moment.
        #expect(seen.names(of: Self.other, for: Self.phone, now: Self.at(9)) == ["zero.test"])
        #expect(seen.names(of: Self.other, for: Self.phone, now: Self.at(10)).isEmpty)
        // A shorter answer later takes nothing away from the longer one.
        seen.note(name: "a.test", addresses: [Self.shared], device: Self.phone, ttl: .seconds(60), now: Self.at(100))
        seen.note(name: "a.test", addresses: [Self.shared], device: Self.phone, ttl: .seconds(10), now: Self.at(101))
        #expect(seen.names(of: Self.shared, for: Self.phone, now: Self.at(159)) == ["a.test"])
    }

    @Test func boundsEachDeviceAndAll() {
        var limits = SeenAnswers.Limits()
        (limits.perDevice, limits.total, limits.perAddress) = (10, 25, 3)
        var seen = SeenAnswers(limits: limits)
        func ask(_ device: UInt32, _ number: UInt32) {
            seen.note(
                name: "n\(number).test", addresses: [IPAddress(v4: number)], device: IPAddress(v4: device),
                ttl: .seconds(60), now: Self.at(0))
        }
        for number in 0..<20 as Range<UInt32> { ask(1, number) }
        #expect(seen.count == 10)
        #expect(seen.names(of: IPAddress(v4: 9), for: IPAddress(v4: 1), now: Self.at(1)).isEmpty)
        #expect(seen.names(of: IPAddress(v4: 10), for: IPAddress(v4: 1), now: Self.at(1)) == ["n10.test"])
        for device in 2..<5 as Range<UInt32> { for number in 100..<110 as Range<UInt32> { ask(device, number) } }
        #expect(seen.count == 25)
        // The first device's are the oldest; of the second's the last five are left.
        #expect(seen.names(of: IPAddress(v4: 19), for: IPAddress(v4: 1), now: Self.at(1)).isEmpty)
        // One address of a hundred names keeps the last ones.
        for number in 0..<100 {
            seen.note(
                name: "v\(number).test", addresses: [Self.shared], device: Self.phone, ttl: .seconds(60),
                now: Self.at(0))
        }
        let names = seen.names(of: Self.shared, for: Self.phone, now: Self.at(1))
        #expect(names == ["v99.test", "v98.test", "v97.test"])
    }

    @Test func whatHasEndedIsForgottenAlthoughNobodyLooks() {
        var seen = SeenAnswers()
        for number in 0..<1000 as Range<UInt32> {
            seen.note(
                name: "n.test", addresses: [IPAddress(v4: number)], device: Self.phone, ttl: .seconds(60),
                now: Self.at(0))
        }
        for _ in 0..<600 {
            seen.note(
                name: "m.test", addresses: [Self.shared], device: Self.phone, ttl: .seconds(60), now: Self.at(61))
        }
        #expect(seen.count == 1)
    }

    @Test("agrees with a plain list of answers", arguments: LongRun.seeds(4, long: 100))
    func agreesWithAList(seed: UInt64) {
        struct Answer { var name: String, address: IPAddress, device: IPAddress, until: Instant }
        var random = SeededGenerator(seed: seed)
        var seen = SeenAnswers()
        var list: [Answer] = []
        var now = Self.at(0)
        for _ in 0..<3000 {
            now = now + .milliseconds(Int64(random.number(0..<400)))
            let device = IPAddress(v4: UInt32(random.number(0..<4)))
            let address = IPAddress(v4: UInt32(100 + random.number(0..<12)))
            if random.chance(0.4) {
                let (name, ttl) = ("n\(random.number(0..<8)).test", Interval.seconds(Int64(random.number(10..<90))))
                seen.note(name: name, addresses: [address], device: device, ttl: ttl, now: now)
                let former = list.firstIndex { $0.name == name && $0.address == address && $0.device == device }
                let until = max(now + ttl, former.map { list.remove(at: $0).until } ?? now)
                list.append(Answer(name: name, address: address, device: device, until: until))
                continue
            }
            let alive = list.reversed().filter { $0.address == address && $0.until > now }
            let own = alive.filter { $0.device == device }.map(\.name)
            let names = seen.names(of: address, for: device, now: now)
            if own.isEmpty {
                #expect(Set(names) == Set(alive.map(\.name)), "seed \(seed)")
            } else {
                #expect(names == own, "seed \(seed)")
            }
            let found = seen.addresses(of: { name, _ in name == "n3.test" }, now: now)
            let expected = list.filter { $0.name == "n3.test" && $0.until > now }
            #expect(found.count == expected.count, "seed \(seed)")
            for one in expected {
                #expect(
                    found.contains { $0.device == one.device && $0.address == one.address && $0.until == one.until })
            }
        }
    }
}
