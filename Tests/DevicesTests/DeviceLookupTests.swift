/// What people write for a device, and names for those that have none.

import Addresses
import Testing

@testable import Devices

@Suite struct DeviceLookupTests {
    private static func table() -> DeviceTable {
        var table = DeviceTable()
        table.setNamed([
            NamedDevice(name: "pixel-7", identity: on(nil, 1)), NamedDevice(name: "stb", identity: on("eth0", 2)),
            NamedDevice(name: "far", identity: .address(address("10.20.0.9"))),
        ])
        table.note(sighting("10.9.0.23", 1))
        table.note(sighting("10.9.0.40", 2, on: "eth0"))
        table.note(sighting("10.9.0.50", 5, on: "eth0"))
        table.note(sighting("10.9.0.51", 5, on: "wlan0"))
        table.note(sighting("fe80::7", 7))
        return table
    }

    @Test(
        "finds a device by its name, its MAC, its MAC on an interface and each address",
        arguments: [
            ("pixel-7", on(nil, 1)), ("3c:28:6d:00:00:01", on(nil, 1)), ("3C-28-6D-00-00-01", on(nil, 1)),
            ("3c:28:6d:00:00:01@wlan0", on(nil, 1)), ("10.9.0.23", on(nil, 1)),
            ("stb", on("eth0", 2)), ("3c:28:6d:00:00:02", on("eth0", 2)), ("10.9.0.40", on("eth0", 2)),
            ("far", .address(address("10.20.0.9"))), ("10.20.0.9", .address(address("10.20.0.9"))),
            ("3c:28:6d:00:00:05@eth0", on("eth0", 5)), ("10.9.0.51", on("wlan0", 5)), ("fe80::7", on("wlan0", 7)),
            // Never seen.
            ("3c:28:6d:00:00:99", on(nil, 0x99)), ("10.9.0.99", .address(address("10.9.0.99"))),
            ("3c:28:6d:00:00:99@eth0", on("eth0", 0x99)),
        ] as [(String, DeviceIdentity)])
    func finds(text: String, identity: DeviceIdentity) throws {
        #expect(try Self.table().find(text).identity == identity)
    }

    @Test(
        "says what is wrong with a text and what would be right",
        arguments: [
            ("pixle-7", "no device is called `pixle-7`: did you mean `pixel-7`?"),
            ("Pixel-7", "no device is called `Pixel-7`: did you mean `pixel-7`?"),
            (
                "nobody",
                "no device is called `nobody`: write a name, a MAC such as 3c:28:6d:12:34:56 or an address"
            ),
            (
                "3c:28:6d:00:00:05",
                "3c:28:6d:00:00:05 is on eth0 and wlan0: write which, such as 3c:28:6d:00:00:05@eth0"
            ),
            ("01:00:5e:00:00:fb", "01:00:5e:00:00:fb is not one device's: write the address of one"),
            ("224.0.0.251", "224.0.0.251 is not one device's: write the address of one"),
            ("127.0.0.1", "127.0.0.1 is not one device's: write the address of one"),
            ("", "no device is called ``: write a name, a MAC such as 3c:28:6d:12:34:56 or an address"),
            (
                "a\u{1b}[2J\n\u{202e}b",
                "no device is called `a?[2J??b`: write a name, a MAC such as 3c:28:6d:12:34:56 or an address"
            ),
        ])
    func refuses(text: String, words: String) {
        do throws(DeviceError) {
            _ = try Self.table().find(text)
            Issue.record("found")
        } catch {
            #expect("\(error)" == words)
        }
    }

    @Test func aLongTextIsNotRepeatedWhole() {
        let error = DeviceError.unknown(String(repeating: "x", count: 5000), near: nil)
        #expect("\(error)".utf8.count < 200)
    }

