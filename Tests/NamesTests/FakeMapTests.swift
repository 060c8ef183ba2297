/// The fake map as records: what survives, and what of another range's map is used.

import Addresses
import Bytes
import TestSupport
import Testing

@testable import Names

@Suite struct FakeMapTests {
    static func range(_ v4: String, _ v6: String) throws -> FakeRange {
        FakeRange(v4: try #require(IPPrefix(parsing: v4)), v6: try #require(IPPrefix(parsing: v6)))
    }

    static func bytes(_ record: FakeMapRecord) -> [UInt8] {
        var bytes: [UInt8] = []
        record.write(to: &bytes)
        return bytes
    }

    /// What a pool over `range` has of a map that was kept for `former`.
    static func restored(
        _ records: [FakeMapRecord], of former: FakeRange, in range: FakeRange
    ) -> (pool: FakePool, summary: FakeMapLoader.Summary) {
        var loader = FakeMapLoader(into: FakePool(range: range), now: FakePoolTests.at(0))
        for record in [.range(former)] + records { loader.take(bytes(record).span) }
        return (loader.pool, loader.summary)
    }

    @Test func writesWhatItReads() throws {
        let records: [FakeMapRecord] = [
            .range(try Self.range("198.18.0.0/15", "2001:2::/48")), .range(try Self.range("0.0.0.0/0", "fd00::/8")),
            .name("a", place: 0), .name("www.example.test", place: 131_054), .reserved(below: 0),
            .name(String(repeating: "x", count: 255), place: .max), .reserved(below: .max),
        ]
        for record in records { #expect(FakeMapRecord.parse(Self.bytes(record).span) == record) }
        #expect(Self.bytes(.name("ab", place: 0x0102_0304)) == [2, 1, 2, 3, 4, 0x61, 0x62])
        #expect(Self.bytes(.reserved(below: 258)) == [3, 0, 0, 1, 2])
    }

    @Test(
        "refuses what is no record",
        arguments: [
            [], [2], [1, 2, 3, 4, 5], [2, 0, 0, 0, 1], [2, 0, 0, 0, 1, 0xff], [3, 0, 0, 0], [3, 0, 0, 0, 1, 0],
            [4, 0, 0, 0, 1], [2, 0, 0, 0, 1] + [UInt8](repeating: 0x61, count: 256),
            // Lengths that no family has, and an IPv4 address where IPv6 stands.
            [1, 198, 18, 0, 0, 33] + [UInt8](repeating: 0, count: 16) + [48],
            [1, 198, 18, 0, 0, 15] + [UInt8](repeating: 0, count: 16) + [129],
            [1, 198, 18, 0, 0, 15] + [UInt8](repeating: 0, count: 10) + [255, 255, 0, 0, 0, 0, 0],
        ])
    func refuses(bytes: [UInt8]) {
        #expect(FakeMapRecord.parse(bytes.span) == nil)
        var loader = FakeMapLoader(into: FakePool(range: FakeMapTests.small), now: FakePoolTests.at(0))
        loader.take(bytes.span)
        #expect(loader.summary == FakeMapLoader.Summary(unknown: 1))
    }

    static let small = FakeRange(
        v4: FakePoolTests.prefix(IPAddress(v4: 0xc612_0000), 24),
        v6: FakePoolTests.prefix(IPAddress(high: 0x2001_0002_0000_0000, low: 0), 48))

    @Test func aLaterRecordOfAPlaceOrANameCounts() {
        var (pool, summary) = Self.restored(
            [
                .name("a.test", place: 0), .name("b.test", place: 1), .name("c.test", place: 0),
                .name("b.test", place: 2), .name("far.test", place: 239),
            ], of: Self.small, in: Self.small)
        #expect(summary.names == 2)
        #expect(summary.leftOut == 1)
        #expect(summary.formerRange == nil)
        #expect(pool.place(of: "c.test") == 0)
        #expect(pool.place(of: "b.test") == 2)
        // Place 1 was answered for a name once: it rests, and a new name gets the next one.
        let next = pool.grant("d.test", to: FakePoolTests.phone, now: FakePoolTests.at(0))
        #expect(next == FakePool.Grant(place: 3, origin: .fresh))
    }

    @Test func numbersBeyondEveryRangeAreLeftOut() throws {
        for v4 in ["198.18.0.0/24", "198.18.0.128/25", "10.64.0.0/16"] {
            let former = try Self.range(v4, "2001:2::/48")
            let (pool, summary) = Self.restored(
                [.name("a.test", place: .max), .reserved(below: .max)], of: former, in: Self.small)
            #expect(summary.names == 0 && summary.leftOut == 1)
            #expect(pool.usedPlaces <= pool.range.placeCount)
        }
    }

    @Test func placesThatMayHaveBeenAnsweredRestWithoutAName() {
        var (pool, _) = Self.restored(
            [.name("a.test", place: 0), .reserved(below: 100)], of: Self.small, in: Self.small)
        let next = pool.grant("d.test", to: FakePoolTests.phone, now: FakePoolTests.at(0))
        #expect(next == FakePool.Grant(place: 100, origin: .fresh))
        let unknown = pool.retain(pool.range.address(at: 50, .ipv4))
        #expect(unknown == nil)
        for number in 1..<139 {
            _ = pool.grant("n\(number).test", to: FakePoolTests.phone, now: FakePoolTests.at(0))
        }
        let none = pool.grant("e.test", to: FakePoolTests.phone, now: FakePoolTests.at(3599))
        #expect(none == nil)
        let rested = pool.grant("e.test", to: FakePoolTests.phone, now: FakePoolTests.at(3600))
        #expect(rested?.origin == .reused)
    }

    @Test func aNameCountsOnNobodyAfterARestartUntilItIsAskedForAgain() throws {
        var pool = FakePoolTests.pool(perDevice: 2)
        for name in ["a.test", "b.test"] { _ = pool.grant(name, to: FakePoolTests.phone, now: FakePoolTests.at(0)) }
        var loader = FakeMapLoader(into: FakePool(range: pool.range, limits: pool.limits), now: FakePoolTests.at(0))
        loader.take(Self.bytes(.range(pool.range)).span)
        for record in pool.mapping { loader.take(Self.bytes(record).span) }
        pool = loader.pool
        let origins = ["a.test", "c.test", "d.test"].map {
            pool.grant($0, to: FakePoolTests.phone, now: FakePoolTests.at(0))?.origin
        }
        #expect(origins == [.known, .fresh, nil])
    }

    /// Ranges before and after, whether names keep their places, and the first fresh place when ten were used.
    @Test(
        "uses of another range's map what fits",
        arguments: [
            // The same first addresses: places are the same.
            ("198.18.0.0/15", "2001:2::/48", "198.18.0.0/24", "2001:2::/64", true, 10),
            ("198.18.0.0/24", "2001:2::/64", "198.18.0.0/15", "2001:2::/48", true, 10),
            // One family moved away altogether.
            ("198.18.0.0/15", "2001:2::/48", "198.18.0.0/15", "fd00:5::/48", true, 10),
            ("198.18.0.0/15", "2001:2::/48", "10.64.0.0/16", "2001:2::/48", true, 10),
            // Both did: nothing that is held can arrive here.
            ("198.18.0.0/15", "2001:2::/48", "10.64.0.0/16", "fd00:5::/48", false, 0),
            // Other places for the same addresses: they rest.
            ("198.18.0.64/26", "2001:2::/48", "198.18.0.0/24", "fd00:5::/48", false, 74),
            ("198.18.0.0/24", "2001:2::/48", "198.18.0.8/29", "2001:2::/48", false, 0),
            ("198.18.0.0/24", "2001:2::/48", "198.18.0.128/25", "fd00:5::/48", false, 0),
            ("198.18.0.0/24", "2001:2::/48", "198.18.0.128/25", "2001:2::/48", false, 10),
        ])
    func otherRanges(
        v4: String, v6: String, newV4: String, newV6: String, keeps: Bool, fresh: UInt32
    ) throws {
        let (former, range) = (try Self.range(v4, v6), try Self.range(newV4, newV6))
        var (pool, summary) = Self.restored(
            [.name("a.test", place: 3), .name("b.test", place: 9), .reserved(below: 10)], of: former, in: range)
        #expect(summary.formerRange == former)
        #expect(summary.names == (keeps ? 2 : 0))
        #expect(summary.leftOut == (keeps ? 0 : 2))
        if keeps { #expect(pool.name(of: range.address(at: 3, .ipv4)) == "a.test") }
        guard range.placeCount > 0 else { return }
        let grant = pool.grant("new.test", to: FakePoolTests.phone, now: FakePoolTests.at(0))
        #expect(grant == FakePool.Grant(place: fresh, origin: .fresh))
    }

    @Test("no address that an earlier range answered is new in a later one", arguments: LongRun.seeds(40, long: 2000))
    func rangesProperty(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        func range() throws -> FakeRange {
            // Prefixes of /23 to /28 in one /22, so that most pairs overlap.
            let v4 = IPAddress(v4: 0xc612_0000 | UInt32(random.number(0..<1024)))
            let v6 = IPAddress(high: 0x2001_0002_0000_0000, low: UInt64(random.number(0..<4096)))
            return FakeRange(
                v4: try #require(IPPrefix(v4, length: random.number(23..<28))),
                v6: try #require(IPPrefix(v6, length: random.number(116..<122))))
        }
        let (former, later) = (try range(), try range())
        let used = random.number(0..<former.placeCount + 1)
        let records = (0..<used).map { FakeMapRecord.name("n\($0).test", place: UInt32($0)) }
        var (pool, _) = Self.restored(records, of: former, in: later)
        for number in 0..<later.placeCount {
            guard let grant = pool.grant("x\(number).test", to: FakePoolTests.phone, now: FakePoolTests.at(0))
            else { break }
            for family in [FakePool.Family.ipv4, .ipv6] {
                let held = former.place(of: later.address(at: grant.place, family))
                guard let held, held < used else { continue }
                Issue.record("seed \(seed): an address that stood for n\(held).test was handed out")
            }
        }
        for record in pool.mapping {
            guard case .name(let name, let place) = record, name.first == "n" else { continue }
            for family in [FakePool.Family.ipv4, .ipv6] {
                let held = former.place(of: later.address(at: place, family))
                if let held, held < used { #expect(name == "n\(held).test", "seed \(seed)") }
            }
        }
    }
}
