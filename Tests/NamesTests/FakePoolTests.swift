/// The fake-address pool: what it hands out, and what it never does.

import Addresses
import Bytes
import LinuxIO
import TestSupport
import Testing

@testable import Names

@Suite struct FakePoolTests {
    static let phone = IPAddress(v4: 0x0a09_0002)
    static let tablet = IPAddress(v4: 0x0a09_0003)

    static func at(_ seconds: Int64) -> Instant { Instant(nanoseconds: 0) + .seconds(seconds) }

    /// The network of an address; for lengths that there are.
    static func prefix(_ address: IPAddress, _ length: Int) -> IPPrefix {
        guard let prefix = IPPrefix(address, length: length) else { preconditionFailure("no such length") }
        return prefix
    }

    /// A pool over the IPv4 prefix of this length.
    static func pool(length: Int = 24, perDevice: Int = 8192) -> FakePool {
        var limits = FakePool.Limits()
        limits.namesPerDevice = perDevice
        return FakePool(
            v4: prefix(IPAddress(v4: 0xc612_0000), length),
            v6: prefix(IPAddress(high: 0x2001_0002_0000_0000, low: 0), 48), limits: limits)
    }

    @Test func aNameHasOneAddressOfEachFamilyWhicheverDeviceAsks() {
        var pool = Self.pool()
        let first = pool.address(for: "app.example.test", .ipv4, device: Self.phone, now: Self.at(0))
        let other = pool.address(for: "www.example.test", .ipv4, device: Self.phone, now: Self.at(0))
        let again = pool.address(for: "app.example.test", .ipv4, device: Self.tablet, now: Self.at(100_000))
        let long = pool.address(for: "app.example.test", .ipv6, device: Self.tablet, now: Self.at(100_000))
        #expect(first == IPAddress(parsing: "198.18.0.16"))
        #expect(other == IPAddress(parsing: "198.18.0.17"))
        #expect(again == first)
        #expect(long == IPAddress(parsing: "2001:2::10"))
        let names = [first, long, other].compactMap { $0 }.map { pool.name(of: $0) }
        #expect(names == ["app.example.test", "app.example.test", "www.example.test"])
    }

    @Test("the second own address of each family is the self-check's, and no name's (B104)")
    func checkAddresses() throws {
        let pool = FakePoolTests.pool(length: 24, perDevice: 400)
        let check = pool.range.check
        #expect(check.v4 == IPAddress("198.18.0.2") && check.v6 == IPAddress("2001:2::2"))
        for address in [check.v4, check.v6] {
            #expect(pool.range.place(of: address) == nil && !pool.contains(address))
        }
    }

    @Test("hands out neither the network, the broadcast nor its own addresses (B104)")
    func reserved() {
        var pool = Self.pool()
        var given: Set<String> = []
        for number in 0..<260 {
            let device = number.isMultiple(of: 2) ? Self.phone : Self.tablet
            let address = pool.address(for: "r\(number).example.test", .ipv4, device: device, now: Self.at(0))
            #expect((address == nil) == (number >= 239))
            if let address { given.insert("\(address)") }
        }
        #expect(given == Set((16...254).map { "198.18.0.\($0)" }))
    }

    @Test(
        "counts places for every size of range",
        arguments: [
            (32, 0), (28, 0), (27, 15), (24, 239), (16, 65_519), (15, 131_055), (8, 131_072), (0, 131_072),
        ])
    func placeCounts(length: Int, count: Int) {
        let v4 = Self.prefix(IPAddress(v4: 0), length)
        let v6 = IPAddress(high: 0x2001_0002_0000_0000, low: 0)
        #expect(FakeRange(v4: v4, v6: Self.prefix(v6, 48)).placeCount == count)
        #expect(FakeRange(v4: v4, v6: Self.prefix(v6, 120)).placeCount == min(count, 240))
    }

    @Test func anAddressAndItsPlaceAreInverse() throws {
        let range = Self.pool().range
        for place in [UInt32(0), 1, 100, 238] {
            for family in [FakePool.Family.ipv4, .ipv6] {
                #expect(range.place(of: range.address(at: place, family)) == place)
            }
        }
        let outside = [
            "198.18.0.0", "198.18.0.1", "198.18.0.15", "198.18.0.255", "198.18.1.0", "198.17.255.255", "2001:2::",
            "2001:2::f", "2001:2::ff", "2001:2::1:0:0:0:10", "2001:2:1::10", "::10", "0.0.0.16",
        ]
        for text in outside {
            let address = try #require(IPAddress(parsing: text))
            #expect(range.place(of: address) == nil, "\(text)")
        }
    }

    @Test("an address that no name has is recognised all the same (B102)")
    func unknownAddresses() throws {
        var pool = Self.pool()
        _ = pool.grant("app.example.test", to: Self.phone, now: Self.at(0))
        let fake = ["198.18.0.17", "198.18.0.255", "2001:2::11", "2001:2:0:0:1::", "2001:2::ffff:ffff:ffff"]
        for text in fake {
            let address = try #require(IPAddress(parsing: text))
            let (isFake, name, flow) = (pool.contains(address), pool.name(of: address), pool.retain(address))
            #expect(isFake && name == nil && flow == nil, "\(text)")
        }
        for text in ["198.18.0.0", "198.18.0.1", "198.18.1.16", "2001:2::1", "2001:2:1::", "10.9.0.2", "::"] {
            let address = try #require(IPAddress(parsing: text))
            let isFake = pool.contains(address)
            #expect(!isFake, "\(text)")
        }
    }

