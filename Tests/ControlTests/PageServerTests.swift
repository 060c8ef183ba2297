/// The page's listener: who is let in, how many, and how often.

import Addresses
import Bytes
import LinuxIO
import Page
import Testing

@testable import Control

private let get = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"

private func loopback(_ number: UInt32) -> IPAddress { IPAddress(v4: 0x7f00_0000 + number) }

/// A gateway whose LAN is 127.0.0.0/8, in a time that only the test moves.
private final class Stand {
    private var server: PageServer
    let port: UInt16
    /// An hour ago: the server never waits for what is to come.
    var now = Clock.now() - .hours(1)
    private(set) var visits: [PageVisit] = []
    /// How often this machine's addresses were looked at, and what they were.
    private let machine: Machine

    final class Machine {
        var looks = 0
        var addresses = [NetworkInterface.Address(interface: "wlan0", address: loopback(1), prefixLength: 8)]
    }

    init() throws {
        let socket = try Socket.listen(on: SocketAddress(loopback(1), 0), backlog: 256)
        port = try #require(socket.localAddress?.port)
        let machine = Machine()
        server = try PageServer(doors: [PageDoor(socket)]) {
            machine.looks += 1
            return PageNeighbourhood(machine.addresses, lan: ["wlan0"])
        }
        self.machine = machine
    }

    var looks: Int { machine.looks }
    var deadline: Instant { server.deadline }
    var limitHits: [String: Int] { server.limitHits }

    func change(_ addresses: [NetworkInterface.Address], isTold: Bool) {
        machine.addresses = addresses
        if isTold { server.addressesChanged() }
    }

    /// Opens another port, and returns it.
    func move() throws -> UInt16 {
        let socket = try Socket.listen(on: SocketAddress(loopback(1), 0), backlog: 256)
        let port = try #require(socket.localAddress?.port)
        try server.move(to: [PageDoor(socket)])
        return port
    }

    func connect(_ source: IPAddress = loopback(2), _ text: String = "", port: UInt16? = nil) throws -> Reader {
        let reader = Reader(try Socket.connectTCP(to: SocketAddress(loopback(1), port ?? self.port), from: source))
        serve()
        reader.send(text)
        serve()
        return reader
    }

    /// Whose addresses are whose; another one is a device by itself.
    var devices: [IPAddress: IPAddress] = [:]

    func serve(times: Int = 3) {
        for _ in 0..<times {
            let answer = { (visit: PageVisit) in
                self.visits.append(visit)
                return visit.target == "/later" ? nil : PageAnswer.line(visit.target, status: 200)
            }
            server.serve(now: now, device: { self.devices[$0] ?? $0 }, answer)
        }
    }

    func wait(_ time: Interval) {
        now = now + time
        serve()
    }

    /// Gives the answer that a visit to `/later` waits for.
    func deliver(_ status: Int, for number: UInt64) {
        server.deliver(.line("", status: status), for: number, now: now)
        serve()
    }
}

private final class Reader {
    private let socket: Socket
    private(set) var isOver = false

    init(_ socket: consuming Socket) { self.socket = socket }

    func send(_ text: String) {
        guard !text.isEmpty else { return }
        let octets = Array(text.utf8)
        _ = socket.write(octets.span)
    }

    /// The status of each answer that has come.
    func statuses() -> [String] {
        let (text, isOver) = socket.readAll()
        if isOver { self.isOver = true }
        return text.split(separator: "HTTP/1.1 ").map { String($0.prefix(3)) }
    }

    /// Whether the connection was reset, or ended.
    func isRefused() -> Bool {
        _ = statuses()
        return isOver
    }

    func close() { socket.shutdownSend() }
}

struct PageServerTests {
    @Test("who is on the LAN is answered, and told who it is and which addresses are ours")
    func answers() throws {
        let stand = try Stand()
        let reader = try stand.connect(loopback(2), get)
        #expect(reader.statuses() == ["200"])
        let visit = try #require(stand.visits.first)
        #expect(visit.client.address == loopback(2))
        #expect(visit.local == loopback(1))
        #expect(visit.addresses == [loopback(1)])
        reader.send(get + get)
        stand.serve()
        #expect(reader.statuses() == ["200", "200"])
        reader.send("GET / HTTP/1.0\r\n\r\n")
        stand.serve()
        #expect(reader.statuses() == ["200"])
        #expect(reader.isOver)
    }

