/// What gateways of one lab share: whatever is told in whatever order, all end with the same.

import Addresses
import Bytes
import Devices
import Profiles
import TestSupport
import Testing

/// A gateway without anything but its state and a clock of its own.
private struct Node {
    let id: String
    var lab = LabState()
    /// What its clock is ahead, in milliseconds.
    var skew: Int64 = 0

    init(_ id: String, skew: Int64 = 0) {
        self.id = id
        self.skew = skew
    }

    /// Changes something at a moment of the true time.
    mutating func change(at time: Int64, _ change: (inout LabState) -> Void) {
        var state = lab
        change(&state)
        lab = state.restamped(since: lab, by: id, at: time + skew)
    }

    /// Hears an update, as octets, and says what it made of it.
    @discardableResult
    mutating func hear(
        _ update: LabState, at time: Int64, objection: (SharedItem, Profile?) -> String? = { _, _ in nil }
    ) throws -> SharedMerge {
        let octets = Array(SharedUpdate(life: 1, reader: 0, isComplete: true, lab: update).json.text.utf8)
        let read = try SharedUpdate.parse(octets.span)
        #expect(read.lab.stamps == update.stamps)
        let merge = lab.merging(read.lab, at: id, now: time + skew, objection: objection)
        lab = merge.state.restamped(
            since: lab, by: id, at: time + skew, heard: merge.state, received: merge.taken)
        return merge
    }

    /// Everything that it would tell, in parts.
    func everything() -> [LabState] {
        var parts: [LabState] = []
        var left = lab.sharedItems
        while !left.isEmpty {
            let part = lab.part(of: left, by: id)
            guard !part.stamps.isEmpty else { return parts }
            parts.append(part)
            left.subtract(part.stamps.keys)
        }
        return parts
    }

    /// The same for two gateways that know the same, in whatever order they have heard it.
    var known: [String] {
        var lines = lab.profiles.map(\.json.text) + lab.assignments.map { "\($0)" } + lab.own.map { "\($0)" }
        lines += lab.devices.map { "\($0)" } + ["active \(lab.active ?? "-")"]
        return lines.sorted()
    }
}

@Suite struct SharedStateTests {
    static let now: Int64 = 1_798_700_000_000
    static let pixel = DeviceIdentity.mac(MACAddress(bits: 0x02_0000_0001), interface: nil)
    static let tablet = DeviceIdentity.mac(MACAddress(bits: 0x02_0000_0002), interface: nil)

    private static func assignment(_ profile: String, of device: DeviceIdentity = pixel) -> Assignment {
        Assignment(device: device, profile: profile, since: 1, until: nil, by: "qa")
    }

    private static func give(_ profile: String, to device: DeviceIdentity = pixel) -> (inout LabState) -> Void {
        { state in
            state.assignments.removeAll { $0.device == device }
            state.assignments.append(assignment(profile, of: device))
        }
    }

    @Test("what is changed at one is at the other: given, and taken away")
    func tells() throws {
        var (first, second) = (Node("lab-1"), Node("lab-2"))
        first.change(at: Self.now, Self.give("a"))
        for part in first.everything() { try second.hear(part, at: Self.now + 5) }
        #expect(second.lab.assignments == [Self.assignment("a")])
        second.change(at: Self.now + 10) { $0.assignments = [] }
        for part in second.everything() { try first.hear(part, at: Self.now + 15) }
        #expect(first.lab.assignments.isEmpty)
        // Told again, nothing is new to anybody: there is no loop.
        for part in first.everything() {
            let taken = try second.hear(part, at: Self.now + 20).taken
            #expect(taken.isEmpty)
        }
    }

