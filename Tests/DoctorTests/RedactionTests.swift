/// Secrets wherever they may stand, and none of them in a report.

import Profiles
import Testing

@testable import Doctor

@Suite("redaction")
struct RedactionTests {
    @Test(
        "what looks like a secret is taken out, and what is around it stays",
        arguments: [
            ("http://qa:hunter2@proxy.example:8080/a", "http://[redacted]@proxy.example:8080/a"),
            ("see socks5://tok3n@h:1.", "see socks5://[redacted]@h:1."),
            ("http://u:p@ss@h/x", "http://[redacted]@h/x"),
            ("GET /ok?t=abc&limit=5 HTTP/1.1", "GET /ok?t=[redacted]&limit=5 HTTP/1.1"),
            (
                "starship://activate?v=1&profile=qa&exp=1&kid=b&sig=AbC-_9",
                "starship://activate?v=1&profile=qa&exp=[redacted]&kid=[redacted]&sig=[redacted]"
            ),
            ("Proxy-Authorization: Basic cWE6aHVudGVyMg==", "Proxy-Authorization: [redacted]"),
            ("cookie: a=b; c=d", "cookie: [redacted]"),
            ("sent Bearer abcdefgh12345678 away", "sent Bearer [redacted] away"),
            ("password=hunter2 user=qa", "password=[redacted] user=qa"),
            ("\"token\": \"a \\\"b\\\" c\", \"n\": 1", "\"token\": \"[redacted]\", \"n\": 1"),
            ("wpa_passphrase = 'correct horse'", "wpa_passphrase = '[redacted]'"),
            ("api_key: xyz, next", "api_key: [redacted], next"),
            ("auth: abcd", "auth: [redacted]"),
            // What one sieve has left of a value is no less secret.
            ("password=http://u:p@h/rest", "password=[redacted]"),
            ("key 00112233445566778899aabbccddeeff!", "key [redacted]!"),
            ("k=Zm9vYmFyYmF6cXV4MDEyMzQ1Njc4OUFCQ0RFRkdISUpLTE0", "k=[redacted]"),
            (
                "a\n-----BEGIN EC PRIVATE KEY-----\nMHc\nCAQ\n-----END EC PRIVATE KEY-----\nb", "a\n[redacted]\nb"
            ),
        ])
    func shapes(text: String, clean: String) {
        #expect(Redaction(secrets: []).clean(text) == clean)
    }

    @Test(
        "what is no secret stays as it is",
        arguments: [
            "passwordFile: \"/etc/starship/qa.pw\"", "tokens: false", "{\"auth\":\"challenge\"}",
            "iifname \"lan\" tcp dport 80 counter packets 3 accept",
            "10806: from all iif lan lookup 10801",
            "event=flow client=10.9.0.2:40000 target=shop.example:443 rule=domains",
            "inet6 2001:db8:9::1/64 scope global", "https://host/path#fragment", "the key is missing",
        ])
    func keeps(text: String) {
        #expect(Redaction(secrets: []).clean(text) == text)
    }

    /// With a square of the length in it this takes minutes.
    @Test("a long word is looked at once, and hides nothing behind it", .timeLimit(.minutes(1)))
    func longWords() {
        let word = String(repeating: "z", count: 16_384)
        let clean = Redaction(secrets: []).clean("\(word) key \(word)http://u:p@h \(word)password=abc")
        let isRight = clean == "\(word) key \(word)http://[redacted]@h \(word)password=[redacted]"
        #expect(isRight, "\(clean.suffix(100))")
    }

    @Test("a known secret is found in each form in which it travels, and inside other words")
    func known() {
        let redaction = Redaction(secrets: ["p&w \"1\"", "s3cret-longer", "s3cret", "ab"])
        #expect(redaction.clean("x p&w \"1\" y") == "x [redacted] y")
        #expect(redaction.clean("x p%26w%20%221%22 y") == "x [redacted] y")
        #expect(redaction.clean("{\"note\":\"p&w \\\"1\\\"\"}") == "{\"note\":\"[redacted]\"}")
        #expect(redaction.clean("as3cret-longerb s3cret") == "a[redacted]b [redacted]")
        // U+0301 and the letter in front of it are one character.
        #expect(redaction.clean("as3cret\u{301} and") == "a[redacted]\u{301} and")
        // Two letters are a part of everything.
        #expect(redaction.clean("about") == "about")
    }

    @Test("a document keeps its structure, without comments and without what stands under a secret's name")
    func documents() throws {
        let text = """
            { // hunter2 is the old one
              profiles: [{ id: "qa", upstream: { host: "h", password: "hunter2", token: { a: 5, b: ["x"] } },
                health: { url: "http://h/ok?t=abc" } }],
              keys: [{ id: "beetle", file: "keys/beetle" }] }
            """
        let bytes = Array(text.utf8)
        let clean = Redaction(secrets: []).clean(try JSON5Reader.read(bytes.span)).text
        #expect(
            clean == """
                {"profiles":[{"id":"qa","upstream":{"host":"h","password":"[redacted]",\
                "token":{"a":"[redacted]","b":["[redacted]"]}},"health":{"url":"http://h/ok?t=[redacted]"}}],\
                "keys":[{"id":"beetle","file":"keys/beetle"}]}
                """)
    }

    @Test("in a report with secrets everywhere there is none")
    func report() {
        let planted = ["hunter2-file", "k3y0123456789abcdef", "qa:hunter2-file"]
        var report = BugReport()
        report.secrets = [planted[0], planted[1]]
        report.add("configuration", document: Array("{ a: 'hunter2-file', // k3y0123456789abcdef\n b: 1 }".utf8))
        report.add("broken", document: Array("{ // hunter2-comment\n a: 'x', /* hunter2-block */ b: ".utf8))
        report.add("log", "event=push by=http://qa:hunter2-file@h sig=hunter2-sig")
        report.add("journal", "k3y0123456789abcdef and secret=hunter2-other")
        let text = report.text
        #expect(!text.contains("hunter2") && !text.contains("k3y0123456789"))
        #expect(text.contains("== journal ==") && text.contains("\"b\": 1") && text.contains("event=push"))
    }
}

@Suite("stand-ins")
struct StandInTests {
    @Test("names, MACs and addresses of somebody's have the same stand-in everywhere")
    func replaces() {
        var standIns = StandIns(names: ["pixel-7", "stb"])
        let first = standIns.replace(
            in: "pixel-7 (3c:28:6d:12:34:56@lan) at 93.184.216.34:443, stb.lan; fe80::3e28:6dff:fe12:3456.")
        #expect(first == "device-1 (mac-1@lan) at public-address-1:443, device-2.lan; public-address-2.")
        #expect(
            standIns.replace(in: "93.184.216.34 3C:28:6D:12:34:56: [2606:2800::1]:53")
                == "public-address-1 mac-1: [public-address-3]:53")
    }

    @Test(
        "what says nothing of anybody stays",
        arguments: [
            "10.9.0.2:40000 198.18.0.17 192.168.1.1/24 127.0.0.1 ::1 2001:2::5 224.0.0.251", "12:34:56 a.b.c 1.2 x::",
            "pixel-77 and xpixel-7", "00:00:00:00:00:00",
        ])
    func keeps(text: String) {
        var standIns = StandIns(names: ["pixel-7"])
        #expect(standIns.replace(in: text) == text)
    }
}
