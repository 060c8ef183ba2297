/// Names that the resolvers do not know, where an upstream may know them.

import Addresses
import Bytes
import LinuxIO
import Names
import Synchronization
import TestSupport
import Testing
import Wire

@testable import Gateway

@Suite("names that no resolver knows")
struct NameServerUnknownTests {
    typealias Bench = NameServerBench

    /// NXDOMAIN with the SOA that says how long it holds (RFC 2308).
    private static func unknown(_ message: [UInt8], seconds: UInt32 = 300) throws -> [UInt8] {
        let query = try DNSQuery.parse(message.span)
        var writer = DNSWriter()
        writer.begin(answering: message.span, query, .nameError)
        writer.addAuthority(seconds: seconds, isOfParent: true)
        writer.finish(query.edns)
        return writer.bytes
    }

    private static func failure(_ message: [UInt8], _ code: UInt8) throws -> [UInt8] {
        var reply = try WrittenResolver.reply(to: message, [], ttl: 0)
        reply[3] |= code
        return reply
    }

    /// With its letters, TTL 1, and the same one while the resolver's word for it is kept.
    @Test func theNameHasAFakeAddress() throws {
        let resolver = try WrittenResolver()
        let bench = try Bench(resolver.address)
        bench.send(Bench.query("WWW.outside.net", id: 1, payload: 1232))
        let (message, client) = try resolver.question()
        resolver.send(try Self.unknown(message), to: client)
        let first = try bench.receive()
        #expect(Bench.code(first) == 0)
        #expect(try Bench.addresses(first) == ["198.18.0.16"])
        #expect(try Bench.records(first).map(\.ttl) == [1, 0])
        #expect(first[13] == UInt8(ascii: "W"))
        #expect(try Bench.addresses(bench.ask(Bench.query("www.outside.net", id: 2))) == ["198.18.0.16"])
        let isQuiet = resolver.isQuiet()
        #expect(isQuiet)
        #expect(bench.service.counts(2, \.fake) && bench.service.counts(1, \.cached))
    }

    /// It exists for all of them: NXDOMAIN for one type would be believed for its A too (RFC 8020).
    @Test("the other types of the name are empty", arguments: [28, 65, 64, 16, 15])
    func otherTypesAreEmpty(type: UInt16) throws {
        let resolver = try WrittenResolver()
        let bench = try Bench(resolver.address)
        bench.send(Bench.query("www.outside.net", type))
        let (message, client) = try resolver.question()
        resolver.send(try Self.unknown(message), to: client)
        let answer = try bench.receive()
        #expect(Bench.code(answer) == 0)
        #expect(try Bench.records(answer).map(\.type.rawValue) == [6])
    }

    /// One that answers for its own zone alone says so to every other name.
    @Test func aResolverThatRefusesDoesNotKnowTheName() throws {
        let resolver = try WrittenResolver()
        let bench = try Bench(resolver.address)
        bench.send(Bench.query("www.outside.net"))
        for _ in 0..<2 {
            let (message, client) = try resolver.question()
            resolver.send(try Self.failure(message, 5), to: client)
        }
        #expect(try Bench.addresses(bench.receive()) == ["198.18.0.16"])
    }

    /// A failure says nothing about the name: it may be known in a moment.
    @Test("SERVFAIL and silence stay SERVFAIL", arguments: [true, false])
    func failuresAreFailures(isSaid: Bool) throws {
        let resolver = try WrittenResolver()
        let bench = try Bench(resolver.address) { $0.timeout = .milliseconds(50) }
        bench.send(Bench.query("www.outside.net"))
        for _ in 0..<2 {
            let (message, client) = try resolver.question()
            if isSaid { resolver.send(try Self.failure(message, 2), to: client) }
        }
        let answer = try bench.receive()
        #expect(Bench.code(answer) == 2)
        #expect(try Bench.addresses(answer).isEmpty)
        #expect(bench.service.counts(0, \.fake))
    }

    /// Special-use names (RFC 6761 and others), single labels, reverse names; and where nothing else is asked.
    @Test(
        "what nobody else can know stays unknown",
        arguments: ["printer", "nas.lan", "www.test", "x.internal", "9.2.0.192.in-addr.arpa", "www.known.net"])
    func staysUnknown(name: String) throws {
        let resolver = try WrittenResolver()
        let bench = try Bench(resolver.address)
        bench.send(Bench.query(name))
        let (message, client) = try resolver.question()
        resolver.send(try Self.unknown(message), to: client)
        #expect(try Bench.code(bench.receive()) == 3)
    }

    @Test func aNameWithoutThisTypeIsKnown() throws {
        let resolver = try WrittenResolver()
        let bench = try Bench(resolver.address)
        bench.send(Bench.query("www.outside.net"))
        let (message, client) = try resolver.question()
        resolver.send(try WrittenResolver.reply(to: message, [], ttl: 0), to: client)
        let answer = try bench.receive()
        #expect(Bench.code(answer) == 0)
        #expect(try Bench.records(answer).isEmpty)
    }

    /// A name in two places: here it is known, and its real address is told.
    @Test func whatIsKnownHereIsReal() throws {
        let resolver = try WrittenResolver()
        let bench = try Bench(resolver.address)
        bench.send(Bench.query("www.outside.net"))
        try resolver.answer([IPAddress(v4: 0xcb00_7107)])
        #expect(try Bench.addresses(bench.receive()) == ["203.0.113.7"])
    }

    /// What the gateway dials itself it dials by real addresses.
    @Test func theGatewaysOwnQuestionsGetNoFakeAddress() throws {
        let resolver = try WrittenResolver()
        let bench = try Bench(resolver.address)
        let found = Mutex<Resolution?>(nil)
        let bell = try WakeUp()
        #expect(
            bench.service.resolve(
                NameRequest(name: "www.outside.net", ticket: 7) { resolution in
                    found.withLock { $0 = resolution }
                    bell.wake()
                }))
        for _ in 0..<2 {
            let (message, client) = try resolver.question()
            resolver.send(try Self.unknown(message), to: client)
        }
        #expect(bell.wait(atMost: .seconds(5)))
        guard case .failure(.unknownName)? = found.withLock({ $0?.result }) else {
            Issue.record("an address for the gateway")
            return
        }
    }
}
