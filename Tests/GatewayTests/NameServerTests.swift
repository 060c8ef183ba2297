/// The DNS service on loopback: answers of our own, over UDP and TCP.

import Addresses
import Bytes
import LinuxIO
import Names
import TestSupport
import Testing
import Wire

@testable import Gateway

@Suite("name server")
struct NameServerTests {
    typealias Bench = NameServerBench

    /// A whole answer with the query's own id, question and RD (B080; RFC 1035, section 4.1.1), one address whatever
    /// the letters (B098), for a second (B110), and the way back.
    @Test func aProxiedNameGetsAFakeAddress() throws {
        let bench = try Bench()
        for (id, name) in ["aPP.ExamPle.tEST", "APP.EXAMPLE.TEST", "app.example.test"].enumerated() {
            let asked = Bench.query(name, id: UInt16(id))
            let answer = try bench.ask(asked)
            #expect(Bench.id(answer) == UInt16(id))
            // QR, RD, RA, NOERROR.
            #expect(answer[2...3] == [0x81, 0x80])
            #expect(answer[12..<34] == asked[12..<34])
            #expect(try Bench.addresses(answer) == ["198.18.0.16"])
            #expect(try Bench.records(answer).map(\.ttl) == [1])
        }
        var iterative = Bench.query("app.example.test", id: 0x1a2b)
        iterative[2] = 0
        let answer = try bench.ask(iterative)
        // QR and RA; RD is the query's.
        #expect(answer[..<12] == [0x1a, 0x2b, 0x80, 0x80, 0, 1, 0, 1, 0, 0, 0, 0])
        let pointer = try bench.ask(Bench.query("16.0.18.198.in-addr.arpa", 12))
        let record = try Bench.records(pointer)[0]
        let name = record.target(in: pointer.span)
        #expect(name == "app.example.test")
        #expect(try Bench.code(bench.ask(Bench.query("17.0.18.198.in-addr.arpa", 12))) == 3)
        let own = try bench.ask(Bench.query("1.0.18.198.in-addr.arpa", 12))
        let ownName = try Bench.records(own)[0].target(in: own.span)
        #expect(ownName == "starship.internal")
    }

    /// B083, B084, B093, B095: every other type is empty with an authority, and nothing of it leaves to a resolver.
    @Test func nothingOfAProxiedNameLeaves() throws {
        let resolver = try WrittenResolver()
        let bench = try Bench(resolver.address)
        for type: UInt16 in [28, 64, 65, 2, 15, 16, 255, 65280] {
            for name in ["app.example.test", "_8443._https.app.example.test"] {
                let answer = try bench.ask(Bench.query(name, type))
                #expect(Bench.code(answer) == 0)
                let records = try Bench.records(answer)
                #expect(records.map(\.type) == [.authority])
                #expect(records[0].negativeLifetime(in: answer.span) == 1)
            }
        }
        let isQuiet = resolver.isQuiet()
        #expect(isQuiet)
    }

    @Test func bothFamiliesWhereWanted() throws {
        let bench = try Bench { $0.answers.families = .both }
        #expect(try Bench.addresses(bench.ask(Bench.query("app.example.test", 28))) == ["2001:2::10"])
    }

    /// B089: EDNS with a cookie; B082: OPT as it should be, each time.
    @Test func answersWithEDNSWhoAsksWithIt() throws {
        let bench = try Bench()
        let cookie = hex(
            "1a2b0100000100000000000103617070076578616d706c650474657374000001000100002904d000000000000c000a0008abcdef01"
                + "23456789")
        for _ in 0..<2 {
            let records = try Bench.records(bench.ask(cookie))
            #expect(records.map(\.type) == [.address4, .options])
            #expect(records[1].ttl == 0)
            #expect(records[1].data.isEmpty)
        }
        var version1 = Bench.query("app.example.test", payload: 1232)
        version1[version1.count - 5] = 1
        // BADVERS (RFC 6891, section 6.1.3).
        #expect(try Bench.records(bench.ask(version1)).map(\.ttl) == [0x0100_0000])
    }

    /// B087: what is hostile is refused or dropped, and the next one is answered.
    @Test func hostileQueriesDoNoHarm() throws {
        let bench = try Bench()
        for text in [
            "000701000001000000000000c00c00010001", "0008010000010000000000000161c010c00e00010001",
            "000901000001000000000000c0ff00010001", "1a2b01000001000000000000",
        ] {
            let answer = try bench.ask(hex(text))
            #expect(Bench.code(answer) == 1)
            #expect(answer.count == 12)
        }
        bench.send(hex("1a2b01"))
        // An answer is not answered, or two servers would go on for ever.
        bench.send(hex("1a2b8100000100000000000003617070076578616d706c6504746573740000010001"))
        bench.send([UInt8](repeating: 0, count: 5000))
        let answer = try bench.ask(hex("1a2b0100000100000000000003617070076578616d706c6504746573740000010001"))
        #expect(Bench.id(answer) == 0x1a2b)
        #expect(Bench.code(answer) == 0)
        #expect(bench.service.counts(3, \.ignored))
        #expect(bench.service.counts(4, \.malformed))
    }

    /// B091: many at once, from one port with one id and from many ports.
    @Test func everyQueryHasItsOwnAnswer() throws {
        let bench = try Bench()
        for number in 0..<20 { bench.send(Bench.query("h\(number).example.test", id: 0x5555)) }
        var names: Set<String> = []
        for _ in 0..<20 {
            let answer = try bench.receive()
            #expect(Bench.id(answer) == 0x5555)
            names.insert(try DNSName.text(in: answer.span, at: 12))
            #expect(try Bench.addresses(answer).count == 1)
        }
        #expect(names == Set((0..<20).map { "h\($0).example.test" }))
        for number in 0..<50 {
            let client = try DatagramSocket.connect(to: bench.address)
            let asked = Bench.query("h\(number).example.test", id: UInt16(number))
            _ = client.send(asked.span)
            try awaitReadable(client.descriptor.number)
        }
    }

