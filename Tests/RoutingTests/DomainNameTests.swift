/// Names in their one form.

import Routing
import Testing

struct DomainNameTests {
    @Test(
        "brings a name into its form",
        arguments: [
            ("Example.COM", "example.com"), ("example.com.", "example.com"), ("localhost", "localhost"),
            ("_sip._tcp.Example", "_sip._tcp.example"), ("r3---sn-1.example", "r3---sn-1.example"),
            ("-a.example", "-a.example"), ("XN--BCHER-KVA", "xn--bcher-kva"), ("xn----99999999.a", "xn----99999999.a"),
            ("203.0.113.1", "203.0.113.1"),
        ])
    func ascii(text: String, name: String) throws {
        #expect(try DomainName.normalise(text) == name)
    }

    // The values are Python's: each label in NFKC and lower case, then its codec `punycode` behind `xn--`. Its codec
    // `idna` says the same of all but faß, which IDNA 2003 turned into fass.
    @Test(
        "other scripts become A-labels",
        arguments: [
            ("bücher.example", "xn--bcher-kva.example"), ("BÜCHER.example", "xn--bcher-kva.example"),
            ("bu\u{308}cher.example", "xn--bcher-kva.example"), ("münchen.de", "xn--mnchen-3ya.de"),
            ("例え.テスト", "xn--r8jz45g.xn--zckzah"), ("例え。テスト", "xn--r8jz45g.xn--zckzah"),
            ("пример.испытание", "xn--e1afmkfd.xn--80akhbyknj4f"), ("faß.de", "xn--fa-hia.de"),
            ("ＥＸＡＭＰＬＥ.com", "example.com"), ("한국.kr", "xn--3e0b707e.kr"),
            ("\u{1112}\u{1161}\u{11ab}\u{1100}\u{116e}\u{11a8}.kr", "xn--3e0b707e.kr"), ("か\u{3099}.jp", "xn--v8j.jp"),
            ("i❤.ws", "xn--i-7iq.ws"), ("\u{212b}.se", "xn--5ca.se"),
        ])
    func international(text: String, name: String) throws {
        #expect(try DomainName.normalise(text) == name)
    }

    @Test(
        "what is no name says why",
        arguments: [
            ("", DomainNameError.empty), (".", .empty), ("..", .emptyLabel), ("a..b", .emptyLabel), (".a", .emptyLabel),
            ("a b", .character(" ")), ("a/b", .character("/")), ("*.a", .character("*")), ("a:1", .character(":")),
            ("a\u{0}b", .character("\u{0}")), ("a\r\n", .character("\r")), ("a@b", .character("@")),
            ("ex\u{a0}ample", .character("\u{a0}")), ("a\u{200b}b", .character("\u{200b}")),
            ("a\u{ad}b", .character("\u{ad}")), ("\u{fffd}.a", .character("\u{fffd}")),
            (String(repeating: "a", count: 64), .labelTooLong),
            (String(repeating: "ü", count: 60) + ".de", .labelTooLong),
            (String(repeating: "abcdefg.", count: 32) + "a", .nameTooLong),
            (String(repeating: "ü", count: 100_000), .nameTooLong),
        ])
    func refuses(text: String, error: DomainNameError) {
        #expect(throws: error) { try DomainName.normalise(text) }
        #expect(!error.description.isEmpty)
    }

    @Test("63 octets of a label and 253 of a name are right, and one more is not")
    func edges() throws {
        let label = String(repeating: "a", count: 63)
        let name = [label, label, label, String(repeating: "b", count: 61)].joined(separator: ".")
        #expect(name.utf8.count == 253)
        #expect(try DomainName.normalise(name) == name)
        #expect(try DomainName.normalise(name + ".") == name)
        #expect(throws: DomainNameError.nameTooLong) { try DomainName.normalise(name + "b") }
    }
}
