/// The DNS service and its resolvers: what is handed on, kept, refused, and asked by the gateway itself.

import Addresses
import Bytes
import Foundation
import LinuxIO
import Names
import Synchronization
import TestSupport
import Testing
import Wire

@testable import Gateway

@Suite("name server and resolvers")
struct NameServerForwardingTests {
    typealias Bench = NameServerBench

    static let site = [IPAddress(v4: 0xcb00_7107)]

    /// The second one comes from the cache: its own id, DO and an OPT that is none the older (B082).
    @Test func anAnswerIsKept() throws {
        let resolver = try WrittenResolver()
        let bench = try Bench(resolver.address)
        bench.send(Bench.query("www.other.test", id: 1, payload: 1232, wantsSignatures: true))
        let (message, client) = try resolver.question()
        let question = try DNSQuery.parse(message.span)
        #expect(question.name == "www.other.test")
        #expect(question.wantsSignatures)
        resolver.send(try WrittenResolver.reply(to: message, Self.site, ttl: 300), to: client)
        let first = try Bench.records(bench.receive())
        #expect(first.map(\.ttl) == [60, 0x8000], "TTLs are capped for devices, OPT has none")
        for id: UInt16 in [2, 3] {
            let answer = try bench.ask(
                Bench.query("WWW.other.test", id: id, payload: 1232, wantsSignatures: true))
            #expect(Bench.id(answer) == id)
            #expect(answer[13] == UInt8(ascii: "W"))
            #expect(try Bench.records(answer) == first)
        }
        // Without DO it is another question.
        bench.send(Bench.query("www.other.test", id: 4))
        try resolver.answer(Self.site)
        #expect(try Bench.records(bench.receive()).map(\.type) == [.address4])
        #expect(bench.service.counts(2, \.cached))
    }