    @Test("of two changes of one device made apart the later one counts at both, and both say so")
    func conflict() throws {
        var (first, second) = (Node("lab-1"), Node("lab-2"))
        first.change(at: Self.now, Self.give("a"))
        for part in first.everything() { try second.hear(part, at: Self.now) }
        first.change(at: Self.now + 1000, Self.give("b"))
        second.change(at: Self.now + 2000, Self.give("c"))
        let (ones, twos) = (first.everything(), second.everything())
        let atSecond = try ones.map { try second.hear($0, at: Self.now + 3000) }
        let atFirst = try twos.map { try first.hear($0, at: Self.now + 3000) }
        #expect(first.lab.assignments == [Self.assignment("c")] && second.lab.assignments == first.lab.assignments)
        let item = SharedItem.assignment(Self.pixel)
        let won = try #require(atFirst[0].conflicts[item])
        #expect(won.won.by == "lab-2" && won.lost.by == "lab-1" && won.won.at == Self.now + 2000)
        #expect(
            "\(won)"
                == "lab-2's change of 2026-12-31T06:53:22.000Z in place of lab-1's of 2026-12-31T06:53:21.000Z")
        #expect(atSecond[0].conflicts[item] == won && atSecond[0].newer == [item] && atSecond[0].taken.isEmpty)
    }

    @Test("a change in knowledge of the other's is no conflict, however often either was made")
    func noConflict() throws {
        var (first, second) = (Node("lab-1"), Node("lab-2"))
        for round in Int64(0)..<4 {
            first.change(at: Self.now + round * 100, Self.give("a\(round)"))
            first.change(at: Self.now + round * 100 + 10, Self.give("b\(round)"))
            for part in first.everything() {
                let conflicts = try second.hear(part, at: Self.now + round * 100 + 20).conflicts
                #expect(conflicts.isEmpty)
            }
            second.change(at: Self.now + round * 100 + 30, Self.give("c\(round)"))
            second.change(at: Self.now + round * 100 + 40, Self.give("d\(round)"))
            for part in second.everything() {
                let conflicts = try first.hear(part, at: Self.now + round * 100 + 50).conflicts
                #expect(conflicts.isEmpty)
            }
        }
        #expect(first.lab.assignments == [Self.assignment("d3")])
    }

    @Test("a gateway whose clock is an hour behind still changes what the other has changed")
    func slowClock() throws {
        var (first, second) = (Node("lab-1"), Node("lab-2", skew: -3_600_000))
        first.change(at: Self.now, Self.give("a"))
        for part in first.everything() { try second.hear(part, at: Self.now) }
        second.change(at: Self.now + 10, Self.give("b"))
        for part in second.everything() { try first.hear(part, at: Self.now + 20) }
        #expect(first.lab.assignments == [Self.assignment("b")])
    }

    @Test("a stamp that is more than a day ahead is refused: it would keep all other changes out")
    func farStamps() throws {
        var (first, second) = (Node("lab-1", skew: 86_400_001), Node("lab-2"))
        first.change(at: Self.now, Self.give("a"))
        let merge = try second.hear(first.everything()[0], at: Self.now)
        #expect(merge.refused[.assignment(Self.pixel)]?.contains("a day ahead") == true)
        #expect(second.lab.assignments.isEmpty)
    }

    @Test("a name that two gateways gave to two devices is that of the device that was given it later, at both")
    func names() throws {
        var (first, second) = (Node("lab-1"), Node("lab-2"))
        first.change(at: Self.now) { $0.devices = [NamedDevice(name: "pixel", identity: Self.pixel)] }
        second.change(at: Self.now + 10) { $0.devices = [NamedDevice(name: "pixel", identity: Self.tablet)] }
        for _ in 0..<3 {
            for part in first.everything() { try second.hear(part, at: Self.now + 20) }
            for part in second.everything() { try first.hear(part, at: Self.now + 20) }
        }
        #expect(first.lab.devices == [NamedDevice(name: "pixel", identity: Self.tablet)])
        #expect(second.lab.devices == first.lab.devices)
    }

    @Test("a state from before there were peers goes to an empty one whole; of two such the later id's counts")
    func unstamped() throws {
        var (first, second, third) = (Node("lab-1"), Node("lab-2"), Node("lab-3"))
        Self.give("a")(&first.lab)
        Self.give("b")(&second.lab)
        for part in first.everything() { try third.hear(part, at: Self.now) }
        #expect(third.lab.assignments == [Self.assignment("a")])
        let (ones, twos) = (first.everything(), second.everything())
        for part in ones { try second.hear(part, at: Self.now) }
        for part in twos { try first.hear(part, at: Self.now) }
        #expect(first.lab.assignments == [Self.assignment("b")] && second.lab.assignments == first.lab.assignments)
    }

    @Test("that something is gone is remembered for 30 days, of a nonce not at all")
    func graves() {
        var node = Node("lab-1")
        node.change(at: Self.now) { state in
            Self.give("a")(&state)
            state.spent = [LabState.SpentNonce(key: "k", once: "n", expires: 5)]
        }
        node.change(at: Self.now + 1) { state in
            state.assignments = []
            state.spent = []
        }
        #expect(Array(node.lab.stamps.keys) == [.assignment(Self.pixel)])
        node.change(at: Self.now + LabState.graveTime) { $0.active = "a" }
        #expect(node.lab.stamps.count == 2)
        node.change(at: Self.now + LabState.graveTime + 2) { $0.active = "b" }
        #expect(Array(node.lab.stamps.keys) == [.active])
    }

    @Test("going back to an earlier state is a change like any other: it counts everywhere")
    func rollBack() throws {
        var (first, second) = (Node("lab-1"), Node("lab-2"))
        first.change(at: Self.now, Self.give("a"))
        let former = first.lab
        first.change(at: Self.now + 10, Self.give("b"))
        for part in first.everything() { try second.hear(part, at: Self.now + 15) }
        first.change(at: Self.now + 20) { $0 = former }
        for part in first.everything() { try second.hear(part, at: Self.now + 25) }
        #expect(second.lab.assignments == [Self.assignment("a")])
    }

    @Test("an own proxy's three parts are in one update, and a big lab goes in updates of a bounded size")
    func parts() throws {
        var node = Node("lab-1")
        node.change(at: Self.now) { state in
            for number in 0..<1000 {
                let device = DeviceIdentity.address(IPAddress(v4: 0x0a00_0000 + UInt32(number)))
                Self.give("own-\(number)", to: device)(&state)
                state.profiles.append(
                    Profile(id: "own-\(number)", name: "x", upstream: Upstream(type: .direct, server: nil)))
                state.own.append(OwnProxy(profile: "own-\(number)", device: device, since: 1))
            }
        }
        let parts = node.everything()
        #expect(parts.count > 10 && parts.map(\.stamps.count).reduce(0, +) == 3000)
        for part in parts {
            #expect(part.stamps.count < SharedUpdate.itemLimit + 3 && part.json.text.utf8.count < 2 * SharedUpdate.size)
            #expect(part.tidied(longest: nil) == part, "nothing of it would be tidied away")
            #expect(part.units.allSatisfy { $0.stamps.count == 3 })
        }
    }

    @Test(
        "three gateways that hear of each other by chance, late, twice or not at all end with the same",
        arguments: UInt64(0)..<40)
    func converges(seed: UInt64) throws {
        var generator = SeededGenerator(state: seed)
        var nodes = [Node("lab-1", skew: -500), Node("lab-2"), Node("lab-3", skew: 40_000)]
        var onTheWay: [(to: Int, part: LabState)] = []
        var time = Self.now
        for _ in 0..<60 {
            time += Int64.random(in: 0...2000, using: &generator)
            let node = Int.random(in: 0..<3, using: &generator)
            switch Int.random(in: 0..<6, using: &generator) {
            case 0:
                nodes[node].change(at: time, Self.give("p\(time % 7)", to: time % 2 == 0 ? Self.pixel : Self.tablet))
            case 1: nodes[node].change(at: time) { $0.assignments = Array($0.assignments.dropLast()) }
            case 2: nodes[node].change(at: time) { $0.active = time % 3 == 0 ? nil : "p\(time % 5)" }
            case 3:
                nodes[node].change(at: time) { state in
                    state.devices.removeAll { $0.name == "n" || $0.identity == Self.pixel }
                    state.devices.append(NamedDevice(name: "n", identity: time % 2 == 0 ? Self.pixel : Self.tablet))
                    state.devices = Array(state.devices.suffix(1))
                }
            case 4:
                for other in 0..<3 where other != node {
                    onTheWay += nodes[node].everything().map { (other, $0) }
                }
            default:
                guard !onTheWay.isEmpty else { continue }
                let index = Int.random(in: 0..<onTheWay.count, using: &generator)
                try nodes[onTheWay[index].to].hear(onTheWay[index].part, at: time)
                if Bool.random(using: &generator) { onTheWay.remove(at: index) }
            }
        }
        for _ in 0..<6 {
            for from in 0..<3 {
                for to in 0..<3 where to != from {
                    for part in nodes[from].everything() { try nodes[to].hear(part, at: time + 10) }
                }
            }
        }
        #expect(nodes[0].known == nodes[1].known && nodes[1].known == nodes[2].known, "seed \(seed)")
        #expect(nodes[0].lab.stamps == nodes[1].lab.stamps && nodes[1].lab.stamps == nodes[2].lab.stamps)
    }

    @Test(
        "an update that makes no sense is refused whole",
        arguments: [
            ("{}", "empty object"), ("[]", "an empty list"), ("{ life: 1, reader: 0 }", "lab"),
            ("{ life: 1, lab: {} }", "reader"), ("{ life: -1, reader: 0, lab: {} }", "life"),
            ("{ life: 1, reader: 0, lab: {}, more: 1 }", "more"),
            ("{ life: 1, reader: 0, lab: { active: 'a' } }", "active without a stamp"),
            ("{ life: 1, reader: 0, lab: { unconfirmed: { revision: 1, former: 0, until: 1 } } }", "on trial"),
            ("{ life: 1, reader: 0, lab: { stamps: [{ item: ['active'], at: 1 }] } }", "by"),
            ("{ life: 1, reader: 0, lab: { stamps: [{ item: ['passwords'], at: 1, by: 'g' }] } }", "another item"),
            (
                "{ life: 1, reader: 0, lab: { stamps: [{ item: ['active'], at: 1, by: 'g' }, { item: ['active'], at: 2, by: 'g' }] } }",
                "there already"
            ),
            ("{ life: 1, reader: 0, lab: { stamps: [{ item: ['active'], at: 9223372036854775807, by: 'g' }] } }", "at"),
        ])
    func refuses(text: String, words: String) {
        let octets = Array(text.utf8)
        guard let error = #expect(throws: ConfigurationError.self, performing: { try SharedUpdate.parse(octets.span) })
        else { return }
        #expect("\(error)".contains(words), "\(error)")
    }

    @Test("peers need a push listener, an id of this gateway, and a key for peers alone")
    func configuration() throws {
        let good = "gateway: 'g', keys: [{ id: 'k', file: '/k', scope: ['peer'] }], push: { listen: '127.0.0.1:1' }, "
        let read = try ProfilesTests.configuration(
            minimal(good + "peers: [{ id: 'h', address: '10.9.0.5', key: 'k' }]"))
        #expect(
            read.peers == [PeerOptions(id: "h", address: SocketAddress(IPAddress(v4: 0x0a09_0005), 10801), key: "k")])
        #expect(read.peerWait == .seconds(300))
        let one = "peers: [{ id: 'h', address: '10.9.0.5:1', key: 'k' }]"
        for (text, path) in [
            (one, "peers"), (good + "peers: [{ id: 'g', address: '10.9.0.5:1', key: 'k' }]", "peers[0].id"),
            (good + "peers: [{ id: 'h', address: '10.9.0.5:1', key: 'kk' }]", "peers[0].key"),
            (good + "peers: [{ id: 'h', address: '0.0.0.0:1', key: 'k' }]", "peers[0].address"),
            (good + "peers: [{ id: 'h', address: 'h:1', key: 'k' }]", "peers[0].address"),
            (good + "peers: [{ id: 'h', key: 'k' }]", "peers[0].address"),
            (good.replacing("['peer']", with: "['push']") + one, "peers[0].key"),
            (good.replacing("gateway: 'g', ", with: "") + one, "peers"),
            (
                good
                    + "peers: [{ id: 'h', address: '10.9.0.5:1', key: 'k' }, { id: 'h', address: '10.9.0.6', key: 'k' }]",
                "peers[1].id"
            ),
            (good + one + ", peerWait: '25h'", "peerWait"),
        ] {
            #expect(refusal(minimal(text))?.path == path, "\(text)")
        }
    }
}
