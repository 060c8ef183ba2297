/// Whose an address is, as the neighbour table changes.

import Addresses
import TestSupport
import Testing

@testable import Devices

@Suite struct DeviceTableTests {
    @Test func theAddressesOfOneMACAreOneDevice() {
        var table = DeviceTable()
        #expect(table.note(sighting("10.9.0.23", 1)) == .new)
        #expect(table.note(sighting("2001:db8:9::23", 1, at: 1010)) == .new)
        #expect(table.note(sighting("fe80::23", 1, at: 1005)) == .new)
        #expect(table.note(sighting("10.9.0.23", 1, at: 1020)) == .nothing)
        #expect(table.devices.count == 1)
        let device = table.device(on("wlan0", 1))
        #expect(device.addresses == ["10.9.0.23", "2001:db8:9::23", "fe80::23"].map(address))
        #expect(device.firstSeen == 1000)
        #expect(device.seen == 1020)
        #expect(device.label == "3c:28:6d:00:00:01")
        #expect(!device.isKnown)
        #expect(table.identity(at: address("2001:db8:9::23")) == on("wlan0", 1))
        #expect(table.identity(at: address("10.9.0.24")) == nil)
    }

    @Test func whatIsNoDevicesIsNotNoted() {
        var table = DeviceTable()
        for text in ["224.0.0.251", "ff02::fb", "0.0.0.0", "::"] { #expect(table.note(sighting(text, 1)) == .nothing) }
        let group = Sighting(
            address: address("10.9.0.9"), mac: MACAddress(bits: 0x0100_5e00_00fb), interface: "wlan0", seen: 1)
        #expect(table.note(group) == .nothing)
        #expect(table.devices.isEmpty)
    }

    @Test("a MAC that takes over an address has it, and the other device keeps its others")
    func takeOver() {
        var table = DeviceTable()
        table.note(sighting("10.9.0.23", 1))
        table.note(sighting("2001:db8:9::23", 1))
        #expect(table.note(sighting("10.9.0.23", 2, at: 900)) == .moved(from: on("wlan0", 1)))
        #expect(table.identity(at: address("10.9.0.23")) == on("wlan0", 2))
        #expect(table.addresses(of: on("wlan0", 1)) == [address("2001:db8:9::23")])
        #expect(table.devices.count == 2)
    }

    @Test("an address stays its MAC's while the kernel has forgotten it, and packets keep the device fresh")
    func heard() {
        var table = DeviceTable()
        table.note(sighting("10.9.0.23", 1))
        table.heard(from: address("10.9.0.23"), at: 5000)
        table.heard(from: address("10.9.0.23"), at: 4000)
        #expect(table.device(on("wlan0", 1)).seen == 5000)
        #expect(table.devices.count == 1)
    }

    @Test("an address that no MAC has is a device from behind another router, until a MAC has it")
    func fromAfar() {
        var table = DeviceTable()
        table.setNamed([NamedDevice(name: "far", identity: .address(address("10.20.0.9")))])
        for text in ["10.20.0.9", "10.20.0.10", "fe80::5", "224.0.0.1"] { table.heard(from: address(text), at: 1000) }
        table.heard(from: address("10.20.0.10"), at: 1100)
        #expect(table.devices.map(\.label) == ["far", "10.20.0.10"])
        #expect(table.devices.map(\.seen) == [1000, 1100])
        #expect(table.devices.map(\.firstSeen) == [1000, 1000])
        #expect(table.identity(at: address("10.20.0.10")) == .address(address("10.20.0.10")))
        #expect(table.addressBook.count == 2)
        // Its packet was faster than the news of the link.
        table.note(sighting("10.20.0.10", 1, at: 1200))
        #expect(table.devices.map(\.label) == ["far", "3c:28:6d:00:00:01"])
        // Whoever makes up sources pushes out neither the named one nor anybody on the link.
        for number in 0..<1500 as Range<UInt32> {
            table.heard(from: IPAddress(v4: 0x0b00_0000 + number), at: 2000 + Int64(number))
        }
        #expect(table.remote.count <= DeviceTable.remoteCapacity)
        #expect(table.device(.address(address("10.20.0.9"))).seen == 1000)
        #expect(table.identity(at: address("10.20.0.10")) == on("wlan0", 1))
    }

    @Test("a MAC on another interface is a device of its own, unless its name says each interface")
    func interfaces() {
        var table = DeviceTable()
        table.note(sighting("10.9.0.23", 1))
        table.note(sighting("10.8.0.23", 1, on: "eth0", at: 2000))
        #expect(table.devices.map(\.label) == ["3c:28:6d:00:00:01@eth0", "3c:28:6d:00:00:01@wlan0"])

        table.setNamed([NamedDevice(name: "pixel-7", identity: on(nil, 1))])
        #expect(table.devices.map(\.label) == ["pixel-7"])
        let both = table.device(on(nil, 1))
        #expect(both.addresses == ["10.8.0.23", "10.9.0.23"].map(address))
        #expect(both.interface == "eth0")
        #expect(both.firstSeen == 1000)

        // The name on one interface is nearer than the one for each.
        table.setNamed([
            NamedDevice(name: "pixel-7", identity: on(nil, 1)), NamedDevice(name: "wired", identity: on("eth0", 1)),
        ])
        #expect(table.identity(at: address("10.8.0.23")) == on("eth0", 1))
        #expect(table.identity(at: address("10.9.0.23")) == on(nil, 1))
        #expect(table.devices.map(\.label) == ["pixel-7", "wired"])
    }

    @Test("of two interfaces that both know an address the fresher one is right")
    func twoEntries() {
        var table = DeviceTable()
        table.note(sighting("10.9.0.23", 1, on: "wlan0", at: 1000))
        #expect(table.note(sighting("10.9.0.23", 2, on: "eth0", at: 900)) == .nothing)
        #expect(table.identity(at: address("10.9.0.23")) == on("wlan0", 1))
        #expect(table.note(sighting("10.9.0.23", 2, on: "eth0", at: 1100)) == .moved(from: on("wlan0", 1)))
        #expect(table.note(sighting("10.9.0.23", 1, on: "wlan0", at: 1000)) == .nothing)
        #expect(table.identity(at: address("10.9.0.23")) == on("eth0", 2))
        // A phone that changes from Wi-Fi to cable with one name is the same device.
        table.setNamed([NamedDevice(name: "tv", identity: on(nil, 2))])
        #expect(table.note(sighting("10.9.0.23", 2, on: "wlan0", at: 1200)) == .nothing)
    }

    @Test("addresses of the link alone belong to their link")
    func linkLocal() {
        var table = DeviceTable()
        table.note(sighting("fe80::1", 1, on: "wlan0"))
        #expect(table.note(sighting("fe80::1", 2, on: "eth0")) == .new)
        #expect(table.identity(at: address("fe80::1"), on: "wlan0") == on("wlan0", 1))
        #expect(table.identity(at: address("fe80::1"), on: "eth0") == on("eth0", 2))
        #expect(table.addressBook.isEmpty)
    }

    @Test("an address with a name or a profile of its own is a device by itself, whoever stands before it")
    func namedAddress() {
        var table = DeviceTable()
        table.setNamed([NamedDevice(name: "stb", identity: .address(address("10.9.0.40")))])
        table.setAssignments([assignment(.address(address("10.9.0.41")))])
        // All three are behind the one MAC of a repeater.
        for host in 40...42 { table.note(sighting("10.9.0.\(host)", 7)) }
        #expect(table.devices.map(\.label) == ["stb", "10.9.0.41", "3c:28:6d:00:00:07"])
        #expect(table.addresses(of: on("wlan0", 7)) == [address("10.9.0.42")])
        let box = table.device(.address(address("10.9.0.40")))
        #expect(box.mac == mac(7))
        #expect(box.interface == "wlan0")
        #expect(box.seen == 1000)
        #expect(
            table.addressBook == [
                address("10.9.0.40"): .address(address("10.9.0.40")),
                address("10.9.0.41"): .address(address("10.9.0.41")), address("10.9.0.42"): on("wlan0", 7),
            ])
    }

