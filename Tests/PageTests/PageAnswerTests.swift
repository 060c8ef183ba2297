/// What browsers get: nothing of what others write is markup, and all of it can be read by everybody.

import Health
import TestSupport
import Testing

@testable import Page

struct PageAnswerTests {
    /// What a device could call itself, and what is left of it on a page.
    private static let hostile = "\u{202e}\"'><script>alert(1)</script></title></textarea>\r\n&amp;<!--"
    private static let shown = "\u{fffd}\"'><script>alert(1)</script></title></textarea>\n&amp;<!--"

    @Test("a hostile text stays a text on every page, which is well-formed and has what aids need")
    func hostile() throws {
        let pages = try Views(text: Self.hostile).pages()
        #expect(pages.count >= 60)
        let faults = try HTMLReader.faults(in: pages.map { ($0.name, $0.answer.text) }, with: Self.shown)
        #expect(faults == "")
    }

    @Test("names of all scripts come out as they are")
    func names() throws {
        let name = "測試 Ωmega 👩‍👩‍👧 ñ ישראל"
        let page = Views(text: name).home().answer(in: context())
        let faults = try HTMLReader.faults(in: [("home", page.text)], with: name)
        #expect(faults == "")
    }

    @Test(
        "the reader of these tests sees what is wrong",
        arguments: [
            ("<p>", "open"), ("<script>1</script>", "script of another"), ("<img src=\"/x\">", "alt"),
            ("<input id=\"a\">", "label"), ("<a href=\"javascript:1\">x</a>", "href"),
            ("<p onclick=\"1\"></p>", "onclick"),
            ("<th>1</th>", "scope"), ("<form method=\"post\"><button>x</button></form>", "form"),
            ("<h3>x</h3>", "behind"),
        ])
    func reader(markup: String, fault: String) throws {
        let page =
            "<!DOCTYPE html>\n<html lang=\"en\"><head><title>x</title></head><body><main><h1>x</h1>\(markup)</main>"
            + "</body></html>"
        #expect(try HTMLReader.faults(in: [("page", page)], with: nil).contains(fault))
    }

    @Test("every answer forbids frames, foreign forms, inline scripts, referrers, guessing and keeping")
    func fields() throws {
        let pages = try Views(text: "x").pages().map(\.answer)
        let others = [
            PageAnswer.style, .script, .nothing, .done(.switched), CheckView.image,
            CertificateView.file(der: [0x30], name: "x"),
        ]
        for answer in pages + others {
            let policy = try #require(answer["Content-Security-Policy"])
            let parts = Set(policy.split(separator: ";").map { $0.drop { $0 == " " } })
            let needed: Set<Substring> = [
                "default-src 'none'", "script-src 'self'", "style-src 'self'", "form-action 'self'",
                "frame-ancestors 'none'", "base-uri 'none'",
            ]
            #expect(parts.isSuperset(of: needed))
            #expect(answer["Referrer-Policy"] == "same-origin")
            #expect(answer["Cache-Control"] == "no-store")
            #expect(answer["X-Content-Type-Options"] == "nosniff")
            #expect(answer["X-Frame-Options"] == "DENY")
            let names = answer.fields.map(\.name)
            #expect(Set(names).count == names.count)
            #expect(answer.fields.allSatisfy { $0.value.utf8.allSatisfy { 0x20...0x7e ~= $0 } })
        }
    }

    @Test("images of other hosts are shown by the self-check alone, and those of its own two hosts alone")
    func images() throws {
        let pages = try Views(text: "x").pages()
        for (name, answer) in pages {
            let policy = try #require(answer["Content-Security-Policy"])
            let sources = policy.split(separator: "; ").first { $0.hasPrefix("img-src") }
            let others = name == "check-2" ? " http://n1x.check.starship.internal http://198.18.0.2" : ""
            #expect(sources == "img-src 'self'\(others)", "\(name)")
            #expect(policy.contains("frame-src") == (name == "check-2"))
        }
    }

