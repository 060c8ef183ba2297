/// What a device is told of the names that it wanted.

import Addresses
import Bytes
import LinuxIO
import Names
import Routing
import Testing
import Upstreams
import Wire

@testable import Gateway

@Suite("Requests of a device")
struct RequestTests {
    private static let device = Bench.device

    private func request(
        _ name: String, _ fate: DeviceRequest.Fate = .proxied, at second: Int64, failed outcome: String? = nil,
        open: Int = 0
    ) -> DeviceRequest {
        var request = DeviceRequest(.name(name), fate, at: Instant(nanoseconds: second * 1_000_000_000))
        request.outcome = outcome
        request.hasFailed = outcome != nil
        request.open = open
        return request
    }

    @Test("a device that is handed over has no past, and nobody else loses theirs")
    func forgets() {
        var book = RequestBook()
        let other = IPAddress(v4: 0x0a63_0063)
        var numbers: [UInt32] = []
        for device in [Self.device, other] {
            numbers.append(book.note(request("a.test", at: 1, open: 1), of: device))
            book.learn(device, until: Instant(nanoseconds: 9_000_000_000))
            book.take("a.test", of: device, at: Instant(nanoseconds: 1_000_000_000))
        }
        book.forget([Self.device])
        book.noteEnd(numbers[0], up: 1, down: 1, "client closed", of: Self.device)
        #expect(book.requests(of: [Self.device]).isEmpty && book.lessons(of: [Self.device]).isEmpty)
        #expect(book.requests(of: [other]).count == 1 && book.lessons(of: [other]).first?.names == ["a.test"])
    }

    @Test("the same name with the same fate is one entry that is counted; another fate is another entry")
    func counts() {
        var book = RequestBook()
        book.note(request("a.test", at: 1, open: 1), of: Self.device)
        book.note(request("a.test", at: 2, open: 1), of: Self.device)
        book.note(request("a.test", at: 3, failed: "403"), of: Self.device)
        book.note(request("a.test", .direct, at: 4), of: Self.device)
        book.note(request("a.test", at: 5, failed: "502"), of: Self.device)
        let list = RequestBook.joined(book.requests(of: [Self.device]))
        #expect(list.map(\.outcome) == ["502", nil, "403", nil])
        #expect(list.map(\.fate) == [.proxied, .direct, .proxied, .proxied])
        #expect(list.map(\.count) == [1, 1, 1, 2] && list[3].open == 2)
    }

    @Test("thirty names are kept, the newest first; one that comes again is new")
    func bounds() {
        var book = RequestBook()
        for second in 0..<40 { book.note(request("n\(second).test", at: Int64(second)), of: Self.device) }
        book.note(request("n10.test", at: 40), of: Self.device)
        let list = RequestBook.joined(book.requests(of: [Self.device]))
        #expect(list.count == 30)
        #expect(list.map(\.name) == ["n10.test"] + (11..<40).reversed().map { "n\($0).test" })
        #expect(list[0].count == 2)
    }

    @Test("what is remembered has a bound: devices, and the length of texts")
    func isBounded() {
        var book = RequestBook()
        let long = String(repeating: "x", count: 5000)
        for number in 0..<5000 {
            book.note(request("a.test", at: 1, failed: long), of: IPAddress(v4: 0x0a00_0000 + UInt32(number)))
        }
        let all = Set((0..<5000).map { IPAddress(v4: 0x0a00_0000 + UInt32($0)) })
        let kept = book.requests(of: all)
        #expect(kept.count <= 2048)
        #expect(kept.allSatisfy { ($0.outcome?.count ?? 0) <= 120 })
        #expect(book.requests(of: [IPAddress(v4: 0x0a00_0000 + 4999)]).count == 1)
    }

