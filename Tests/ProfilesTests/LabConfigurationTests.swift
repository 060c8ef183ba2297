/// The keys about devices, and about those who tell the gateway what to do with them.

import Addresses
import Bytes
import Devices
import Profiles
import Testing

struct LabConfigurationTests {
    @Test("without these keys the defaults of the design count")
    func defaults() throws {
        let least = try configuration(minimal())
        #expect(least.gateway == nil && least.devices.isEmpty && least.newDevices == .default)
        #expect(least.lease == .hours(12) && least.leases == nil && least.keys.isEmpty && least.push == nil)
        #expect(least.control?.socket == "/run/starship/control.sock")
        #expect(least.control?.group == nil)
        #expect(!least.activeProfile.isSelfService)
    }

    @Test("every key reaches its place")
    func everything() throws {
        let read = try configuration(example("lab.json5"))
        #expect(read.gateway == "lab-3")
        #expect(read.devices.map(\.name) == ["pixel-7", "kiosk", "stb"])
        #expect(
            read.devices.map(\.identity.description) == [
                "3c:28:6d:12:34:56", "3c:28:6d:ab:cd:ef@wlan0", "10.9.0.40",
            ])
        #expect(read.devices.map(\.profile) == [nil, "whistle-qa", nil])
        #expect(read.profiles.map(\.isSelfService) == [true, false, true])
        #expect(read.leases == "/var/lib/misc/dnsmasq.leases")
        #expect(read.keys.map(\.id) == ["beetle", "ci", "laptop"])
        #expect(read.keys[0].hosts?.map(\.text) == ["*.qa.example", "10.9.0.0/24"])
        // date -u -d '2027-06-30 23:59:59' +%s
        #expect(read.keys[0].until == 1_814_399_999)
        #expect(read.keys.map(\.scope) == [[.links], [.push], [.links]])
        #expect(read.keys.map(\.isRevoked) == [false, false, true])
        #expect(read.control?.group == "starship")
        #expect(read.push?.listen.map(\.description) == ["10.9.0.1:10801"])
        #expect(read.push?.allow.map(\.description) == ["10.9.0.0/24"])
        #expect(try configuration(minimal("lease: false")).lease == nil)
        #expect(try configuration(minimal("lease: '90m'")).lease == .seconds(5400))
        #expect(try configuration(minimal("control: false")).control == nil)
        #expect(try configuration(minimal("newDevices: 'block'")).newDevices == .block)
    }

    @Test(
        "a device has one name, one identity and a profile that is there",
        arguments: [
            Refused(minimal("devices: [{ name: 'x' }]"), .missingKey, "devices[0].mac", "`mac` or `address`"),
            Refused(minimal("devices: [{ mac: '3c:28:6d:12:34:56' }]"), .missingKey, "devices[0].name"),
            Refused(
                minimal("devices: [{ name: 'x', mac: '3c:28:6d:12:34:56', address: '10.0.0.2' }]"), .conflict,
                "devices[0].address", "one of both"),
            Refused(
                minimal("devices: [{ name: 'x', address: '10.0.0.2', interface: 'wlan0' }]"), .conflict,
                "devices[0].interface", "beside `mac`"),
            Refused(
                minimal("devices: [{ name: 'x', mac: '3c:28:6d:12:34' }]"), .badValue, "devices[0].mac",
                "such as \"3c:28:6d:12:34:56\""),
            Refused(
                minimal("devices: [{ name: 'x', mac: '01:00:5e:00:00:01' }]"), .badValue, "devices[0].mac",
                "a group of devices"),
            Refused(
                minimal("devices: [{ name: 'x', mac: 'ff:ff:ff:ff:ff:ff' }]"), .badValue, "devices[0].mac", "a group"),
            Refused(
                minimal("devices: [{ name: 'x', mac: '00:00:00:00:00:00' }]"), .badValue, "devices[0].mac", "nobody's"),
            Refused(
                minimal("devices: [{ name: 'x', address: '224.0.0.1' }]"), .badValue, "devices[0].address",
                "no device's own"),
            Refused(minimal("devices: [{ name: 'x', address: '127.0.0.1' }]"), .badValue, "devices[0].address"),
            Refused(minimal("devices: [{ name: 'x', address: '10.0.0.0/8' }]"), .badValue, "devices[0].address"),
            Refused(minimal("devices: [{ name: 'x', address: 'fe80::1' }]"), .badValue, "devices[0].address"),
            Refused(
                minimal("devices: [{ name: '10.9.0.2', address: '10.9.0.2' }]"), .badValue, "devices[0].name",
                "could be an address"),
            Refused(
                minimal("devices: [{ name: '10.9.0.256', address: '10.9.0.2' }]"), .badValue, "devices[0].name",
                "could be an address"),
            Refused(
                minimal("devices: [{ name: '3c-28-6d-12-34-56', address: '10.9.0.2' }]"), .badValue,
                "devices[0].name", "could be a MAC"),
            Refused(
                minimal("devices: [{ name: '3C286D123456', address: '10.9.0.2' }]"), .badValue, "devices[0].name",
                "could be a MAC"),
            Refused(minimal("devices: [{ name: 'my phone', address: '10.9.0.2' }]"), .badValue, "devices[0].name"),
            Refused(
                minimal("devices: [{ name: 'x', address: '10.0.0.2' }, { name: 'x', address: '10.0.0.3' }]"), .conflict,
                "devices[1].name", "which devices[0] has"),
            Refused(
                minimal("devices: [{ name: 'x', address: '10.0.0.2' }, { name: 'y', address: '10.0.0.2' }]"), .conflict,
                "devices[1]", "10.0.0.2, which is \"x\" already"),
            Refused(
                minimal(
                    "devices: [{ name: 'x', mac: '3c:28:6d:12:34:56' },"
                        + " { name: 'y', mac: '3C-28-6D-12-34-56', interface: 'wlan0' }]"), .conflict, "devices[1]",
                "each device once"),
            Refused(
                minimal("devices: [{ name: 'x', address: '10.0.0.2', profile: 'b' }]"), .conflict,
                "devices[0].profile", "one of \"a\""),
            Refused(
                minimal("devices: [{ name: 'x', hwaddr: '3c:28:6d:12:34:56' }]"), .unknownKey, "devices[0].hwaddr",
                "did you mean `mac`?"),
            Refused(minimal("newDevices: 'blok'"), .badValue, "newDevices", "did you mean \"block\"?"),
            Refused(minimal("lease: '59s'"), .badValue, "lease", "from \"60s\" to \"365d\""),
            Refused(minimal("lease: '366d'"), .badValue, "lease"),
            Refused(minimal("lease: 12"), .wrongType, "lease"),
            Refused(minimal("leases: 'dnsmasq.leases'"), .badValue, "leases", "absolute path"),
            Refused(minimal("gateway: 'lab 3'"), .badValue, "gateway"),
        ])
    func devices(row: Refused) { expectRefusal(row) }

    @Test("one MAC may be two devices on two interfaces")
    func twoInterfaces() throws {
        let read = try configuration(
            minimal(
                "devices: [{ name: 'x', mac: '3c:28:6d:12:34:56', interface: 'eth0' },"
                    + " { name: 'y', mac: '3c:28:6d:12:34:56', interface: 'wlan0' }]"))
        #expect(read.devices.count == 2)
    }

    @Test(
        "a key has an id, a file of its own and an end that is a day",
        arguments: [
            Refused(minimal("keys: [{ id: 'k' }]"), .missingKey, "keys[0].file"),
            Refused(minimal("keys: [{ file: '/k' }]"), .missingKey, "keys[0].id"),
            Refused(
                minimal("keys: [{ id: 'k', file: '/k' }, { id: 'k', file: '/l' }]"), .duplicateKey, "keys[1].id"),
            Refused(
                minimal("keys: [{ id: 'k', file: '/k' }, { id: 'l', file: '/k' }]"), .duplicateKey, "keys[1].file",
                "revoked singly"),
            Refused(minimal("keys: [{ id: 'k', file: 'http://h/k' }]"), .badValue, "keys[0].file", "keygen"),
            Refused(minimal("keys: [{ id: 'k', file: '/k', secret: '0011' }]"), .unknownKey, "keys[0].secret"),
            Refused(minimal("keys: [{ id: 'k', file: '/k', scope: [] }]"), .badValue, "keys[0].scope", "revoked"),
            Refused(
                minimal("keys: [{ id: 'k', file: '/k', scope: ['link'] }]"), .badValue, "keys[0].scope",
                "did you mean \"links\"?"),
            Refused(minimal("keys: [{ id: 'k', file: '/k', scope: 'push' }]"), .wrongType, "keys[0].scope"),
            Refused(minimal("keys: [{ id: 'k', file: '/k', hosts: ['a b'] }]"), .rule, "keys[0].hosts[0]"),
            Refused(
                minimal("keys: [{ id: 'k', file: '/k', until: '2027-02-29' }]"), .badValue, "keys[0].until",
                "such as \"2027-06-30\""),
            Refused(minimal("keys: [{ id: 'k', file: '/k', until: '2019-12-31' }]"), .badValue, "keys[0].until"),
            Refused(minimal("keys: [{ id: 'k', file: '/k', until: '30.06.2027' }]"), .badValue, "keys[0].until"),
            Refused(minimal("keys: [{ id: 'k', file: '/k', until: '2027-06-31' }]"), .badValue, "keys[0].until"),
            Refused(minimal("keys: [{ id: 'k', file: '/k', until: '2027-13-01' }]"), .badValue, "keys[0].until"),
            Refused(minimal("keys: [{ id: 'k', file: '/k', until: 1814399999 }]"), .wrongType, "keys[0].until"),
            Refused(minimal("keys: [{ id: 'k', file: '/k', revoked: 'yes' }]"), .wrongType, "keys[0].revoked"),
        ])
    func keys(row: Refused) { expectRefusal(row) }

    @Test(
        "a key's last second is that of its day in UTC",
        arguments: [
            // date -u -d "DAY 23:59:59" +%s
            ("2020-01-01", 1_577_923_199), ("2024-02-29", 1_709_251_199), ("2100-02-28", 4_107_542_399),
            ("9999-12-31", 253_402_300_799),
        ] as [(String, Int64)])
    func until(day: String, second: Int64) throws {
        let read = try configuration(minimal("keys: [{ id: 'k', file: '/k', until: '\(day)' }]"))
        #expect(read.keys[0].until == second)
    }

    @Test(
        "the ways in of administrators are said in full",
        arguments: [
            Refused(minimal("control: true"), .wrongType, "control"),
            Refused(minimal("control: { socket: 'control.sock' }"), .badValue, "control.socket", "absolute path"),
            Refused(
                minimal("control: { socket: '/\(String(repeating: "x", count: 107))' }"), .badValue, "control.socket",
                "at most 107"),
            Refused(minimal("control: { group: 'a b' }"), .badValue, "control.group"),
            Refused(minimal("push: {}"), .missingKey, "push.listen", "10801"),
            Refused(
                minimal("push: { listen: '127.0.0.1:10801' }"), .conflict, "push", "no key that may push", "keygen"),
            Refused(
                minimal("keys: [{ id: 'k', file: '/k' }], push: { listen: '127.0.0.1:10801' }"), .conflict, "push"),
            Refused(
                minimal(
                    "keys: [{ id: 'k', file: '/k', scope: ['push'], revoked: true }], push: { listen: '127.0.0.1:1' }"),
                .conflict, "push"),
            Refused(minimal("push: { listen: '10.9.0.1:10801' }"), .conflict, "push.allow", "no `allow`"),
            Refused(
                minimal("push: { listen: '10.9.0.1', allow: ['0.0.0.0/0'] }"), .conflict, "push.allow", "everybody"),
            Refused(
                minimal("keys: [{ id: 'k', file: '/k', scope: ['push'] }], push: { listen: '127.0.0.1:10808' }"),
                .conflict, "push", "where socks listens"),
        ])
    func waysIn(row: Refused) { expectRefusal(row) }

    @Test("what is bound at the start needs one, and everything about devices and keys does not")
    func sections() throws {
        let plain = try configuration(minimal())
        let ways = try configuration(
            minimal(
                "gateway: 'g', control: false, state: '/s', keys: [{ id: 'k', file: '/k', scope: ['push'] }],"
                    + " push: { listen: '127.0.0.1:1' }"))
        #expect(ways.sections(differingFrom: plain) == ["state", "gateway", "control", "push"])
        let lab = try configuration(
            minimal(
                "devices: [{ name: 'x', address: '10.0.0.2' }], newDevices: 'block', lease: false, leases: '/l',"
                    + " keys: [{ id: 'k', file: '/k' }]"))
        #expect(lab.sections(differingFrom: plain).isEmpty)
    }

    @Test("the summary names devices, keys and ways in, and no key's octets")
    func summary() throws {
        let summary = try configuration(example("lab.json5")).resolve().summary
        for line in [
            "profile     whistle-qa (Whistle QA), self-service",
            "device      kiosk, 3c:28:6d:ab:cd:ef@wlan0, whistle-qa",
            "new devices default", "lease       12h",
            "key         beetle, links, from \"/etc/starship/keys/beetle\", 2 hosts, until 2027-06-30",
            "key         laptop, links, from \"/etc/starship/keys/laptop\", revoked",
            "control     \"/run/starship/control.sock\", group starship", "push        10.9.0.1:10801 for 10.9.0.0/24",
        ] {
            #expect(summary.split(separator: "\n").contains(Substring(line)), "\(line)\n\(summary)")
        }
    }
}
