/// Lists of other programs, in their own spelling.

import Addresses
import Routing
import TestSupport
import Testing

struct RuleListTests {
    @Test(
        "finds out the format",
        arguments: [
            ("a.example\nb.example", RuleList.Format.plain), ("", .plain), ("# nothing\n\n", .plain),
            ("*.a.example", .plain), ("full:a.example", .plain), ("0.0.0.0 a.example", .hosts),
            ("# x\n::1\tlocalhost\n", .hosts), ("fe80::1%lo0 localhost", .hosts),
            ("a.example\ndomain:b.example", .v2fly),
            ("a.example @ads\n", .v2fly), ("payload:\n  - a.example", .clash), ("+.a.example", .clash),
            ("- 'a.example'", .clash), ("DOMAIN,a.example", .surge), ("# c\nIP-CIDR,10.0.0.0/8,no-resolve\n", .surge),
        ])
    func detects(text: String, format: RuleList.Format) throws {
        #expect(try list(text).format == format)
    }

    @Test("a dot in front means two things, so its format has to be said (B142)")
    func ambiguous() throws {
        let error = refusal { () throws(RoutingError) in try list("# x\n.a.example\n") }
        #expect(error?.code == .ambiguous)
        #expect(error?.line == 2)
        #expect(!(try list(".a.example", format: .clash)).contains(try to("a.example")))
        #expect(try list(".a.example", format: .surge).contains(try to("a.example")))
    }

    @Test("reads a hosts file: names alone, several on a line, without the machine's own")
    func hosts() throws {
        let text = """
            127.0.0.1 localhost localhost.localdomain
            ::1 ip6-localhost ip6-loopback # own
            fe80::1%lo0 localhost
            255.255.255.255 broadcasthost
            0.0.0.0 0.0.0.0
            0.0.0.0 ads.example\ttracker.Example # both
            """
        let list = try list(text)
        #expect(list.count == 2)
        #expect(list.match(try to("tracker.example"))?.description == "set, set.txt:6: full:tracker.example")
        #expect(!list.contains(try to("www.ads.example")))
        #expect(!list.contains(RouteQuery(address: try address("0.0.0.0"))))
    }

    @Test("reads a v2fly list: prefixes, attributes, affiliations and comments")
    func v2fly() throws {
        let text = """
            # a list
            domain:a.example @ads @!cn # why
            full:b.example &other
            keyword:shop
            c.example
            cn
            """
        let list = try list(text)
        #expect(list.format == .v2fly)
        #expect(list.count == 5)
        #expect(list.contains(try to("x.a.example")))
        #expect(!list.contains(try to("x.b.example")))
        #expect(list.contains(try to("myshop.example.org")))
        #expect(list.match(try to("example.cn"))?.line == 6)
    }

    @Test("a v2fly list includes declared sets, each once, and no others")
    func includes() throws {
        let a = try list("a.example\ninclude:b\n", name: "a")
        let b = try list("b.example\ninclude:a\ninclude:c\n", name: "b")
        let c = try list("0.0.0.0 c.example", name: "c")
        let rules = try ruleSet(rules: ["RULE-SET,a,DIRECT"], sets: ["a": a, "b": b, "c": c])
        #expect(rules.decide(try to("c.example")).origin?.list == "c")
        #expect(rules.decide(try to("x.b.example")).verdict == .direct)
        let error = refusal { () throws(RoutingError) in
            try ruleSet(rules: ["RULE-SET,a,DIRECT"], sets: ["a": a, "b": b])
        }
        #expect(error?.code == .unknownSet)
        #expect(error?.found == "include:c in b.txt:3")
        #expect(refusal { () throws(RoutingError) in try list("include:a @ads", format: .v2fly) }?.code == .unsupported)
    }

    @Test("reads a Clash payload: YAML or lines, names, networks and rules")
    func clash() throws {
        let text = """
            # made by hand
            payload:
              - '+.a.example'  # all of it
              - "*.b.example"
              - c.example
              - 192.0.2.0/24
              - DOMAIN-KEYWORD,shop
              - IP-CIDR6,2001:db8::/32,no-resolve
              - '*'
            """
        let list = try list(text)
        #expect(list.count == 7)
        #expect(list.contains(try to("a.example")))
        #expect(list.contains(try to("x.b.example")))
        #expect(!list.contains(try to("y.x.b.example")))
        #expect(list.contains(RouteQuery(address: try address("2001:db8::5"))))
        #expect(list.match(try to("localhost"))?.text == "*")
        #expect(list.match(try to("x.b.example"))?.line == 4)
        let lines = try RoutingTests.list("# text\n.a.example\n10.0.0.0/8\n", format: .clash)
        #expect(lines.count == 2)
    }

    @Test("reads Surge's rule sets and domain sets, with its three sorts of comment")
    func surge() throws {
        let text = """
            # one
            // two
            ; three
            DOMAIN-SUFFIX,a.example // why
            DOMAIN, b.example
            IP-CIDR,192.0.2.0/24,no-resolve ; why
            DEST-PORT,8443
            .c.example
            """
        let list = try list(text)
        #expect(list.count == 5)
        #expect(list.contains(try to("x.a.example")))
        #expect(list.contains(try to("c.example")))
        #expect(list.match(RouteQuery(port: 8443))?.text == "DST-PORT,8443")
    }

