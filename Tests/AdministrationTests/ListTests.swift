/// What a device sends elsewhere for its lease, what it wanted, and what can be learned about it.

import Control
import Devices
import Foundation
import Profiles
import Testing

@testable import Administration

@Suite("A device's own lists")
struct ListTests {
    private static let devices = """
        devices: [{ name: "pixel", address: "10.9.0.2" }, { name: "tv", address: "10.9.0.40", profile: "b" }],
        """

    @Test("lists are kept with an assignment to the profile that the device has, and end with it")
    func assigned() throws {
        let desk = try Desk(Self.devices)
        defer { desk.remove() }
        let put = desk.ask(.put, "/v1/devices/pixel/lists", "{direct: ['CDN.example'], proxied: ['shop.example']}")
        #expect(put.status == 200, "\(put)")
        #expect(put.has("\"direct\":[\"cdn.example\"]", "\"proxied\":[\"shop.example\"]"), "\(put)")
        #expect(put.has("\"profile\":\"a\"", "\"device\":\"pixel\"") && !put.has("\"until\":null"), "\(put)")
        let device = desk.ask(.get, "/v1/devices/pixel")
        #expect(device.has("\"profile\":\"a\"", "\"profileBy\":\"assignment\"", "\"direct\":[\"cdn.example\"]"))
        #expect(desk.ask(.get, "/v1/devices/tv").has("\"direct\":[]", "\"profileBy\":\"file\""))
        let history = desk.ask(.get, "/v1/history")
        #expect(
            history.has(
                "\"how\":\"lists\"", "\"by\":\"root\"",
                "pixel sends cdn.example direct, has shop.example proxied (a)"), "\(history)")
        let until = try #require(desk.administrator.plan.lab.assignments.first?.until)
        desk.seeToIt(at: until + 1)
        #expect(desk.ask(.get, "/v1/devices/pixel").has("\"direct\":[]", "\"profileBy\":\"default\""))
    }

    @Test("one list alone leaves the other, and takes from it what it gets")
    func single() throws {
        let desk = try Desk(Self.devices)
        defer { desk.remove() }
        desk.ask(.put, "/v1/devices/pixel/lists", "{direct: ['x.example', 'y.example']}")
        let moved = desk.ask(.put, "/v1/devices/pixel/lists", "{proxied: ['X.example.']}")
        #expect(moved.has("\"direct\":[\"y.example\"]", "\"proxied\":[\"x.example\"]"), "\(moved)")
        let both = desk.ask(.put, "/v1/devices/pixel/lists", "{direct: ['z.example'], proxied: ['z.example']}")
        #expect(both.status == 422 && both.has("\"path\":\"proxied[0]\"", "z.example"), "\(both)")
        let wrong = desk.ask(.put, "/v1/devices/pixel/lists", "{direct: ['a.example', 'http://b.example/']}")
        #expect(wrong.status == 422 && wrong.has("\"path\":\"direct[1]\"", "\"hint\""), "\(wrong)")
        #expect(desk.ask(.get, "/v1/devices/pixel").has("\"direct\":[\"y.example\"]"))
        let hidden = desk.ask(
            .put, "/v1/devices/pixel/lists", "{direct: ['example.com'], proxied: ['api.example.com']}")
        #expect(hidden.has("api.example.com stays direct: example.com is in direct"), "\(hidden)")
    }

    @Test("what changes nothing makes no revision, and no assignment")
    func idle() throws {
        let desk = try Desk(Self.devices)
        defer { desk.remove() }
        let none = desk.ask(.put, "/v1/devices/pixel/lists", "{direct: []}")
        #expect(none.status == 200 && none.has("\"revision\":0", "\"until\":null"), "\(none)")
        #expect(desk.ask(.get, "/v1/devices/pixel").has("\"profileBy\":\"default\""))
        desk.ask(.put, "/v1/devices/pixel/lists", "{direct: ['a.example']}")
        #expect(desk.ask(.put, "/v1/devices/pixel/lists", "{direct: ['A.example']}").has("\"revision\":1"))
        let emptied = desk.ask(.put, "/v1/devices/pixel/lists", "{direct: []}")
        #expect(emptied.has("\"revision\":2", "\"direct\":[]"), "\(emptied)")
        #expect(desk.ask(.get, "/v1/history").has("pixel no longer sends a.example direct (a)"))
    }

    @Test("a longer lease for the same profile keeps the lists, another profile has none")
    func switched() throws {
        let desk = try Desk(Self.devices)
        defer { desk.remove() }
        desk.ask(.put, "/v1/devices/pixel/lists", "{direct: ['a.example']}")
        desk.ask(.post, "/v1/activate", "{profile: 'a', device: 'pixel', for: '24h'}")
        #expect(desk.ask(.get, "/v1/devices/pixel").has("\"direct\":[\"a.example\"]"))
        desk.ask(.post, "/v1/activate", "{profile: 'b', device: 'pixel'}")
        #expect(desk.ask(.get, "/v1/devices/pixel").has("\"profile\":\"b\"", "\"direct\":[]"))
    }

    @Test("lists outlive a restart, and a rollback takes them back")
    func kept() throws {
        let directory = try first()
        let desk = try Desk(on: directory)
        defer { desk.remove() }
        #expect(desk.ask(.get, "/v1/devices/pixel").has("\"proxied\":[\"a.example\"]"))
        desk.ask(.put, "/v1/devices/pixel/lists", "{proxied: ['b.example']}")
        #expect(desk.ask(.post, "/v1/rollback", "{revision: 1}").status == 200)
        #expect(desk.ask(.get, "/v1/devices/pixel").has("\"proxied\":[\"a.example\"]"))
    }

    /// A gateway that has kept a list and is gone.
    private func first() throws -> URL {
        let desk = try Desk(Self.devices)
        desk.ask(.put, "/v1/devices/pixel/lists", "{proxied: ['a.example']}")
        return desk.directory
    }

    @Test("a device that is kept out has no profile for a list to stand beside")
    func newcomers() throws {
        let desk = try Desk("newDevices: \"block\",")
        defer { desk.remove() }
        let refused = desk.ask(.put, "/v1/devices/10.9.0.77/lists", "{direct: ['a.example']}")
        #expect(refused.status == 409 && refused.has("newDevices"), "\(refused)")
        #expect(desk.ask(.put, "/v1/devices/nobody/lists", "{direct: ['a.example']}").status == 404)
    }

    @Test("explain says that the device's own list decides")
    func explains() throws {
        let desk = try Desk(Self.devices)
        defer { desk.remove() }
        desk.ask(.put, "/v1/devices/pixel/lists", "{direct: ['cdn.example']}")
        let own = desk.ask(.get, "/v1/explain?host=x.cdn.example&device=pixel")
        #expect(own.has("this phone's own list: cdn.example", "a, the device's own"), "\(own)")
        #expect(!desk.ask(.get, "/v1/explain?host=x.cdn.example&device=tv").has("own list"))
    }

    @Test("a device that wanted nothing has no requests; learning begins when it is asked for")
    func learns() throws {
        let desk = try Desk(Self.devices)
        defer { desk.remove() }
        #expect(desk.ask(.get, "/v1/devices/pixel/requests").has("{\"device\":\"pixel\",\"requests\":[]}"))
        #expect(desk.ask(.get, "/v1/devices/nobody/requests").status == 404)
        #expect(desk.ask(.get, "/v1/devices/pixel/learn").status == 409)
        let begun = desk.ask(.post, "/v1/devices/pixel/learn")
        #expect(begun.status == 200, "\(begun)")
        #expect(begun.has("\"learning\":true", "\"secondsLeft\":120", "\"groups\":[]"), "\(begun)")
        #expect(desk.ask(.get, "/v1/devices/pixel/learn").has("\"learning\":true", "\"text\":\"domains: []\""))
        #expect(desk.ask(.get, "/v1/devices/tv/learn").status == 409)
    }
}