    @Test("lists name first, and what is known but was never seen too")
    func list() {
        var table = Self.table()
        table.setAssignments([assignment(on("wlan0", 0x42)), assignment(on("eth0", 2))])
        #expect(
            table.devices.map(\.label) == [
                "far", "pixel-7", "stb", "3c:28:6d:00:00:05@eth0", "3c:28:6d:00:00:05@wlan0", "3c:28:6d:00:00:07",
                "3c:28:6d:00:00:42",
            ])
        #expect(table.devices.map(\.isKnown) == [true, true, true, false, false, false, true])
    }

    // MARK: Proposals

    @Test(
        "a host name becomes an identifier",
        arguments: [
            ("Pixel-7", "pixel-7"), ("Johns iPhone", "johns-iphone"), ("tv.lab.example", "tv"), ("__a--b__c", "a-b__c"),
            ("Living Room (TV)", "living-room-tv"), ("DESKTOP-4K2J", "desktop-4k2j"), ("7th", "7th"),
            (String(repeating: "a", count: 200), String(repeating: "a", count: 60)),
        ])
    func suggests(hostName: String, name: String) {
        #expect(DeviceName.suggested(by: hostName) == name)
    }

    @Test(
        "a host name that says nothing, or could be taken for a MAC, becomes none",
        arguments: [
            "", "*", "-", "...", "localhost", "localhost.localdomain", "3c-28-6d-12-34-56", "___",
        ])
    func suggestsNothing(hostName: String) {
        #expect(DeviceName.suggested(by: hostName) == nil)
    }

    @Test func aDeviceWithoutANameIsProposedTheOneItGivesItself() {
        var table = DeviceTable()
        table.note(sighting("10.9.0.23", 1))
        table.note(sighting("10.9.0.24", 2))
        table.setLeases([lease("10.9.0.23", 1, "Pixel-7")], at: 1000)
        #expect(table.device(on("wlan0", 1)).proposal == .name("pixel-7"))
        #expect(table.device(on("wlan0", 2)).proposal == nil)
        table.setNamed([
            NamedDevice(name: "pixel-7", identity: on(nil, 8)), NamedDevice(name: "pixel-7-2", identity: on(nil, 9)),
        ])
        #expect(table.device(on("wlan0", 1)).proposal?.description == "pixel-7-3")
        // One that has a name needs none.
        table.setNamed([NamedDevice(name: "phone", identity: on(nil, 1))])
        #expect(table.device(on(nil, 1)).proposal == nil)
    }

    @Test("a drawn MAC that calls itself as a known device did that is gone looks like it")
    func looksLike() {
        var table = DeviceTable()
        table.setNamed([NamedDevice(name: "anna", identity: on(nil, 1, isDrawn: true))])
        table.setLeases(
            [lease("10.9.0.23", 1, "Galaxy-S24", isDrawn: true), lease("10.9.0.24", 2, "galaxy-s24", isDrawn: true)],
            at: 1000)
        table.note(sighting("10.9.0.23", 1, at: 1000, isDrawn: true))
        table.note(sighting("10.9.0.24", 2, at: 2000, isDrawn: true))
        let new = on("wlan0", 2, isDrawn: true)
        #expect(table.device(new).proposal == .looksLike("anna"))
        #expect("\(table.device(new).proposal.map { "\($0)" } ?? "")" == "looks like anna")
        #expect(table.devices.last?.proposal == .looksLike("anna"))
        // Its old MAC is there after all: two phones of one kind.
        table.heard(from: address("10.9.0.23"), at: 2100)
        #expect(table.device(new).proposal == .name("galaxy-s24"))
    }

    @Test("a MAC of the factory does not look like another device, and a name alone is enough to look like")
    func looksLikeByName() {
        var table = DeviceTable()
        table.setNamed([NamedDevice(name: "pixel-7", identity: on(nil, 1))])
        table.setLeases([lease("10.9.0.24", 2, "Pixel-7"), lease("10.9.0.25", 3, "Pixel-7", isDrawn: true)], at: 1000)
        table.note(sighting("10.9.0.24", 2))
        table.note(sighting("10.9.0.25", 3, isDrawn: true))
        #expect(table.device(on("wlan0", 2)).proposal == .name("pixel-7-2"))
        #expect(table.device(on("wlan0", 3, isDrawn: true)).proposal == .looksLike("pixel-7"))
    }
}
