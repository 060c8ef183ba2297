/// What a device sees of itself, and of nobody else.

import Addresses
import Bytes
import Control
import Devices
import Foundation
import Health
import LinuxIO
import Profiles
import Testing
import Upstreams

@testable import Administration
@testable import Gateway
@testable import Page

@Suite("The page's views")
struct PageTests {
    private static let macs = ["02:00:00:00:00:03", "02:00:00:00:00:04"]

    @Test("a first visit asks for a name, says which proxy sees the phone, and shows the card for first phones")
    func firstVisit() throws {
        let desk = try Desk.forPages()
        defer { desk.remove() }
        let home = Phone(desk, "10.9.0.2", mac: Self.macs[0]).get("/")
        #expect(home.status == 200)
        #expect(home.has("What is written on this phone?", "Mobile data", "Private DNS", "10.9.0.2", "lab-1"))
        #expect(home.has("127.0.0.1:9", "default for everything", "Everything goes through the proxy."))
        #expect(home.has("Switch this phone to Bee", "Switch this phone to Whistle QA", "For 12 h"))
        #expect(!home.has("Locked") && !home.has("Switch this phone to a<"), "\(home)")
        #expect(desk.revision == 0)
    }

    @Test("the first visit asks for a name until somebody has said one; handed over, it asks the next one")
    func askedForName() throws {
        let desk = try Desk.forPages()
        defer { desk.remove() }
        let phone = Phone(desk, "10.9.0.2", mac: Self.macs[0])
        #expect(phone.get("/").has("What is written on this phone?", "Prepare this phone, once"))
        #expect(phone.post(.name, ("name", "pixel")).status == 303)
        let named = phone.get("/")
        #expect(!named.has("What is written on this phone?"))
        #expect(named.has("Prepare this phone, once", "Rename this phone"))
        #expect(phone.post(.handOver).status == 303)
        #expect(phone.get("/").has("What is written on this phone?", "value=\"pixel\""))
        // The same name again is an answer too.
        #expect(phone.post(.name, ("name", "pixel")).status == 303)
        #expect(!phone.get("/").has("What is written on this phone?"))
    }

    @Test("links and refusals lead to all pages that there are for the device")
    func leads() throws {
        let desk = try Desk.forPages("adhoc: { from: [\"10.20.0.0/16\"] },")
        defer { desk.remove() }
        let phone = Phone(desk, "10.9.0.2", mac: Self.macs[0])
        phone.post(.switchTo, ("profile", "qa"))
        for target in ["/a?v=1&profile=b", "/a?v=9", "/nothing", "/lab", "/check", "/proxy.pac"] {
            let page = phone.get(target)
            #expect(page.has("href=\"/ca\"", "href=\"/adhoc\"", "href=\"/requests\""), "\(target): \(page)")
        }
        let foreign = Phone(desk, "10.9.0.2", host: "rebound.example").get("/")
        #expect(foreign.status == 421 && !foreign.has("/ca") && !foreign.has("<nav"), "\(foreign)")
    }

    @Test("an assignment is shown with who made it, since when and until when")
    func assigned() throws {
        let desk = try Desk.forPages("devices: [{ name: \"pixel\", address: \"10.9.0.2\" }],")
        defer { desk.remove() }
        desk.ask(.post, "/v1/activate", "{profile: 'qa', device: 'pixel', for: '90m'}")
        let home = Phone(desk, "10.9.0.2").get("/")
        #expect(home.has("Whistle QA", "127.0.0.1:10", "shop.example", "root", "in 90 min", "pixel"), "\(home)")
        #expect(home.has("Certificate", "reads encrypted requests too", "One hour more for this phone"))
        #expect(!home.has("default for everything"))
    }

    @Test("all addresses of a MAC are one device")
    func oneDevice() throws {
        let desk = try Desk.forPages()
        defer { desk.remove() }
        let phone = Phone(desk, "10.9.0.2", mac: Self.macs[0])
        let sixth = Phone(desk, "fd00::2", mac: Self.macs[0], host: "[fd00::1]")
        #expect(phone.post(.switchTo, ("profile", "qa")).status == 303)
        #expect(sixth.get("/").has("Whistle QA", "this phone"))
        #expect(phone.routed == "qa" && sixth.routed == "qa")
    }

