/// What a device changes by the page: itself, by its own forms, and what it may.

import Addresses
import Bytes
import Control
import Devices
import Foundation
import LinuxIO
import Profiles
import Testing

@testable import Administration
@testable import Page

@Suite("The page's changes")
struct PageChangeTests {
    private static let mac = "02:00:00:00:00:03"
    private static let devices = """
        devices: [{ name: "pixel", address: "10.9.0.2" }, { name: "tv", address: "10.9.0.40" }],
        """

    @Test("a switch is the device's alone, has the usual lease, and is in the history as the page's")
    func switches() throws {
        let desk = try Desk.forPages(Self.devices)
        defer { desk.remove() }
        let (phone, other) = (Phone(desk, "10.9.0.2"), Phone(desk, "10.9.0.40"))
        let token = try #require(phone.get("/").token("/switch"))
        let done = phone.post(.switchTo, ("profile", "qa"), token: token)
        #expect(done.status == 303 && done.location == "/?done=switched", "\(done)")
        let own = try #require(phone.assignment)
        #expect(own.profile == "qa" && own.until == own.since + 43_200 && phone.routed == "qa")
        #expect(other.routed == nil && desk.administrator.plan.lab.assignments.count == 1)
        #expect(desk.administrator.plan.active.id == "a")
        #expect(phone.get("/?done=switched").has("Switched.", "Whistle QA", "this phone"))
        let history = desk.ask(.get, "/v1/history")
        #expect(history.has("\"how\":\"page\"", "\"by\":\"device pixel\"", "pixel uses qa"), "\(history)")
    }

    @Test(
        "a profile that is not for everybody is refused in the words of links",
        arguments: [
            ("locked", "which is not for everybody"), ("qq", "did you mean qa?"), ("", "an id"), ("a b", "an id"),
        ])
    func refuses(profile: String, words: String) throws {
        let desk = try Desk.forPages(Self.devices)
        defer { desk.remove() }
        let refused = Phone(desk, "10.9.0.2").post(.switchTo, ("profile", profile))
        #expect(refused.status == 422 && refused.has("Not done", words), "\(refused)")
        #expect(desk.revision == 0)
    }

    @Test("a form of another site, of another device, of another button or of yesterday changes nothing")
    func forged() throws {
        let desk = try Desk.forPages(Self.devices)
        defer { desk.remove() }
        let phone = Phone(desk, "10.9.0.2")
        let (now, tokens) = (Clock.unixTime().seconds, desk.administrator.pageTokens)
        let good = tokens.text(device: "10.9.0.2", action: .switchTo, at: now)
        let wrong = [
            "", "x", tokens.text(device: "10.9.0.40", action: .switchTo, at: now),
            tokens.text(device: "10.9.0.2", action: .release, at: now),
            tokens.text(device: "10.9.0.2", action: .switchTo, at: now - 86_400),
        ]
        for token in wrong {
            #expect(phone.post(.switchTo, ("profile", "qa"), token: token).status == 403)
        }
        for origin in [nil, "null", "http://evil.example", "https://10.9.0.1"] {
            #expect(phone.submit("switch", [("profile", "qa"), ("token", good)], origin: origin).status == 403)
        }
        var rebound = phone
        rebound.host = "evil.example"
        #expect(rebound.post(.switchTo, ("profile", "qa")).status == 421 && rebound.get("/").status == 421)
        #expect(phone.get("/switch").status == 405 && phone.get("/a?v=1&profile=qa").status == 200)
        #expect(desk.revision == 0 && phone.assignment == nil)
    }

    @Test("a form that is too late says so beside its field, and keeps what was typed")
    func late() throws {
        let desk = try Desk.forPages()
        defer { desk.remove() }
        let refused = Phone(desk, "10.9.0.2").post(.name, ("name", "pixel-9"), token: "x")
        #expect(refused.status == 403 && refused.has("value=\"pixel-9\"", "10 to 20 minutes"), "\(refused)")
        #expect(desk.revision == 0)
    }

