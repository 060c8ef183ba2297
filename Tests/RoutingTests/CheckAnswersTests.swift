/// The answers to connectivity checks, from their file.

import Addresses
import Routing
import Testing

struct CheckAnswersTests {
    private static func parse(_ text: String, shared: RuleList? = nil) throws(RoutingError) -> CheckAnswers {
        try CheckAnswers.parse(Array(text.utf8).span, file: "c.answers", shared: shared)
    }

    @Test("a line is a host, a path, a status and a body to the line's end, octet by octet")
    func lines() throws {
        let answers = try Self.parse(
            """
            # a comment
            a.test  /x  200  <HTML> two  blanks
            a.test\t*\t204

            b.test  dns  192.0.2.1
            b.test  dns  2001:db8::1\r
            """)
        #expect(answers.hosts.keys.sorted() == ["a.test", "b.test"])
        let a = try #require(answers.hosts["a.test"])
        #expect(a.page(at: "/x") == CheckAnswers.Page(status: 200, body: "<HTML> two  blanks"))
        #expect(a.page(at: "/y") == CheckAnswers.Page(status: 204))
        #expect(answers.origin(of: a) == "phones: connectivity.answers, c.answers:2")
        let b = try #require(answers.hosts["b.test"])
        #expect(b.pages.isEmpty && b.page(at: "/") == nil)
        #expect(try b.addresses == [address("192.0.2.1"), address("2001:db8::1")])
    }

    @Test("hosts that serve much else are marked")
    func shared() throws {
        let shared = try list("full:b.test\n", format: .plain)
        let answers = try Self.parse("a.test * 204\nb.test /x 204\n", shared: shared)
        #expect(answers.hosts["a.test"]?.isShared == false && answers.hosts["b.test"]?.isShared == true)
    }

    @Test(
        "what cannot be a line is refused with file and line",
        arguments: [
            ("A.test * 204", "lower case"), ("*.a.test * 204", "the name of a host"), (" a.test * 204", "the name of"),
            ("http://a.test/ 204", "the name of a host"), ("a.test", "a path"), ("a.test x 204", "a path without"),
            ("a.test /x?y 204", "a path without"), ("a.test ** 204", "a path without"), ("a.test *", "200 and a body"),
            ("a.test * 200", "200 and a body"), ("a.test * 204 x", "200 and a body"), ("a.test * 302 x", "200 and a"),
            ("a.test dns", "an address"), ("a.test dns 192.0.2.1 x", "an address"), ("a.test dns b.test", "an address"),
            ("b.test * 200 y", "each path once"), ("b.test dns 192.0.2.1", "each address once"),
            ("a.test * 200 \u{0}", "text in UTF-8"),
        ])
    func refused(line: String, expected: String) throws {
        let text = "b.test * 204\nb.test dns 192.0.2.1\n\(line)\n"
        let found = refusal { () throws(RoutingError) in try Self.parse(text) }
        let error = try #require(found)
        #expect(error.line == 3 && error.file == "c.answers" && error.list == "connectivity.answers")
        #expect(error.expected.contains(expected), "\(error)")
    }

    @Test("the file that comes with the program is read as its first comment says")
    func shipped() throws {
        let path = "Configs/phones/connectivity.answers"
        let hosts = try file("Configs/phones/connectivity-shared.txt")
        let shared = try RuleList.parse(hosts.span, name: "connectivity-shared", format: .plain)
        let bytes = try file(path)
        let answers = try CheckAnswers.parse(bytes.span, file: path, shared: shared)
        #expect(
            answers.hosts["captive.apple.com"]?.page(at: "/hotspot-detect.html")?.body
                == "<HTML><HEAD><TITLE>Success</TITLE></HEAD><BODY>Success</BODY></HTML>")
        #expect(answers.hosts["connectivitycheck.gstatic.com"]?.page(at: "/generate_204")?.status == 204)
        #expect(answers.hosts["play.googleapis.com"]?.page(at: "/else") == nil)
        #expect(try answers.hosts["dns.msftncsi.com"]?.addresses.contains(address("131.107.255.255")) == true)
        let marked = answers.hosts.filter(\.value.isShared).keys.sorted()
        #expect(marked == ["www.apple.com", "www.google.com", "www.gstatic.com"])
    }

    @Test("a MATCH names no host, so what is done for phones comes before it")
    func byDefault() throws {
        let rules = try ruleSet(rules: ["DOMAIN,a.test,DIRECT", "MATCH,PROXY"])
        #expect(try !rules.decide(to("a.test")).isByDefault)
        #expect(try rules.decide(to("b.test")).isByDefault)
        #expect(try ruleSet().decide(to("b.test")).isByDefault)
        #expect(try !ruleSet(domains: ["b.test"]).decide(to("b.test")).isByDefault)
    }
}