    @Test("no page of a device has another one's name, MAC, address, profile or requests")
    func apart() throws {
        let desk = try Desk.forPages("devices: [{ name: \"secret-tv\", mac: \"\(Self.macs[1])\" }],")
        defer { desk.remove() }
        let (phone, other) = (Phone(desk, "10.9.0.2", mac: Self.macs[0]), Phone(desk, "10.9.0.40", mac: Self.macs[1]))
        #expect(other.post(.switchTo, ("profile", "qa")).status == 303)
        #expect(other.post(.direct, ("host", "hidden.example")).status == 303)
        for target in ["/", "/requests", "/learn", "/ca", "/adhoc", "/l", "/codes", "/lab", "/a?v=1&profile=b"] {
            let page = phone.get(target)
            for text in ["secret-tv", Self.macs[1], "10.9.0.40", "hidden.example"] {
                #expect(!page.has(text), "\(target): \(text)")
            }
        }
        #expect(phone.get("/").has("127.0.0.1:9") && other.get("/").has("127.0.0.1:10", "secret-tv"))
        #expect(other.get("/requests").has("full:hidden.example"))
    }

    @Test("who has no address of one device is told so, and nothing else", arguments: ["127.0.0.1", "fe80::2"])
    func strangers(address: String) throws {
        let desk = try Desk.forPages()
        defer { desk.remove() }
        let stranger = Phone(desk, address, host: "10.9.0.1")
        #expect(stranger.get("/").status == 403)
        #expect(stranger.post(.switchTo, ("profile", "qa")).status == 403)
        #expect(stranger.get("/style.css").status == 200 && desk.revision == 0)
    }

    @Test("a device of another network is known by its address alone")
    func afar() throws {
        let desk = try Desk.forPages()
        defer { desk.remove() }
        let phone = Phone(desk, "172.16.0.9")
        #expect(phone.get("/").has("172.16.0.9"))
        #expect(phone.post(.switchTo, ("profile", "qa")).status == 303)
        #expect(phone.assignment?.device == .address(phoneAddress) && phone.routed == "qa")
    }

    private let phoneAddress = numeric("172.16.0.9")

    @Test("a phone whose first packet asks for the page is itself, though the kernel's news of it were not read")
    func comesBeforeItsNews() throws {
        let desk = try Desk.forPages("newDevices: \"block\", devices: [{ name: \"pixel\", mac: \"\(Self.macs[0])\" }],")
        defer { desk.remove() }
        let mac = try #require(MACAddress(parsing: Self.macs[0]))
        desk.administrator.askNeighbour = { address in
            guard address == numeric("10.9.0.2") || address == numeric("fd00:9::2") else { return nil }
            return KernelNeighbour(interface: "wlan0", address: address, hardware: mac, isRouter: false)
        }
        for address in ["10.9.0.2", "fd00:9::2"] {
            let page = Phone(desk, address).get("/")
            #expect(page.has("pixel") && !page.has("Blocked"), "\(page)")
        }
        // The kernel knows nobody there.
        #expect(Phone(desk, "10.9.0.3").get("/").has("Blocked"))
        // Its flows were faster: by their address alone it is known already.
        desk.administrator.devices.heard(from: numeric("10.9.0.4"), at: Clock.unixTime().seconds)
        desk.administrator.askNeighbour = { address in
            KernelNeighbour(interface: "wlan0", address: address, hardware: mac, isRouter: false)
        }
        #expect(Phone(desk, "10.9.0.4").get("/").has("pixel"))
    }

