/// Who is heard, what a form says, and what is asked for.

import Addresses
import Profiles
import Testing

@testable import Page

struct PageGuardTests {
    private static let page = PageGuard(
        addresses: [IPAddress(v4: 0x0a09_0001), IPAddress(high: 0xfd00_0000_0000_0000, low: 1)],
        checks: [IPAddress(v4: 0xc612_0002)], port: 10080)

    private static func outcome(_ head: PageHead) -> String {
        do throws(PageRefusal) {
            return "\(try page.check(head))"
        } catch {
            return "\(error.status)"
        }
    }

    @Test(
        "hosts",
        arguments: [
            ("10.9.0.1", "page"), ("10.9.0.1:80", "page"), ("10.9.0.1:10080", "page"), ("[fd00::1]", "page"),
            ("[FD00:0::1]:10080", "page"), ("starship.internal", "page"), ("Starship.INTERNAL:80", "page"),
            ("n1.check.starship.internal", "check(\"n1\")"), ("198.18.0.2", "check(\"198.18.0.2\")"),
            ("", "421"), ("10.9.0.2", "421"), ("10.9.0.1:8080", "421"), ("10.9.0.1:080", "421"), ("10.9.0.1:", "421"),
            ("evil.example", "421"), ("starship.internal.evil.example", "421"), ("evilstarship.internal", "421"),
            ("a.b.check.starship.internal", "421"), (".check.starship.internal", "421"),
            ("check.starship.internal", "421"),
            ("starship.internal@evil.example", "421"), ("fd00::1", "421"), ("[10.9.0.1]", "421"), ("0x0a090001", "421"),
            ("168361985", "421"), ("10.9.1", "421"), ("localhost", "421"), ("starship.internal:80:80", "421"),
            ("starship.internal:99999", "421"), ("starship.internal ", "421"), ("starship.internal/", "421"),
        ])
    func hosts(host: String, outcome: String) {
        #expect(Self.outcome(PageHead(method: "GET", host: host)) == outcome)
    }

    @Test(
        "methods",
        arguments: [
            ("GET", "10.9.0.1", "page"), ("HEAD", "10.9.0.1", "page"), ("PUT", "10.9.0.1", "405"),
            ("DELETE", "10.9.0.1", "405"), ("OPTIONS", "10.9.0.1", "405"), ("get", "10.9.0.1", "405"),
            ("POST", "10.9.0.1", "page"), ("POST", "198.18.0.2", "405"),
        ])
    func methods(method: String, host: String, outcome: String) {
        let head = PageHead(
            method: method, host: host, origin: "http://\(host)", contentType: "application/x-www-form-urlencoded")
        #expect(Self.outcome(head) == outcome)
    }

    @Test(
        "origins of forms",
        arguments: [
            ("10.9.0.1", "http://10.9.0.1", "page"), ("10.9.0.1:80", "http://10.9.0.1", "page"),
            ("10.9.0.1:10080", "http://10.9.0.1:10080", "page"), ("[fd00::1]", "http://[fd00::1]", "page"),
            ("starship.internal", "http://starship.internal", "page"),
            ("10.9.0.1", nil, "403"), ("10.9.0.1", "null", "403"), ("10.9.0.1", "", "403"),
            ("10.9.0.1", "https://10.9.0.1", "403"), ("10.9.0.1", "http://evil.example", "403"),
            ("10.9.0.1", "http://10.9.0.1.evil.example", "403"), ("10.9.0.1", "http://10.9.0.1:8080", "403"),
            ("10.9.0.1", "http://starship.internal", "403"), ("10.9.0.1", "http://n1.check.starship.internal", "403"),
            ("10.9.0.1", "http://10.9.0.1/", "403"), ("10.9.0.1", "http://10.9.0.1 http://10.9.0.1", "403"),
        ] as [(String, String?, String)])
    func origins(host: String, origin: String?, outcome: String) {
        let head = PageHead(
            method: "POST", host: host, origin: origin, contentType: "application/x-www-form-urlencoded")
        #expect(Self.outcome(head) == outcome)
    }