    @Test("a device gives itself a name; one that is none, or another's, is refused without saying whose it is")
    func names() throws {
        let desk = try Desk.forPages("devices: [{ name: \"tv\", mac: \"02:00:00:00:00:44\" }],")
        defer { desk.remove() }
        let phone = Phone(desk, "10.9.0.2", mac: Self.mac)
        let hostile = phone.post(.name, ("name", "<script>alert(1)</script>"))
        #expect(hostile.status == 422)
        #expect(hostile.has("value=\"&lt;script&gt;alert(1)&lt;/script&gt;\"", "letters, digits"))
        #expect(!hostile.has("<script>alert"))
        for name in ["", "10.9.0.7", "02:00:00:00:00:09", "a\u{202e}b", String(repeating: "x", count: 65)] {
            #expect(phone.post(.name, ("name", name)).status == 422, "\(name)")
        }
        let taken = phone.post(.name, ("name", "tv"))
        #expect(taken.status == 422 && taken.has("another device") && !taken.has("02:00:00:00:00:44"), "\(taken)")
        #expect(desk.revision == 0)
        #expect(phone.post(.name, ("name", "pixel-7 ")).location == "/?done=named")
        #expect(desk.administrator.plan.lab.devices.map(\.name) == ["pixel-7"])
        #expect(desk.ask(.get, "/v1/devices/pixel-7").has("\"mac\":\"\(Self.mac)\""))
        #expect(desk.ask(.get, "/v1/history").has("\"how\":\"page\"", "is called pixel-7"))
        #expect(phone.post(.name, ("name", "pixel-7")).status == 303 && desk.revision == 1)
        let fixed = Phone(desk, "10.9.0.40", mac: "02:00:00:00:00:44").post(.name, ("name", "mine"))
        #expect(fixed.status == 422 && fixed.has("renamed there"), "\(fixed)")
    }

    @Test("back to the default, an hour more, and what is refused of it")
    func leases() throws {
        let desk = try Desk.forPages(Self.devices)
        defer { desk.remove() }
        let phone = Phone(desk, "10.9.0.2")
        for action in [PageAction.release, .extend] {
            #expect(phone.post(action).status == 422)
        }
        desk.ask(.post, "/v1/activate", "{profile: 'locked', device: 'pixel', for: '22h'}")
        let before = try #require(phone.assignment?.until)
        #expect(phone.post(.extend).location == "/?done=extended")
        #expect(phone.assignment?.until == before + 3600)
        // A day is the end of what a device gives itself at once.
        #expect(phone.post(.extend).status == 303 && phone.post(.extend).status == 422)
        #expect(phone.assignment?.until == before + 7200)
        #expect(phone.post(.release).location == "/?done=released")
        #expect(phone.assignment == nil && phone.routed == nil)
        desk.ask(.post, "/v1/activate", "{profile: 'qa', device: 'pixel', for: 'forever'}")
        #expect(phone.post(.extend).has("no end"))
        #expect(desk.ask(.get, "/v1/history").has("pixel is released", "pixel has locked for an hour more"))
    }

    @Test("twenty changes at once, and one more with each second, are a device's own")
    func measure() {
        var page = PageDesk()
        let (one, other) = (DeviceIdentity.address(numeric("10.9.0.2")), DeviceIdentity.address(numeric("10.9.0.3")))
        var now = Instant(nanoseconds: 0)
        for _ in 0..<20 {
            #expect(page.mayChange(one, at: now))
            page.changed(one, at: now)
        }
        #expect(!page.mayChange(one, at: now) && page.mayChange(other, at: now))
        for _ in 0..<100 {
            now = now + .milliseconds(999)
            #expect(!page.mayChange(one, at: now))
            now = now + .milliseconds(1)
            #expect(page.mayChange(one, at: now))
            page.changed(one, at: now)
        }
        now = now + .seconds(20)
        for _ in 0..<20 {
            #expect(page.mayChange(one, at: now))
            page.changed(one, at: now)
        }
        #expect(!page.mayChange(one, at: now))
    }

    @Test("a device that changes something all the time is told to wait, and nothing changes; others may")
    func changesTooOften() throws {
        let desk = try Desk.forPages()
        defer { desk.remove() }
        let (phone, other) = (Phone(desk, "10.9.0.2", mac: Self.mac), Phone(desk, "10.9.0.40"))
        for _ in 0..<100 { desk.administrator.page.changed(phone.identity, at: Clock.now()) }
        let late = phone.post(.switchTo, ("profile", "b"))
        #expect(late.status == 429 && late.has("asks too often", "Switch this phone to Bee"), "\(late)")
        #expect(desk.revision == 0 && phone.assignment == nil)
        #expect(other.post(.switchTo, ("profile", "b")).status == 303)
    }