    @Test(
        "a line that is none of its format is refused with its number",
        arguments: [
            ("a.example\n\nb..example", RoutingError.Code.name, 3), ("a.example\nb c", .name, 2),
            ("a.example\r\nb\u{0}c", .encoding, 2), ("0.0.0.0 a.example\nb.example\n", .spelling, 2),
            ("DOMAIN,a.example\nDOMAIN,b.example,PROXY", .spelling, 2), ("DOMAIN,a\nRULE-SET,b", .unsupported, 2),
            ("DOMAIN,a\nURL-REGEX,^http", .unsupported, 2), ("domain:a\nregexp:^b$", .unsupported, 2),
            ("payload:\n- 'a.example'\n- 'x*y.example'", .name, 3), ("payload:\nother:\n", .name, 2),
            ("10.0.0.0.1/32", .prefix, 1), ("10.0.0.1/8", .prefix, 1), ("a.example\n1.2.3", .prefix, 2),
            ("||ads.example^", .name, 1), ("! comment", .name, 1), ("a\u{a0}b", .name, 1), ("“a”", .name, 1),
            ("<html>", .name, 1),
        ])
    func refuses(text: String, code: RoutingError.Code, line: Int) {
        let error = refusal { () throws(RoutingError) in try list(text) }
        #expect(error?.code == code)
        #expect(error?.line == line)
        #expect(error?.file == "set.txt")
        #expect(error?.found.isEmpty == false)
        #expect(error?.expected.isEmpty == false)
    }

    @Test(
        "B172: a byte order mark, CRLF, blanks and a missing last end of line are fine; bad UTF-8 is not, in a comment either"
    )
    func encoding() throws {
        let bytes = [0xef, 0xbb, 0xbf] + Array("\u{20}a.example \t\r\n# ünicode\r\n\r\nb.example".utf8)
        #expect(try RuleList.parse(bytes.span, name: "x").count == 2)
        let bad = Array("a.example\n# ".utf8) + [0xff, 0x0a] + Array("b.example".utf8)
        let error = refusal { () throws(RoutingError) in try RuleList.parse(bad.span, name: "x") }
        #expect(error?.code == .encoding)
        #expect(error?.line == 2)
    }

    @Test("hostile lists are refused shortly, whatever they are made of")
    func hostile() throws {
        let long = String(repeating: "a", count: 1 << 17)
        for text in [
            long, "*." + long, "full:" + long, "keyword:" + long, "DOMAIN," + long, "0.0.0.0 " + long, "+." + long,
            String(repeating: "ü", count: 1 << 15), String(repeating: "a.", count: 1 << 15), "include:x " + long,
            String(repeating: ",", count: 1 << 16), String(repeating: "*.", count: 1 << 16) + "x", long + "\u{0}",
        ] {
            let error =
                refusal { () throws(RoutingError) in try list("x.example\n" + text) }
                ?? refusal { () throws(RoutingError) in try list(text) }
            let description = try #require(error?.description)
            #expect(description.utf8.count < 1000)
        }
    }

    @Test("Totality: any octets are a list or an error with words", arguments: RuleList.Format.allCases)
    func totality(format: RuleList.Format) {
        var random = SeededGenerator(seed: 3)
        let pieces =
            [
                "a", "example", ".", "..", "*", "+.", "full:", "domain:", "include:", "keyword:", "DOMAIN,", "IP-CIDR,",
                "10.0.0.0/8",
                "::", "/", "\n", "\r\n", " ", "#", "@x", "- ", "'", "payload:\n", "0.0.0.0 ", "ü", "\u{0}", ",PROXY",
                "\u{a0}",
            ].map { Array($0.utf8) } + [[0xff], [0xef, 0xbb, 0xbf]]
        for _ in 0..<2000 {
            var bytes: [UInt8] = []
            for _ in 0..<random.number(1..<12) { bytes += pieces[random.number(0..<pieces.count)] }
            let error = refusal { () throws(RoutingError) in
                let list = try RuleList.parse(bytes.span, name: "x", format: format)
                for name in ["a", "example", "a.example", "x.a.example"] { _ = list.match(RouteQuery(name: name)) }
                return list
            }
            if let error { #expect(error.description.utf8.count < 1000) }
        }
    }
}

/// Lists as large as they come, and such as nobody writes by accident.
///
/// None of these looks at a clock: a step that grew with the square of its input would keep them busy for hours.
struct LargeListTests {
    private static func parse(_ text: [UInt8], format: RuleList.Format) throws(RoutingError) -> RuleList {
        try RuleList.parse(text.span, name: "large", file: "large.txt", format: format)
    }

