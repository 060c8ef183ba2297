/// The client's end of a stream of events: the format of WHATWG HTML, section 9.2.6, and streams that break.

import Bytes
import LinuxIO
import TestSupport
import Testing

@testable import Control

private func parse(_ text: String, size: Int) throws(EventTooLong) -> (events: [ReceivedEvent], last: String) {
    var parser = EventParser()
    var events: [ReceivedEvent] = []
    let octets = Array(text.utf8)
    for start in stride(from: 0, to: octets.count, by: size) {
        events += try parser.take(octets.span.extracting(start..<min(start + size, octets.count)))
    }
    return (events, parser.lastID)
}

private func event(_ name: String, _ data: String) -> ReceivedEvent { ReceivedEvent(name: name, data: data) }

struct ControlClientEventsTests {
    /// The standard's own examples and rules, as text, events and last id.
    private static let rows: [(text: String, events: [ReceivedEvent], last: String)] = [
        ("data: YHOO\ndata: +2\ndata: 10\n\n", [event("message", "YHOO\n+2\n10")], ""),
        (
            ": test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\ndata:  third event\n\n",
            [event("message", "first event"), event("message", "second event"), event("message", " third event")], ""
        ),
        ("data\n\ndata\ndata\n\ndata:", [event("message", ""), event("message", "\n")], ""),
        ("data:test\n\ndata: test\n\n", [event("message", "test"), event("message", "test")], ""),
        ("event: add\ndata: 73857293\n\n", [event("add", "73857293")], ""),
        (
            "\u{feff}event: a\r\ndata: 1\r\n\r\nevent: b\rdata: 2\r\rdata: 3\n\n",
            [event("a", "1"), event("b", "2"), event("message", "3")], ""
        ),
        ("id: 7\n\nevent: a\n\ndata: x\nid: 8\u{0}\n\n", [event("message", "x")], "7"),
        ("retry: 10\nodd: x\n:\n\nid: 9\ndata: {\"a\":\"b: c\"}\n\n", [event("message", "{\"a\":\"b: c\"}")], "9"),
        ("id: 3\ndata: whole\n\nid: 4\ndata: cut off\n", [event("message", "whole")], "3"),
    ]

    @Test("events are read as the standard says, in pieces of every size")
    func format() throws {
        for (text, events, last) in Self.rows {
            for size in 1...text.utf8.count {
                let read = try parse(text, size: size)
                #expect(read.events == events && read.last == last, "\(text) in pieces of \(size)")
            }
        }
    }

    @Test("a line or an event over a mebibyte is given up")
    func bounds() {
        let long = String(repeating: "x", count: 400_000)
        #expect(throws: EventTooLong()) { try parse("data: \(long)\(long)\(long)", size: 65_536) }
        let lines = "data: \(long)\ndata: \(long)\ndata: \(long)\n\n"
        #expect(throws: EventTooLong()) { try parse(lines, size: 65_536) }
        #expect(throws: Never.self) { try parse("data: \(long)\n\ndata: \(long)\n\ndata: \(long)\n\n", size: 65_536) }
    }

    /// What a client hears of a server that says these pieces: events, then how it ended.
    private func hear(_ pieces: String) throws -> (heard: [ReceivedEvent], last: String?, end: String) {
        let server = try ScriptedControl(#"{"answers":[{"to":"GET /v1/events","pause":0.002,"pieces":\#(pieces)}]}"#)
        var stream = try ControlClient(socket: server.socket).listen(since: "6")
        let isAsked = try Lab.wait { try server.lastEvents() == ["6"] }
        #expect(isAsked)
        var poller = try Poller()
        try poller.add(stream.descriptor, token: 0, events: .reading)
        var (heard, ready): ([ReceivedEvent], [PolledEvent]) = ([], [.none])
        do throws(ExchangeError) {
            while poller.wait(into: &ready, until: Clock.now() + .seconds(20)) > 0 {
                guard let events = try stream.take() else { return (heard, stream.lastID, "end") }
                heard += events
            }
        } catch {
            return (heard, stream.lastID, "\(error)")
        }
        return (heard, stream.lastID, "silence")
    }

    @Test("a stream is heard to its end, chunked or not, and what is none is refused")
    func streams() throws {
        let head = #""HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"#
        let plain = try hear("[\(head)\\r\\nid: 7\\nda\",\"ta: a\\n\",\"\\nid: 8\\ndata: b\\n\"]")
        #expect(plain.heard == [event("message", "a")] && plain.last == "7" && plain.end == "end")
        let chunked = try hear(
            "[\(head)Transfer-Encoding: chunked\\r\\n\\r\\n9\\r\\ndata: a\\n\\n\\r\\n9\",\"\\r\\ndata: b\\n\\n\\r\\n\"]"
        )
        #expect(chunked.heard == [event("message", "a"), event("message", "b")] && chunked.end == "end")
        let refused = try hear(#"["HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\n\r\n{}"]"#)
        #expect(refused.end == "found status 404; expected 200")
        let long = String(repeating: "x", count: 1_100_000)
        let endless = try hear("[\(head)\\r\\ndata: a\\n\\n\",\"data: \(long)\"]")
        #expect(endless.heard == [event("message", "a")])
        #expect(endless.end == "found an answer of more than 1024 KiB; expected a shorter one")
        #expect(try hear(#"["SSH-2.0-OpenSSH_9.2\r\n"]"#).end.hasPrefix("found no answer of HTTP"))
    }

    @Test("an exchange that is asked for step by step never waits")
    func steps() throws {
        let server = try ScriptedControl(
            #"{"answers":[{"to":"GET /v1/flows","pause":2,"pieces":["HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n","{}"]}]}"#
        )
        var exchange = try ControlClient(socket: server.socket).begin("GET", "/v1/flows", body: nil)
        var poller = try Poller()
        try poller.add(exchange.descriptor, token: 0, events: exchange.interest)
        var (reply, turns, longest): (ControlReply?, Int, Double) = (nil, 0, 0)
        while reply == nil, turns < 100 {
            let step = Stopwatch()
            reply = try exchange.advance()
            longest = max(longest, step.seconds)
            turns += 1
            try poller.modify(exchange.descriptor, token: 0, events: exchange.interest)
            var ready = [PolledEvent.none]
            if reply == nil { _ = poller.wait(into: &ready, until: Clock.now() + .seconds(20)) }
        }
        #expect(reply == ControlReply(status: 200, body: Array("{}".utf8)))
        #expect(longest < 0.2 && turns < 10)
    }
}
