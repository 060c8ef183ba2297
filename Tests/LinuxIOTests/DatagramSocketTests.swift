/// Datagrams over loopback.

import Addresses
import Bytes
import LinuxIO
import Testing

@Suite("Datagram socket")
struct DatagramSocketTests {
    static let hello: [UInt8] = Array("hello".utf8)

    static func address(of socket: borrowing DatagramSocket) throws -> SocketAddress {
        guard let address = socket.localAddress else { throw SystemCallError("getsockname", errno: .badDescriptor) }
        return address
    }

    static func receive(_ socket: borrowing DatagramSocket, room: Int = 100) throws -> (ReceivedDatagram, [UInt8]) {
        try SocketTests.await(socket.descriptor.number, .readable)
        var bytes = [UInt8](repeating: 0, count: room)
        var span = bytes.mutableSpan
        guard case .datagram(let datagram) = socket.receive(into: &span) else {
            throw SystemCallError("recvmsg", errno: .badDescriptor)
        }
        return (datagram, Array(bytes[..<datagram.count]))
    }

    @Test("asks and is answered over both families", arguments: [SocketTests.loopback, SocketTests.loopback6])
    func exchanges(address: SocketAddress) throws {
        let server = try DatagramSocket.bind(to: address, reportsLocal: true)
        let client = try DatagramSocket.connect(to: try Self.address(of: server))
        #expect(client.send(Self.hello.span) == .sent)
        let (asked, bytes) = try Self.receive(server)
        let own = try Self.address(of: client)
        #expect(bytes == Self.hello)
        #expect(asked.peer == own)
        #expect(asked.local?.address == address.address)
        #expect(server.send(bytes.span, to: asked.peer, from: asked.local) == .sent)
        let (answer, back) = try Self.receive(client)
        #expect(back == Self.hello)
        #expect(answer.local == nil)
    }

    /// A connected client takes no answer from anywhere else.
    @Test func anAnswerLeavesFromTheAddressThatWasAsked() throws {
        let server = try DatagramSocket.bind(to: SocketAddress(IPAddress(v4: 0), 0), reportsLocal: true)
        let port = try Self.address(of: server).port
        let asked = SocketAddress(IPAddress(v4: 0x7f00_0539), port)
        let client = try DatagramSocket.connect(to: asked, from: IPAddress(v4: 0x7f00_0001))
        #expect(client.send(Self.hello.span) == .sent)
        let (question, bytes) = try Self.receive(server)
        #expect(question.local?.address == asked.address)
        #expect(server.send(bytes.span, to: question.peer, from: question.local) == .sent)
        let (answer, _) = try Self.receive(client)
        #expect(answer.peer == asked)
    }

    @Test func aLongDatagramSaysThatItWasCut() throws {
        let server = try DatagramSocket.bind(to: SocketTests.loopback)
        let client = try DatagramSocket.connect(to: try Self.address(of: server))
        #expect(client.send(Self.hello.span) == .sent)
        let (datagram, bytes) = try Self.receive(server, room: 3)
        #expect(datagram.isCut)
        #expect(bytes == Array("hel".utf8))
    }

    @Test func aConnectedSocketLearnsThatNobodyListens() throws {
        let server = try DatagramSocket.bind(to: SocketTests.loopback)
        let target = try Self.address(of: server)
        _ = consume server
        let client = try DatagramSocket.connect(to: target)
        #expect(client.send(Self.hello.span) == .sent)
        try SocketTests.await(client.descriptor.number, .readable)
        var bytes = [UInt8](repeating: 0, count: 10)
        var span = bytes.mutableSpan
        #expect(client.receive(into: &span) == .failed(.connectionRefused))
        #expect(client.receive(into: &span) == .wouldBlock)
    }
}
