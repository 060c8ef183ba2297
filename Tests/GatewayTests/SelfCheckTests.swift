/// What is seen of self-checks, and what is made of it.

import Addresses
import Bytes
import LinuxIO
import Names
import Network
import Routing
import TestSupport
import Testing
import Upstreams
import Wire

@testable import Gateway

@Suite("Self-checks")
struct SelfCheckTests {
    static let phone = Bench.device
    static let now = Instant(nanoseconds: 1_000_000_000_000)

    static func address(_ text: String) -> IPAddress { Bench.address(text, 0).address }

    static func note(_ event: CheckNote.Event, by device: IPAddress = phone, secondsAgo: Int64 = 5) -> CheckNote {
        CheckNote(nonce: "n", event: event, device: device, at: now - .seconds(secondsAgo))
    }

    static func neighbour(_ address: String, _ mac: UInt64, isRouter: Bool = false) -> KernelNeighbour {
        KernelNeighbour(
            interface: "lan", address: Self.address(address), hardware: MACAddress(bits: mac), isRouter: isRouter)
    }

    static func insists(_ resolver: String, _ port: UInt16, secondsAgo: Int64) -> Insistence {
        Insistence(device: phone, resolver: address(resolver), port: port, age: .seconds(secondsAgo))
    }

    static func judge(
        _ events: [CheckNote.Event], _ neighbours: [KernelNeighbour] = [], _ insistences: [Insistence] = [],
        networks: [String] = ["10.9.0.0/24", "fe80::/64"]
    ) -> SelfCheck {
        let evidence = CheckEvidence(
            of: [phone], neighbours, insistences, networks: networks.compactMap { IPPrefix(parsing: $0) }, now: now)
        return SelfCheck(events.map { note($0) }, evidence)
    }

    // MARK: Books

    @Test("a note is kept once, for ten minutes, in whatever case its nonce is written")
    func keeps() {
        var book = CheckBook()
        book.note("Ab1", .asked, by: Self.phone, at: Self.now)
        book.note("aB1", .asked, by: Self.phone, at: Self.now + .seconds(9))
        book.note("ab1", .cameByRoute, by: Self.phone, at: Self.now + .seconds(9))
        let notes = book.notes(of: "AB1", at: Self.now + .seconds(599))
        #expect(notes.map(\.event) == [.asked, .cameByRoute] && notes[0].at == Self.now)
        #expect(book.notes(of: "AB1", at: Self.now + .seconds(600)).map(\.event) == [.cameByRoute])
        #expect(book.notes(of: "ab2", at: Self.now).isEmpty)
    }

    @Test("what is no nonce is not noted", arguments: ["", "a.b", "a-b", "ä", String(repeating: "a", count: 64)])
    func refuses(text: String) {
        var book = CheckBook()
        book.note(text, .asked, by: Self.phone, at: Self.now)
        #expect(book.notes(of: text, at: Self.now).isEmpty)
    }

    @Test("one device's flood leaves the notes of others, and many devices' leaves 1,024")
    func bounds() {
        var book = CheckBook()
        book.note("mine", .asked, by: Self.phone, at: Self.now)
        for number in 0..<5000 { book.note("x\(number)", .asked, by: Self.address("10.9.0.3"), at: Self.now) }
        #expect(book.notes(of: "mine", at: Self.now).count == 1)
        #expect((0..<5000).filter { !book.notes(of: "x\($0)", at: Self.now).isEmpty }.count == 64)
        for number in 0..<3000 {
            book.note("y\(number)", .asked, by: IPAddress(v4: 0x0a0a_0000 + UInt32(number)), at: Self.now)
        }
        let kept = (0..<3000).filter { !book.notes(of: "y\($0)", at: Self.now).isEmpty }
        #expect(kept == Array(3000 - 1024..<3000))
    }

    // MARK: Judgements

    @Test("nothing is wrong")
    func fine() {
        let check = Self.judge([.asked, .askedForIPv6, .cameByName, .cameByRoute, .cameByIPv6])
        #expect(check.names == .ours && check.route == .throughUs && check.ipv6 == .throughUs)
        #expect(check.usesOurRoute && check.hasBegun)
        #expect(Self.judge([.asked, .cameByName, .cameByRoute]).ipv6 == .none)
    }

    @Test("nothing has come, so nothing is known")
    func nothing() {
        let check = Self.judge([])
        #expect(check == SelfCheck() && !check.hasBegun)
        #expect(check.names == .other && check.route == .other && check.ipv6 == .unknown)
    }

