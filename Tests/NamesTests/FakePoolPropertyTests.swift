/// The pool beside a naive model, and beside what its devices remember.

import Addresses
import Bytes
import TestSupport
import Testing

@testable import Names

@Suite struct FakePoolPropertyTests {
    @Test("never lies to a device, and agrees with a naive model", arguments: LongRun.seeds(8, long: 200))
    func agreesWithTheModel(seed: UInt64) {
        var game = Game(seed: seed)
        for round in 0..<LongRun.rounds(4000, long: 30_000) {
            if let mistake = game.play() {
                Issue.record("seed \(seed), round \(round): \(mistake)")
                return
            }
        }
    }
}

/// Devices that ask, open and close flows, and remember what they were told.
private struct Game {
    /// What was last said of an address.
    struct Said {
        var name: String
        var lastUse: Instant
        var flows = 0
    }

    var random: SeededGenerator
    var pool: FakePool
    var model: PoolModel
    var now = Instant(nanoseconds: 0)
    var said: [IPAddress: Said] = [:]
    var open: [IPAddress] = []

    init(seed: UInt64) {
        random = SeededGenerator(seed: seed)
        // 15 or 47 places, so that everything happens often.
        let length = seed.isMultiple(of: 2) ? 27 : 26
        pool = FakePoolTests.pool(length: length, perDevice: 12)
        model = PoolModel(capacity: pool.range.placeCount, limits: pool.limits)
    }

    /// Makes a random move and says what was wrong about it.
    mutating func play() -> String? {
        if random.chance(0.3) { now = now + .seconds(Int64(random.number(0..<1500))) }
        if random.chance(0.002) { now = now + .hours(25) }
        switch random.number(0..<100) {
        case 0..<60: return ask()
        case 60..<78: return openFlow()
        case 78..<99: return closeFlow()
        default: return random.chance(0.2) ? restart() : nil
        }
    }

    private mutating func ask() -> String? {
        let device = IPAddress(v4: 0x0a09_0002 + UInt32(random.number(0..<5)))
        let name = "n\(random.number(0..<90)).example.test"
        let expected = model.grant(name, to: device, now: now)
        let family = random.chance(0.5) ? FakePool.Family.ipv4 : .ipv6
        let address = pool.address(for: name, family, device: device, now: now)
        guard address == expected.map({ pool.range.address(at: UInt32($0), family) }) else {
            return "\(name) has another address than in the model"
        }
        guard let address else { return nil }
        for family in [FakePool.Family.ipv4, .ipv6] {
            guard let place = pool.range.place(of: address) else { return "\(address) is no fake address" }
            let address = pool.range.address(at: place, family)
            if let last = said[address], last.name != name {
                if last.flows > 0 { return "\(address) has flows to \(last.name)" }
                if now - last.lastUse < .hours(1) { return "\(address) has not rested from \(last.name)" }
            }
            said[address] = Said(name: name, lastUse: now, flows: said[address]?.flows ?? 0)
        }
        return nil
    }

    private mutating func openFlow() -> String? {
        guard let place = (0..<pool.range.placeCount).randomElement(using: &random) else { return nil }
        let address = pool.range.address(at: UInt32(place), random.chance(0.5) ? .ipv4 : .ipv6)
        let (name, expected) = (pool.retain(address), model.retain(place))
        guard name == expected, pool.name(of: address) == expected else { return "\(address) has another name" }
        guard let name else { return nil }
        // The last name that was said, or none: never one that nobody was told for this address.
        guard said[address]?.name == name else { return "nobody was told that \(address) is \(name)" }
        count(place, by: 1)
        open.append(address)
        return nil
    }

    private mutating func closeFlow() -> String? {
        guard let index = open.indices.randomElement(using: &random) else { return nil }
        let address = open.remove(at: index)
        guard let place = pool.range.place(of: address) else { return "\(address) is no fake address" }
        pool.release(address, now: now)
        model.release(Int(place), now: now)
        count(Int(place), by: -1)
        return nil
    }

    private mutating func count(_ place: Int, by step: Int) {
        for family in [FakePool.Family.ipv4, .ipv6] {
            let address = pool.range.address(at: UInt32(place), family)
            said[address]?.flows += step
            said[address]?.lastUse = now
        }
    }

    private mutating func restart() -> String? {
        var bytes: [[UInt8]] = [[]]
        FakeMapRecord.range(pool.range).write(to: &bytes[0])
        for record in pool.mapping + [.reserved(below: UInt32(pool.usedPlaces))] {
            bytes.append([])
            record.write(to: &bytes[bytes.count - 1])
        }
        var loader = FakeMapLoader(into: FakePool(range: pool.range, limits: pool.limits), now: now)
        for record in bytes { loader.take(record.span) }
        let before = pool.nameCount
        pool = loader.pool
        model.restart(now: now)
        open = []
        for (address, last) in said { said[address] = Said(name: last.name, lastUse: now) }
        return pool.nameCount == before ? nil : "names were lost"
    }
}