    @Test(
        "types and sizes of forms",
        arguments: [
            ("application/x-www-form-urlencoded", 16_384, "page"), ("application/x-www-form-urlencoded", 16_385, "413"),
            ("Application/X-WWW-Form-urlencoded; charset=UTF-8", 0, "page"), ("text/plain", 0, "415"),
            ("multipart/form-data; boundary=x", 0, "415"), ("application/json", 0, "415"), (nil, 0, "415"),
        ] as [(String?, Int, String)])
    func types(type: String?, count: Int, outcome: String) {
        let head = PageHead(
            method: "POST", host: "10.9.0.1", origin: "http://10.9.0.1", contentType: type, bodyCount: count)
        #expect(Self.outcome(head) == outcome)
    }

    @Test("a wrong method is told the right ones")
    func allowed() {
        let answer = PageRefusal.method(allowed: ["GET", "HEAD"]).answer(in: context())
        #expect(answer.status == 405 && answer["Allow"] == "GET, HEAD")
        #expect(PageRefusal.tooOften.answer(in: context())["Retry-After"] == "1")
    }
}

struct PageTokenTests {
    private let token = PageToken(key: key)
    // Python's hmac, over the text that PageToken describes.
    private static let right = "i5sUXzkhBD3PUMMuLsNs4HKQBEfjP72PyKmnhzJqvlw"
    private static let former = "_pjRqUYCCwc_7hna1-kGKjNXKbnoLcYxQriao5fkw-Y"

    @Test("tokens are those of another program's HMAC")
    func vectors() {
        #expect(token.text(device: phone, action: .switchTo, at: now) == Self.right)
        #expect(token.text(device: phone, action: .switchTo, at: now + 599) == Self.right)
        #expect(token.text(device: phone, action: .switchTo, at: now - 1) == Self.former)
    }

    @Test("a token counts for its device, its action, its slot and the next, and nothing else")
    func scope() {
        func isGood(_ text: String, _ device: String, _ action: PageAction, _ time: Int64) -> Bool {
            token.isGood(text, device: device, action: action, at: time)
        }
        #expect([0, 599, 600, 1199].allSatisfy { isGood(Self.right, phone, .switchTo, now + $0) })
        #expect(![-1, 1200, 100_000].contains { isGood(Self.right, phone, .switchTo, now + $0) })
        #expect(!isGood(Self.right, "3c:28:6d:12:34:57@wlan0", .switchTo, now))
        #expect(!PageAction.allCases.contains { $0 != .switchTo && isGood(Self.right, phone, $0, now) })
        #expect(!PageToken(key: Array(1...32)).isGood(Self.right, device: phone, action: .switchTo, at: now))
        for index in Self.right.indices {
            var changed = Self.right
            changed.replaceSubrange(index...index, with: Self.right[index] == "A" ? "B" : "A")
            #expect(!isGood(changed, phone, .switchTo, now))
        }
        for text in ["", "=", Self.right + "=", Self.right + "A", String(Self.right.dropLast())] {
            #expect(!isGood(text, phone, .switchTo, now))
        }
    }
}

struct PageFormTests {
    /// From web-platform-tests, url/urlencoded-parser.any.js; where that reads what no browser writes, we refuse.
    @Test(
        "reads what browsers write",
        arguments: [
            ("test", "test", [""]), ("\u{feff}test=\u{feff}", "\u{feff}test", ["\u{feff}"]),
            ("%EF%BB%BFtest=%EF%BB%BF", "\u{feff}test", ["\u{feff}"]), ("†&†=x", "†", ["", "x"]), ("", "", []),
            ("a=b", "a", ["b"]), ("a=", "a", [""]), ("=b", "", ["b"]), ("&", "", []), ("&a", "a", [""]),
            ("a&", "a", [""]),
            ("a&a", "a", ["", ""]), ("a&b&c", "b", [""]), ("a=b&c=d&", "c", ["d"]), ("&&&a=b&&&&c=d&", "c", ["d"]),
            ("a=a&a=b&a=c", "a", ["a", "b", "c"]), ("a==a", "a", ["=a"]), ("a=a+b+c+d", "a", ["a b c d"]),
            ("%61=a", "a", ["a"]), ("%61+%4d%4D=", "a MM", [""]), ("a=%2B%26%3D", "a", ["+&="]),
            ("a=%F0%9F%92%A9", "a", ["💩"]), ("a=%0D%0A", "a", ["\r\n"]),
        ])
    func reads(body: String, name: String, values: [String]) throws {
        let octets = Array(body.utf8)
        #expect(try PageForm(parsing: octets.span).list(name) == values)
    }