    @Test("a million lines (in the long form) are a million entries, each with its line")
    func million() throws {
        let count = LongRun.rounds(50_000, long: 1_000_000)
        var text = Array("# a million\n".utf8)
        for number in 0..<count { text += "n\(number).example\n".utf8 }
        let list = try Self.parse(text, format: .plain)
        #expect(list.count == count)
        for number in [0, 1, count / 2, count - 1] {
            let origin = try #require(list.match(RouteQuery(name: "a.n\(number).example")))
            #expect(origin.line == number + 2)
            #expect(origin.text == "n\(number).example")
        }
        #expect(!list.contains(RouteQuery(name: "n\(count).example")))
        #expect(!list.contains(RouteQuery(name: "xn1.example")))
        #expect(!list.contains(RouteQuery(name: "example")))
    }

    @Test("a name that stands in every line is kept once and found in its first")
    func repeated() throws {
        var text: [UInt8] = []
        for _ in 0..<20_000 { text += "same.example\n".utf8 }
        let list = try Self.parse(text, format: .plain)
        #expect(list.count == 20_000)
        #expect(list.match(RouteQuery(name: "same.example"))?.line == 1)
    }

    @Test("networks that lie in one another are found from the inside out, in the order of their lines")
    func nested() throws {
        var text: [UInt8] = []
        for length in stride(from: 128, through: 1, by: -1) { text += "::/\(length)\n".utf8 }
        for number in 0..<5000 { text += "10.\(number >> 8).\(number & 255).0/24\n".utf8 }
        let list = try Self.parse(text, format: .plain)
        #expect(list.match(RouteQuery(address: IPAddress(high: 0, low: 0x1_0000_0000)))?.line == 34)
        #expect(list.match(RouteQuery(address: IPAddress(v4: 0x0a00_0101)))?.line == 130)
    }

    @Test("keywords, and names with wildcards inside, are compared one by one: more than 4,096 are refused")
    func bounded() throws {
        var keywords: [UInt8] = []
        for number in 0..<4096 { keywords += "keyword:aaa\(number)\n".utf8 }
        // The same again is no further one.
        keywords += "keyword:aaa0\nfull:x.example\n".utf8
        let list = try Self.parse(keywords, format: .plain)
        #expect(list.count == 4098)
        // The keyword of the lowest line that stands in it: aaa4, aaa40, aaa409, aaa4095.
        #expect(list.match(RouteQuery(name: "xaaa4095"))?.line == 5)
        keywords += "keyword:aab\n".utf8
        let tooMany = refusal { () throws(RoutingError) in try Self.parse(keywords, format: .plain) }
        #expect(tooMany?.code == .tooLarge)
        #expect(tooMany?.line == 4099)

        var patterns: [UInt8] = []
        for number in 0..<4096 { patterns += "a\(number).*.example\n".utf8 }
        #expect(try Self.parse(patterns, format: .clash).contains(RouteQuery(name: "a4095.x.example")))
        patterns += "b.*.example\n".utf8
        let one = refusal { () throws(RoutingError) in try Self.parse(patterns, format: .clash) }
        #expect(one?.code == .tooLarge)
        #expect(one?.line == 4097)
    }

    @Test("sets that include each other a thousand deep, and all of each other, are read once each")
    func inclusions() throws {
        var sets: [String: RuleList] = [:]
        for number in 0..<1000 {
            let next = (number + 1) % 1000
            sets["s\(number)"] = try list(
                "include:s\(next)\ninclude:s0\ninclude:s\(number)\nn\(number).example\n", name: "s\(number)")
        }
        let rules = try ruleSet(rules: ["RULE-SET,s0,DIRECT"], sets: sets)
        #expect(rules.decide(try to("n999.example")).origin?.list == "s999")
    }

    @Test("a list over the longest that is read is refused before anything of it is looked at")
    func tooLong() {
        let text = [UInt8](repeating: 0, count: RuleList.maximumSize + 1)
        let error = refusal { () throws(RoutingError) in try Self.parse(text, format: .auto) }
        #expect(error?.code == .tooLarge)
        #expect(error?.line == nil)
    }

    @Test("a list cut anywhere is a list or an error with a line, whatever its format")
    func cut() throws {
        let texts: [(RuleList.Format, String)] = [
            (.plain, "*.a.example\nfull:b\u{fc}cher.example\n10.0.0.0/8\nkeyword:shop # why\n"),
            (.hosts, "0.0.0.0 a.example\tb.example # both\n::1 localhost\n"),
            (.v2fly, "domain:a.example @ads\nkeyword:b &other\ninclude:c\n"),
            (.clash, "payload:\n  - '+.a.example'\n  - DOMAIN-SUFFIX,b\n  - sub.*.c\n"),
            (.surge, "DOMAIN,a // why\n.b.example\nIP-CIDR,10.0.0.0/8,no-resolve ; why\n"),
        ]
        for (format, text) in texts {
            let bytes = Array(text.utf8)
            _ = try Self.parse(bytes, format: format)
            for length in 0..<bytes.count {
                let error = refusal { () throws(RoutingError) in
                    try Self.parse(Array(bytes[..<length]), format: format)
                }
                #expect(error == nil || error?.line != nil)
            }
        }
    }
}