    @Test("an answer may come later, and what stands behind its request waits for it")
    func answersLater() throws {
        let stand = try Stand()
        let later = "GET /later HTTP/1.1\r\nHost: a\r\n\r\n"
        let (first, second) = (try stand.connect(loopback(2), later + get), try stand.connect(loopback(3), later))
        #expect(stand.visits.count == 2 && Set(stand.visits.map(\.number)).count == 2)
        #expect(first.statuses() == [] && second.statuses() == [])
        stand.deliver(422, for: stand.visits[1].number)
        #expect(first.statuses() == [] && second.statuses() == ["422"])
        stand.deliver(303, for: stand.visits[0].number)
        #expect(first.statuses() == ["303", "200"])
        // It is given once, and nobody else gets it when the connection is gone.
        stand.deliver(303, for: stand.visits[0].number)
        first.close()
        stand.serve()
        let other = try stand.connect(loopback(4), later)
        stand.deliver(303, for: stand.visits[0].number)
        #expect(first.statuses() == [] && other.statuses() == [])
        // Whoever promises what never comes keeps no connection for it.
        stand.wait(.seconds(11))
        #expect(other.isRefused())
    }

    @Test("who is on no LAN of ours, or is this machine itself, is reset at once")
    func strangers() throws {
        let stand = try Stand()
        // A proxy of this machine, an inbound or an upstream that asks itself.
        #expect(try stand.connect(loopback(1), get).isRefused())
        // The network ends before this one.
        stand.change([.init(interface: "wlan0", address: loopback(1), prefixLength: 30)], isTold: true)
        #expect(try !stand.connect(loopback(2), get).isRefused())
        #expect(try stand.connect(loopback(4), get).isRefused())
        // It is the network of another interface.
        stand.change([.init(interface: "eth0", address: loopback(1), prefixLength: 8)], isTold: true)
        #expect(try stand.connect(loopback(2), get).isRefused())
        // It has come in by another interface's address.
        stand.change(
            [
                .init(interface: "eth0", address: loopback(1), prefixLength: 32),
                .init(interface: "wlan0", address: loopback(9), prefixLength: 8),
            ], isTold: true)
        #expect(try stand.connect(loopback(2), get).isRefused())
        #expect(stand.visits.count == 1)
    }

    @Test(
        "an address that comes late counts as soon as it is told of, or after a second; nobody is looked up each time")
    func late() throws {
        let stand = try Stand()
        let lan = [NetworkInterface.Address(interface: "wlan0", address: loopback(1), prefixLength: 8)]
        stand.change([], isTold: false)
        #expect(try stand.connect(loopback(2), get).isRefused())
        stand.change(lan, isTold: false)
        #expect(try stand.connect(loopback(2), get).isRefused())
        #expect(stand.looks == 1)
        stand.wait(.seconds(1))
        #expect(try stand.connect(loopback(2), get).statuses() == ["200"])
        stand.change([], isTold: true)
        #expect(try stand.connect(loopback(2), get).isRefused())
        #expect(stand.looks == 3)
    }

    @Test("a device has sixteen connections; one that says nothing gives way to a new one, one at work does not")
    func share() throws {
        let stand = try Stand()
        var readers = try (0..<16).map { _ in try stand.connect(loopback(2), "GET / HT") }
        #expect(try stand.connect(loopback(2), get).isRefused())
        #expect(readers.allSatisfy { !$0.isRefused() })
        readers[3].send("TP/1.1\r\nHost: a\r\n\r\n")
        stand.serve()
        #expect(readers[3].statuses() == ["200"])
        let other = try stand.connect(loopback(3), get)
        #expect(other.statuses() == ["200"])
        let newcomer = try stand.connect(loopback(2), get)
        #expect(newcomer.statuses() == ["200"])
        #expect(readers.remove(at: 3).isRefused())
        #expect(readers.allSatisfy { !$0.isRefused() } && !other.isRefused())
    }