    @Test("a lease says whose an address is before the first packet does, and no longer than it lasts")
    func leased() {
        var table = DeviceTable()
        table.setNamed([
            NamedDevice(name: "pixel-7", identity: on(nil, 1)), NamedDevice(name: "tv", identity: on("eth0", 2)),
        ])
        let leases = [
            lease("10.9.0.23", 1, "Pixel-7", until: 2000), lease("10.9.0.24", 2, "TV", until: 2000),
            lease("10.9.0.25", 3, nil, until: 2000),
        ]
        table.setLeases(leases, at: 1500)
        #expect(table.identity(at: address("10.9.0.23")) == on(nil, 1))
        #expect(table.identity(at: address("10.9.0.24")) == on("eth0", 2))
        #expect(table.identity(at: address("10.9.0.25")) == nil)
        #expect(table.device(on(nil, 1)).addresses == [address("10.9.0.23")])
        // What the link says counts more.
        table.note(sighting("10.9.0.23", 9))
        #expect(table.identity(at: address("10.9.0.23")) == on("wlan0", 9))
        #expect(table.device(on(nil, 1)).addresses == [])
        table.setLeases(leases, at: 2001)
        #expect(table.identity(at: address("10.9.0.24")) == nil)
    }

    @Test("an assignment holds for the device whichever way it was tied to it")
    func assignments() {
        var table = DeviceTable()
        table.note(sighting("10.9.0.23", 1))
        table.setAssignments([assignment(on(nil, 1))])
        #expect(table.identity(at: address("10.9.0.23")) == on(nil, 1))
        #expect(table.device(on(nil, 1)).assignment?.profile == "qa")
        // It was assigned by its interface, and then got a name for each.
        table.setAssignments([assignment(on("wlan0", 1))])
        table.setNamed([NamedDevice(name: "pixel-7", identity: on(nil, 1))])
        #expect(table.devices.map(\.label) == ["pixel-7"])
        #expect(table.devices[0].assignment?.profile == "qa")
        #expect(table.devices[0].isKnown)
        // And the other way round.
        table.setAssignments([assignment(on(nil, 1))])
        table.setNamed([NamedDevice(name: "pixel-7", identity: on("wlan0", 1))])
        #expect(table.device(on("wlan0", 1)).assignment?.profile == "qa")
    }