    @Test("a resolver that was asked when the question came is named; one that was asked before is over")
    func foreignResolver() {
        let before = Self.judge([.asked], [], [Self.insists("192.0.2.53", 53, secondsAgo: 60)])
        #expect(before.names == .ours)
        let since = Self.judge([.asked], [], [Self.insists("192.0.2.53", 53, secondsAgo: 5)])
        #expect(since.names == .foreignResolver(Self.address("192.0.2.53")))
        let others = Insistence(device: Self.address("10.9.0.3"), resolver: Self.phone, port: 53, age: .zero)
        #expect(Self.judge([.asked], [], [others]).names == .ours)
    }

    @Test("who asks in a phone's place is named, and another address of the phone is the phone")
    func otherAsker() {
        let asker = Self.address("fe80::77")
        let notes = [Self.note(.asked, by: asker)]
        let stranger = SelfCheck(notes, CheckEvidence(of: [Self.phone], now: Self.now))
        #expect(stranger.names == .foreignResolver(asker))
        let neighbours = [Self.neighbour("10.9.0.2", 7), Self.neighbour("fe80::77", 7)]
        #expect(SelfCheck(notes, CheckEvidence(of: [Self.phone], neighbours, now: Self.now)).names == .ours)
    }

    @Test("DNS over TLS is named where the question did not come, and a question that came is believed")
    func privateDNS() {
        let insists = [Self.insists("192.0.2.9", 853, secondsAgo: 1800)]
        #expect(Self.judge([.cameByRoute], [], insists).names == .privateDNS(Self.address("192.0.2.9")))
        #expect(Self.judge([.asked, .cameByRoute], [], insists).names == .ours)
        #expect(Self.judge([.cameByRoute]).names == .other)
    }

    @Test("IPv6 goes around: by an address of another network, or one of ours that is silent")
    func addresses() {
        let foreign = [Self.neighbour("10.9.0.2", 7), Self.neighbour("2001:db8:7::1", 7)]
        let check = Self.judge([.asked, .cameByRoute], foreign)
        #expect(check.ipv6 == .around(.foreignAddress(Self.address("2001:db8:7::1"))))
        let networks = ["10.9.0.0/24", "2001:db8:7::/64"]
        let silent = Self.judge([.asked, .cameByRoute], foreign, networks: networks)
        #expect(silent.ipv6 == .around(.silent(Self.address("2001:db8:7::1"))))
        // Without another image it may not have tried.
        #expect(Self.judge([.asked], foreign, networks: networks).ipv6 == .unknown)
        #expect(Self.judge([.cameByRoute, .cameByIPv6], foreign).ipv6 == .throughUs)
        // Another machine's address, a network's own one (RFC 4193), and one of the link alone show nothing.
        let others = [
            Self.neighbour("10.9.0.2", 7), Self.neighbour("2001:db8:7::1", 8), Self.neighbour("fd00:1::1", 7),
            Self.neighbour("fe80::1", 7),
        ]
        #expect(Self.judge([.asked, .cameByRoute], others).ipv6 == .none)
    }

    @Test("a router beside us counts where the device wants IPv6 addresses, and alone it shows nothing")
    func routers() {
        let neighbours = [Self.neighbour("10.9.0.2", 7), Self.neighbour("fe80::9", 9, isRouter: true)]
        let wants = Self.judge([.asked, .askedForIPv6, .cameByRoute], neighbours)
        #expect(wants.ipv6 == .around(.router(Self.address("fe80::9"), MACAddress(bits: 9))))
        #expect(wants.router == SelfCheck.Router(address: Self.address("fe80::9"), hardware: MACAddress(bits: 9)))
        #expect(Self.judge([.asked, .cameByRoute], neighbours).ipv6 == .none)
        #expect(Self.judge([.cameByRoute], neighbours).ipv6 == .unknown)
        #expect(Self.judge([.asked, .askedForIPv6, .cameByRoute]).ipv6 == .unknown)
        // The phone itself shares its link.
        let itself = [Self.neighbour("10.9.0.2", 7), Self.neighbour("fe80::7", 7, isRouter: true)]
        #expect(Self.judge([.asked, .askedForIPv6, .cameByRoute], itself).ipv6 == .unknown)
    }

    // MARK: The DNS service