    @Test("there are sixty-four connections; the one that has been silent for longest gives way")
    func crowd() throws {
        let stand = try Stand()
        var readers: [Reader] = []
        for number in 0..<64 {
            readers.append(try stand.connect(loopback(2 + UInt32(number / 16))))
            stand.wait(.milliseconds(1))
        }
        readers[0].send(get)
        stand.serve()
        #expect(try stand.connect(loopback(9), get).statuses() == ["200"])
        #expect(readers[1].isRefused())
        #expect(stand.limitHits == ["page_clients_shed": 1, "page_requests_refused": 0])
        readers.remove(at: 1)
        #expect(readers.allSatisfy { !$0.isRefused() })
    }

    @Test("above 20 requests a second, 40 at once, a device is told to wait, and others notice nothing")
    func rate() throws {
        let stand = try Stand()
        let reader = try stand.connect()
        var statuses: [String] = []
        for _ in 0..<41 {
            reader.send(get)
            stand.serve()
            statuses += reader.statuses()
        }
        #expect(statuses == [String](repeating: "200", count: 40) + ["429"])
        #expect(stand.limitHits["page_requests_refused"] == 1)
        // Another connection of the device has no other measure.
        #expect(try stand.connect(loopback(2), get).statuses() == ["429"])
        #expect(try stand.connect(loopback(3), get).statuses() == ["200"])
        // What has asked too much isn't heard for as long as its answer says.
        reader.send(get)
        stand.wait(.milliseconds(999))
        #expect(reader.statuses().isEmpty)
        #expect(stand.deadline <= stand.now + .milliseconds(1))
        stand.wait(.milliseconds(1))
        #expect(reader.statuses() == ["200"])
        #expect(stand.visits.count == 42)
        statuses = []
        for _ in 0..<40 {
            reader.send(get)
            stand.wait(.milliseconds(50))
            statuses += reader.statuses()
        }
        #expect(Set(statuses) == ["200"], "at its rate it is never refused")
    }

    @Test("a device with many addresses has one measure, and one share of the connections")
    func manyAddresses() throws {
        let stand = try Stand()
        for number in 0..<100 { stand.devices[loopback(100 + UInt32(number))] = loopback(99) }
        var statuses: [String] = []
        for number in 0..<50 { statuses += try stand.connect(loopback(100 + UInt32(number)), get).statuses() }
        #expect(statuses == [String](repeating: "200", count: 40) + [String](repeating: "429", count: 10))
        let readers = try (0..<16).map { try stand.connect(loopback(100 + UInt32($0)), "GET / HT") }
        #expect(try stand.connect(loopback(150), get).isRefused())
        #expect(readers.allSatisfy { !$0.isRefused() })
    }

    @Test("all devices together have 400 requests a second; above that each is told to wait")
    func all() throws {
        let stand = try Stand()
        var statuses: [String] = []
        for number in 0..<44 {
            let reader = try stand.connect(loopback(2 + UInt32(number)))
            for _ in 0..<10 {
                reader.send(get)
                stand.serve()
                statuses += reader.statuses()
            }
        }
        #expect(statuses.count { $0 == "200" } == 400 && statuses.contains("503"))
        stand.wait(.seconds(1))
        #expect(try stand.connect(loopback(200), get).statuses() == ["200"])
    }

    @Test("many requests in one piece are no way around it, and cost one turn a few of them")
    func pipeline() throws {
        let stand = try Stand()
        let reader = try stand.connect()
        reader.send(String(repeating: get, count: 100))
        stand.serve(times: 1)
        #expect((1...8).contains(stand.visits.count))
        for _ in 0..<50 { stand.serve() }
        #expect(stand.visits.count == 40)
        let statuses = reader.statuses()
        #expect(statuses.count == 41 && statuses.last == "429")
    }

