/// Bodies that are pushed: profiles, overlays, and what the store keeps.

import Profiles
import Testing

func pushedProfile(_ text: String, id: String? = nil) throws(ConfigurationError) -> Profile {
    let bytes = Array(text.utf8)
    return try Profile.parse(bytes.span, id: id)
}

struct PushedTests {
    @Test("a pushed profile may leave its id out, or says the same as the request")
    func identity() throws {
        let body = "{ name: 'N', upstream: { type: 'direct' } }"
        #expect(try pushedProfile(body, id: "qa").id == "qa")
        #expect(try pushedProfile("{ id: 'qa', upstream: { type: 'direct' } }", id: "qa").name == "qa")
        let other = #expect(throws: ConfigurationError.self) {
            try pushedProfile("{ id: 'rc', upstream: { type: 'direct' } }", id: "qa")
        }
        #expect(other?.code == .conflict && other?.path == "id")
        #expect(throws: ConfigurationError.self) { try pushedProfile(body) }
        for id in ["..", "a/b", "", "direct"] {
            let error = #expect(throws: ConfigurationError.self) { try pushedProfile(body, id: id) }
            #expect(error?.path == "id")
        }
    }

    @Test("a pushed profile names no file but one of the store's secrets", arguments: ["/etc/shadow", "../x", "a/b"])
    func secrets(file: String) throws {
        let body = { (file: String) in
            "{ upstream: { type: 'http', host: 'h', port: 1, user: 'u', passwordFile: '\(file)' } }"
        }
        let error = #expect(throws: ConfigurationError.self) { try pushedProfile(body(file), id: "qa") }
        #expect(error?.path == "upstream.passwordFile" && error?.position == TextPosition(line: 1, column: 74))
        #expect(error?.description.contains("`secrets`") == true)
        #expect(try pushedProfile(body("qa.password"), id: "qa").upstream.credentials?.password == .file("qa.password"))
    }

    @Test("errors of a pushed profile have their path within it")
    func paths() {
        let error = #expect(throws: ConfigurationError.self) {
            try pushedProfile("{\n upstream: { type: 'http', host: 'h', port: 70000 } }", id: "qa")
        }
        #expect(
            error?.description
                == "line 2, column 45: upstream.port: found 70000; expected a whole number from 1 to 65535")
    }

    @Test(
        "B164: a body that says nothing, or something else, replaces nothing",
        arguments: [
            ("", "found an empty body; expected an object with at least one of profiles, active and devices"),
            (" \r\n", "found an empty body"), ("{}", "found an empty object; expected an object with at least one of"),
            ("[]", "found an empty list"), ("null", "found null"), ("false", "found false"),
            ("<!doctype html><title>502</title>", "found what looks like an HTML page, not a gateway configuration"),
            ("{\"upstream\":\"http://127.0.0.1:70000\"}", "unknown key `upstream`"),
            ("{\"upstream\":\"http://127.0.0.1:8888\"", "expected a comma or }"),
            ("{ profiles: [{ id: 'a' }] }", "profiles[0].upstream: found no such key"),
            ("{ profiles: {} }", "found an object; expected a list of profiles"),
            ("{ active: '' }", "an empty text"), ("{ active: 1 }", "found a number"),
            ("{ devices: [{ name: 'x', mac: '3c:28:6d:12:34:56', profile: 'a' }] }", "unknown key `profile`"),
            ("{ network: { setup: 'none' } }", "unknown key `network`"),
        ])
    func overlays(body: String, words: String) {
        let bytes = Array(body.utf8)
        let error = #expect(throws: ConfigurationError.self) { try Overlay.parse(bytes.span) }
        #expect(error?.description.contains(words) == true, "\(error?.description ?? "")")
        #expect(error?.position != nil && error?.description.contains("\n") == false)
    }

    @Test("an overlay replaces the parts that it names, each whole")
    func parts() throws {
        let bytes = Array("{ profiles: [], active: null }".utf8)
        let overlay = try Overlay.parse(bytes.span)
        var random = RandomSettings(seed: 3)
        var lab = random.lab()
        lab.active = "x"
        let laid = overlay.laid(over: lab)
        #expect(laid.active == nil && laid.profiles.isEmpty && laid.devices == lab.devices)
        #expect(laid.assignments == lab.assignments)
    }

    @Test(
        "a state that this program did not write is refused",
        arguments: [
            ("[]", ""), ("{ x: 1 }", "x"), ("{ active: '-' }", "active"),
            (
                "{ profiles: [{ id: 'a', upstream: { type: 'direct' } }, { id: 'a', upstream: { type: 'direct' } }] }",
                "profiles[1].id"
            ),
            (
                "{ devices: [{ name: 'a', address: '10.0.0.1' }, { name: 'a', address: '10.0.0.2' }] }",
                "devices[1].name"
            ),
            ("{ assignments: [{ device: 'x', profile: 'p', since: 1, by: 'b' }] }", "assignments[0].device"),
            (
                "{ assignments: [{ device: '3c:28:6d:12:34:56@a b', profile: 'p', since: 1, by: 'b' }] }",
                "assignments[0].device"
            ),
            ("{ assignments: [{ device: '10.0.0.1', profile: 'p', since: -1, by: 'b' }] }", "assignments[0].since"),
            ("{ assignments: [{ device: '10.0.0.1', profile: 'p', by: 'b' }] }", "assignments[0].since"),
            ("{ assignments: [{ device: '10.0.0.1', profile: 'p', since: 1 }] }", "assignments[0].by"),
            (
                "{ assignments: [{ device: '10.0.0.1', profile: 'p', since: 1, by: 'b', direct: ['a b'] }] }",
                "assignments[0].direct"
            ),
            (
                "{ assignments: [{ device: '10.0.0.1', profile: 'p', since: 1, by: 'b', direct: ['a'], proxied: ['A.'] }] }",
                "assignments[0].proxied"
            ),
            ("{ spent: [{ key: 'k', once: 'o' }] }", "spent[0].expires"),
        ])
    func states(text: String, path: String) {
        let bytes = Array(text.utf8)
        let error = #expect(throws: ConfigurationError.self) { try LabState.parse(bytes.span) }
        #expect(error?.path == path, "\(error?.description ?? "")")
    }
}

