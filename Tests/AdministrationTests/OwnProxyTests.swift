/// Proxies that people bring along: for one device, within bounds, for a while, and gone without a trace.

import Addresses
import Bytes
import Control
import Devices
import Foundation
import LinuxIO
import Profiles
import Testing

@testable import Administration

extension Desk {
    static let phones = """
        devices: [{ name: "pixel", mac: "02:00:00:00:00:03" }, { name: "tv", mac: "02:00:00:00:00:04" }],
        """
    static let adhoc = phones + "adhoc: { from: ['10.20.0.0/16'], ports: '1024-9999', lease: '1h', max: '2h' },"

    /// Has a device bring a proxy, as its page does; returns the last second of it.
    @discardableResult
    func bring(_ server: String, domains: String = "", for device: String = "pixel") throws(ControlError) -> Int64 {
        let identity = try administrator.find(device)
        return try administrator.bringProxy(server, domains: domains, for: identity, device, &gateway)
    }

    /// Has the neighbour table say where a machine is.
    func see(_ mac: String, at address: String, on interface: String = "wlan0") throws {
        administrator.devices.note(
            Sighting(
                address: try #require(IPAddress(parsing: address)), mac: try #require(MACAddress(parsing: mac)),
                interface: interface, seen: 1))
    }

    /// Whether nothing is left of any own proxy.
    var hasNoOwnProxy: Bool {
        let state = administrator.plan.lab
        let isNamed = ask(.get, "/v1/profiles").has("own-") || ask(.get, "/v1/devices").has("own-")
        return state.own.isEmpty && !state.profiles.contains { $0.id.hasPrefix("own-") } && !isNamed
            && !state.assignments.contains { $0.profile.hasPrefix("own-") }
    }
}