    @Test("what a refused device sends on is left with the kernel, and each new connection is told the same")
    func pause() throws {
        let stand = try Stand()
        let readers = try (0..<16).map { _ in try stand.connect() }
        for number in 0..<56 {
            readers[number % 16].send(get)
            stand.serve()
        }
        #expect(readers.allSatisfy { $0.statuses().contains("429") })
        let visits = stand.visits.count
        for number in 0..<100 {
            let next = try stand.connect(loopback(2), get)
            #expect(next.statuses() == ["429"], "\(number)")
            #expect(!next.isOver)
        }
        #expect(stand.visits.count == visits)
        stand.wait(.seconds(1))
        #expect(try stand.connect(loopback(2), get).statuses() == ["200"])
    }

    @Test("a client that has been told to wait and goes leaves its place at once")
    func leaving() throws {
        let stand = try Stand()
        for _ in 0..<40 { #expect(try stand.connect(loopback(2), get).statuses() == ["200"]) }
        for number in 0..<100 {
            let reader = try stand.connect(loopback(2), get)
            #expect(reader.statuses() == ["429"], "\(number)")
            reader.close()
            stand.serve()
            #expect(reader.isRefused())
        }
    }

    @Test("while one device floods, another's connections stay, and are answered")
    func floodBesides() throws {
        let stand = try Stand()
        let other = try stand.connect(loopback(3))
        for _ in 0..<200 { _ = try stand.connect(loopback(2), get) }
        other.send(get)
        stand.serve()
        #expect(other.statuses() == ["200"])
        #expect(try stand.connect(loopback(4), get).statuses() == ["200"])
    }

    @Test("the page moves to another port without a word to those who are in; nobody comes by the former one")
    func move() throws {
        let stand = try Stand()
        let reader = try stand.connect(loopback(2), get)
        #expect(reader.statuses() == ["200"])
        let next = try stand.move()
        reader.send(get)
        stand.serve()
        #expect(reader.statuses() == ["200"])
        #expect(try stand.connect(loopback(2), get, port: next).statuses() == ["200"])
        #expect(try stand.connect(loopback(2), get).isRefused())
    }

    @Test("silence ends after fifteen seconds, and a request that doesn't come to its end after ten")
    func silence() throws {
        let stand = try Stand()
        let (silent, slow) = (try stand.connect(), try stand.connect(loopback(2), "GET / HTTP"))
        #expect(stand.deadline == stand.now + .seconds(10))
        stand.wait(.milliseconds(9999))
        slow.send("/1.1\r\n")
        stand.serve()
        #expect(!slow.isRefused())
        stand.wait(.milliseconds(1))
        #expect(slow.isRefused() && !silent.isRefused())
        stand.wait(.seconds(5))
        #expect(silent.isRefused())
    }

    @Test("a client that has finished sending still gets its answer")
    func halfClose() throws {
        let stand = try Stand()
        let reader = try stand.connect()
        reader.send(get)
        reader.close()
        stand.serve()
        #expect(reader.statuses() == ["200"])
        #expect(reader.isOver)
    }

    @Test("a flood of newcomers is looked at 64 at a time, with a rest in between")
    func flood() throws {
        let stand = try Stand()
        stand.change([], isTold: true)
        var sockets: [Reader] = []
        for _ in 0..<100 {
            sockets.append(Reader(try Socket.connectTCP(to: SocketAddress(loopback(1), stand.port), from: loopback(2))))
        }
        stand.serve(times: 5)
        #expect(sockets.filter { $0.isRefused() }.count == 64)
        #expect(stand.deadline == stand.now + .milliseconds(20))
        stand.wait(.milliseconds(20))
        #expect(sockets.allSatisfy { $0.isRefused() })
    }

    @Test("a port that is taken is an error that names it")
    func taken() throws {
        let taken = try Socket.listen(on: SocketAddress(IPAddress(v4: 0), 0))
        let port = try #require(taken.localAddress?.port)
        let error = #expect(throws: SystemCallError.self) { _ = try PageDoor.open(port: port) }
        #expect(error?.errno == .addressInUse)
        #expect(error?.description.contains("0.0.0.0:\(port)") == true)
    }
}
