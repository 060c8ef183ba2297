/// Lists of pages that an upstream may be tried with.

import Foundation
import TestSupport
import Testing

@testable import Profiles

@Suite struct PageListTests {
    @Test("the list that comes with the gateway is read, and says its date")
    func ownList() throws {
        let file = Lab.sources.appending(path: "Configs/health/pages.txt")
        let text = try String(contentsOf: file, encoding: .utf8)
        let pages = try PageList.read(text)
        #expect(pages.count == 7 && Set(pages.map(\.url.description)).count == 7)
        #expect(pages[0].url.authority == "connectivitycheck.gstatic.com" && pages[0].statuses == [204])
        #expect(pages[2].url.target == "/connecttest.txt" && pages[2].body == "Microsoft Connect Test")
        #expect(text.contains("As of 20"))
    }

    @Test("a line is a URL, statuses and a text")
    func lines() throws {
        let pages = try PageList.read("# none\n\n http://a.example\r\nhttp://b.example:81/x?y 200,204\t it * works \n")
        #expect(pages.map(\.url.description) == ["http://a.example/", "http://b.example:81/x?y"])
        #expect(pages.map(\.statuses) == [[200], [200, 204]] && pages.map(\.body) == [nil, "it * works"])
        // An accent joins the blank in front of it to one character.
        #expect(try PageList.read("http://a/ 200 \u{301}a \u{301}").map(\.body) == ["\u{301}a \u{301}"])
    }

    @Test(
        "what is no page is refused with its line",
        arguments: [
            ("", "line 1: found no page; expected one a line"),
            ("\nhttps://a.example/", "line 2: found an https URL; expected the URL of an http page"),
            ("ftp://a/", "line 1: found \"ftp://a/\"; expected the URL of an http page"),
            ("http://u:p@a/", "line 1: found a URL with a user; expected the URL of an http page"),
            ("http://a/#b", "line 1: found a URL with a fragment; expected the URL of an http page"),
            ("http://a:0/", "line 1: found a URL with a bad port; expected the URL of an http page"),
            ("http:///", "line 1: found a URL without a host; expected the URL of an http page"),
            ("http://a/\u{e4}", "line 1: found a URL with blanks, or outside ASCII; expected the URL of an http page"),
            ("http://a/ 200,2000", "line 1: found no statuses; expected some of 200 to 599, with commas between them"),
            ("http://a/ 100", "line 1: found no statuses; expected some of 200 to 599, with commas between them"),
            // What a profile's `health` can't say either.
            ("http://a/ 200,200", "line 1: found a status twice, or too many; expected each once, and at most 16"),
            (
                "http://a/ 200,201,202,203,204,205,206,207,208,209,210,211,212,213,214,215,216",
                "line 1: found a status twice, or too many; expected each once, and at most 16"
            ),
            ("http://a/ 200 **", "line 1: found \"**\"; expected a text of at most 256 octets"),
            ("http://a/ 200 a\u{1}b", "line 1: found \"a"),
            ("http://a/ 200 \(String(repeating: "x", count: 257))", "line 1: found \"xxx"),
            ("http://a/ 204,304 x", "line 1: found a body with no status that comes with one; expected another"),
            ("http://1::2:3/", "line 1: found a URL with a colon in its host; expected the URL of an http page"),
        ] as [(String, String)])
    func refused(text: String, words: String) {
        let error = #expect(throws: PageListError.self) { try PageList.read(text) }
        #expect(error?.description.hasPrefix(words) == true)
    }

    @Test("a list has an end")
    func tooLong() {
        let text = String(repeating: "http://a.example/\n", count: 33)
        #expect(throws: PageListError(line: 33, words: "found more than 32 pages; expected fewer")) {
            try PageList.read(text)
        }
    }
}