    @Test(
        "refuses what they don't",
        arguments: [
            ("%=a", PageFormError.encoding), ("%a=a", .encoding), ("%a_=a", .encoding), ("a=%", .encoding),
            ("id=0&value=%", .encoding), ("b=%2sf%2a", .encoding), ("b=%*", .encoding), ("%FE%FF", .encoding),
            ("%FF%FE", .encoding), ("%C2x", .encoding), ("a=%ED%A0%80", .encoding), ("a=%C0%80", .encoding),
            (String(repeating: "a&", count: 257), .tooManyPairs), (String(repeating: "a", count: 16_385), .tooLarge),
        ])
    func refuses(body: String, error: PageFormError) {
        let octets = Array(body.utf8)
        #expect(throws: error) { try PageForm(parsing: octets.span) }
    }

    @Test("what is encoded for an address is read as it was", arguments: ["a b&c=d+e%", "\u{202e}\"<>'", "測試 👩‍👧", ""])
    func writtenAndRead(text: String) throws {
        let octets = Array("x=\(PercentCoding.encode(text))&y=1".utf8)
        #expect(try PageForm(parsing: octets.span).value("x") == text)
    }

    @Test("octets that are no text are refused as they are too")
    func octets() {
        #expect(throws: PageFormError.encoding) { try PageForm(parsing: ([0x61, 0x3d, 0xff] as [UInt8]).span) }
    }

    @Test("a name that means one thing stands once")
    func once() throws {
        let octets = Array("a=1&b=2&a=3".utf8)
        let form = try PageForm(parsing: octets.span)
        #expect(throws: PageFormError.repeated("a")) { try form.value("a") }
        #expect(try form.value("b") == "2")
        #expect(try form.value("c") == nil)
    }
}

struct PageLinkTests {
    @Test(
        "no link leads to what is no host",
        arguments: [
            "", "a b", "a/b", "user@host", "a\"><b", "host:0", "host:65536", "[::1", "[::g]", "1.2.3",
        ])
    func noHost(authority: String) {
        #expect(PageLink(authority: authority, path: "/") == nil)
    }

    @Test("values of links are encoded")
    func values() {
        #expect(PageLink("/check", ["n": "a&b=\"<"]).text == "/check?n=a%26b%3D%22%3C")
        #expect(
            PageLink(authority: "[2001:2::2]:8080", path: "/x", ["n": "1"])?.text == "http://[2001:2::2]:8080/x?n=1")
    }

    @Test("the images of a check are at the hosts that are tried, or there are none")
    func images() throws {
        let images = try #require(CheckView.Images(nonce: "n1", route: "198.18.0.2", ipv6: nil))
        #expect(images.names.text == "http://n1.check.starship.internal/check.png?n=n1")
        #expect(images.route.text == "http://198.18.0.2/check.png?n=n1" && images.ipv6 == nil)
        #expect(CheckView.Images(nonce: "n 1", route: "198.18.0.2", ipv6: nil) == nil)
        #expect(CheckView.Images(nonce: "n1", route: "198.18.0.2", ipv6: "2001:2::2") == nil)
    }
}

