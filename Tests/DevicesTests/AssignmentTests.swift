/// Profiles for a while, and which of several counts.

import Addresses
import Testing

@testable import Devices

@Suite struct AssignmentTests {
    private static let phone = on(nil, 1)
    private static let tv = on("eth0", 2)

    @Test func oneDeviceHasOneAssignment() {
        let assignments = Assignments([assignment(Self.phone, "a"), assignment(Self.tv), assignment(Self.phone, "b")])
        #expect(assignments.all.map(\.profile) == ["qa", "b"])
    }

    @Test func theLastSecondStillCounts() {
        let assignments = Assignments([assignment(Self.phone, until: 2000), assignment(Self.tv)])
        #expect(assignments.expired(at: 2000).isEmpty)
        #expect(assignments.expired(at: 2001).map(\.device) == [Self.phone])
    }

    @Test func anEndIsWarnedOfOnceFiveMinutesBefore() {
        let assignments = Assignments([assignment(Self.phone, since: 1000, until: 2000)])
        #expect(assignments.ending(since: 1000, at: 1699).isEmpty)
        #expect(assignments.ending(since: 1699, at: 1700).map(\.device) == [Self.phone])
        #expect(assignments.ending(since: 1700, at: 1800).isEmpty)
        // Nobody has looked for a long time.
        #expect(assignments.ending(since: 1000, at: 1990).count == 1)
        #expect(assignments.ending(since: 1000, at: 2001).isEmpty)
        // One that has been given a later end is warned of again.
        let extended = Assignments([assignment(Self.phone, since: 1000, until: 9000)])
        #expect(extended.ending(since: 1700, at: 8699).isEmpty)
        #expect(extended.ending(since: 1700, at: 8700).count == 1)
        // Whoever gives a device a profile for two minutes knows.
        let short = Assignments([assignment(Self.phone, since: 1000, until: 1120)])
        #expect(short.ending(since: 0, at: 1100).isEmpty)
        #expect(short.expired(at: 1121).count == 1)
    }

    @Test func theNextMomentIsAWarningOrAnEnd() {
        let assignments = Assignments([
            assignment(Self.phone, since: 1000, until: 2000), assignment(Self.tv, since: 1000, until: 1900),
            assignment(on(nil, 3)),
        ])
        #expect(assignments.nextMoment(after: 1000) == 1600)
        #expect(assignments.nextMoment(after: 1600) == 1700)
        #expect(assignments.nextMoment(after: 1700) == 1901)
        #expect(assignments.nextMoment(after: 1901) == 2001)
        #expect(assignments.nextMoment(after: 2001) == nil)
    }

    // MARK: Which profile

    @Test("assignment, else the file's profile, else the interface's default, else the gateway's")
    func precedence() {
        var table = DeviceTable()
        table.setNamed([NamedDevice(name: "tv", identity: Self.tv), NamedDevice(name: "pixel-7", identity: Self.phone)])
        table.note(sighting("10.9.0.40", 2, on: "eth0"))
        table.note(sighting("10.9.0.23", 1, on: "wlan0"))
        table.note(sighting("10.9.0.50", 5, on: "wlan0"))
        table.note(sighting("10.9.0.51", 6, on: "wlan1"))
        var rules = ProfileRules(standard: "std", interfaces: ["wlan0": "wifi"], fixed: [Self.tv: "fixed"])
        func choice(_ identity: DeviceIdentity) -> ProfileChoice { rules.choice(for: table.device(identity)) }

        #expect(choice(Self.tv) == ProfileChoice(.profile("fixed"), .file))
        #expect(choice(Self.phone) == ProfileChoice(.profile("wifi"), .interface))
        #expect(choice(on("wlan0", 5)) == ProfileChoice(.profile("wifi"), .interface))
        #expect(choice(on("wlan1", 6)) == ProfileChoice(.profile("std"), .default))

        table.setAssignments([assignment(Self.tv, "a"), assignment(on("wlan1", 6), "b")])
        #expect(choice(Self.tv) == ProfileChoice(.profile("a"), .assignment))
        #expect(choice(on("wlan1", 6)) == ProfileChoice(.profile("b"), .assignment))

        // New devices are those without a name and an assignment.
        rules.newDevices = .block
        #expect(choice(on("wlan0", 5)) == ProfileChoice(.block, .new))
        #expect(choice(on("wlan1", 6)) == ProfileChoice(.profile("b"), .assignment))
        #expect(choice(Self.phone) == ProfileChoice(.profile("wifi"), .interface))
        rules.newDevices = .direct
        #expect(choice(on("wlan0", 5)) == ProfileChoice(.direct, .new))
    }

