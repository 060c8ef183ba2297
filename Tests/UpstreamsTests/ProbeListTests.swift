/// Lists of pages, and the choice among them.

import Bytes
import Foundation
import Health
import TestSupport
import Testing
import Upstreams
import Wire

@Suite struct ProbeListTests {
    @Test("the list that comes with the gateway is read, and says its date")
    func ownList() throws {
        let file = Lab.sources.appending(path: "Configs/health/pages.txt")
        let text = try String(contentsOf: file, encoding: .utf8)
        let pages = try ProbePage.list(text)
        #expect(pages.count == 7 && Set(pages.map(\.url)).count == 7)
        #expect(pages[0].target == Target("connectivitycheck.gstatic.com:80") && pages[0].statuses == [204])
        #expect(pages[2].path == "/connecttest.txt" && pages[2].body == "Microsoft Connect Test")
        #expect(text.contains("As of 20"))
    }

    @Test("a line is a URL, statuses and a text")
    func lines() throws {
        let pages = try ProbePage.list("# none\n\n http://a.example\r\nhttp://B.example:81/x?y 200,204\t it * works \n")
        #expect(pages.map(\.url) == ["http://a.example/", "http://B.example:81/x?y"])
        #expect(pages.map(\.statuses) == [[200], [200, 204]] && pages.map(\.body) == [nil, "it * works"])
    }

    @Test(
        "what is no page is refused with its line",
        arguments: [
            ("\nhttps://a.example/", "line 2: found an https URL; expected an http one: there is no TLS stack here"),
            ("ftp://a/", "line 1: found no http URL; expected http://HOST/PATH"),
            ("http:/a/", "line 1: found no http URL; expected http://HOST/PATH"),
            ("http://u:p@a/", "line 1: found a user or a fragment in the URL; expected none"),
            ("http://a/#b", "line 1: found a user or a fragment in the URL; expected none"),
            ("http://a:0/", "line 1: found no usable host and port in the URL; expected http://HOST[:PORT]/PATH"),
            ("http:///", "line 1: found no usable host and port in the URL; expected http://HOST[:PORT]/PATH"),
            (
                "http://a/ 200,2000",
                "line 1: found no list of statuses; expected numbers from 100 to 599 with commas between them"
            ),
            (
                "http://a/\u{e4}",
                "line 1: found blanks or other characters that no URL has; expected at most 2048 of those it has"
            ),
        ] as [(String, String)])
    func refused(text: String, words: String) {
        let error = #expect(throws: ProbeListError.self) { try ProbePage.list(text) }
        #expect(error?.description == words)
    }

    @Test("a list has an end")
    func tooLong() {
        let text = String(repeating: "http://a.example/\n", count: 33)
        #expect(throws: ProbeListError(line: 33, message: "found more than 32 pages; expected fewer")) {
            try ProbePage.list(text)
        }
    }

    private static func result(_ request: Sample.Outcome?, connect: Sample.Outcome = .good(.zero)) -> ProbeResult {
        var result = ProbeResult(ticket: 0)
        result.connect = Sample(.connect, connect)
        result.request = request.map { Sample(.request, $0) }
        return result
    }

    @Test("the first that answers is chosen, in the list's order, whichever is heard first")
    func choice() throws {
        let pages = try ProbePage.list("http://a/\nhttp://b/\nhttp://c/")
        var choice = ProbeChoice(pages)
        choice.take(Self.result(.good(.zero)), of: 2)
        #expect(choice.chosen == nil && choice.next == 0)
        choice.take(Self.result(.bad(.wrongPage("302"))), of: 0)
        #expect(choice.chosen == nil && choice.next == 1)
        choice.take(Self.result(.good(.zero)), of: 1)
        #expect(choice.chosen == 1 && choice.isDecided && choice.verdicts[0] == .bad(.wrongPage("302")))
    }

    @Test("a proxy that is not there, or that rejects the login, is not tried with every page")
    func hopeless() throws {
        let pages = try ProbePage.list("http://a/\nhttp://b/")
        for result in [Self.result(nil, connect: .bad(.portClosed)), Self.result(.bad(.credentialsRejected))] {
            var choice = ProbeChoice(pages)
            choice.take(result, of: 0)
            #expect(choice.isDecided && choice.chosen == nil && choice.isHopeless)
        }
        var none = ProbeChoice(pages)
        for page in 0..<2 { none.take(Self.result(.bad(.originFailing("x"))), of: page) }
        #expect(none.isDecided && none.chosen == nil && !none.isHopeless)
    }
}
