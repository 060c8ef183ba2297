/// Asking resolvers: rounds, late and forged answers, TCP, silence and death.

import Addresses
import Bytes
import TestSupport
import Testing

@testable import Names
@testable import Wire

/// A client, its clock, and what it wants done.
struct ResolverBench {
    static let first = SocketAddress(IPAddress("192.0.2.1"), 53)
    static let second = SocketAddress(IPAddress("192.0.2.2"), 53)

    var client: ResolverClient
    var now = Instant(nanoseconds: 1_000_000_000_000)
    var random = SeededGenerator(seed: 7)

    init(_ servers: [SocketAddress], _ order: ResolverOrder = .ordered) {
        var settings = ResolverSettings(servers: servers)
        settings.order = order
        client = ResolverClient(settings)
    }

    mutating func ask(_ name: String, ticket: UInt64 = 1) throws -> ResolverClient.Admission {
        let key = AnswerKey(try parse(query(name)))
        return client.ask(key, question: question(name), ticket: ticket, now: now, random: &random)
    }

    mutating func answer(_ exchange: UInt64, _ message: [UInt8]) {
        client.receive(message.span, for: exchange, now: now, random: &random)
    }

    mutating func fail(_ exchange: UInt64) { client.failed(exchange, now: now, random: &random) }

    /// Lets time pass until the next deadline, and says how much.
    mutating func pass() -> Interval? {
        guard let deadline = client.nextDeadline() else { return nil }
        defer { now = deadline }
        let waited = deadline - now
        client.timeout(now: deadline, random: &random)
        return waited
    }

    mutating func actions() -> [ResolverAction] { client.takeActions() }

    /// What was sent since the last time: exchange, whom to, message.
    mutating func sent() -> [(exchange: UInt64, to: SocketAddress, message: [UInt8])] {
        actions().compactMap {
            switch $0 {
            case .send(let exchange, let to, let message), .connect(let exchange, let to, let message):
                (exchange, to, message)
            default: nil
            }
        }
    }
}

@Suite("resolver client")
struct ResolverClientTests {
    let address = [IPAddress("203.0.113.7")]