@Suite("Own proxies")
struct OwnProxyTests {
    @Test("one device gets it, for the lease, and it is said to be its own everywhere; nobody else is moved")
    func brings() throws {
        let desk = try Desk(Desk.adhoc)
        defer { desk.remove() }
        let before = Int64(Date().timeIntervalSince1970)
        let end = try desk.bring(" http://10.20.3.77:8899/ ", domains: "shop.example,\n *.cdn.example  full:x.example")
        let after = Int64(Date().timeIntervalSince1970)
        #expect((before + 3600...after + 3600).contains(end))
        let device = desk.ask(.get, "/v1/devices/pixel")
        #expect(
            device.has("\"profile\":\"own-pixel\"", "\"ownProxy\":\"own proxy of pixel\"", "\"until\":\(end)"),
            "\(device)")
        let profile = desk.ask(.get, "/v1/profiles/own-pixel")
        #expect(
            profile.has(
                "\"host\":\"10.20.3.77\",\"port\":8899",
                "\"domains\":[\"shop.example\",\"*.cdn.example\",\"full:x.example\"]"), "\(profile)")
        let list = desk.ask(.get, "/v1/profiles")
        #expect(list.has("\"id\":\"own-pixel\"", "\"own\":true"), "\(list)")
        let stored = desk.administrator.plan.effective.configuration.profile("own-pixel")
        #expect(stored?.isSelfService == false && stored?.health != nil)
        let history = desk.ask(.get, "/v1/history")
        #expect(history.has("\"by\":\"pixel\",\"how\":\"own proxy\"", "own proxy of pixel", "10.20.3.77:8899"))
        #expect(desk.ask(.get, "/v1/devices/tv").has("\"profile\":\"a\"", "\"profileBy\":\"default\""))
        #expect(!desk.ask(.get, "/v1/devices/tv").has("ownProxy"))
        #expect(desk.ask(.get, "/v1/status").has("\"profile\":{\"id\":\"a\"", "\"ownProxies\":1"))
    }

    @Test(
        "B214: what is out of bounds, this machine's, everybody's or nobody's is refused in its field, and changes nothing",
        arguments: [
            ("10.21.0.1:8899", "found 10.21.0.1; expected an address in 10.20.0.0/16"),
            ("10.20.0.1:80", "found the port 80; expected a port in 1024-9999"),
            ("10.20.0.1:10000", "found the port 10000"), ("10.20.0.1:0", "a port from 1 to 65535"),
            ("10.20.0.1:70000", "a port from 1 to 65535"), ("10.20.0.1", "found 10.20.0.1 without a port"),
            ("10.20.255.255:8899", "found 10.20.255.255"), ("127.0.0.1:8899", "found 127.0.0.1"),
            ("[::1]:8899", "found ::1"), ("[::ffff:127.0.0.1]:8899", "found 127.0.0.1"),
            ("[::ffff:7f00:1]:8899", "found 127.0.0.1"), ("0.0.0.0:8899", "found 0.0.0.0"), ("[::]:8899", "found ::"),
            ("169.254.169.254:8080", "found 169.254.169.254"), ("[fe80::1]:8899", "found fe80::1"),
            ("224.0.0.1:8899", "found 224.0.0.1"), ("255.255.255.255:8899", "found 255.255.255.255"),
            ("localhost:8899", "found the name"), ("proxy.example:8899", "found the name"),
            ("127.1:8899", "expected an address and a port"), ("2130706433:8899", "expected an address and a port"),
            ("0x7f.1:8899", "expected an address and a port"), ("", "found nothing"), ("  ", "found nothing"),
            ("http://qa:S3cr3t@10.20.0.1:8899", "found a user with a password"),
            ("https://10.20.0.1:8899", "a URL that is no proxy's"), ("ftp://10.20.0.1:8899", "no proxy's"),
            ("http://10.20.0.1:8899/x", "no proxy's"), ("http://127.0.0.1:8899", "found 127.0.0.1"),
            ("10.20.0.1:8899\r\nX: y", "expected an address and a port"),
        ])
    func refuses(server: String, words: String) throws {
        let desk = try Desk(Desk.adhoc)
        defer { desk.remove() }
        let error = #expect(throws: ControlError.self) { try desk.bring(server) }
        #expect(error?.path == "server" && error?.message.contains(words) == true, "\(error?.message ?? "")")
        #expect(error?.message.contains("S3cr3t") == false)
        #expect(desk.hasNoOwnProxy && desk.administrator.store.number == 0)
    }

    @Test("the gateway itself, and the device itself, are no place for a device's proxy")
    func refusesOwnAddresses() throws {
        let own = try NetworkInterface.addresses().map(\.address).first { $0.isIPv4 && !$0.isLoopback }
        let networks = ["10.20.0.0/16"] + (own.map { ["\($0)/32"] } ?? [])
        let list = networks.map { "'\($0)'" }.joined(separator: ", ")
        let desk = try Desk(Desk.phones + "adhoc: { from: [\(list)] },")
        defer { desk.remove() }
        if let own {
            let error = #expect(throws: ControlError.self) { try desk.bring("\(own):8899") }
            #expect(error?.message.contains("this gateway itself") == true, "\(error?.message ?? "")")
        }
        try desk.see("02:00:00:00:00:03", at: "10.20.0.5")
        let error = #expect(throws: ControlError.self) { try desk.bring("10.20.0.5:8899") }
        #expect(error?.message.contains("the device itself") == true, "\(error?.message ?? "")")
        #expect(desk.hasNoOwnProxy)
        try desk.bring("10.20.0.5:8899", for: "tv")
    }

    @Test(
        "domains that are none are refused in their field, and change nothing",
        arguments: ["http://shop.example/", "shop..example", "*", "ex^ample.com", "10.0.0.1/8"])
    func refusesDomains(domains: String) throws {
        let desk = try Desk(Desk.adhoc)
        defer { desk.remove() }
        let error = #expect(throws: ControlError.self) {
            try desk.bring("10.20.0.1:8899", domains: "a.example " + domains)
        }
        #expect(error?.path == "domains" && error?.message.contains("domains[1]") == true, "\(error?.message ?? "")")
        let many = (0...256).map { "h\($0).example" }.joined(separator: " ")
        let tooMany = #expect(throws: ControlError.self) { try desk.bring("10.20.0.1:8899", domains: many) }
        #expect(tooMany?.path == "domains" && tooMany?.message.contains("at most 256") == true)
        #expect(desk.hasNoOwnProxy && desk.administrator.store.number == 0)
    }

    @Test("without `adhoc` nobody brings anything")
    func off() throws {
        let desk = try Desk(Desk.phones)
        defer { desk.remove() }
        let error = #expect(throws: ControlError.self) { try desk.bring("10.20.0.1:8899") }
        #expect(error?.status == 403 && error?.message.contains("adhoc") == true)
        #expect(desk.administrator.ownProxyTerms == nil)
    }

    @Test("it lasts for the lease, can be extended to the most that there is, and no other way leads beyond")
    func lasts() throws {
        let desk = try Desk(Desk.adhoc)
        defer { desk.remove() }
        let pixel = try desk.administrator.find("pixel")
        let end = try desk.bring("10.20.0.1:8899")
        let since = end - 3600
        let forever = "{\"profile\": \"own-pixel\", \"device\": \"pixel\", \"for\": \"forever\"}"
        let again = desk.ask(.post, "/v1/activate", forever)
        #expect(again.status == 200 && again.has("\"until\":\(since + 7200)"), "\(again)")
        let usual = desk.ask(
            .post, "/v1/activate", "{\"profile\": \"own-pixel\", \"device\": \"pixel\", \"for\": \"10m\"}")
        #expect(usual.status == 200, "\(usual)")
        let extended = try desk.administrator.extendOwnProxy(of: pixel, by: .hours(1), "pixel", &desk.gateway)
        #expect((since + 600 + 3600...since + 620 + 3600).contains(extended))
        let most = try desk.administrator.extendOwnProxy(of: pixel, by: .hours(1), "pixel", &desk.gateway)
        #expect(most == since + 7200)
        let error = #expect(throws: ControlError.self) {
            try desk.administrator.extendOwnProxy(of: pixel, by: .hours(1), "pixel", &desk.gateway)
        }
        #expect(error?.message.contains("2h") == true, "\(error?.message ?? "")")
        // The same one brought again is no new one; another one is.
        #expect(try desk.bring("10.20.0.1:8899") <= since + 7200)
        #expect(desk.administrator.plan.lab.own.map(\.since) == [since])
        try desk.bring("10.20.0.2:8899")
        #expect(desk.administrator.plan.lab.profiles.map(\.id) == ["own-pixel"])
        #expect(desk.ask(.get, "/v1/profiles/own-pixel").has("10.20.0.2"))
    }

    @Test("with its lease the profile ends too, and the history says whose it was")
    func ends() throws {
        let desk = try Desk(Desk.adhoc)
        defer { desk.remove() }
        let end = try desk.bring("10.20.0.1:8899")
        desk.seeToIt(at: end)
        #expect(desk.ask(.get, "/v1/devices/pixel").has("\"profile\":\"own-pixel\""))
        desk.seeToIt(at: end + 1)
        #expect(desk.hasNoOwnProxy)
        #expect(desk.ask(.get, "/v1/devices/pixel").has("\"profile\":\"a\"", "\"profileBy\":\"default\""))
        #expect(desk.ask(.get, "/v1/history").has("pixel had own-pixel (own proxy of pixel)"))
    }

    @Test("whoever ends the assignment ends the profile", arguments: 0..<6)
    func goes(way: Int) throws {
        let desk = try Desk(Desk.adhoc)
        defer { desk.remove() }
        try desk.bring("10.20.0.1:8899")
        #expect(!desk.hasNoOwnProxy)
        switch way {
        case 0: #expect(desk.ask(.post, "/v1/activate", "{\"profile\": \"b\", \"device\": \"pixel\"}").status == 200)
        case 1:
            #expect(
                desk.ask(.post, "/v1/activate", "{\"profile\": \"b\", \"all\": true, \"override\": true}").status == 200
            )
        case 2: #expect(desk.ask(.delete, "/v1/profiles/own-pixel?moveTo=default").status == 200)
        case 3: #expect(desk.ask(.delete, "/v1/profiles/own-pixel?moveTo=b").status == 200)
        case 4: desk.administrator.tell([.gaveUp(profile: "own-pixel")], &desk.gateway)
        default:
            _ = try desk.administrator.release(
                .device("pixel"), ControlCall.Manner(), "root", &desk.gateway)
        }
        #expect(desk.hasNoOwnProxy)
        #expect(desk.ask(.get, "/v1/devices/tv").has("\"profile\":\"\(way == 1 ? "b" : "a")\""))
    }

    @Test("it is nobody else's, never the default, and no profile depends on it")
    func isOfOneDevice() throws {
        let desk = try Desk(Desk.adhoc)
        defer { desk.remove() }
        try desk.bring("10.20.0.1:8899")
        let revision = desk.administrator.store.number
        let group = "{\"upstream\": {\"type\": \"group\", \"members\": [\"a\", \"own-pixel\"]}}"
        let rules = "{\"upstream\": {\"type\": \"direct\"}, \"rules\": [\"DOMAIN,x.example,own-pixel\"]}"
        let plain = "{\"upstream\": {\"type\": \"direct\"}}"
        #expect(desk.ask(.put, "/v1/profiles/p", plain).status == 201)
        desk.ask(.post, "/v1/activate", "{\"profile\": \"p\", \"device\": \"tv\"}")
        let asks: [(ControlRequest.Method, String, String?)] = [
            (.post, "/v1/activate", "{\"profile\": \"own-pixel\", \"device\": \"tv\"}"),
            (.post, "/v1/activate", "{\"profile\": \"own-pixel\", \"all\": true}"),
            (.put, "/v1/profiles/own-pixel", plain), (.put, "/v1/profiles/g", group), (.put, "/v1/profiles/r", rules),
            (.put, "/v1/config", "{\"profiles\": [{\"id\": \"own-pixel\", \"upstream\": {\"type\": \"direct\"}}]}"),
            (.delete, "/v1/profiles/p?moveTo=own-pixel", nil),
        ]
        for (method, target, body) in asks {
            let reply = desk.ask(method, target, body)
            #expect(reply.status == 409 && reply.has("own-pixel"), "\(target) \(reply)")
        }
        #expect(desk.administrator.store.number == revision + 2)
        // What replaces all pushed profiles neither shows it nor takes it away.
        #expect(!String(describing: desk.administrator.plan.lab.overlay.text).contains("own-pixel"))
        let put = desk.ask(.put, "/v1/config", "{\"profiles\": []}")
        #expect(put.status == 200 && desk.ask(.get, "/v1/devices/pixel").has("\"profile\":\"own-pixel\""), "\(put)")
    }

    @Test("it outlives a restart with its end, and a file that lets nobody bring one ends it")
    func restarts() throws {
        var desk: Desk? = try Desk(Desk.adhoc)
        let directory = try #require(desk?.directory)
        let end = try #require(try desk?.bring("10.20.0.1:8899"))
        desk = nil
        let second = try Desk(on: directory)
        defer { second.remove() }
        #expect(second.ask(.get, "/v1/devices/pixel").has("own proxy of pixel", "\"until\":\(end)"))
        try second.edit(Desk.profiles, Desk.phones)
        #expect(second.ask(.post, "/v1/reload").status == 200)
        second.seeToIt(at: end - 3000)
        #expect(second.hasNoOwnProxy)
    }

    @Test("a profile of the file keeps its id, and devices with odd names get ids all the same")
    func names() throws {
        let profiles = Desk.profiles + ", { id: \"own-pixel\", upstream: { type: \"direct\" } }"
        let desk = try Desk(Desk.adhoc)
        defer { desk.remove() }
        try desk.edit(profiles, Desk.adhoc)
        #expect(desk.ask(.post, "/v1/reload").status == 200)
        try desk.bring("10.20.0.1:8899")
        #expect(desk.ask(.get, "/v1/devices/pixel").has("\"profile\":\"own-pixel-2\""))
        try desk.bring("10.20.0.1:8899", for: "02:00:00:00:00:09@wlan0")
        try desk.bring("10.20.0.1:8899", for: "2001:db8::7")
        let ids = desk.administrator.plan.lab.profiles.map(\.id)
        #expect(ids == ["own-pixel-2", "own-02-00-00-00-00-09", "own-2001-db8--7"])
        // What was written can be read again.
        let bytes = Array(desk.administrator.plan.lab.json.text.utf8)
        #expect(try LabState.parse(bytes.span) == desk.administrator.plan.lab)
    }
}
