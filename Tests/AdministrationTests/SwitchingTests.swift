/// Who is moved by a switch, for how long, and what is refused.

import Control
import Foundation
import Testing

@Suite("Switching")
struct SwitchingTests {
    private static let devices = """
        devices: [{ name: "pixel", mac: "02:00:00:00:00:03" }, { name: "tv", address: "10.9.0.40", profile: "b" }],
        """

    @Test("a switch names one device or all, and nothing else moves")
    func namesItsScope() throws {
        let desk = try Desk(Self.devices)
        defer { desk.remove() }
        let none = desk.ask(.post, "/v1/activate", "{\"profile\": \"b\"}")
        #expect(none.status == 400 && none.has("\"code\":\"noTarget\"", "device", "all"), "\(none)")
        let both = desk.ask(.post, "/v1/activate", "{\"profile\": \"b\", \"device\": \"pixel\", \"all\": true}")
        #expect(both.status == 400 && both.has("noTarget"), "\(both)")
        let one = desk.ask(.post, "/v1/activate", "{\"profile\": \"b\", \"device\": \"pixel\"}")
        #expect(one.status == 200 && one.has("\"moved\":1", "\"devices\":[\"pixel\"]", "\"profile\":\"b\""), "\(one)")
        #expect(desk.ask(.get, "/v1/status").has("\"profile\":{\"id\":\"a\""))
        #expect(desk.ask(.get, "/v1/devices/pixel").has("\"profile\":\"b\"", "\"profileBy\":\"assignment\""))
        #expect(desk.ask(.get, "/v1/devices/tv").has("\"profile\":\"b\"", "\"profileBy\":\"file\""))
        let unknown = desk.ask(.post, "/v1/activate", "{\"profile\": \"b\", \"device\": \"pixle\"}")
        #expect(unknown.status == 404 && unknown.has("did you mean"), "\(unknown)")
    }

    @Test("all moves the default and names who keeps an assignment; override moves them too")
    func movesAll() throws {
        let desk = try Desk(Self.devices)
        defer { desk.remove() }
        desk.ask(.post, "/v1/activate", "{\"profile\": \"a\", \"device\": \"pixel\"}")
        let all = desk.ask(.post, "/v1/activate", "{\"profile\": \"b\", \"all\": true}")
        #expect(all.has("\"kept\":[{\"device\":\"pixel\",\"profile\":\"a\"}]"), "\(all)")
        #expect(desk.ask(.get, "/v1/devices/pixel").has("\"profile\":\"a\""))
        let override = desk.ask(.post, "/v1/activate", "{\"profile\": \"b\", \"all\": true, \"override\": true}")
        #expect(override.has("\"kept\":[]"), "\(override)")
        #expect(desk.ask(.get, "/v1/devices/pixel").has("\"profile\":\"b\"", "\"profileBy\":\"default\""))
    }

    @Test("an assignment ends with its lease, and what it was made for stays in the history")
    func endsLeases() throws {
        let desk = try Desk(Self.devices)
        defer { desk.remove() }
        let now = try #require(
            Int64(
                until(desk.ask(.post, "/v1/activate", "{\"profile\": \"b\", \"device\": \"pixel\", \"for\": \"2h\"}"))))
        // One second before, and one after.
        desk.seeToIt(at: now)
        #expect(desk.ask(.get, "/v1/devices/pixel").has("\"profileBy\":\"assignment\""))
        desk.seeToIt(at: now + 1)
        #expect(desk.ask(.get, "/v1/devices/pixel").has("\"profile\":\"a\"", "\"profileBy\":\"default\""))
        #expect(desk.ask(.get, "/v1/history").has("\"how\":\"lease over\"", "pixel had b"))
        let forever = desk.ask(
            .post, "/v1/activate", "{\"profile\": \"b\", \"device\": \"pixel\", \"for\": \"forever\"}")
        #expect(forever.has("\"until\":null"), "\(forever)")
    }

    private func until(_ reply: Reply) -> Substring {
        let key = "\"until\":"
        guard let start = reply.text.range(of: key)?.upperBound else { return "" }
        return reply.text[start...].prefix { $0.isNumber }
    }

    @Test("a profile in use is not deleted without saying where its devices go")
    func deletesWithCare() throws {
        let desk = try Desk(Self.devices)
        defer { desk.remove() }
        let profile = "{\"upstream\": {\"type\": \"direct\"}}"
        #expect(desk.ask(.put, "/v1/profiles/p", profile).status == 201)
        #expect(desk.ask(.put, "/v1/profiles/p", profile).status == 200)
        desk.ask(.post, "/v1/activate", "{\"profile\": \"p\", \"device\": \"pixel\"}")
        desk.ask(.post, "/v1/activate", "{\"profile\": \"p\", \"all\": true}")
        let refused = desk.ask(.delete, "/v1/profiles/p")
        #expect(refused.status == 409 && refused.has("pixel", "moveTo"), "\(refused)")
        #expect(desk.ask(.delete, "/v1/profiles/p?moveTo=p").status == 400)
        #expect(desk.ask(.delete, "/v1/profiles/p?moveTo=b").status == 200)
        #expect(desk.ask(.get, "/v1/devices/pixel").has("\"profile\":\"b\"", "\"profileBy\":\"assignment\""))
        #expect(desk.ask(.get, "/v1/status").has("\"profile\":{\"id\":\"b\""))
        #expect(desk.ask(.delete, "/v1/profiles/a").status == 409)
        #expect(desk.ask(.delete, "/v1/profiles/nobody").status == 404)
    }

    @Test("a name is one device's; the file's names and profiles are the administrator's")
    func namesDevices() throws {
        let desk = try Desk(Self.devices)
        defer { desk.remove() }
        #expect(desk.ask(.put, "/v1/devices/10.9.0.50", "{\"name\": \"stb\"}").has("\"name\":\"stb\""))
        #expect(desk.ask(.put, "/v1/devices/10.9.0.51", "{\"name\": \"stb\"}").status == 409)
        #expect(desk.ask(.put, "/v1/devices/10.9.0.51", "{\"name\": \"10.9.0.9\"}").status == 400)
        #expect(desk.ask(.put, "/v1/devices/pixel", "{\"name\": \"phone\"}").status == 409)
        #expect(desk.ask(.put, "/v1/devices/stb", "{\"name\": null}").status == 200)
        #expect(desk.ask(.put, "/v1/profiles/a", "{\"upstream\": {\"type\": \"direct\"}}").status == 409)
    }
}