    /// Which addresses a device was told, and for how long at most.
    @Test func realAnswersAreNoted() throws {
        let resolver = try WrittenResolver()
        let book = NameBook()
        let bench = try Bench(resolver.address, book)
        let local = bench.client.localAddress
        let port = try #require(local?.port)
        book.setDevice(IPAddress(v4: 0x0a09_0002), behind: port)
        bench.send(Bench.query("www.other.test"))
        try resolver.answer(Self.site, ttl: 300)
        _ = try bench.receive()
        bench.send(Bench.query("short.other.test"))
        try resolver.answer(Self.site, ttl: 20)
        _ = try bench.receive()
        #expect(
            book.notes == [
                .init(name: "www.other.test", addresses: ["203.0.113.7"], device: "10.9.0.2", seconds: 60),
                .init(name: "short.other.test", addresses: ["203.0.113.7"], device: "10.9.0.2", seconds: 20),
            ])
    }

    @Test func unknownTypesAreHandedOn() throws {
        let resolver = try WrittenResolver()
        let bench = try Bench(resolver.address)
        bench.send(Bench.query("www.other.test", 65280))
        let (message, client) = try resolver.question()
        var answer = try WrittenResolver.reply(to: message, [], ttl: 0)
        let options = answer.suffix(11)
        answer.removeLast(11)
        answer += hex("c00cff00000100000005000601020304c00c") + options
        answer[7] = 1
        resolver.send(answer, to: client)
        let received = try bench.receive()
        let record = try Bench.records(received)[0]
        #expect(record.type.rawValue == 65280)
        #expect(received[record.data] == hex("01020304c00c")[...])
    }

    /// 4 KB: over TCP from the resolver, and to the client as it can take them.
    @Test func longAnswersArriveWhole() throws {
        let resolver = try WrittenResolver()
        let bench = try Bench(resolver.address)
        bench.send(Bench.query("long.other.test", 16, payload: 4096))
        let (message, client) = try resolver.question()
        var cut = try WrittenResolver.reply(to: message, [], ttl: 0)
        cut[2] |= 2
        resolver.send(cut, to: client)
        try resolver.serveStream { try WrittenResolver.text(to: $0, octets: 4000) }
        #expect(try bench.receive().count == 4000)
        // From the cache: cut for who takes 512 or 1232 octets, whole over TCP.
        for payload: UInt16? in [nil, 1232] {
            let answer = try bench.ask(Bench.query("long.other.test", 16, payload: payload))
            #expect(answer[2] & 2 == 2)
            #expect(try Bench.records(answer).map(\.type) == (payload == nil ? [] : [.options]))
        }
        let stream = try NameClientStream(to: bench.address)
        try stream.send([Bench.query("long.other.test", 16)])
        #expect(try stream.message().count == 3989)
    }

    /// From another port, with another id, to another question: dropped, counted, and waited on.
    @Test func forgedAnswersAreDropped() throws {
        let resolver = try WrittenResolver()
        let bench = try Bench(resolver.address)
        bench.send(Bench.query("www.other.test"))
        let (message, client) = try resolver.question()
        let evil = [IPAddress(v4: 0xc000_0266)]
        let forged = try WrittenResolver.reply(to: message, evil, ttl: 300)
        let stranger = try DatagramSocket.bind(to: SocketAddress(IPAddress(v4: 0x7f00_0001), 0))
        _ = stranger.send(forged.span, to: client)
        var otherId = forged
        otherId[0] ^= 0x55
        resolver.send(otherId, to: client)
        var otherName = forged
        otherName[13] ^= 1
        resolver.send(otherName, to: client)
        resolver.send(Array(forged.dropLast(12)), to: client)
        resolver.send(try WrittenResolver.reply(to: message, Self.site, ttl: 300), to: client)
        #expect(try Bench.addresses(bench.receive()) == ["203.0.113.7"])
        #expect(bench.service.counts(2, \.resolver.strays))
        #expect(bench.service.counts(1, \.resolver.malformed))
    }

    /// A new port and a new id for each question.
    @Test func portsAndIdsAreRandom() throws {
        let resolver = try WrittenResolver()
        let bench = try Bench(resolver.address)
        var ports: Set<UInt16> = []
        var ids: Set<UInt16> = []
        for number in 0..<20 {
            bench.send(Bench.query("n\(number).other.test", id: 7))
            let (message, client) = try resolver.question()
            ports.insert(client.port)
            ids.insert(Bench.id(message))
            resolver.send(try WrittenResolver.reply(to: message, Self.site, ttl: 300), to: client)
            #expect(try Bench.id(bench.receive()) == 7)
        }
        #expect(ports.count > 15)
        #expect(ids.count > 15)
    }

    /// Questions are joined while one is on its way, over UDP and TCP alike.
    @Test func theSameQuestionIsAskedOnce() throws {
        let resolver = try WrittenResolver()
        let bench = try Bench(resolver.address)
        for id: UInt16 in 1...5 { bench.send(Bench.query("www.other.test", id: id)) }
        let stream = try NameClientStream(to: bench.address)
        try stream.send([Bench.query("www.other.test", id: 6), Bench.query("mail.other.test", id: 7)])
        let (message, client) = try resolver.question()
        // The stream's own second question overtakes its first one.
        let (mail, mailClient) = try resolver.question()
        resolver.send(try WrittenResolver.reply(to: mail, Self.site, ttl: 300), to: mailClient)
        #expect(try Bench.id(stream.message()) == 7)
        resolver.send(try WrittenResolver.reply(to: message, Self.site, ttl: 300), to: client)
        var ids: Set<UInt16> = []
        for _ in 1...5 { ids.insert(try Bench.id(bench.receive())) }
        #expect(ids == Set(1...5))
        #expect(try Bench.id(stream.message()) == 6)
        #expect(bench.service.counts(5, \.joined))
    }

    /// A client that is done asking still gets what it asked for.
    @Test func anEndedStreamIsStillAnswered() throws {
        let resolver = try WrittenResolver()
        let bench = try Bench(resolver.address) { $0.questionsPerStream = 2 }
        let stream = try NameClientStream(to: bench.address)
        try stream.send((0..<6).map { Bench.query("n\($0).other.test", id: $0) })
        stream.socket.shutdownSend()
        for _ in 0..<6 { try resolver.answer(Self.site) }
        var ids: Set<UInt16> = []
        for _ in 0..<6 { ids.insert(try Bench.id(stream.message())) }
        #expect(ids == Set(0..<6))
        try stream.awaitEnd()
    }

    /// SERVFAIL at once when nobody listens where the resolver should be, and again an answer when one does.
    @Test func aDeadResolverFailsFast() throws {
        let address: SocketAddress
        do {
            let resolver = try WrittenResolver()
            address = resolver.address
        }
        let bench = try Bench(address)
        let watch = Stopwatch()
        for number in 0..<20 {
            #expect(try Bench.code(bench.ask(Bench.query("n\(number).other.test"))) == 2)
        }
        // Who waited for it would wait two seconds each time.
        #expect(watch.seconds < 1)
        #expect(bench.service.resolvers.map(\.isDead) == [true])
        let revived = try DatagramSocket.bind(to: address)
        var isAlive = false
        let deadline = Clock.now() + .seconds(10)
        while !isAlive, Clock.now() < deadline {
            bench.send(Bench.query("back.other.test"))
            if (try? awaitReadable(revived.descriptor.number, within: .milliseconds(200))) != nil {
                var bytes = [UInt8](repeating: 0, count: 2000)
                var space = bytes.mutableSpan
                guard case .datagram(let datagram) = revived.receive(into: &space) else { continue }
                let asked = Array(bytes[..<datagram.count])
                let answer = try WrittenResolver.reply(to: asked, Self.site, ttl: 300)
                _ = revived.send(answer.span, to: datagram.peer)
            }
            isAlive = try Bench.code(bench.receive()) == 0
        }
        #expect(isAlive)
    }

    /// A resolver that gives fake addresses is another gateway, or we asked ourselves: never a wrong name.
    @Test func fakeAddressesOfOthersAreRefused() throws {
        let resolver = try WrittenResolver()
        let bench = try Bench(resolver.address)
        bench.send(Bench.query("www.other.test"))
        try resolver.answer([IPAddress(v4: 0xc612_0505)])
        #expect(try Bench.code(bench.receive()) == 2)
        #expect(bench.service.counts(1, \.fakeFromResolver))
        #expect(bench.book.notes.isEmpty)
    }

    /// What the gateway itself dials is looked up through the same resolvers, and never fake.
    @Test func workersAsk() throws {
        let resolver = try WrittenResolver()
        let bench = try Bench(resolver.address)
        let box = Mutex<[Resolution]>([])
        let bell = try WakeUp()
        func ask(_ name: String, _ ticket: UInt64) {
            #expect(
                bench.service.resolve(
                    NameRequest(name: name, ticket: ticket) { resolution in
                        box.withLock { $0.append(resolution) }
                        bell.wake()
                    }))
        }
        ask("App.example.test", 9)
        try resolver.answer(Self.site)
        try resolver.answer([])
        try awaitReadable(bell.descriptor.number)
        #expect(box.withLock { $0 } == [Resolution(ticket: 9, name: "App.example.test", result: .success(Self.site))])
        bell.clear()
        ask("printer.local", 10)
        ask("a..b", 11)
        try awaitReadable(bell.descriptor.number)
        let deadline = Clock.now() + .seconds(20)
        while box.withLock({ $0.count }) < 3, Clock.now() < deadline { try? awaitReadable(bell.descriptor.number) }
        #expect(box.withLock { $0.dropFirst().map(\.result) } == [.failure(.unknownName), .failure(.unknownName)])
    }

    /// The machine's own resolvers, never a stub on it, and followed when they change.
    @Test func theResolverFileIsFollowed() throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "resolv-\(UUID().uuidString)")
        let real = file.appendingPathExtension("real")
        defer {
            try? FileManager.default.removeItem(at: file)
            try? FileManager.default.removeItem(at: real)
        }
        try "nameserver 127.0.0.53\nsearch corp.example.test\n".write(to: file, atomically: true, encoding: .utf8)
        try "nameserver 192.0.2.1\nnameserver 198.18.0.1\n".write(to: real, atomically: true, encoding: .utf8)
        let bench = try Bench {
            $0.resolvers = [.system]
            $0.resolverFiles = [file.path, real.path]
            $0.timeout = .milliseconds(50)
        }
        func servers() -> [String] { bench.service.resolvers.map { $0.address.description } }
        // The other one is in the fake range: the gateway itself.
        _ = try bench.ask(Bench.query("app.example.test"))
        #expect(servers() == ["192.0.2.1:53"])
        // Where DHCP says that this is the network's own domain, its names are real.
        #expect(try Bench.code(bench.ask(Bench.query("mail.corp.example.test"))) == 2)
        try "nameserver 127.0.0.9\n".write(to: file, atomically: true, encoding: .utf8)
        try "".write(to: real, atomically: true, encoding: .utf8)
        let deadline = Clock.now() + .seconds(10)
        while servers() != ["127.0.0.9:53"], Clock.now() < deadline {
            _ = try bench.ask(Bench.query("mail.other.test"))
        }
        #expect(servers() == ["127.0.0.9:53"], "a stub is better than nobody")
    }
}
