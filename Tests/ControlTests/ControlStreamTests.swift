/// Streams of events and promised answers: WHATWG HTML, section 9.2, and what a server owes to those who don't read.

import Bytes
import LinuxIO
import Profiles
import TestSupport
import Testing

@testable import Control

private let events = "GET /v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n"

private func event(_ text: String) -> ControlEvent { ControlEvent(.health, .members(["text": .string(text)])) }

/// A server at a socket of its own, in a time that only the test moves.
private final class Stand {
    let scratch: Scratch
    var server: ControlServer
    /// An hour ago: the server never waits for what is to come.
    var now = Clock.now() - .hours(1)
    /// What requests other than those for events are answered; by default with their path.
    var answer: (ControlRequest) -> ControlAnswer = { ControlAnswer(document: $0.target, type: "t/t") }

    init(first: Int = 1) throws {
        scratch = try Scratch()
        server = try ControlServer(history: EventRing(first: first))
        try server.add(ControlDoor(unix: try Socket.listenUnix(at: scratch.path("s"))))
    }

    func connect(_ text: String) throws -> Reader {
        let socket = try Socket.connectUnix(to: scratch.path("s"))
        #expect(socket.write(Array(text.utf8).span) == .bytes(text.utf8.count))
        let reader = Reader(socket)
        serve()
        return reader
    }

    func serve(times: Int = 3) {
        for _ in 0..<times {
            server.serve(now: now) { request in
                do throws(ControlError) {
                    if case .events(let since) = try ControlCall.read(request) { return .stream(since: since) }
                } catch {
                    if request.path.last == "events" { return ControlAnswer(error) }
                }
                return answer(request)
            }
        }
    }

    /// How many listen, how many connections there are, what waits for the first of them, and when the next call is
    /// due.
    var streams: Int { server.streams }
    var connections: Int { server.connections.count }
    var waiting: Int { server.connections.handle(at: 0).map { server.connections[$0].session.output.count } ?? 0 }
    var deadline: Instant { server.deadline }

    func publish(_ texts: String...) { for text in texts { server.publish(event(text), now: now) } }
}

/// A client that reads when it is told to.
private final class Reader {
    private let socket: Socket
    /// Whether the server has ended the connection.
    private(set) var isOver = false

    init(_ socket: consuming Socket) { self.socket = socket }

    /// Everything that has come.
    func read() -> String {
        let (text, isOver) = socket.readAll()
        if isOver { self.isOver = true }
        return text
    }

    func finishSending() { socket.shutdownSend() }
}

private func frame(_ id: Int, _ text: String) -> String {
    "id: \(id)\nevent: health\ndata: {\"text\":\"\(text)\"}\n\n"
}

private func hello(_ id: Int, newest: Int) -> String {
    "retry: 1000\nid: \(id)\nevent: hello\ndata: {\"newest\":\(newest)}\n\n"
}

struct ControlStreamTests {
    @Test("a stream says hello, then each event with its id, and its head has the type and no length")
    func plain() throws {
        let stand = try Stand(first: 41)
        stand.publish("before")
        let reader = try stand.connect(events)
        let head =
            "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-store\r\n"
            + "X-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n"
        #expect(reader.read() == head + hello(41, newest: 41))
        stand.publish("a\nb", "c")
        #expect(reader.read() == frame(42, "a\\nb") + frame(43, "c"))
        #expect(stand.streams == 1)
    }

    @Test("a client goes on behind the last event that it has seen, and its header counts before the address")
    func resume() throws {
        let stand = try Stand()
        stand.publish("a", "b", "c")
        let tail = hello(1, newest: 3) + frame(2, "b") + frame(3, "c")
        let line = "GET /v1/events?since=1 HTTP/1.1\r\nHost: a\r\n"
        #expect(try stand.connect(line + "\r\n").read().hasSuffix("\r\n\r\n" + tail))
        let newer = try stand.connect(line + "Last-Event-ID: 3\r\n\r\n").read()
        #expect(newer.hasSuffix("\r\n\r\n" + hello(3, newest: 3)))
        let wrong = try stand.connect("GET /v1/events HTTP/1.1\r\nHost: a\r\nLast-Event-ID: x\r\n\r\n").read()
        #expect(wrong.hasPrefix("HTTP/1.1 400 "))
        #expect(try stand.connect("GET /v1/events?since=-1 HTTP/1.1\r\nHost: a\r\n\r\n").read().contains(" 400 "))
        #expect(try stand.connect("POST /v1/events HTTP/1.1\r\nHost: a\r\n\r\n").read().contains("Allow: GET, HEAD"))
    }

