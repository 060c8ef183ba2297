/// What a scanned code does by the page: asked first, once, for the device that scanned it.

import Control
import Devices
import Foundation
import Profiles
import Testing

@testable import Administration
@testable import Page

@Suite("Links on the page")
struct PageLinkTests {
    /// A gateway with a key whose links may name hosts below `qa.example`.
    private static func desk() throws -> Desk {
        let desk = try Desk.forPages()
        let key = try desk.put("key", String(repeating: "5a", count: 32))
        try desk.edit(
            Desk.pageProfiles,
            "keys: [{ id: \"k\", file: \"\(key)\", hosts: [\"*.qa.example\"] }],"
                + "devices: [{ name: \"pixel\", address: \"10.9.0.2\" }],")
        let read = desk.ask(.post, "/v1/reload")
        try #require(read.status == 200, "\(read)")
        return desk
    }

    /// The query of a link that the key signs.
    private static func query(_ desk: Desk, _ host: String = "w.qa.example", _ more: String = "") throws -> String {
        let made = desk.ask(
            .post, "/v1/links", "{\"host\": \"\(host)\", \"port\": 8899, \"key\": \"k\", \"name\": \"Mine\"\(more)}")
        let link = made.text.dropFirst("{\"link\":\"".count).prefix { $0 != "\"" }
        return String(try #require(link.split(separator: "?").last, "\(made)"))
    }

    @Test("a code for everybody's profile asks, and only the answer switches")
    func selfService() throws {
        let desk = try Self.desk()
        defer { desk.remove() }
        let phone = Phone(desk, "10.9.0.2")
        let asked = phone.get("/a?v=1&profile=qa")
        #expect(asked.status == 200 && asked.has("pixel", "and no other", "Whistle QA", "127.0.0.1:10", "shop.example"))
        #expect(desk.revision == 0 && phone.assignment == nil)
        let token = try #require(asked.token("/a"))
        #expect(asked.has("name=\"link\" value=\"v=1&amp;profile=qa\""))
        let done = phone.post(.activate, ("link", "v=1&profile=qa"), token: token)
        #expect(done.location == "/?done=switched" && phone.routed == "qa", "\(done)")
        #expect(Phone(desk, "10.9.0.40").routed == nil)
    }

    @Test(
        "what is wrong with a code is said in the words of the command line, and nothing changes",
        arguments: [
            ("", "no parameters"), ("v=1&profile=locked", "which is not for everybody"),
            ("v=1&profile=q", "which this gateway does not have"), ("v=2&profile=qa", "version"),
            ("v=1&profile=qa&profile=b", "each parameter once"), ("v=1&profile=qa&url=x", "what a link never carries"),
            ("v=1&host=w.qa.example&port=8899", "exp"), ("v=1&profile=%3Cb%3Ex", "expected"),
        ])
    func refused(query: String, words: String) throws {
        let desk = try Self.desk()
        defer { desk.remove() }
        let phone = Phone(desk, "10.9.0.2")
        for reply in [phone.get("/a?\(query)"), phone.post(.activate, ("link", query))] {
            #expect(reply.status == 422 && reply.has(words, "Nothing has changed") && !reply.has("<b>"), "\(reply)")
        }
        #expect(desk.revision == 0)
    }

    @Test("a signed code brings its proxy to the device that scanned it, as far as its key's rights go")
    func signed() throws {
        let desk = try Self.desk()
        defer { desk.remove() }
        let phone = Phone(desk, "10.9.0.2")
        let query = try Self.query(desk, "w.qa.example", ", \"once\": true")
        let asked = phone.get("/a?\(query)")
        #expect(asked.status == 200 && asked.has("w.qa.example:8899", "Mine", "Signed by", "k"), "\(asked)")
        #expect(phone.post(.activate, ("link", query)).status == 303)
        #expect(phone.assignment?.profile == "link-mine" && phone.routed == "link-mine")
        #expect(desk.administrator.plan.active.id == "a")
        #expect(desk.ask(.get, "/v1/history").has("\"by\":\"device pixel by key k\"", "\"how\":\"page\""))
        for again in [phone.get("/a?\(query)"), phone.post(.activate, ("link", query))] {
            #expect(again.status == 422 && again.has("used already"), "\(again)")
        }
        let forged = query.replacing("w.qa.example", with: "w.evil.example")
        #expect(phone.get("/a?\(forged)").has("one that doesn&#39;t fit"))
        #expect(phone.post(.activate, ("link", forged)).status == 422 && desk.revision == 1)
    }

    @Test("a code that brings another proxy under a name that others have moves nobody else")
    func sameName() throws {
        let desk = try Self.desk()
        defer { desk.remove() }
        let (phone, other) = (Phone(desk, "10.9.0.2"), Phone(desk, "10.9.0.40"))
        #expect(phone.post(.activate, ("link", try Self.query(desk, "one.qa.example"))).status == 303)
        #expect(other.post(.activate, ("link", try Self.query(desk, "two.qa.example"))).status == 303)
        #expect(phone.get("/").has("one.qa.example:8899") && other.get("/").has("two.qa.example:8899"))
        // Alone with it, a device gets the new one in its place.
        #expect(other.post(.activate, ("link", try Self.query(desk, "three.qa.example"))).status == 303)
        #expect(phone.get("/").has("one.qa.example:8899") && other.get("/").has("three.qa.example:8899"))
        #expect(desk.administrator.plan.lab.profiles.count == 2)
    }
}
