/// What is kept, taken back, gone back to, and read again.

import Control
import Foundation
import Testing

@Suite("Keeping")
struct KeepingTests {
    private static let profile = "{\"upstream\": {\"type\": \"http\", \"host\": \"127.0.0.1\", \"port\": 8080}}"

    @Test("a restart has the lab's state, and the file's active counts at the first start alone")
    func outlivesRestart() throws {
        var desk: Desk? = try Desk()
        desk?.ask(.put, "/v1/profiles/p", Self.profile)
        desk?.ask(.post, "/v1/activate", "{\"profile\": \"p\", \"all\": true}")
        let exported = desk?.ask(.get, "/v1/export").text
        let directory = desk?.directory
        desk = nil
        let next = try Desk(on: directory)
        defer { next.remove() }
        #expect(next.ask(.get, "/v1/export").text == exported)
        #expect(next.ask(.get, "/v1/status").has("\"profile\":{\"id\":\"p\"", "\"source\":\"store\""))
    }

    @Test("what waits for its confirmation is undone alone: what others did meanwhile stays")
    func takesBack() throws {
        let desk = try Desk()
        defer { desk.remove() }
        let push = desk.ask(.put, "/v1/profiles/p?confirm=60", Self.profile)
        #expect(push.status == 201 && push.has("\"pending\":{\"revision\":1,"), "\(push)")
        #expect(desk.ask(.put, "/v1/profiles/q?confirm=60", Self.profile).status == 409)
        desk.ask(.put, "/v1/devices/10.9.0.50", "{\"name\": \"stb\"}")
        desk.endConfirmation()
        #expect(desk.ask(.get, "/v1/profiles/p").status == 404)
        #expect(desk.ask(.get, "/v1/devices/stb").has("\"name\":\"stb\""))
        #expect(desk.ask(.get, "/v1/history").has("\"by\":\"starshipd\"", "\"how\":\"take back\""))
        #expect(desk.ask(.post, "/v1/confirm", "{\"revision\": 1}").status == 409)
        desk.ask(.put, "/v1/profiles/p?confirm=60", Self.profile)
        #expect(desk.ask(.post, "/v1/confirm", "{\"revision\": 4}").status == 200)
        desk.endConfirmation()
        #expect(desk.ask(.get, "/v1/profiles/p").status == 200)
    }

    @Test("one goes back to any revision that is kept, and forward again")
    func rollsBack() throws {
        let desk = try Desk()
        defer { desk.remove() }
        desk.ask(.put, "/v1/profiles/p", Self.profile)
        desk.ask(.post, "/v1/activate", "{\"profile\": \"p\", \"all\": true}")
        let back = desk.ask(.post, "/v1/rollback", "{\"revision\": 1}")
        #expect(back.has("\"revision\":3", "active: p → as in the file"), "\(back)")
        #expect(desk.ask(.get, "/v1/status").has("\"profile\":{\"id\":\"a\""))
        #expect(desk.ask(.post, "/v1/rollback", "{\"revision\": 2}").status == 200)
        #expect(desk.ask(.get, "/v1/status").has("\"profile\":{\"id\":\"p\""))
        #expect(desk.ask(.post, "/v1/rollback", "{\"revision\": 99}").status == 404)
    }

    @Test("a reload never undoes a switch; the file's profile hides a stored one and says so")
    func reloads() throws {
        let desk = try Desk()
        defer { desk.remove() }
        desk.ask(.put, "/v1/profiles/p", Self.profile)
        desk.ask(.post, "/v1/activate", "{\"profile\": \"p\", \"all\": true}")
        try desk.edit(Desk.profiles + ", { id: \"p\", name: \"mine\", upstream: { type: \"direct\" } }")
        let reload = desk.ask(.post, "/v1/reload")
        #expect(reload.status == 200 && reload.has("hides the stored one"), "\(reload)")
        #expect(desk.ask(.get, "/v1/status").has("\"id\":\"p\",\"name\":\"mine\",\"source\":\"file\""))
        #expect(desk.ask(.get, "/v1/profiles").has("\"source\":\"store\",\"hidden\":true"))
        try desk.edit("{ id: \"a\" }")
        let broken = desk.ask(.post, "/v1/reload")
        #expect(broken.status == 422 && broken.has("upstream", "\"line\":"), "\(broken)")
        #expect(desk.ask(.get, "/v1/status").has("\"name\":\"mine\""))
    }

    @Test("a link for once works once, also over a rollback; a signed one of another gateway never")
    func appliesLinks() throws {
        let desk = try Desk()
        defer { desk.remove() }
        let key = try desk.put("key", String(repeating: "5a", count: 32))
        try desk.edit(Desk.profiles, "keys: [{ id: \"k\", file: \"\(key)\", hosts: [\"*.qa.example\"] }],")
        #expect(desk.ask(.post, "/v1/reload").status == 200)
        let wish = "{\"host\": \"w.qa.example\", \"port\": 8899, \"key\": \"k\", \"once\": true, \"gateway\": true}"
        let made = desk.ask(.post, "/v1/links", wish)
        #expect(made.status == 200, "\(made)")
        let link = made.text.dropFirst("{\"link\":\"".count).prefix { $0 != "\"" }
        #expect(desk.ask(.post, "/v1/links", wish.replacing("w.qa", with: "w.other")).status == 422)
        let check = desk.ask(.post, "/v1/links/apply", "{\"link\": \"\(link)\", \"check\": true}")
        #expect(check.has("\"key\":\"k\"", "w.qa.example:8899"), "\(check)")
        let applied = desk.ask(.post, "/v1/links/apply", "{\"link\": \"\(link)\", \"all\": true}")
        #expect(applied.status == 200 && applied.has("\"upstream\":\"http w.qa.example:8899\""), "\(applied)")
        let again = desk.ask(.post, "/v1/links/apply", "{\"link\": \"\(link)\", \"all\": true}")
        #expect(again.status == 403 && again.has("\"code\":\"spent\""), "\(again)")
        desk.ask(.post, "/v1/rollback", "{\"revision\": 0}")
        #expect(desk.ask(.post, "/v1/links/apply", "{\"link\": \"\(link)\", \"all\": true}").status == 403)
        let other = link.replacing("gw=lab-1", with: "gw=lab-2")
        #expect(desk.ask(.post, "/v1/links/apply", "{\"link\": \"\(other)\", \"all\": true}").has("wrongSignature"))
        // A proxy's URL has a password, which goes into a file of its own.
        let url = "{\"link\": \"http://u:S3cr3t-Zq@10.0.0.1:8080#Mine\", \"all\": true}"
        let proxy = desk.ask(.post, "/v1/links/apply", url)
        #expect(proxy.status == 200 && !proxy.has("S3cr3t"), "\(proxy)")
        #expect(!desk.ask(.get, "/v1/export").has("S3cr3t"))
    }
}
