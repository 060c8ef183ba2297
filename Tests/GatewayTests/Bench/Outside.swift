/// A host outside that speaks UDP: what the gateway carries directly arrives at it.

import Addresses
import Bytes
import Flows
import LinuxIO
import Testing
import Wire

final class Outside {
    private var socket: DatagramSocket?
    let address: SocketAddress

    /// Takes a port of a loopback address, or the given one.
    init(_ text: String = "127.0.0.1", port: UInt16 = 0) throws {
        let socket = try DatagramSocket.bind(to: Bench.address(text, port))
        guard let address = socket.localAddress else { throw BenchError("a socket without address") }
        self.address = address
        self.socket = consume socket
    }

    var host: String { address.address.description }

    /// The next datagram, and who sent it.
    func next() -> (data: [UInt8], peer: SocketAddress)? {
        var bytes = [UInt8](repeating: 0, count: 65535)
        var space = bytes.mutableSpan
        guard case .datagram(let datagram)? = socket?.receive(into: &space) else { return nil }
        return (Array(bytes[..<datagram.count]), datagram.peer)
    }

    func send(_ data: [UInt8], to peer: SocketAddress) { _ = socket?.send(data.span, to: peer) }

    /// Lets the port go, so that what comes there is refused.
    func close() { socket = nil }
}

extension Bench {
    /// The next datagram that a host outside gets.
    func next(at outside: Outside) throws -> (data: [UInt8], peer: SocketAddress) {
        var datagram: (data: [UInt8], peer: SocketAddress)?
        until("a datagram comes out") {
            datagram = outside.next()
            return datagram != nil
        }
        guard let datagram else { throw BenchError("no datagram") }
        return datagram
    }

    /// The next packets that are written to the device.
    func nextStrays(_ count: Int = 1) -> [Seen] {
        until("packets come") { strays.count >= count }
        return takeStrays()
    }

    /// Puts fragments together; nil where one is missing.
    func joined(_ pieces: [Seen]) throws -> Seen? {
        var fragments = Fragments()
        for piece in pieces {
            if case .complete(let packet) = fragments.add(piece.bytes.span, piece.ip, now: now) {
                return try Seen(packet, hasVirtioHeader: false, queue: 0)
            }
        }
        return nil
    }
}

extension Seen {
    /// The ends and the data of a UDP datagram.
    var udp: (source: SocketAddress, destination: SocketAddress, data: [UInt8])? {
        guard let header = try? UDPHeader.parse(bytes.span, of: ip) else { return nil }
        return (
            SocketAddress(ip.source, header.sourcePort), SocketAddress(ip.destination, header.destinationPort),
            Array(bytes[header.payload])
        )
    }

    /// Type and code of an ICMP message, and what it quotes.
    var icmp: (type: [UInt8], parameter: [UInt8], quote: [UInt8])? {
        guard ip.transport == .icmp || ip.transport == .icmpv6 else { return nil }
        let message = Array(bytes[ip.payload])
        return (Array(message[..<2]), Array(message[4..<8]), Array(message[8...]))
    }
}
