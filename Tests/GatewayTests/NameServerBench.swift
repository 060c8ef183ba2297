/// A DNS service on loopback, its clients, and a resolver whose answers the test writes itself.

import Addresses
import Bytes
import Glibc
import LinuxIO
import Names
import Synchronization
import TestSupport
import Wire

@testable import Gateway

/// What the rest of a gateway would know: `example.test` is proxied, addresses come one after the other.
final class NameBook: Sendable {
    struct Note: Equatable, Sendable {
        var name: String
        var addresses: [String]
        var device: String
        var seconds: Int64
    }

    private struct Pages {
        var addresses: [String: IPAddress] = [:]
        var names: [IPAddress: String] = [:]
        var notes: [Note] = []
        var devices: [UInt16: IPAddress] = [:]
    }

    private let pages = Mutex(Pages())
    let capacity: Int

    init(capacity: Int = 1 << 16) { self.capacity = capacity }

    var notes: [Note] { pages.withLock { $0.notes } }

    func setDevice(_ device: IPAddress, behind port: UInt16) { pages.withLock { $0.devices[port] = device } }

    var directory: NameDirectory {
        NameDirectory(
            verdict: { name, _ in
                if name.hasSuffix("denied.test") { return .nonexistent }
                if name == "refused.test" { return .refused }
                if name.hasSuffix("example.test") { return .fake }
                return .real(maximumTTL: 60, fakesUnknown: !name.hasSuffix("known.net"))
            },
            fakeAddress: { name, type, _, _ in self.address(name, type) },
            fakeName: { address in self.pages.withLock { $0.names[address] } },
            isFake: { $0.isIPv4 ? $0.v4 >> 17 == 0xc612_0000 >> 17 : $0.high == 0x2001_0002_0000_0000 },
            note: { name, addresses, device, time, _ in
                let note = Note(
                    name: name, addresses: addresses.map(\.description), device: "\(device)",
                    seconds: time.milliseconds / 1000)
                self.pages.withLock { $0.notes.append(note) }
            },
            device: { client, _ in self.pages.withLock { $0.devices[client.port] } })
    }

    private func address(_ name: String, _ type: DNSType) -> IPAddress? {
        pages.withLock { pages in
            let key = "\(name) \(type)"
            if let known = pages.addresses[key] { return known }
            guard pages.addresses.count < capacity else { return nil }
            let number = UInt32(16 + pages.addresses.count)
            let address =
                type == .address4
                ? IPAddress(v4: 0xc612_0000 + number) : IPAddress(high: 0x2001_0002_0000_0000, low: UInt64(number))
            pages.addresses[key] = address
            pages.names[address] = name
            return address
        }
    }
}

struct TimeOver: Error {}

/// Waits until a descriptor is readable.
func awaitReadable(_ number: CInt, within time: Interval = .seconds(20)) throws {
    var poller = try Poller()
    try poller.add(number, token: 1, events: .readable)
    var events = [PolledEvent.none]
    if poller.wait(into: &events, until: Clock.now() + time) == 0 { throw TimeOver() }
}

/// A resolver on loopback that does what the test says.
struct WrittenResolver: ~Copyable {
    let datagrams: DatagramSocket
    let listener: Socket
    let address: SocketAddress

    init() throws {
        let datagrams = try DatagramSocket.bind(to: SocketAddress(Loopback.next(), 0))
        guard let address = datagrams.localAddress else { throw TimeOver() }
        let listener = try Socket.listen(on: address)
        self.datagrams = datagrams
        self.address = address
        self.listener = listener
    }

    /// The next question over UDP, and whom it is from.
    func question(within time: Interval = .seconds(20)) throws -> (message: [UInt8], from: SocketAddress) {
        try awaitReadable(datagrams.descriptor.number, within: time)
        var bytes = [UInt8](repeating: 0, count: 2000)
        var space = bytes.mutableSpan
        guard case .datagram(let datagram) = datagrams.receive(into: &space) else { throw TimeOver() }
        return (Array(bytes[..<datagram.count]), datagram.peer)
    }

    func send(_ message: [UInt8], to client: SocketAddress) { _ = datagrams.send(message.span, to: client) }

    /// Answers the next question over UDP with these addresses.
    func answer(_ addresses: [IPAddress], ttl: UInt32 = 300) throws {
        let (message, client) = try question()
        send(try Self.reply(to: message, addresses, ttl: ttl), to: client)
    }

    /// Whether nobody asks for a while.
    func isQuiet() -> Bool {
        do {
            _ = try question(within: .milliseconds(200))
            return false
        } catch {
            return true
        }
    }

    /// Takes the next question over TCP and answers it with what `answer` makes of it.
    func serveStream(_ answer: ([UInt8]) throws -> [UInt8]) throws {
        try awaitReadable(listener.descriptor.number)
        guard case .accepted(let socket, from: _) = listener.accept() else { throw TimeOver() }
        let client = NameClientStream(socket)
        let message = try client.message()
        try client.send([answer(message)])
        try? client.awaitEnd()
    }

    static func reply(to message: [UInt8], _ addresses: [IPAddress], ttl: UInt32) throws -> [UInt8] {
        let query = try DNSQuery.parse(message.span)
        var writer = DNSWriter()
        writer.begin(answering: message.span, query)
        for address in addresses { writer.addAddress(address, ttl: ttl) }
        writer.finish(query.edns)
        return writer.bytes
    }