    @Test("where newcomers are blocked the page says so, and a name lets a device in")
    func blocked() throws {
        let desk = try Desk.forPages("newDevices: \"block\",")
        defer { desk.remove() }
        let phone = Phone(desk, "10.9.0.2", mac: Self.macs[0])
        #expect(phone.get("/").has("Blocked", "phones without a name"))
        #expect(phone.post(.direct, ("host", "x.example")).status == 422)
        #expect(phone.post(.tryAgain).status == 422 && desk.revision == 0)
        #expect(phone.post(.name, ("name", "pixel")).status == 303)
        #expect(!phone.get("/").has("Blocked"))
    }

    @Test("the certificate's page says that none is needed, or why there is none")
    func certificates() throws {
        let desk = try Desk.forPages()
        defer { desk.remove() }
        let phone = Phone(desk, "10.9.0.2", mac: Self.macs[0])
        #expect(phone.get("/ca").has("needs no certificate"))
        #expect(phone.get("/ca.crt").status == 404)
        phone.post(.switchTo, ("profile", "qa"))
        #expect(phone.get("/ca").has("Certificate of", "Whistle QA", "No certificate:", "http://rootca.pro/"))
        #expect(phone.get("/ca.crt").status == 404)
    }

    @Test("who leaves a proxy that decrypts is told how to remove its certificate, whoever has switched")
    func leaves() throws {
        let desk = try Desk.forPages()
        defer { desk.remove() }
        let phone = Phone(desk, "10.9.0.2", mac: Self.macs[0])
        phone.post(.switchTo, ("profile", "qa"))
        #expect(!phone.get("/").has("Remove the certificate of Whistle"))
        phone.post(.switchTo, ("profile", "b"))
        #expect(phone.get("/").has("Remove the certificate of Whistle", "Remove Profile"))
        phone.post(.switchTo, ("profile", "qa"))
        #expect(!phone.get("/").has("Remove the certificate of Whistle"))
        desk.ask(.post, "/v1/release", "{device: '10.9.0.2'}")
        #expect(phone.get("/").has("Remove the certificate of Whistle"))
        #expect(!Phone(desk, "10.9.0.3").get("/").has("Remove the certificate of Whistle"))
    }

    @Test("codes are those of profiles for everybody, and the device's own sticker")
    func codes() throws {
        let desk = try Desk.forPages("devices: [{ name: \"pixel\", address: \"10.9.0.2\" }],")
        defer { desk.remove() }
        let codes = Phone(desk, "10.9.0.2").get("/codes")
        #expect(codes.has("Bee", "Whistle QA", "Profile qa", "pixel", "<svg") && !codes.has("Locked"))
        #expect(!Phone(desk, "10.9.0.3").get("/codes").has("pixel"))
    }

    @Test("the board is for the networks that may see it, and shows every device")
    func board() throws {
        let desk = try Desk()
        defer { desk.remove() }
        try desk.restart(
            Desk.pageProfiles,
            "page: { viewers: [\"10.9.0.8/29\"] },"
                + "devices: [{ name: \"tv\", address: \"10.9.0.40\", profile: \"qa\" }],",
            network: "network: { setup: \"gateway\", lan: [\"nosuch0\"] },")
        let refused = Phone(desk, "10.9.0.2").get("/lab")
        #expect(refused.status == 403 && refused.has("page.viewers", "10.9.0.2") && !refused.has("tv"))
        let board = Phone(desk, "10.9.0.9").get("/lab")
        #expect(board.status == 200 && board.has("tv", "Whistle QA", "Not known") && !board.has("<form"), "\(board)")
        #expect(Phone(desk, "10.9.0.9").get("/").has("Board") && !Phone(desk, "10.9.0.2").get("/").has("Board"))
    }