/// B185: another tool's format is told by its looks.
struct ForeignFormatTests {
    static let rows: [(text: String, name: String)] = [
        ("dm1lc3M6Ly9leGFtcGxl", "a Base64 text"),
        ("proxies:\n  - name: a\n", "a Clash configuration"),
        ("# my rules\nmixed-port: 7890\nproxies: []\n", "a Clash configuration"),
        ("{ \"mixed-port\": 7890, proxies: [] }", "a Clash configuration"),
        ("<!DOCTYPE html><html><title>502</title>", "an HTML page"),
        ("\n  <html>bad gateway</html>", "an HTML page"), ("<?xml version='1.0'?><a/>", "an XML document"),
        ("WIFI:T:WPA;S:lab;P:pw;;", "a Wi-Fi code"),
        ("https://cfg.example.test/c.json", "a URL"),
        ("starship://activate?v=1&profile=a", "a config link"), ("http://10.9.0.1/a?v=1&profile=a", "a config link"),
        ("vmess://eyJ2IjoiMiJ9", "a link of another proxy tool"),
        ("{ \"inbounds\": [], \"outbounds\": [{ \"protocol\": \"vmess\" }] }", "a V2Ray or sing-box configuration"),
        ("[General]\nloglevel = notify\n[Proxy]\n", "a Surge configuration"),
        ("[Interface]\nPrivateKey = x\n", "a WireGuard configuration"),
        ("\u{1f}\u{8b}\u{8}", "a compressed file"),
    ]

    @Test("B185: what another program would read is refused by its name", arguments: rows)
    func named(text: String, name: String) {
        // A gzip file is no UTF-8.
        let bytes = text.unicodeScalars.contains { $0.value == 0x8b } ? [0x1f, 0x8b, 8] : Array(text.utf8)
        let whole = #expect(throws: ConfigurationError.self) { try Configuration.parse(bytes) }
        let overlay = #expect(throws: ConfigurationError.self) { try Overlay.parse(bytes.span) }
        let profile = #expect(throws: ConfigurationError.self) { try Profile.parse(bytes.span, id: "a") }
        for error in [whole, overlay, profile] {
            #expect(error?.code == .foreign)
            #expect(error?.found == "what looks like \(name), not a gateway configuration", "\(text)")
        }
    }

    @Test(
        "what is meant as ours stays ours, whatever is wrong with it",
        arguments: [
            "{ profiles: [", "// proxies:\n{ profiles: [} ]", "", "unsupported client", "{ proxies: [] }", "[1]",
        ])
    func ours(text: String) {
        let error = #expect(throws: ConfigurationError.self) { try Configuration.parse(Array(text.utf8)) }
        #expect(error?.code != .foreign, "\(error?.description ?? "")")
    }

    @Test("B184: of a page that was fetched nothing is repeated")
    func nothingRepeated() {
        let error = #expect(throws: ConfigurationError.self) {
            try Configuration.parse(Array("<html>S3cr3t-Zq</html>".utf8))
        }
        #expect(error?.description.contains("S3cr3t") == false)
    }
}