    @Test("an end is written to the entry of its beginning, and to none that has made room")
    func ends() {
        var book = RequestBook()
        let first = book.note(request("a.test", at: 1, open: 1), of: Self.device)
        let again = book.note(request("a.test", at: 2, open: 1), of: Self.device)
        book.noteEnd(first, up: 10, down: 20, "client closed", of: Self.device)
        book.noteEnd(again, up: 1, down: 2, String(repeating: "x", count: 5000), of: Self.device)
        let list = book.requests(of: [Self.device])
        #expect(list.map(\.open) == [0] && list[0].up == 11 && list[0].down == 22 && list[0].count == 2)
        #expect(list[0].outcome?.count == 120 && list[0].at == Instant(nanoseconds: 2_000_000_000))
        for second in 3..<40 { book.note(request("n\(second).test", at: Int64(second), open: 1), of: Self.device) }
        book.noteEnd(first, up: 10, down: 20, "client closed", of: Self.device)
        #expect(book.requests(of: [Self.device]).count == 30)
        #expect(book.requests(of: [Self.device]).allSatisfy { $0.open == 1 && $0.up == 0 && $0.outcome == nil })
    }

    @Test("a question says nothing more once a direct flow has followed it, and something again when it is asked anew")
    func questions() {
        let flow = request("a.test", .direct, at: 2)
        let before = RequestBook.joined([request("a.test", .asked, at: 1), flow])
        #expect(before.map(\.fate) == [.direct])
        let after = RequestBook.joined([flow, request("a.test", .asked, at: 3)])
        #expect(after.map(\.fate) == [.asked, .direct])
        // It went direct then, and is proxied since.
        let switched = RequestBook.joined([request("a.test", .asked, at: 1), request("a.test", at: 2)])
        #expect(switched.map(\.fate) == [.proxied, .asked])
    }

    @Test("a lesson takes names until it is over, each once, 256 of them")
    func lessons() throws {
        var book = RequestBook()
        let end = Instant(nanoseconds: 120_000_000_000)
        book.take("early.test", of: Self.device, at: Instant(nanoseconds: 0))
        book.learn(Self.device, until: end)
        for _ in 0..<2 { book.take("a.test", of: Self.device, at: Instant(nanoseconds: 1)) }
        book.take("b.test", of: Bench.address("10.9.0.3", 0).address, at: Instant(nanoseconds: 1))
        book.take("late.test", of: Self.device, at: end)
        var lesson = try #require(book.lessons(of: [Self.device]).first)
        #expect(lesson.names == ["a.test"] && !lesson.isCut)
        for number in 0..<300 { book.take("n\(number).test", of: Self.device, at: Instant(nanoseconds: 2)) }
        lesson = try #require(book.lessons(of: [Self.device]).first)
        #expect(lesson.names.count == 256 && lesson.isCut)
        var learned = LearnedNames()
        learned.join(lesson, asked: true)
        #expect(learned.names.count == 256 && learned.isCut && learned.opened.isEmpty)
    }

    @Test("the DNS service notes what it gives real answers for, and learns both kinds of names")
    func asks() throws {
        let resolver = try WrittenResolver()
        let bench = try NameServerBench(resolver.address)
        let device = IPAddress(v4: 0x7f00_0001)
        bench.service.learn([device], until: Clock.now() + .seconds(60))
        bench.send(NameServerBench.query("news.known.net", id: 7))
        _ = try resolver.question()
        _ = try bench.ask(NameServerBench.query("app.example.test"))
        _ = try bench.ask(NameServerBench.query("x.denied.test"))
        // No address is wanted.
        _ = try bench.ask(NameServerBench.query("mail.example.test", 15))
        let requests = RequestBook.joined(bench.service.requests(of: [device]))
        #expect(requests.map(\.name) == ["x.denied.test", "news.known.net"])
        #expect(requests.map(\.fate) == [.refused, .asked])
        #expect(requests[0].outcome == "the name does not exist here")
        var learned = LearnedNames()
        for lesson in bench.service.lessons(of: [device]) { learned.join(lesson, asked: true) }
        #expect(learned.names == ["app.example.test", "news.known.net"])
    }
}

extension WorkerTests {
    @Suite("Requests")
    struct Requests {
        private func bench(
            listeners: [GatewaySettings.Listener.Kind] = [], rules: RuleSet = .everything
        ) throws -> (bench: Bench, names: NameTable) {
            let names = NameTable(pool: try NameTableTests.pool())
            let bench = try Bench(listeners: listeners, names: names) { $0.routing.profiles[0].rules = rules }
            return (bench, names)
        }

