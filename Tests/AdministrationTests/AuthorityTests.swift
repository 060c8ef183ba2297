/// The certificate of a profile's proxy, as the API gives it.

import Control
import Foundation
import Profiles
import TestSupport
import Testing

@Suite("Certificates of proxies")
struct AuthorityTests {
    /// A profile whose upstream is a proxy of a kind on this machine.
    private static func profiles(_ kind: String, _ port: Int) -> String {
        """
        { id: "a", upstream: { type: "http", host: "127.0.0.1", port: \(port), kind: "\(kind)" },
          domains: ["shop.example"] },
        { id: "b", upstream: { type: "http", host: "127.0.0.1", port: 9, kind: "squid" } },
        { id: "c", upstream: { type: "group", members: ["a", "b"] } }
        """
    }

    @Test("a profile that is not there, and one that decrypts nothing, are refused with what would do")
    func refused() throws {
        let desk = try Desk()
        defer { desk.remove() }
        let unknown = desk.ask(.get, "/v1/profiles/aa/ca")
        #expect(unknown.status == 404 && unknown.has("did you mean a?"), "\(unknown)")
        for id in ["a", "b"] {
            let plain = desk.ask(.get, "/v1/profiles/\(id)/ca")
            #expect(plain.status == 409 && plain.has("\"code\":\"conflict\"", "mitmproxy", "charles"), "\(plain)")
        }
    }

    @Test("explain names the list of the certificate hosts")
    func explained() throws {
        let desk = try Desk()
        defer { desk.remove() }
        #expect(!desk.ask(.get, "/v1/explain?host=chls.pro").has("certificate hosts"))
        let stored = desk.ask(
            .put, "/v1/profiles/d",
            "{\"id\":\"d\",\"upstream\":{\"type\":\"http\",\"host\":\"127.0.0.1\",\"port\":9,\"kind\":\"charles\"}}")
        #expect(stored.status == 201, "\(stored)")
        #expect(desk.ask(.post, "/v1/activate", "{\"profile\":\"d\",\"all\":true}").status == 200)
        #expect(desk.ask(.get, "/v1/explain?host=chls.pro").has("certificate hosts of charles: chls.pro"))
    }

    @Test("a proxy that is not there is named, and asked again by the next who wants it")
    func gone() throws {
        let desk = try Desk()
        defer { desk.remove() }
        try desk.lookAfterUpstreams()
        let kind = "\"kind\":\"whistle\""
        desk.ask(
            .put, "/v1/profiles/d",
            "{\"id\":\"d\",\"upstream\":{\"type\":\"http\",\"host\":\"127.0.0.1\",\"port\":9,\(kind)}}")
        for _ in 0..<2 {
            #expect(desk.ask(.get, "/v1/profiles/d/ca").text == "", "it is promised")
            let answer = desk.promised()
            #expect(answer?.status == 503 && answer?.has("no certificate: nobody listens") == true, "\(answer as Any)")
        }
    }

    @Test(
        "mitmproxy's is fetched once for all who ask, and a group has that of its member",
        .enabled(if: Lab.has("mitmdump")))
    func fetched() throws {
        let scratch = try Scratch()
        // Below those that the kernel gives to whoever connects.
        let port = Int.random(in: 20_000...32_000)
        let proxy = try PartnerProgram(
            [
                "mitmdump", "--listen-host", "127.0.0.1", "--listen-port", "\(port)", "--set",
                "confdir=\(scratch.directory)",
            ], in: scratch.directory)
        try proxy.waitForPort(UInt16(port), within: 60)
        let desk = try Desk()
        defer { desk.remove() }
        try desk.edit(Self.profiles("mitmproxy", port))
        let read = desk.ask(.post, "/v1/reload")
        #expect(read.status == 200, "\(read)")
        try desk.lookAfterUpstreams()
        #expect(desk.ask(.get, "/v1/profiles/a/ca").text == "" && desk.ask(.get, "/v1/profiles/a/ca").text == "")
        let first = try #require(desk.promised(), "\(proxy.output)")
        let second = desk.promised()
        #expect(first.text == second?.text && first.status == 200)
        let pem = try Scratch.bytes(scratch.path("mitmproxy-ca-cert.pem"))
        let text = try #require(try JSONSerialization.jsonObject(with: Data(first.text.utf8)) as? [String: Any])
        #expect(text["pem"] as? String == String(decoding: pem, as: UTF8.self))
        #expect(text["isAuthority"] as? Bool == true && text["name"] as? String == "mitmproxy")
        #expect(text["url"] as? String == "http://mitm.it/cert/pem" && text["warnings"] as? [String] == [])
        // At once from now on, through the group too.
        #expect(desk.ask(.get, "/v1/profiles/a/ca").text == first.text)
        #expect(desk.ask(.get, "/v1/profiles/c/ca").has("\"profile\":\"a\"", "\"name\":\"mitmproxy\""))
    }
}