    @Test("hand over ends what was set and forgets what was seen, for this device alone")
    func handsOver() throws {
        let desk = try Desk.forPages(Self.devices)
        defer { desk.remove() }
        let (phone, other) = (Phone(desk, "10.9.0.2"), Phone(desk, "10.9.0.40"))
        for one in [phone, other] {
            #expect(one.post(.switchTo, ("profile", "qa")).status == 303)
            #expect(one.post(.direct, ("host", "x.example")).status == 303)
            #expect(one.post(.learn).location == "/learn?done=learning")
        }
        #expect(phone.post(.handOver).location == "/?done=handed-over")
        #expect(phone.assignment == nil && phone.routed == nil)
        #expect(phone.get("/learn").has("Learn from this phone for 2 minutes"))
        #expect(!phone.get("/requests").has("x.example") && phone.get("/").has("What is written on this phone?"))
        #expect(other.assignment?.direct == ["full:x.example"] && other.get("/learn").has("Learning: ends"))
        #expect(desk.ask(.get, "/v1/history").has("pixel is handed over"))
        let revision = desk.revision
        #expect(phone.post(.handOver).status == 303 && desk.revision == revision)
    }

    @Test("hosts go another way for the device alone, one by one, and an entry is in one list")
    func lists() throws {
        let desk = try Desk.forPages(Self.devices)
        defer { desk.remove() }
        let phone = Phone(desk, "10.9.0.2")
        #expect(phone.post(.direct, ("host", "CDN.example")).location == "/requests?done=direct")
        #expect(phone.post(.direct, ("host", "192.0.2.7")).status == 303)
        #expect(phone.post(.proxy, ("host", "cdn.example")).location == "/requests?done=proxied")
        #expect(phone.assignment?.direct == ["192.0.2.7/32"] || phone.assignment?.direct == ["192.0.2.7"])
        #expect(phone.assignment?.proxied == ["full:cdn.example"] && phone.assignment?.profile == "a")
        #expect(phone.get("/requests").has("full:cdn.example", "Set for this phone"))
        #expect(Phone(desk, "10.9.0.40").assignment == nil)
        #expect(phone.post(.direct, ("host", "cdn.example")).status == 303 && phone.assignment?.proxied == [])
        let revision = desk.revision
        for host in ["", "http://x.example/", "a b", "full:x.example", "*.example"] {
            let refused = phone.post(.proxy, ("host", host))
            #expect(refused.status == 422 && refused.has("Not done", "expected"), "\(host): \(refused)")
        }
        desk.ask(.put, "/v1/devices/pixel/lists", "{direct: ['shop.example']}")
        #expect(phone.post(.proxy, ("host", "api.shop.example")).has("would stay direct"))
        #expect(desk.revision == revision + 1)
        #expect(desk.ask(.get, "/v1/history").has("\"how\":\"page\"", "pixel sends full:cdn.example direct (a)"))
    }

    @Test("learning begins and ends, and what is ticked is proxied with all below it")
    func learns() throws {
        let desk = try Desk.forPages(Self.devices)
        defer { desk.remove() }
        let phone = Phone(desk, "10.9.0.2")
        #expect(phone.get("/learn").has("Learn from this phone for 2 minutes"))
        #expect(phone.post(.learn).status == 303 && phone.get("/learn").has("Learning: ends", "0 suffixes"))
        let none = phone.post(.addDomains)
        #expect(none.status == 422 && none.has("ticked"), "\(none)")
        let wrong = phone.post(.addDomains, ("domain", "x.example"), ("domain", "no host"))
        #expect(wrong.status == 422 && phone.assignment == nil, "\(wrong)")
        phone.post(.direct, ("host", "z.example"))
        let done = phone.post(.addDomains, ("domain", "x.example"), ("domain", "y.example"))
        #expect(done.location == "/learn?done=learned", "\(done)")
        #expect(phone.assignment?.proxied == ["x.example", "y.example"])
        #expect(phone.assignment?.direct == ["full:z.example"])
    }

    @Test("a proxy is tried at once; one that is not to be tried is named")
    func tries() throws {
        let desk = try Desk.forPages(Self.devices)
        defer { desk.remove() }
        try desk.lookAfterUpstreams()
        let phone = Phone(desk, "10.9.0.2")
        #expect(phone.post(.tryAgain).location == "/?done=tried")
        #expect(desk.administrator.desk?.watched["a"]?.ticket != nil)
        #expect(desk.revision == 0)
    }
}