    @Test("the proxy's address is given where the device may use it, else the page says what is missing")
    func proxyScript() throws {
        let desk = try Desk.forPages()
        defer { desk.remove() }
        let none = Phone(desk, "10.9.0.2").get("/proxy.pac")
        #expect(none.status == 404 && none.has("http.listen"))
        try desk.restart(
            Desk.pageProfiles,
            "http: { listen: \"10.9.0.1:10809\", allow: [\"10.9.0.0/24\"] },",
            network: "tun: false, network: { setup: \"none\" },")
        let script = Phone(desk, "10.9.0.2").get("/proxy.pac")
        #expect(script.status == 200 && script.has("PROXY 10.9.0.1:10809", "FindProxyForURL"), "\(script)")
        #expect(Phone(desk, "10.9.1.2").get("/proxy.pac").status == 404)
        #expect(Phone(desk, "10.9.0.2").get("/").has("This phone comes by its proxy setting"))
        #expect(Phone(desk, "10.9.0.3", mac: Self.macs[0]).get("/").has("Stay on another Wi-Fi"))
    }

    @Test("own proxies are off unless the file says otherwise")
    func ownProxies() throws {
        let desk = try Desk.forPages()
        defer { desk.remove() }
        let phone = Phone(desk, "10.9.0.2")
        #expect(phone.get("/adhoc").has("lets nobody bring a proxy", "adhoc"))
        #expect(phone.get("/l?port=8899").has("lets nobody bring one"))
        #expect(phone.post(.bringProxy, ("server", "10.20.3.77:8899"), ("domains", "")).status != 303)
        #expect(phone.post(.bringLaptop, ("port", "8899")).status == 422 && desk.revision == 0)
    }

    @Test("an own proxy is brought by a phone for itself, and what is wrong stands beside its field")
    func ownProxy() throws {
        let desk = try Desk.forPages("adhoc: { from: [\"10.20.0.0/16\"] },")
        defer { desk.remove() }
        let (phone, other) = (Phone(desk, "10.9.0.2", mac: Self.macs[0]), Phone(desk, "10.9.0.40", mac: Self.macs[1]))
        #expect(phone.get("/adhoc").has("10.20.0.0/16", "1024-65535") && phone.get("/").has("My own proxy"))
        let outside = phone.post(.bringProxy, ("server", "10.21.0.1:8899"), ("domains", "shop.example"))
        #expect(outside.status == 422 && outside.has("value=\"10.21.0.1:8899\"", "server-error", "shop.example"))
        let wrong = phone.post(.bringProxy, ("server", "10.20.3.77:8899"), ("domains", "http://x/"))
        #expect(wrong.status == 422 && wrong.has("domains-error") && desk.revision == 0, "\(wrong)")
        #expect(phone.post(.bringProxy, ("server", "10.20.3.77:8899"), ("domains", "x.example")).status == 303)
        #expect(phone.get("/").has("10.20.3.77:8899", "x.example") && phone.routed?.hasPrefix("own-") == true)
        #expect(other.routed == nil && !other.get("/").has("10.20.3.77"))
    }

    @Test("an own proxy gets an hour more up to its longest time; beyond that nothing is promised")
    func ownProxyForLonger() throws {
        let desk = try Desk.forPages("adhoc: { from: [\"10.20.0.0/16\"], lease: \"1h\", max: \"2h\" },")
        defer { desk.remove() }
        let phone = Phone(desk, "10.9.0.2", mac: Self.macs[0])
        #expect(phone.post(.bringProxy, ("server", "10.20.3.77:8899"), ("domains", "x.example")).status == 303)
        let first = try #require(phone.assignment?.until)
        #expect(phone.post(.extend).location == "/?done=extended")
        #expect(phone.assignment?.until == first + 3600)
        let more = phone.post(.extend)
        #expect(more.status == 422 && more.has("for 2h already"), "\(more)")
        #expect(phone.assignment?.until == first + 3600)
    }