    @Test("the choices for addresses are those for their devices, and are the same while the generation is")
    func choices() throws {
        var table = DeviceTable()
        table.setNamed([
            NamedDevice(name: "tv", identity: Self.tv), NamedDevice(name: "pixel-7", identity: Self.phone),
            NamedDevice(name: "far", identity: .address(address("10.20.0.9"))),
        ])
        table.setAssignments([assignment(on("wlan0", 5), "a"), assignment(.address(address("10.20.0.9")), "b")])
        table.note(sighting("10.9.0.40", 2, on: "eth0"))
        table.note(sighting("10.9.0.23", 1, on: "wlan0"))
        table.note(sighting("10.9.0.50", 5, on: "wlan0"))
        table.note(sighting("10.9.0.51", 6, on: "wlan1"))
        table.heard(from: address("10.20.0.10"), at: 1000)
        let rules = ProfileRules(
            standard: "std", interfaces: ["wlan0": "wifi"], fixed: [Self.tv: "fixed"], newDevices: .block)
        var choices = table.choices(by: rules)
        #expect(choices.count == 6)
        for (address, choice) in choices {
            let device = table.device(try #require(table.identity(at: address)))
            #expect(choice.device == device.identity)
            #expect(choice.isKnown == device.isKnown)
            #expect(choice.choice == rules.choice(for: device))
            #expect(choice.assigned == device.assignment?.device)
        }
        #expect(choices[address("10.20.0.9")]?.choice == ProfileChoice(.profile("b"), .assignment))
        #expect(choices[address("10.20.0.10")]?.choice == ProfileChoice(.block, .new))

        let generation = table.generation
        table.note(sighting("10.9.0.23", 1, on: "wlan0", at: 2000))
        table.heard(from: address("10.9.0.23"), at: 2001)
        table.heard(from: address("10.20.0.10"), at: 2001)
        #expect(table.generation == generation)
        #expect(table.choices(by: rules) == choices)
        // The phone with a name for each interface changes to the cable.
        table.note(sighting("10.8.0.23", 1, on: "eth0", at: 3000))
        #expect(table.generation > generation)
        choices = table.choices(by: rules)
        #expect(choices[address("10.9.0.23")]?.choice == ProfileChoice(.profile("std"), .default))
    }

    @Test("what is decided for a MAC beforehand is what its addresses have once they are known")
    func stations() throws {
        var table = DeviceTable()
        // Named everywhere and assigned on one interface; on one only; assigned alone; an address by itself.
        table.setNamed([
            NamedDevice(name: "tv", identity: on(nil, 2)), NamedDevice(name: "wired", identity: on("eth0", 3)),
            NamedDevice(name: "far", identity: .address(address("10.9.0.60"))),
        ])
        table.setAssignments([
            assignment(on("wlan0", 2), "a"), assignment(on("wlan1", 5), "b"), assignment(on(nil, 6), "c"),
        ])
        let rules = ProfileRules(standard: "std", fixed: [on("eth0", 3): "fixed"], newDevices: .block)
        let beforehand = table.stationChoices(by: rules)
        #expect(
            Set(beforehand.keys)
                == [on(nil, 2), on("wlan0", 2), on("eth0", 3), on("wlan1", 5), on(nil, 6)])
        var host = 10
        for number in 1...6 as ClosedRange<UInt64> {
            for interface in ["eth0", "wlan0", "wlan1"] {
                host += 1
                table.note(sighting("10.9.0.\(host)", number, on: interface))
                let known = try #require(table.choices(by: rules)[address("10.9.0.\(host)")])
                let expected = beforehand[on(interface, number)] ?? beforehand[on(nil, number)]
                let comment: Comment = "MAC \(number) on \(interface)"
                #expect((expected != nil) == known.isKnown, comment)
                guard let expected else { continue }
                #expect(expected.choice == known.choice && expected.assigned == known.assigned, comment)
            }
        }
    }
}