    @Test(
        "what has left the ring, and what is of another life, is said to be missed", arguments: [1, 5_000, 9_999_999])
    func missed(since: Int) throws {
        let stand = try Stand(first: 8_000_000)
        stand.publish("a", "b")
        let text = try stand.connect("GET /v1/events?since=\(since) HTTP/1.1\r\nHost: a\r\n\r\n").read()
        let missed = "event: missed\ndata: {\"since\":\(since),\"oldest\":8000000}\n\n"
        let rest = missed + frame(8_000_000, "a") + frame(8_000_001, "b")
        #expect(text.hasSuffix(hello(7_999_999, newest: 8_000_001) + rest))
    }

    @Test("the ring keeps the last 1,024 events, fewer when they are long, and the newest always")
    func ring() {
        var ring = EventRing()
        #expect(ring.opening(since: nil).next == 1)
        for number in 1...3000 { ring.add(event("\(number)")) }
        #expect([ring.oldest, ring.newest] == [1977, 3000])
        #expect(ring.text(of: 1977) == Array(frame(1977, "1977").utf8))
        for _ in 0..<40 { ring.add(event(String(repeating: "x", count: 10_000))) }
        #expect([ring.oldest, ring.newest] == [3015, 3040])
        ring.add(event(String(repeating: "x", count: 1 << 20)))
        #expect([ring.oldest, ring.newest] == [3041, 3041])
        ring.add(event("short"))
        #expect([ring.oldest, ring.newest] == [3042, 3042])
    }

    @Test("fifteen seconds of silence are broken by a comment, and events put it off")
    func beat() throws {
        let stand = try Stand()
        let reader = try stand.connect(events)
        _ = reader.read()
        #expect(stand.deadline == stand.now + .seconds(15))
        var heard: [String] = []
        for second in 1...40 {
            stand.now = stand.now + .seconds(1)
            if second == 20 { stand.publish("a") }
            stand.serve(times: 1)
            let text = reader.read()
            if !text.isEmpty { heard.append("\(second) \(text)") }
        }
        #expect(heard == ["15 :\n\n", "20 " + frame(1, "a"), "35 :\n\n"])
    }

    @Test("who doesn't read holds nobody up, costs no memory beyond the ring, and is dropped when it is behind that")
    func slow() throws {
        let stand = try Stand()
        let (slow, quick) = (try stand.connect(events), try stand.connect(events))
        let text = String(repeating: "x", count: 1000)
        var count = 0
        _ = quick.read()
        while stand.streams == 2, count < 4000 {
            stand.publish(text)
            count += 1
            #expect(quick.read().utf8.count == frame(count, text).utf8.count)
            #expect(stand.waiting < 32 << 10)
        }
        #expect(stand.streams == 1)
        // What the kernel took is there, then the end; the last of it may be cut off anywhere.
        let rest = slow.read()
        _ = slow.read()
        #expect(slow.isOver)
        let seen = rest.split(separator: "\nid: ").dropLast().last.flatMap { Int($0.prefix { $0 != "\n" }) } ?? 0
        let again = try stand.connect("GET /v1/events?since=\(seen - 1) HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(again.read().contains("event: missed\ndata: {\"since\":\(seen - 1),"))
    }

    @Test("who takes nothing for a minute is dropped, however little there is for it")
    func stuck() throws {
        let stand = try Stand()
        let reader = try stand.connect(events)
        let text = String(repeating: "x", count: 8000)
        // As much as the kernel takes, and a little more.
        while stand.waiting == 0 { stand.publish(text) }
        stand.now = stand.now + .seconds(59)
        stand.serve()
        #expect(stand.streams == 1)
        stand.now = stand.now + .seconds(2)
        stand.serve()
        #expect(stand.streams == 0)
        _ = reader.read()
    }

    @Test("a client that goes, or has finished sending, is no stream any more; what it says meanwhile is nothing")
    func gone() throws {
        let stand = try Stand()
        let half = try stand.connect(events + "GET /v1/status HTTP/1.1\r\nHost: a\r\n\r\n")
        do {
            let whole = try stand.connect(events)
            #expect(stand.streams == 2)
            _ = whole.read()
        }
        stand.serve()
        #expect(stand.streams == 1)
        #expect(!half.read().contains("/v1/status"))
        half.finishSending()
        stand.serve()
        #expect(stand.streams == 0)
    }