    @Test("the image by IPv6, whose host no policy can name, stands in a frame of ours with nothing else")
    func frame() throws {
        let images = try #require(CheckView.Images(nonce: "n1x", route: "198.18.0.2", ipv6: "[2001:2::2]"))
        let frame = try #require(CheckView.frame(images))
        #expect(
            frame["Content-Security-Policy"]
                == "default-src 'none'; img-src http:; form-action 'none'; frame-ancestors 'self'; base-uri 'none'")
        #expect(frame["X-Frame-Options"] == "SAMEORIGIN" && frame["Cache-Control"] == "no-store")
        #expect(frame.text.contains("<img src=\"http://[2001:2::2]/check.png?n=n1x\" alt=\"Image by IPv6\""))
        #expect(!frame.text.contains("href") && !frame.text.contains("form") && !frame.text.contains("script"))
        let check = try #require(Views(text: "x").pages().first { $0.name == "check-2" })
        #expect(check.answer.text.contains("<iframe src=\"/check/ipv6?n=n1x\" title=\"Image by IPv6\""))
        let without = try #require(CheckView.Images(nonce: "n1x", route: "198.18.0.2", ipv6: nil))
        #expect(CheckView.frame(without) == nil)
    }

    @Test("a page shows itself again while a certificate is being fetched, without a script, and no longer")
    func refresh() throws {
        for (name, answer) in try Views(text: "x").pages() {
            #expect(answer["Refresh"] == (name == "certificate-3" ? "2" : nil), "\(name)")
            #expect(!answer.text.contains("http-equiv"))
        }
    }

    @Test("every page leads to all that there are, but for the board and what stands under another's name")
    func footer() throws {
        var context = context()
        context.offers = [.certificate, .ownProxy, .board, .proxyScript, .learn]
        let views = Views(text: "x")
        let refusals: [PageRefusal] = [.method(allowed: ["GET"]), .otherOrigin, .token, .unknownPath]
        let home = views.home().answer(in: context)
        for page in refusals.map({ $0.answer(in: context) })
            + [RefusalView(title: "x", words: "x").answer(in: context), home]
            + (try views.pages().filter { $0.name.hasPrefix("confirm") }.map(\.answer))
        {
            for path in ["/", "/requests", "/check", "/learn", "/ca", "/adhoc", "/codes", "/lab"] {
                #expect(page.text.contains("<li><a href=\"\(path)\">"), "\(path): \(page.text)")
            }
        }
        let foreign = PageRefusal.otherHost.answer(in: context).text
        #expect(!foreign.contains("<nav") && foreign.contains("href=\"http://10.9.0.1/\""))
    }

    @Test("who has no name is asked for one at once, and who has one gets the form where it is looked for")
    func naming() {
        var view = Views(text: "x").home()
        view.isFirstVisit = true
        let named = view.answer(in: context()).text
        #expect(!named.contains("What is written on this phone?") && named.contains("Rename this phone"))
        #expect(named.contains("<details><summary>Give this phone another name</summary>"))
        view.asksName = true
        #expect(view.answer(in: context()).text.contains("What is written on this phone?"))
        view.asksName = false
        view.naming = FormField("a b", error: "found a blank")
        let refused = view.answer(in: context()).text
        #expect(refused.contains("What is written on this phone?") && !refused.contains("Rename this phone"))
        (view.device.name, view.naming, view.isFirstVisit) = (nil, FormField(), false)
        let unnamed = view.answer(in: context()).text
        #expect(unnamed.contains("What is written on this phone?") && !unnamed.contains("Rename this phone"))
    }

    @Test("what was refused is 422, says so beside the field, and keeps what was typed")
    func refusedForms() throws {
        var view = Views(text: "pixel").home()
        view.naming = FormField("my phone", error: "found a blank")
        let home = view.answer(in: context())
        #expect(home.status == 422)
        #expect(home.text.contains("value=\"my phone\""))
        #expect(home.text.contains("aria-describedby=\"name-hint name-error\" aria-invalid=\"true\""))
        #expect(home.text.contains("<strong id=\"name-error\" class=\"error\">Not taken: <bdi>found a blank</bdi>"))
        let own = OwnProxyView(
            device: view.device, terms: OwnProxyTerms(lease: 1, longest: 1, from: "-", ports: "-"),
            server: FormField("10.20.3.77", error: "found no port"), domains: FormField("a.example\r\nb.example"))
        let page = own.answer(in: context())
        #expect(page.status == 422)
        #expect(page.text.contains("value=\"10.20.3.77\""))
        #expect(page.text.contains(">\na.example\nb.example</textarea>"))
    }

    @Test("the first look says the state, then what to do, then who, then the buttons")
    func order() throws {
        var view = Views(text: "pixel-7").home(.silent(.connect))
        view.way = .profile(
            ProfileView(
                id: "own", name: "Own", mode: .everything,
                upstream: UpstreamView(address: "10.20.3.77:8899", colour: .red, cause: .silent(.connect))))
        var rest = view.answer(in: context()).text[...]
        for text in [
            "✕ Does not work", "10.20.3.77:8899 does not answer: laptop asleep, its firewall, or no route",
            "Wake the laptop", "Try again for this phone", "Set by", "in 52 min", "One hour more for this phone",
            "Put this phone back to the default", "Switch this phone to Whistle QA", "Hand this phone over",
            "Prepare a phone",
        ] {
            let place = try #require(rest.firstRange(of: text), "\(text)")
            rest = rest[place.upperBound...]
        }
    }

    @Test("each button carries the token of its own action for its own device")
    func tokens() throws {
        let text = Views(text: "x").home().answer(in: context()).text
        let pieces = text.split(separator: "<form ").dropFirst()
        #expect(pieces.count == 6)
        for piece in pieces {
            let action = try #require(piece.firstMatch(of: #/action="\/([a-z\/-]+)"/#)?.1)
            let token = try #require(piece.firstMatch(of: #/name="token" value="([^"]+)"/#)?.1)
            let means = try #require(PageAction(rawValue: String(action)))
            #expect(PageToken(key: key).isGood(String(token), device: phone, action: means, at: now))
        }
    }

    @Test("colours that stand on each other have the contrast of WCAG 2.2, AA, in light and dark")
    func contrast() throws {
        let sheets = PageStyle.text.split(separator: "@media (prefers-color-scheme: dark)", maxSplits: 1)
        #expect(sheets.count == 2)
        for sheet in sheets {
            var colours: [Substring: Double] = [:]
            for match in sheet.matches(of: #/--([a-z-]+): #([0-9a-f]{6});/#) where colours[match.1] == nil {
                colours[match.1] = Self.luminance(try #require(Int(match.2, radix: 16)))
            }
            for back: Substring in ["page", "card"] {
                for front: Substring in ["text", "quiet", "link", "green", "yellow", "red", "grey"] {
                    #expect(try Self.contrast(colours, front, back) >= 4.5, "\(front) on \(back)")
                }
                for front: Substring in ["edge", "focus"] {
                    #expect(try Self.contrast(colours, front, back) >= 3, "\(front) on \(back)")
                }
            }
            #expect(try Self.contrast(colours, "on-main", "main") >= 4.5)
        }
    }

    /// WCAG 2.2, "contrast ratio".
    private static func contrast(
        _ colours: [Substring: Double], _ front: Substring, _ back: Substring
    ) throws -> Double {
        let (one, other) = (try #require(colours[front]), try #require(colours[back]))
        return (max(one, other) + 0.05) / (min(one, other) + 0.05)
    }

    /// WCAG 2.2, "relative luminance".
    private static func luminance(_ colour: Int) -> Double {
        let parts = [16, 8, 0].map { shift in Double(colour >> shift & 255) / 255 }.map { (part: Double) -> Double in
            part <= 0.04045 ? part / 12.92 : Self.power((part + 0.055) / 1.055)
        }
        return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]
    }

    /// A number to the power of 2.4: twelfth power of its fifth root, by Newton's steps.
    private static func power(_ base: Double) -> Double {
        var root = 1.0
        for _ in 0..<60 { root -= (root * root * root * root * root - base) / (5 * root * root * root * root) }
        return (0..<12).reduce(1.0) { product, _ in product * root }
    }

    @Test(
        "the testers' two sentences",
        arguments: [
            (
                Cause.silent(.connect), UpstreamView.Kind.whistle,
                "10.20.3.77:8899 does not answer: laptop asleep, its firewall, or no route"
            ),
            (
                .silent(.proxy), .charles,
                "10.20.3.77:8899 accepts but does not answer CONNECT: Charles may be waiting for Allow"
            ),
        ])
    func sentences(cause: Cause, kind: UpstreamView.Kind, sentence: String) {
        #expect(Remedy(cause, address: "10.20.3.77:8899", kind: kind).sentence == sentence)
    }

    @Test("every cause has something to do for every kind, and names the address or the gateway")
    func remedies() {
        for kind in UpstreamView.Kind.allCases {
            for cause in Views.causes("words") {
                let remedy = Remedy(cause, address: "h:1", kind: kind)
                #expect(!remedy.steps.isEmpty && remedy.steps.allSatisfy { $0.hasSuffix(".") || $0.hasSuffix("?") })
                #expect(
                    remedy.sentence.contains("h:1") || remedy.sentence.contains("gateway")
                        || cause == .nameUnknown("words"))
                #expect(!remedy.sentence.hasSuffix("."))
            }
        }
    }

    @Test(
        "times in words",
        arguments: [
            (Int64(-5), "0 s"), (0, "0 s"), (119, "119 s"), (120, "2 min"), (7199, "120 min"), (7200, "2 h"),
            (172_799, "48 h"), (172_800, "2 days"),
        ])
    func times(seconds: Int64, words: String) { #expect(PageContext.words(seconds) == words) }

    @Test("a fingerprint is spelled as phones spell it")
    func fingerprint() { #expect(CertificateView.spelled([0, 10, 171, 255]) == "00:0A:AB:FF") }

    @Test("a certificate's file has the type that phones know, and a name that is one")
    func certificateFile() {
        let good = CertificateView.file(der: [1, 2], name: "whistle-qa")
        #expect(good.type == "application/x-x509-ca-cert" && good.body == [1, 2])
        #expect(good["Content-Disposition"] == "attachment; filename=\"whistle-qa-ca.crt\"")
        let bad = CertificateView.file(der: [], name: "a\"\r\nX: 1")
        #expect(bad["Content-Disposition"] == "attachment; filename=\"proxy-ca.crt\"")
    }

    @Test("the pixel is an image of one pixel")
    func pixel() throws {
        let scratch = try Scratch()
        try Scratch.put(CheckView.image.body, scratch.path("pixel.png"))
        let program = """
            import struct, zlib
            b = open("pixel.png", "rb").read()
            assert b[:8] == bytes([137, 80, 78, 71, 13, 10, 26, 10])
            at, kinds = 8, []
            while at < len(b):
                n, = struct.unpack(">I", b[at:at+4])
                chunk = b[at+4:at+8+n]
                assert struct.unpack(">I", b[at+8+n:at+12+n])[0] == zlib.crc32(chunk)
                kinds.append((chunk[:4], chunk[4:]))
                at += 12 + n
            assert [k for k, _ in kinds] == [b"IHDR", b"IDAT", b"IEND"]
            assert struct.unpack(">II", kinds[0][1][:8]) == (1, 1)
            assert zlib.decompress(kinds[1][1]) == bytes(3)
            """
        let run = try Command.run(["python3", "-c", program], in: scratch.directory)
        #expect(run.status == 0, "\(run.errors)")
    }
}