    @Test("the DNS service notes who has asked for which check")
    func asked() throws {
        let bench = try NameServerBench()
        _ = try bench.ask(NameServerBench.query("Nonce7.check.starship.internal"))
        _ = try bench.ask(NameServerBench.query("nonce7.check.starship.internal", 28))
        _ = try bench.ask(NameServerBench.query("nonce8.starship.internal"))
        _ = try bench.ask(NameServerBench.query("a.nonce9.check.starship.internal"))
        let now = Clock.now()
        let notes = bench.service.checkNotes(of: "nonce7", at: now)
        #expect(notes.map(\.event) == [.asked, .askedForIPv6])
        #expect(notes.allSatisfy { $0.device == IPAddress(v4: 0x7f00_0001) && now - $0.at < .seconds(5) })
        for nonce in ["nonce8", "nonce9", "a"] { #expect(bench.service.checkNotes(of: nonce, at: now).isEmpty) }
    }
}

extension WorkerTests {
    @Suite("Images of self-checks")
    struct CheckImages {
        private func bench(_ change: (inout GatewaySettings) -> Void = { _ in }) throws -> Bench {
            let names = NameTable(pool: try NameTableTests.pool())
            return try Bench(names: names, change)
        }

        private func notes(_ bench: Bench, _ nonce: String = "n1") -> [CheckNote] {
            bench.machines.flatMap { $0.checkNotes(of: nonce, at: bench.now) }
        }

        @Test(
            "a phone that comes through the tunnel gets its image, without an upstream, and is noted",
            arguments: [
                ("198.18.0.2", "10.9.0.2", CheckNote.Event.cameByRoute), ("2001:2::2", "fd00:9::2", .cameByIPv6),
            ])
        func image(target: String, device: String, event: CheckNote.Event) throws {
            let bench = try bench()
            let client = bench.client(from: SelfCheckTests.address(device), to: Bench.address(target, 80))
            try client.sendSYN()
            try client.establish()
            #expect(notes(bench).isEmpty)
            let host = target.contains(":") ? "[\(target)]" : target
            try client.send("GET /check.png?n=N1 HTTP/1.1\r\nHost: \(host)\r\n\r\n")
            bench.until("the image is there") { client.received.suffix(4) == [0xae, 0x42, 0x60, 0x82] }
            #expect(client.text.hasPrefix("HTTP/1.1 200 OK\r\n"))
            #expect(notes(bench).map(\.event) == [event])
            #expect(notes(bench).map(\.device) == [SelfCheckTests.address(device)])
            try client.finish()
            bench.until("the end comes") { client.hasEnded }
            bench.expectNothingLeft()
            #expect(bench.nextPeer() == nil && bench.counter(\.checksAnswered) == 0)
            #expect(bench.lastFlowLine.contains("rule=self-check"), "\(bench.lastFlowLine)")
            // It is no wish of the phone's own.
            #expect(bench.machines[0].requests(of: SelfCheckTests.address(device)).isEmpty)
        }

        @Test("other ports are refused at once, and so is IPv6 where it is off")
        func refused() throws {
            let bench = try bench { $0.routing.ipv6 = false }
            for (target, port) in [("198.18.0.2", 443), ("198.18.0.2", 8080), ("2001:2::2", 80)] {
                let device = SelfCheckTests.address(target.contains(":") ? "fd00:9::2" : "10.9.0.2")
                let client = bench.client(from: device, to: Bench.address(target, UInt16(port)))
                try client.sendSYN()
                bench.until("it is refused") { client.wasReset }
            }
            bench.expectNothingLeft()
            #expect(bench.nextPeer() == nil && bench.counter(\.flowsRefused) == 3)
        }

        @Test("an image that is being fetched outlives a switch")
        func outlives() throws {
            let bench = try bench()
            let client = bench.client(to: Bench.address("198.18.0.2", 80))
            try client.sendSYN()
            try client.establish()
            var routing = bench.settings.routing
            routing.profiles[0].rules = try RuleSet(domains: [], bypass: [], rules: [SourceText(text: "MATCH,REJECT")])
            bench.shared.board.replace(by: try Policy(routing, after: bench.shared.policy))
            let order = RerouteOrder(drain: .zero, waking: try WakeUp())
            for mailbox in bench.shared.mailboxes { mailbox.send(.reroute(order)) }
            bench.until("the worker has looked") { order.content.workers == 1 }
            try client.send("GET /check.png?n=n1 HTTP/1.1\r\nHost: 198.18.0.2\r\n\r\n")
            bench.until("the image is there") { client.text.hasPrefix("HTTP/1.1 200 ") }
            #expect(order.content.counts.untouched == 1 && !client.wasReset)
            try client.finish()
            bench.expectNothingLeft()
        }
    }
}