    /// An answer with TXT records of so many octets in all.
    static func text(to message: [UInt8], octets: Int) throws -> [UInt8] {
        var bytes = try reply(to: message, [], ttl: 60)
        let query = try DNSQuery.parse(message.span)
        let options = Array(bytes[query.questionEnd...])
        bytes.removeLast(options.count)
        var count = 0
        while bytes.count + options.count < octets {
            let size = min(200, octets - bytes.count - options.count - 12)
            bytes += hex("c00c001000010000003c") + [UInt8(size >> 8), UInt8(size & 255), UInt8(size - 1)]
            bytes += [UInt8](repeating: UInt8(ascii: "a"), count: size - 1)
            count += 1
        }
        bytes[7] = UInt8(count)
        return bytes + options
    }
}

/// A client's TCP connection.
struct NameClientStream: ~Copyable {
    let socket: Socket

    init(_ socket: consuming Socket) { self.socket = socket }

    init(to address: SocketAddress) throws { socket = try Socket.connectTCP(to: address) }

    func write(_ bytes: [UInt8]) throws {
        var poller = try Poller()
        try poller.add(socket.descriptor.number, token: 1, events: .writable)
        var events = [PolledEvent.none]
        _ = poller.wait(into: &events, until: Clock.now() + .seconds(5))
        guard case .bytes(bytes.count) = socket.write(bytes.span) else { throw TimeOver() }
    }

    func send(_ messages: [[UInt8]]) throws {
        var bytes: [UInt8] = []
        for message in messages { DNSStream.write(message.span, into: &bytes) }
        try write(bytes)
    }

    private func read(_ count: Int) throws -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count < count {
            try awaitReadable(socket.descriptor.number)
            guard case .bytes = socket.read(appendingTo: &bytes, limit: count - bytes.count) else { throw TimeOver() }
        }
        return bytes
    }

    func message() throws -> [UInt8] {
        let length = try read(2)
        return try read(Int(length.span.uint16(at: 0)))
    }

    /// Waits until the other side closes.
    func awaitEnd(within time: Interval = .seconds(5)) throws {
        try awaitReadable(socket.descriptor.number, within: time)
        var bytes: [UInt8] = []
        guard socket.read(appendingTo: &bytes, limit: 1) == .end else { throw TimeOver() }
    }
}

/// A running service, and one client over UDP.
struct NameServerBench: ~Copyable {
    let service: NameService
    let book: NameBook
    let client: DatagramSocket

    init(
        _ resolver: SocketAddress? = nil, _ book: NameBook = NameBook(),
        _ change: (inout NameServerSettings) -> Void = { _ in }
    ) throws {
        var settings = NameServerSettings()
        settings.listen = [SocketAddress(IPAddress(v4: 0x7f00_0001), 0)]
        settings.resolvers = resolver.map { [.address($0)] } ?? []
        settings.resolverFiles = []
        settings.logLevel = .error
        settings.answers.gateway = [IPAddress(v4: 0xc612_0001)]
        change(&settings)
        let service = try NameService(settings, book.directory)
        let client = try DatagramSocket.connect(to: service.addresses[0])
        self.book = book
        self.service = service
        self.client = client
    }

    deinit { service.stop() }

    var address: SocketAddress { service.addresses[0] }

    func send(_ message: [UInt8]) { _ = client.send(message.span) }

    func receive(within time: Interval = .seconds(20)) throws -> [UInt8] {
        try awaitReadable(client.descriptor.number, within: time)
        var bytes = [UInt8](repeating: 0, count: 65_536)
        var space = bytes.mutableSpan
        guard case .datagram(let datagram) = client.receive(into: &space) else { throw TimeOver() }
        return Array(bytes[..<datagram.count])
    }

    func ask(_ message: [UInt8]) throws -> [UInt8] {
        send(message)
        return try receive()
    }

    /// A query as octets.
    static func query(
        _ name: String, _ type: UInt16 = 1, id: UInt16 = 1, payload: UInt16? = nil, wantsSignatures: Bool = false
    ) -> [UInt8] {
        var bytes: [UInt8] = [UInt8(id >> 8), UInt8(id & 255), 1, 0, 0, 1, 0, 0, 0, 0, 0, payload == nil ? 0 : 1]
        precondition(DNSName.write(name, into: &bytes), "no name")
        bytes += [UInt8(type >> 8), UInt8(type & 255), 0, 1]
        if let payload {
            bytes += [0, 0, 41, UInt8(payload >> 8), UInt8(payload & 255), 0, 0, wantsSignatures ? 0x80 : 0, 0, 0, 0]
        }
        return bytes
    }

    static func records(_ message: [UInt8]) throws -> [DNSRecord] {
        let header = try DNSHeader.parse(message.span)
        var position = DNSHeader.length
        if header.questions == 1 { position = try DNSName.end(in: message.span, at: position) + 4 }
        var walk = DNSRecords(header, at: position)
        var found: [DNSRecord] = []
        while let record = try walk.next(in: message.span) { found.append(record) }
        return found
    }

    static func addresses(_ message: [UInt8]) throws -> [String] {
        var found: [String] = []
        for record in try records(message) {
            if let address = record.address(in: message.span) { found.append("\(address)") }
        }
        return found
    }

    static func code(_ message: [UInt8]) -> UInt8 { message[3] & 15 }

    static func id(_ message: [UInt8]) -> UInt16 { message.span.uint16(at: 0) }
}

extension NameService {
    /// Waits until a counter has this value: they are published at the end of each turn, after the answers.
    func counts(_ expected: Int, _ counter: KeyPath<NameServerCounters, Int>) -> Bool {
        let deadline = Clock.now() + .seconds(20)
        while counters[keyPath: counter] != expected, Clock.now() < deadline { usleep(1000) }
        return counters[keyPath: counter] == expected
    }
}