    /// B092: a length in two pieces, two questions in one, a pause of three seconds, and the client's end.
    @Test func streamsAreCutAnywhere() throws {
        let bench = try Bench()
        let stream = try NameClientStream(to: bench.address)
        try stream.write(hex("00"))
        try stream.write(hex("221a2b0100000100000000000003617070076578616d706c6504746573740000010001"))
        #expect(try Bench.id(stream.message()) == 0x1a2b)
        try stream.write(
            hex(
                "00200002010000010000000000000162076578616d706c6504746573740000010001"
                    + "00200003010000010000000000000163076578616d706c6504746573740000010001"))
        let ids = [try stream.message(), try stream.message()].map { Bench.id($0) }
        #expect(Set(ids) == [2, 3])
        #expect(throws: TimeOver.self) { try stream.awaitEnd(within: .seconds(3)) }
        try stream.write(hex("00200004010000010000000000000164076578616d706c6504746573740000010001"))
        stream.socket.shutdownSend()
        #expect(try Bench.id(stream.message()) == 4)
        try stream.awaitEnd()
        #expect(bench.service.counts(4, \.overTCP))
    }

    @Test func quietStreamsEnd() throws {
        let bench = try Bench { $0.streamIdle = .milliseconds(300) }
        let stream = try NameClientStream(to: bench.address)
        try stream.send([Bench.query("app.example.test")])
        _ = try stream.message()
        try stream.awaitEnd()
        #expect(bench.service.counts(1, \.streamsIdle))
    }

    /// The quietest gives way to a new one.
    @Test func streamsAreBounded() throws {
        let bench = try Bench { $0.streamLimit = 2 }
        let first = try NameClientStream(to: bench.address)
        try first.send([Bench.query("app.example.test")])
        _ = try first.message()
        let second = try NameClientStream(to: bench.address)
        try second.send([Bench.query("app.example.test")])
        _ = try second.message()
        let third = try NameClientStream(to: bench.address)
        try third.send([Bench.query("app.example.test")])
        _ = try third.message()
        try first.awaitEnd()
        try second.send([Bench.query("app.example.test")])
        _ = try second.message()
    }

    @Test func whatIsNoDNSIsClosed() throws {
        let bench = try Bench()
        let stream = try NameClientStream(to: bench.address)
        try stream.write(hex("0003616263"))
        try stream.awaitEnd()
        #expect(bench.service.counts(1, \.malformed))
    }

    /// A client that is connected to one address of the machine takes no answer from another one.
    @Test func theAnswerComesFromTheAddressThatWasAsked() throws {
        let bench = try Bench { $0.listen = [SocketAddress(IPAddress(v4: 0), 0)] }
        let asked = SocketAddress(IPAddress(v4: 0x7f00_0539), bench.address.port)
        let client = try DatagramSocket.connect(to: asked, from: IPAddress(v4: 0x7f00_0001))
        let query = Bench.query("app.example.test")
        _ = client.send(query.span)
        try awaitReadable(client.descriptor.number)
    }

    @Test func overIPv6Too() throws {
        let bench = try Bench { $0.listen = [SocketAddress(IPAddress(high: 0, low: 1), 0)] }
        #expect(try Bench.addresses(bench.ask(Bench.query("app.example.test"))) == ["198.18.0.16"])
        let stream = try NameClientStream(to: bench.address)
        try stream.send([Bench.query("app.example.test")])
        #expect(try Bench.addresses(stream.message()) == ["198.18.0.16"])
    }

    @Test func aFullPoolIsAServerFailure() throws {
        let bench = try Bench(nil, NameBook(capacity: 1))
        #expect(try Bench.code(bench.ask(Bench.query("a.example.test"))) == 0)
        #expect(try Bench.code(bench.ask(Bench.query("b.example.test"))) == 2)
        #expect(try Bench.code(bench.ask(Bench.query("a.example.test"))) == 0)
        #expect(bench.service.counts(1, \.poolFull))
    }

    /// B094, B106: at once, without any resolver.
    @Test func specialNamesNeedNobody() throws {
        let bench = try Bench()
        for name in ["mask.denied.test", "MASK-H2.denied.test", "printer.local"] {
            #expect(try Bench.code(bench.ask(Bench.query(name))) == 3)
        }
        let discovery = try bench.ask(Bench.query("_dns.resolver.arpa", 64))
        #expect(Bench.code(discovery) == 0)
        #expect(try Bench.records(discovery).map(\.type) == [.authority])
        #expect(try Bench.code(bench.ask(Bench.query("refused.test"))) == 5)
        #expect(try Bench.addresses(bench.ask(Bench.query("starship.internal"))) == ["198.18.0.1"])
        let check = try bench.ask(Bench.query("Nonce7.Check.STARSHIP.internal"))
        #expect(try Bench.addresses(check) == ["198.18.0.1"])
        #expect(try Bench.records(check).allSatisfy { $0.ttl <= 1 })
        #expect(try Bench.code(bench.ask(Bench.query("a.nonce7.check.starship.internal"))) == 3)
        for name in ["nas.lan", "h3c-ap", "1.168.192.in-addr.arpa", "router.home.arpa"] {
            #expect(try Bench.code(bench.ask(Bench.query(name))) == 2, "nobody to ask, and never a fake address")
        }
    }
}