    @Test("a form waits for the proxy that it brings: what takes no connection is said beside its field")
    func trial() throws {
        let desk = try Desk.forPages("adhoc: { from: [\"10.20.0.0/16\"] },")
        defer { desk.remove() }
        let phone = Phone(desk, "10.9.0.2", mac: Self.macs[0])
        func answer(_ failure: Cause?) throws -> PageAnswer {
            let visit = phone.visit(.bringProxy, ("server", "10.20.3.77:8898"), ("domains", "x.example"))
            desk.administrator.page.trials[7] = visit
            var result = ProbeResult(ticket: 7)
            result.steps = [ProbeStep(.connect, took: .zero, failure: failure, words: "")]
            desk.administrator.takeTrial(result, &desk.gateway)
            desk.administrator.takeTrial(result, &desk.gateway)
            #expect(desk.administrator.page.answers.map(\.number) == [visit.number], "one answer, to who has asked")
            return try #require(desk.administrator.page.answers.popLast()?.answer)
        }
        let refused = try answer(.portClosed)
        let html = String(decoding: refused.body, as: UTF8.self)
        for part in ["nobody listens at the port of 10.20.3.77:8898", "server-error", "x.example"] {
            #expect(html.contains(part), "\(part): \(html)")
        }
        #expect(refused.status == 422 && desk.revision == 0 && phone.assignment == nil)
        #expect(try answer(nil).status == 303)
        #expect(desk.revision == 1 && phone.assignment?.profile.hasPrefix("own-") == true)
    }

    @Test("a laptop that comes by a family which no proxy may have is sent to our address of the other one")
    func laptopByIPv6() throws {
        let desk = try Desk.forPages("adhoc: { from: [\"10.20.0.0/16\"] },")
        defer { desk.remove() }
        let laptop = Phone(desk, "fd00::77", mac: Self.macs[0], host: "starship.internal")
        for (target, place) in [("/l?port=8899", "/l?port=8899"), ("/l", "/l")] {
            let reply = laptop.get(target)
            #expect(reply.status == 303 && reply.location == "http://10.9.0.1\(place)", "\(reply)")
        }
        // There it asks from the address that its proxy is to have.
        #expect(Phone(desk, "10.20.3.77", mac: Self.macs[0]).get("/l?port=8899").has("10.20.3.77"))
        // Who has that family, or is elsewhere altogether, is told why.
        #expect(Phone(desk, "10.9.0.2").get("/l").has("found 10.9.0.2"))
        let both = try Desk.forPages("adhoc: { from: [\"10.20.0.0/16\", \"fd00:1::/32\"] },")
        defer { both.remove() }
        #expect(Phone(both, "fd00::77", host: "starship.internal").get("/l").has("found fd00::77"))
    }

    @Test("what a self-check has found is said as faults, and what is not known is not said")
    func checks() {
        var found = SelfCheck()
        #expect(Administrator.results(found).map(\.fault) == [.otherResolver, .otherRoute])
        (found.names, found.route, found.ipv6) = (.ours, .throughUs, .none)
        #expect(Administrator.results(found).map(\.fault) == [nil, nil, nil])
        found.names = .privateDNS(numeric("192.0.2.1"))
        #expect(Administrator.results(found).first == CheckView.Result(.names, fault: .privateDNS, detail: "192.0.2.1"))
    }

    @Test("who offers the other IPv6 is named beside what shows it, once")
    func foreignRouter() {
        var found = SelfCheck()
        found.router = SelfCheck.Router(address: numeric("fe80::9"), hardware: MACAddress(bits: 9))
        #expect(Administrator.results(found).allSatisfy { $0.detail == nil })
        let words = "the router fe80::9 (00:00:00:00:00:09) offers IPv6 on this network"
        found.ipv6 = .around(.foreignAddress(numeric("2001:db8:7::1")))
        #expect(
            Administrator.results(found).last?.detail
                == "this phone has the address 2001:db8:7::1, which is none of this network's; \(words)")
        found.ipv6 = .around(.router(numeric("fe80::9"), MACAddress(bits: 9)))
        #expect(Administrator.results(found).last?.detail == words)
    }

    @Test("a self-check is its own device's; without a DNS service there is none")
    func unknownCheck() throws {
        let desk = try Desk.forPages()
        defer { desk.remove() }
        #expect(Phone(desk, "10.9.0.2").get("/check").status == 404)
        #expect(Phone(desk, "10.9.0.2").get("/check?n=abc").has("This check is over"))
    }
}