struct PageRequestTests {
    @Test(
        "addresses",
        arguments: [
            ("/", PageRequest.home(nil)), ("/?done=switched", .home(.switched)), ("/?done=%3Cscript%3E", .home(nil)),
            ("/a?v=1&profile=whistle-qa", .confirm(query: "v=1&profile=whistle-qa")),
            ("/a/?x=%41", .confirm(query: "x=%41")),
            ("/a", .confirm(query: "")), ("/requests", .requests(nil)), ("/requests?done=direct", .requests(.direct)),
            ("/learn", .learn(nil)), ("/adhoc", .bringProxy), ("/ca", .certificate), ("/ca.crt", .certificateFile),
            ("/l?port=8899", .laptop(port: "8899")), ("/l", .laptop(port: nil)), ("/codes", .codes), ("/lab", .board),
            ("/proxy.pac", .proxyScript), ("/check", .check(nonce: nil)), ("/check?n=n1", .check(nonce: "n1")),
            ("/check.png?n=n1", .checkImage(nonce: "n1")), ("/style.css", .style), ("/page.js", .script),
            ("/favicon.ico", .favicon),
        ])
    func addresses(target: String, request: PageRequest) throws {
        #expect(try PageRequest(method: "GET", target: target) == request)
        #expect(try PageRequest(method: "HEAD", target: target) == request)
    }

    @Test(
        "addresses that are none",
        arguments: [
            ("GET", "/x", PageRefusal.unknownPath), ("GET", "/A", .unknownPath), ("GET", "//", .unknownPath),
            ("GET", "/../", .unknownPath), ("GET", "/%61", .unknownPath), ("GET", "", .unknownPath),
            ("GET", "/switch", .method(allowed: ["POST"])), ("GET", "/learn/add", .method(allowed: ["POST"])),
            ("POST", "/", .method(allowed: ["GET", "HEAD"])), ("POST", "/requests", .method(allowed: ["GET", "HEAD"])),
            ("POST", "/x", .unknownPath), ("POST", "/switch", .form(.missing("profile"))),
            ("POST", "switch", .unknownPath), ("GET", "/l?port=1&port=2", .form(.repeated("port"))),
            ("GET", "/?done=%", .form(.encoding)),
        ])
    func none(method: String, target: String, refusal: PageRefusal) {
        #expect(throws: refusal) { try PageRequest(method: method, target: target) }
    }

    @Test(
        "forms",
        arguments: [
            ("/switch", "token=t&profile=whistle-qa", PageChange.switchTo(profile: "whistle-qa")),
            ("/a", "link=v%3D1%26profile%3Dx&token=t", .activate(query: "v=1&profile=x")),
            ("/release", "token=t", .release),
            ("/try", "token=t", .tryAgain), ("/extend", "token=t", .extend), ("/hand-over", "token=t", .handOver),
            ("/name", "token=t&name=pixel+7", .name("pixel 7")),
            ("/direct", "token=t&host=a.example", .direct(host: "a.example")),
            ("/proxy", "token=t&host=a.example", .proxy(host: "a.example")), ("/learn", "token=t", .learn),
            ("/learn/add", "token=t&domain=a.example&domain=b.example", .addDomains(["a.example", "b.example"])),
            ("/learn/add", "token=t", .addDomains([])),
            ("/adhoc", "token=t&server=h%3A1&domains=", .bringProxy(server: "h:1", domains: "")),
            ("/l", "token=t&port=8899", .bringLaptop(port: "8899")),
        ])
    func forms(path: String, body: String, change: PageChange) throws {
        #expect(try PageRequest(method: "POST", target: path, body: Array(body.utf8)) == .change(change, token: "t"))
        #expect("/\(change.action.rawValue)" == path)
        // Without a token it is none.
        let bare = body.split(separator: "&").filter { $0 != "token=t" }.joined(separator: "&")
        #expect(throws: PageRefusal.form(.missing("token"))) {
            try PageRequest(method: "POST", target: path, body: Array(bare.utf8))
        }
    }

    @Test("each change leads back to where its form stands, and says what was done")
    func done() throws {
        for notice in PageNotice.allCases {
            let answer = PageAnswer.done(notice)
            #expect(answer.status == 303 && answer.body.isEmpty)
            let request = try PageRequest(method: "GET", target: try #require(answer["Location"]))
            #expect([.home(notice), .requests(notice), .learn(notice)].contains(request))
        }
    }
}