    @Test("a name or a device that stands twice is the first one's: the file comes before the store")
    func firstCounts() throws {
        var table = DeviceTable()
        table.setNamed([
            NamedDevice(name: "tv", identity: on(nil, 1)), NamedDevice(name: "tv", identity: on(nil, 2)),
            NamedDevice(name: "box", identity: on(nil, 1)),
        ])
        #expect(try table.find("tv").identity == on(nil, 1))
        #expect(table.device(on(nil, 1)).name == "tv")
        #expect(table.device(on(nil, 2)).name == nil)
        #expect(table.devices.count == 1)
    }

    @Test("a router among the neighbours is shown as one")
    func router() {
        var table = DeviceTable()
        table.note(sighting("fe80::1", 1, isRouter: true))
        table.note(sighting("10.9.0.1", 1))
        #expect(table.device(on("wlan0", 1)).isRouter)
    }

    @Test("made-up MACs push out neither what is named nor what is assigned, and stay bounded")
    func flood() {
        var table = DeviceTable()
        table.setNamed([
            NamedDevice(name: "tv", identity: on(nil, 1)), NamedDevice(name: "stb", identity: on("wlan0", 2)),
        ])
        table.setAssignments([assignment(on("wlan0", 3))])
        for host in 1...4 { table.note(sighting("10.9.0.\(host)", UInt64(host), at: 1)) }
        for number in 0..<6000 as Range<UInt64> {
            let made = Sighting(
                address: IPAddress(v4: 0x0a0a_0000 + UInt32(number)), mac: MACAddress(bits: 0x0600_0000_0000 + number),
                interface: "wlan0", seen: 1000 + Int64(number))
            table.note(made)
        }
        #expect(table.stationCount <= DeviceTable.capacity)
        #expect(table.owners.count == table.stations.values.joined().reduce(0) { $0 + $1.addresses.count })
        #expect(table.identity(at: address("10.9.0.1")) == on(nil, 1))
        #expect(table.identity(at: address("10.9.0.2")) == on("wlan0", 2))
        #expect(table.identity(at: address("10.9.0.3")) == on("wlan0", 3))
        #expect(table.identity(at: address("10.9.0.4")) == nil)
        // The latest of them is there.
        #expect(table.identity(at: IPAddress(v4: 0x0a0a_0000 + 5999)) != nil)
    }

    @Test("made-up addresses of one MAC push out its own oldest ones alone")
    func addressFlood() {
        var table = DeviceTable()
        table.note(sighting("10.9.0.1", 1, at: 1))
        for number in 0..<600 as Range<UInt64> {
            table.note(
                Sighting(
                    address: IPAddress(high: 0x2001_0db8_0000_0000, low: number), mac: mac(2), interface: "wlan0",
                    seen: 1000 + Int64(number)))
        }
        #expect(table.addresses(of: on("wlan0", 2)).count <= DeviceTable.addressesOfOne)
        #expect(table.identity(at: IPAddress(high: 0x2001_0db8_0000_0000, low: 599)) == on("wlan0", 2))
        #expect(table.identity(at: address("10.9.0.1")) == on("wlan0", 1))
        #expect(table.owners.count <= DeviceTable.addressesOfOne + 1)
    }

    @Test("whatever comes in, each address has one owner that has it", arguments: LongRun.seeds(10, long: 300))
    func invariants(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var table = DeviceTable()
        var latest: [IPAddress: UInt64] = [:]
        for step in 0..<500 {
            let (host, station) = (random.number(1..<30), UInt64(random.number(1..<8)))
            let interface = ["wlan0", "eth0"][random.number(0..<2)]
            let made = sighting("10.9.0.\(host)", station, on: interface, at: Int64(step))
            table.note(made)
            latest[made.address] = station
            if random.chance(0.05) {
                table.setNamed([NamedDevice(name: "a", identity: on([nil, "wlan0"][random.number(0..<2)], station))])
            }
            if random.chance(0.05) { table.setAssignments([assignment(on(nil, UInt64(random.number(1..<8))))]) }
        }
        // Time goes on, so the latest word about an address counts.
        for (address, station) in latest {
            guard case .mac(mac(station), _) = table.identity(at: address) else {
                Issue.record("seed \(seed): \(address) is not \(station)'s")
                continue
            }
        }
        let held = table.devices.flatMap(\.addresses)
        #expect(Set(held) == Set(latest.keys), "seed \(seed)")
        #expect(held.count == latest.count, "seed \(seed)")
    }
}
