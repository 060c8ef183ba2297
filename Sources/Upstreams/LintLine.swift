/// Sockets that are waited for, for a program that does nothing else.

import Addresses
import Bytes
import LinuxIO
import Wire

/// One connection.
struct LintLine: ~Copyable {
    enum Outcome: Equatable {
        case octets([UInt8])
        case end
        case silent
    }

    let socket: Socket

    init(_ socket: consuming Socket) { self.socket = socket }

    /// Connects, or says why not.
    static func open(
        to address: SocketAddress, mark: UInt32?, until deadline: Instant
    ) throws(SystemCallError) -> LintLine {
        let socket = try Socket.connectTCP(to: address, mark: mark)
        let isReady = try wait(for: [(socket.descriptor.number, .writable)], until: deadline) != nil
        guard isReady else { throw SystemCallError("connect", "\(address)", errno: .timedOut) }
        if let reason = socket.connectError() { throw SystemCallError("connect", "\(address)", errno: reason) }
        return LintLine(socket)
    }

    /// Waits for the first descriptor that is ready, and returns its place; nil when the time is over.
    static func wait(
        for descriptors: [(number: CInt, interest: Interest)], until deadline: Instant
    ) throws(SystemCallError) -> Int? {
        var poller = try Poller()
        for (place, descriptor) in descriptors.enumerated() {
            try poller.add(descriptor.number, token: UInt64(place), events: descriptor.interest)
        }
        var events = [PolledEvent.none]
        return poller.wait(into: &events, until: deadline) == 0 ? nil : Int(events[0].token)
    }

    /// Sends all of it; false when the connection is over, or stuck.
    func send(_ octets: [UInt8], until deadline: Instant) throws(SystemCallError) -> Bool {
        var sent = 0
        while sent < octets.count {
            switch socket.write(octets.span.extracting(sent..<octets.count)) {
            case .bytes(let count): sent += count
            case .failed: return false
            case .wouldBlock:
                guard try Self.wait(for: [(socket.descriptor.number, .writable)], until: deadline) != nil else {
                    return false
                }
            }
        }
        return true
    }

    /// Waits for the next octets.
    func read(until deadline: Instant) throws(SystemCallError) -> Outcome {
        while true {
            var octets: [UInt8] = []
            switch socket.read(appendingTo: &octets, limit: 16384) {
            case .bytes: return .octets(octets)
            case .end, .failed: return .end
            case .wouldBlock:
                guard try Self.wait(for: [(socket.descriptor.number, .reading)], until: deadline) != nil else {
                    return .silent
                }
            }
        }
    }

    /// Reads until so many octets are there, or no more come.
    func read(_ count: Int, until deadline: Instant) throws(SystemCallError) -> [UInt8] {
        var octets: [UInt8] = []
        while octets.count < count, case .octets(let more) = try read(until: deadline) { octets += more }
        return octets
    }
}

/// A port of this machine that a proxy is asked to connect to: the far end of a tunnel in our own hand.
struct LintOrigin: ~Copyable {
    /// What the far end says as soon as it is connected.
    static let banner = Array("starship-lint 1\r\n".utf8)

    let target: Target
    private let listener: Socket
    var line: LintLine?

    /// Listens on the address that this machine has towards the proxy; nil where that can't be.
    init?(on address: IPAddress, mark: UInt32?) {
        guard let listener = try? Socket.listen(on: SocketAddress(address, 0), backlog: 4, mark: mark),
            let place = listener.localAddress
        else { return nil }
        target = Target(place)
        self.listener = listener
    }

    var descriptor: CInt { listener.descriptor.number }

    /// Takes a connection that has come, and says the banner.
    mutating func accept() {
        guard line == nil, case .accepted(let socket, from: _) = listener.accept() else { return }
        _ = socket.write(Self.banner.span)
        line = LintLine(socket)
    }
}