    @Test("an address with a flow keeps its name while a thousand others are asked for (B100)")
    func neverRecycledInUse() throws {
        var pool = Self.pool()
        let answer = pool.address(for: "keep.example.test", .ipv4, device: Self.phone, now: Self.at(0))
        let address = try #require(answer)
        let opened = pool.retain(address)
        #expect(opened == "keep.example.test")
        // Two days, in which every other address is reused many times.
        for number in 0..<1000 {
            let now = Self.at(Int64(number) * 173)
            let other = pool.address(for: "n\(number).example.test", .ipv4, device: Self.tablet, now: now)
            #expect(other != address)
        }
        let name = pool.name(of: address)
        #expect(name == "keep.example.test")
        pool.release(address, now: Self.at(173_000))
        // Its rest begins with the end of the flow.
        for number in 0..<300 {
            let other = pool.address(
                for: "m\(number).example.test", .ipv4, device: Self.tablet, now: Self.at(173_000 + 3599))
            #expect(other != address)
        }
    }

    @Test func anAddressRestsForAnHourEvenUnderPressureAndTheOldestComesFirst() {
        var pool = Self.pool()
        for number in 0..<239 {
            _ = pool.grant("n\(number).example.test", to: Self.phone, now: Self.at(Int64(number)))
        }
        let early = pool.grant("late.example.test", to: Self.phone, now: Self.at(3599))
        #expect(early == nil)
        // Asked for again, the first name is no longer the oldest.
        _ = pool.grant("n0.example.test", to: Self.tablet, now: Self.at(3600))
        let refused = pool.grant("late.example.test", to: Self.phone, now: Self.at(3600))
        #expect(refused == nil)
        let late = pool.grant("late.example.test", to: Self.phone, now: Self.at(3601))
        #expect(late == FakePool.Grant(place: 1, origin: .reused))
        let (pressed, gone) = (pool.reusedEarly, pool.place(of: "n1.example.test"))
        #expect(pressed == 1)
        #expect(gone == nil)
        // After a day nobody calls it pressure.
        let next = pool.grant("later.example.test", to: Self.phone, now: Self.at(86_402))
        #expect(next == FakePool.Grant(place: 2, origin: .reused))
        let still = pool.reusedEarly
        #expect(still == 1)
    }

    @Test func aDeviceThatHoldsItsShareGetsItsOwnOldestOrNothing() {
        var pool = Self.pool(length: 15)
        for number in 0..<8192 {
            let grant = pool.grant("n\(number).example.test", to: Self.phone, now: Self.at(0))
            #expect(grant?.origin == .fresh)
        }
        let more = pool.grant("more.example.test", to: Self.phone, now: Self.at(3599))
        #expect(more == nil)
        // What it has it keeps, and others go on.
        let known = pool.grant("n77.example.test", to: Self.phone, now: Self.at(3599))
        #expect(known == FakePool.Grant(place: 77, origin: .known))
        let other = pool.grant("more.example.test", to: Self.tablet, now: Self.at(3599))
        #expect(other == FakePool.Grant(place: 8192, origin: .fresh))
        let own = pool.grant("own.example.test", to: Self.phone, now: Self.at(3600))
        #expect(own == FakePool.Grant(place: 0, origin: .reused))
        // A name that another one asks for counts there from then on.
        _ = pool.grant("n5.example.test", to: Self.tablet, now: Self.at(3600))
        let room = pool.grant("room.example.test", to: Self.phone, now: Self.at(3600))
        #expect(room == FakePool.Grant(place: 8193, origin: .fresh))
    }

    @Test func aClockThatGoesBackNeverShortensARest() {
        var pool = Self.pool(length: 27)
        for number in 0..<15 { _ = pool.grant("n\(number).test", to: Self.phone, now: Self.at(10_000)) }
        // Another thread read its clock a little earlier.
        _ = pool.grant("n0.test", to: Self.phone, now: Self.at(9_999))
        let early = pool.grant("new.test", to: Self.phone, now: Self.at(13_599))
        #expect(early == nil)
        let late = pool.grant("new.test", to: Self.phone, now: Self.at(13_600))
        #expect(late?.place == 1)
    }

    @Test func theWholeOfALargeRangeStaysSmall() async {
        let result = await #expect(processExitsWith: .success, observing: [\.standardOutputContent]) {
            WholeRange.fill()
        }
        // What one name takes is worth seeing in every run's output.
        if let result { print(String(decoding: result.standardOutputContent, as: UTF8.self), terminator: "") }
    }
}

/// In a process of its own, whose memory is this pool's alone.
private enum WholeRange {
    static func fill() {
        var pool = FakePoolTests.pool(length: 15)
        let before = ProcessMemory.resident()
        for number in 0..<131_055 {
            // 32 octets, and a device for each 8,192.
            let name = "host-\(100_000 + number).stage.example.test"
            let device = IPAddress(v4: 0x0a09_0000 + UInt32(number / 8192))
            precondition(pool.grant(name, to: device, now: FakePoolTests.at(0)) != nil)
        }
        ProcessMemory.trim()
        let octets = ProcessMemory.resident() - before
        print("the fake-address pool: \(octets / pool.nameCount) octets a name, \(octets >> 20) MiB when full")
        precondition(octets < 40 << 20, "\(octets) octets")
        precondition(pool.nameCount == 131_055)
        precondition(pool.grant("one.more.test", to: IPAddress(v4: 1), now: FakePoolTests.at(0)) == nil)
    }
}

extension FakePool {
    /// The place of a name, looked for the long way.
    func place(of name: String) -> UInt32? {
        (0..<UInt32(usedPlaces)).first { self.name(of: range.address(at: $0, .ipv4)) == name }
    }
}