    @Test func anAnswerReachesWhoAsked() throws {
        var bench = ResolverBench([ResolverBench.first, ResolverBench.second])
        #expect(try bench.ask("www.other.test") == .asked)
        let asked = bench.sent()
        #expect(asked.map(\.to) == [ResolverBench.first])
        let query = try parse(asked[0].message)
        #expect(query.name == "www.other.test")
        #expect(query.edns == EDNS(payloadSize: 1232, wantsSignatures: false))
        let message = try reply(to: asked[0].message, address)
        bench.answer(asked[0].exchange, message)
        let answer = try parseAnswer(message, to: question("www.other.test"))
        let key = AnswerKey(name: "www.other.test", type: .address4)
        #expect(
            bench.actions() == [
                .close(exchange: asked[0].exchange), .answer(tickets: [1], key, answer),
            ])
        #expect(bench.pass() == nil)
    }

    /// All answered, each with its own (B091): who asks the same joins, ids and letters are the askers' own.
    @Test func theSameQuestionIsAskedOnce() throws {
        var bench = ResolverBench([ResolverBench.first])
        #expect(try bench.ask("www.other.test", ticket: 1) == .asked)
        #expect(try bench.ask("WWW.other.test", ticket: 2) == .joined)
        #expect(try bench.ask("mail.other.test", ticket: 3) == .asked)
        let asked = bench.sent()
        #expect(asked.count == 2)
        bench.answer(asked[0].exchange, try reply(to: asked[0].message, address))
        guard case .answer(let tickets, _, _) = bench.actions().last else { throw WireError.checksum }
        #expect(tickets == [1, 2])
        #expect(bench.client.waitingCount == 1)
    }

    /// Ids are drawn anew for each exchange (RFC 5452, section 9.2).
    @Test func idsAreRandom() throws {
        var bench = ResolverBench([ResolverBench.first])
        for number in 0..<200 { _ = try bench.ask("n\(number).test", ticket: UInt64(number)) }
        let ids = Set(bench.sent().map { $0.message.span.uint16(at: 0) })
        #expect(ids.count > 190)
    }

    /// Wrong ids and questions are dropped and counted, and the right answer still counts.
    @Test func forgedAnswersArePassedOver() throws {
        var bench = ResolverBench([ResolverBench.first])
        _ = try bench.ask("www.other.test")
        let asked = bench.sent()[0]
        var wrongId = try reply(to: asked.message, address)
        wrongId[0] ^= 1
        bench.answer(asked.exchange, wrongId)
        var otherQuestion = try reply(to: query("evil.other.test"), address)
        otherQuestion.replaceSubrange(0..<2, with: asked.message[0..<2])
        bench.answer(asked.exchange, otherQuestion)
        bench.answer(asked.exchange, asked.message)
        bench.answer(asked.exchange + 100, try reply(to: asked.message, address))
        #expect(bench.client.counters.strays == 4)
        var broken = try reply(to: asked.message, address)
        broken.removeLast(3)
        bench.answer(asked.exchange, broken)
        #expect(bench.client.counters.malformed == 1)
        #expect(bench.actions().isEmpty)
        bench.answer(asked.exchange, try reply(to: asked.message, address))
        #expect(bench.actions().count == 2)
    }

    /// RFC 7766, section 5: what is cut is asked for over TCP.
    @Test func aTruncatedAnswerIsFetchedOverTCP() throws {
        var bench = ResolverBench([ResolverBench.first])
        _ = try bench.ask("www.other.test")
        let asked = bench.sent()[0]
        bench.answer(asked.exchange, try reply(to: asked.message, truncated: true))
        let actions = bench.actions()
        guard case .connect(let exchange, to: ResolverBench.first, let message) = actions[0] else {
            Issue.record("\(actions)")
            return
        }
        #expect(actions[1] == .close(exchange: asked.exchange))
        bench.answer(exchange, try reply(to: message, address))
        guard case .answer([1], _, let answer?) = bench.actions().last else { throw WireError.checksum }
        #expect(answer.addresses == address)
    }

    /// It answers over UDP, so it is not dead; only what is too long for that cannot be had from it.
    @Test func aResolverWithoutTCPIsNotDead() throws {
        var bench = ResolverBench([ResolverBench.first])
        for number in 0..<3 { _ = try bench.ask("n\(number).test", ticket: UInt64(number)) }
        let asked = bench.sent()
        for exchange in asked { bench.answer(exchange.exchange, try reply(to: exchange.message, truncated: true)) }
        for exchange in bench.sent() { bench.fail(exchange.exchange) }
        #expect(!bench.client.isHopeless)
        // The second round asks over UDP again.
        #expect(bench.sent().count == 3)
    }

    /// Two seconds, then the next one; an answer that comes late is as good as any.
    @Test func aSilentResolverIsFollowedByTheNext() throws {
        var bench = ResolverBench([ResolverBench.first, ResolverBench.second])
        _ = try bench.ask("www.other.test")
        let early = bench.sent()[0]
        #expect(bench.pass() == .seconds(2))
        let later = bench.sent()
        #expect(later.map(\.to) == [ResolverBench.second])
        bench.answer(early.exchange, try reply(to: early.message, address))
        let actions = bench.actions()
        #expect(actions.contains(.close(exchange: later[0].exchange)))
        guard case .answer([1], _, .some) = actions.last else { throw WireError.checksum }
    }

    /// A failure of one resolver is not the last word while there is another one.
    @Test func aFailingResolverIsFollowedAtOnce() throws {
        var bench = ResolverBench([ResolverBench.first, ResolverBench.second])
        _ = try bench.ask("www.other.test")
        let asked = bench.sent()[0]
        bench.answer(asked.exchange, try reply(to: asked.message, code: .serverFailure))
        let next = bench.sent()
        #expect(next.map(\.to) == [ResolverBench.second])
        bench.answer(next[0].exchange, try reply(to: next[0].message, code: .refused))
        guard case .answer([1], _, let answer?) = bench.actions().last else { throw WireError.checksum }
        #expect(answer.code == .refused)
    }

    @Test func inARaceTheFirstGoodAnswerCounts() throws {
        var bench = ResolverBench([ResolverBench.first, ResolverBench.second], .race)
        _ = try bench.ask("www.other.test")
        let asked = bench.sent()
        #expect(asked.map(\.to) == [ResolverBench.first, ResolverBench.second])
        bench.answer(asked[0].exchange, try reply(to: asked[0].message, code: .serverFailure))
        #expect(bench.actions() == [.close(exchange: asked[0].exchange)])
        bench.answer(asked[1].exchange, try reply(to: asked[1].message, code: .nameError))
        guard case .answer([1], _, let answer?) = bench.actions().last else { throw WireError.checksum }
        #expect(answer.code == .nameError)
    }

    /// RFC 6891, section 7: a resolver without EDNS is asked without, and so from then on.
    @Test func aResolverWithoutEDNSIsAskedWithout() throws {
        var bench = ResolverBench([ResolverBench.first])
        _ = try bench.ask("www.other.test")
        let asked = bench.sent()[0]
        // FORMERR as such servers send it: the header alone.
        bench.answer(asked.exchange, Array(asked.message[0..<2]) + hex("81810000000000000000"))
        let plain = bench.sent()[0]
        #expect(try parse(plain.message).edns == nil)
        bench.answer(plain.exchange, try reply(to: plain.message, address))
        _ = bench.actions()
        _ = try bench.ask("mail.other.test")
        #expect(try parse(bench.sent()[0].message).edns == nil)
    }

    /// SERVFAIL at once when nobody answers, and a look once a second whether that is still so.
    @Test func deadResolversAreNotWaitedFor() throws {
        var bench = ResolverBench([ResolverBench.first])
        _ = try bench.ask("www.other.test")
        bench.fail(bench.sent()[0].exchange)
        bench.fail(bench.sent()[0].exchange)
        let actions = bench.actions()
        #expect(actions.contains(.changed(ResolverBench.first, isDead: true)))
        #expect(actions.last == .answer(tickets: [1], AnswerKey(name: "www.other.test", type: .address4), nil))
        #expect(bench.client.isHopeless)
        #expect(try bench.ask("a.other.test") == .noResolver)
        let probe = bench.sent()
        #expect(probe.count == 1)
        #expect(try bench.ask("b.other.test") == .noResolver)
        #expect(bench.sent().isEmpty)
        bench.now = bench.now + .seconds(1)
        #expect(try bench.ask("c.other.test") == .noResolver)
        let second = bench.sent()
        #expect(second.count == 1)
        bench.answer(second[0].exchange, try reply(to: second[0].message, address))
        #expect(bench.actions().contains(.changed(ResolverBench.first, isDead: false)))
        #expect(try bench.ask("d.other.test") == .asked)
    }

    /// One lost datagram: it is asked again, and nobody is dead.
    @Test func aLostDatagramIsSentAgain() throws {
        var bench = ResolverBench([ResolverBench.first])
        _ = try bench.ask("www.other.test")
        _ = bench.sent()
        #expect(bench.pass() == .seconds(2))
        let again = bench.sent()
        #expect(again.count == 1)
        #expect(!bench.client.isHopeless)
        bench.answer(again[0].exchange, try reply(to: again[0].message, address))
        guard case .answer([1], _, .some) = bench.actions().last else { throw WireError.checksum }
    }

    @Test func silenceIsDeathInTheEnd() throws {
        var bench = ResolverBench([ResolverBench.first, ResolverBench.second])
        for name in ["a.test", "b.test"] {
            _ = try bench.ask(name)
            while bench.pass() != nil {}
        }
        #expect(bench.client.isHopeless)
        #expect(bench.client.waitingCount == 0)
        #expect(bench.client.counters.timeouts == 4)
    }

    /// Several questions that were lost together are one silence each, but an answer between them is a sign of life.
    @Test func anAnswerBetweenLossesIsASignOfLife() throws {
        var bench = ResolverBench([ResolverBench.first])
        for number in 0..<5 { _ = try bench.ask("n\(number).test", ticket: UInt64(number)) }
        let asked = bench.sent()
        bench.now = bench.now + .seconds(1)
        bench.answer(asked[4].exchange, try reply(to: asked[4].message, address))
        #expect(bench.pass() == .seconds(1))
        #expect(!bench.client.isHopeless)
    }

    @Test func questionsAndAskersAreBounded() throws {
        var settings = ResolverSettings(servers: [ResolverBench.first])
        settings.questionLimit = 2
        settings.askerLimit = 2
        var bench = ResolverBench([])
        bench.client = ResolverClient(settings)
        #expect(try bench.ask("a.test") == .asked)
        #expect(try bench.ask("a.test") == .joined)
        #expect(try bench.ask("a.test") == .overloaded)
        #expect(try bench.ask("b.test") == .asked)
        #expect(try bench.ask("c.test") == .overloaded)
    }

    @Test func withoutAResolverThereIsNoAnswer() throws {
        var bench = ResolverBench([])
        #expect(try bench.ask("a.test") == .noResolver)
        bench.client.replaceServers([ResolverBench.first])
        #expect(try bench.ask("a.test") == .asked)
        // Questions on their way survive a change, and what is known of a resolver stays with it.
        bench.client.replaceServers([ResolverBench.second, ResolverBench.first])
        let asked = bench.sent()[0]
        bench.answer(asked.exchange, try reply(to: asked.message, address))
        #expect(bench.actions().count == 2)
    }

    /// Whatever comes in, in whatever order, everybody is answered exactly once and nothing stays open.
    @Test("everybody is answered once", arguments: 0..<20)
    func everybodyIsAnsweredOnce(seed: Int) throws {
        var random = SeededGenerator(seed: UInt64(seed))
        var bench = ResolverBench([ResolverBench.first, ResolverBench.second], random.chance(0.5) ? .race : .ordered)
        var open: [UInt64: [UInt8]] = [:]
        var waiting: Set<UInt64> = []
        func carryOut(_ bench: inout ResolverBench) {
            for action in bench.actions() {
                switch action {
                case .send(let exchange, _, let message), .connect(let exchange, _, let message):
                    open[exchange] = message
                case .close(let exchange):
                    #expect(open.removeValue(forKey: exchange) != nil)
                case .answer(let tickets, _, _):
                    for ticket in tickets { #expect(waiting.remove(ticket) != nil) }
                case .changed: break
                }
            }
        }
        for ticket in 0..<UInt64(400) {
            let admission = try bench.ask("n\(random.number(0..<30)).test", ticket: ticket)
            if admission == .asked || admission == .joined { waiting.insert(ticket) }
            carryOut(&bench)
            for _ in 0..<random.number(0..<4) {
                guard let (exchange, message) = open.min(by: { $0.key < $1.key }) else { break }
                switch random.number(0..<6) {
                case 0: bench.fail(exchange)
                case 1: _ = bench.pass()
                case 2: bench.answer(exchange, try reply(to: message, code: .serverFailure))
                case 3: bench.answer(exchange, try reply(to: message, truncated: true))
                default: bench.answer(exchange, try reply(to: message, address))
                }
                carryOut(&bench)
            }
        }
        while bench.pass() != nil { carryOut(&bench) }
        carryOut(&bench)
        #expect(waiting.isEmpty)
        #expect(open.isEmpty)
    }
}

@Suite("resolver list")
struct ResolverListTests {
    @Test func readsAResolverFile() {
        let list = ResolverList.parse(
            """
            # made by hand
            domain old.example
            nameserver 127.0.0.53
            nameserver\t192.0.2.1
            nameserver 2001:db8::53   # a comment
            nameserver fe80::1%eth0
            nameserver 192.0.2.1
            nameserver nonsense
            nameserver
            search Corp.Example. lab.example
            options edns0 trust-ad
            """)
        #expect(list.servers.map(\.description) == ["127.0.0.53", "192.0.2.1", "2001:db8::53"])
        #expect(list.withoutStubs.map(\.description) == ["192.0.2.1", "2001:db8::53"])
        #expect(list.domains == ["corp.example", "lab.example"])
        #expect(ResolverList.parse("") == ResolverList())
    }
}