        private func requests(_ bench: Bench, of device: IPAddress = Bench.device) -> [DeviceRequest] {
            RequestBook.joined(bench.machines.flatMap { $0.requests(of: device) })
        }

        private func client(_ name: String, _ bench: Bench, _ names: NameTable) throws -> Client {
            let fake = try #require(names.address(for: name, .ipv4, device: Bench.device, now: bench.now))
            return bench.client(to: SocketAddress(fake, 443))
        }

        @Test("a proxied flow is told of when it is open, and with its octets when it has ended")
        func proxied() throws {
            let (bench, names) = try bench()
            bench.machines[0].learn(Bench.device, until: bench.now + .seconds(120))
            let client = try client("shop.test", bench, names)
            let peer = try client.open()
            var list = requests(bench)
            #expect(list.map(\.name) == ["shop.test"] && list.map(\.fate) == [.proxied])
            #expect(list[0].open == 1 && list[0].port == 443 && list[0].profile == "bench" && list[0].outcome == nil)
            try client.send("hello")
            bench.until("it is there") { peer.text == "hello" }
            peer.send("hello yourself")
            bench.until("it is answered") { client.text == "hello yourself" }
            try client.finish()
            peer.close()
            bench.until("the end comes") { client.hasEnded }
            bench.expectNothingLeft()
            list = requests(bench)
            #expect(list.count == 1 && list[0].open == 0 && list[0].count == 1 && !list[0].hasFailed)
            #expect(list[0].up == 5 && list[0].down == 14 && list[0].outcome == "client closed")
            #expect(bench.machines[0].learned(Bench.device) == ["shop.test"])
        }

        @Test("what the proxy refuses is told with its words, and counted when it comes again")
        func refusedByProxy() throws {
            let (bench, names) = try bench()
            for _ in 0..<2 {
                let client = try client("shop.test", bench, names)
                try client.sendSYN()
                _ = try bench.acceptTunnel("HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n")
                bench.until("it is refused") { client.wasReset }
            }
            bench.expectNothingLeft()
            let list = requests(bench)
            #expect(list.count == 1 && list[0].count == 2 && list[0].hasFailed && list[0].fate == .proxied)
            #expect(list[0].outcome?.contains("refused CONNECT shop.test:443 with 403") == true)
        }

        @Test("what a rule refuses is told with the rule")
        func refusedByRule() throws {
            let rules = try RuleSet(domains: [], bypass: [], rules: [SourceText(text: "DOMAIN,never.test,REJECT")])
            let (bench, names) = try bench(rules: rules)
            let client = try client("never.test", bench, names)
            try client.sendSYN()
            bench.until("it is refused") { client.wasReset }
            bench.expectNothingLeft()
            let list = requests(bench)
            #expect(list.map(\.name) == ["never.test"] && list[0].fate == .refused && list[0].hasFailed)
            #expect(list[0].rule == "rules: DOMAIN,never.test,REJECT" && list[0].outcome == "refused by a rule")
        }

        @Test("an address without a name is told as that; another device is told nothing")
        func addresses() throws {
            let (bench, _) = try bench()
            let client = bench.client()
            _ = try client.open()
            #expect(requests(bench).map(\.name) == ["198.51.100.10"])
            #expect(requests(bench, of: Bench.address("10.9.0.3", 0).address).isEmpty)
            try client.reset()
            bench.expectNothingLeft()
        }

        @Test("a client of an inbound is told too, by what it asked for")
        func inbound() throws {
            let (bench, _) = try bench(listeners: [.http([])])
            let client = try bench.inboundClient()
            client.send("CONNECT shop.test:443 HTTP/1.1\r\nHost: shop.test:443\r\n\r\n")
            let peer = try bench.acceptTunnel()
            bench.until("it is open") { client.text.contains(" 200 ") }
            let list = requests(bench, of: Bench.address("127.0.0.1", 0).address)
            #expect(list.map(\.name) == ["shop.test"] && list[0].open == 1 && list[0].fate == .proxied)
            client.close()
            peer.close()
            bench.expectNothingLeft()
        }
    }
}