    @Test("there are 32 streams at most, other requests are answered beside them, and a place that is free is given")
    func bound() throws {
        let stand = try Stand()
        var readers = try (0..<32).map { _ in try stand.connect(events) }
        let late = try stand.connect(events).read()
        #expect(late.hasPrefix("HTTP/1.1 503 ") && late.contains("found 32 streams of events already"))
        #expect(try stand.connect("GET /v1/status HTTP/1.1\r\nHost: a\r\n\r\n").read().hasSuffix("/v1/status"))
        readers.removeLast()
        stand.serve()
        #expect(try stand.connect(events).read().hasSuffix(hello(0, newest: 0)))
    }

    @Test("a stream that is asked for behind another request begins when that was answered; HEAD has no stream")
    func order() throws {
        let stand = try Stand()
        let reader = try stand.connect("GET /v1/status HTTP/1.1\r\nHost: a\r\n\r\n" + events)
        let text = reader.read()
        #expect(text.contains("/v1/statusHTTP/1.1 200 OK\r\n") && text.hasSuffix(hello(0, newest: 0)))
        let head = try stand.connect("HEAD" + events.dropFirst(3))
        #expect(head.read().hasSuffix("Connection: close\r\n\r\n") && head.isOver)
    }

    @Test("an answer that was promised comes when it is there, and what was sent behind its request waits")
    func promised() throws {
        let stand = try Stand()
        stand.answer = { request in
            request.method == .post ? .later(7) : ControlAnswer(document: request.target, type: "t/t")
        }
        let probe = "POST /v1/probe HTTP/1.1\r\nHost: a\r\n\r\n"
        let reader = try stand.connect(probe + "GET /v1/status HTTP/1.1\r\nHost: a\r\n\r\n")
        let half = try stand.connect(probe)
        half.finishSending()
        stand.now = stand.now + .seconds(149)
        stand.serve()
        #expect(reader.read() + half.read() == "" && !half.isOver)
        stand.server.deliver(ControlAnswer(document: "done", type: "t/t"), for: 9, now: stand.now)
        for _ in 0..<2 { stand.server.deliver(ControlAnswer(document: "done", type: "t/t"), for: 7, now: stand.now) }
        stand.serve()
        let text = reader.read()
        #expect(text.contains("\r\n\r\ndoneHTTP/1.1 200 OK\r\n") && text.hasSuffix("/v1/status"))
        #expect(half.read().hasSuffix("\r\n\r\ndone") && half.isOver)
    }

    @Test("a promise that nobody keeps has an end, and one to a client that is gone is forgotten")
    func broken() throws {
        let stand = try Stand()
        stand.answer = { _ in .later(1) }
        let line = "POST /v1/probe HTTP/1.1\r\nHost: a\r\n\r\n"
        let waiting = try stand.connect(line)
        do { _ = try stand.connect(line) }
        stand.serve()
        #expect(stand.connections == 1)
        stand.now = stand.now + .seconds(151)
        stand.serve()
        _ = waiting.read()
        #expect(waiting.isOver && stand.connections == 0)
    }

    @Test("curl reads a stream, and its end ends it")
    func curl() throws {
        let stand = try Stand()
        stand.publish("a", "b")
        let url = "http://localhost/v1/events?since=1"
        let line = ["curl", "-sSN", "--max-time", "1", "--unix-socket", stand.scratch.path("s"), url]
        let curl = try LabProgram(beside: line, in: stand.scratch.directory)
        var published = false
        let ended = Lab.wait(10) {
            stand.serve()
            if stand.streams == 1, !published {
                stand.publish("c")
                published = true
            }
            return !curl.isRunning
        }
        #expect(ended && curl.output == hello(1, newest: 2) + frame(2, "b") + frame(3, "c"), "\(curl.errors)")
    }

    @Test("probes, events and metrics are asked for as they should be")
    func calls() throws {
        #expect(try call("GET /metrics") == .metrics)
        #expect(try call("GET /v1/events?since=17") == .events(since: 17))
        #expect(try call("POST /v1/probe", "{}") == .probe(.init()))
        let pages = try call("POST /v1/probe", #"{"profile":"qa","urls":["http://a/","http://b/"]}"#)
        #expect(pages == .probe(.init(profile: "qa", pages: ["http://a/", "http://b/"])))
        let refused: [(String, String)] = [
            (#"{"urls":[]}"#, "urls: found an empty list; expected 1 to 32 http URLs"),
            (#"{"urls":[""]}"#, "urls: found no URL; expected 1 to 32 http URLs"),
            (#"{"page":"x"}"#, "found the unknown key `page`; expected one of profile, urls"),
        ]
        for (body, message) in refused { #expect(try refusal("POST /v1/probe", body).message == message) }
        #expect(try refusal("POST /metrics").allowed == ["GET", "HEAD"])
    }
}
