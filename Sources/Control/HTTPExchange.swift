/// One request and its reply on a stream socket.

public import Bytes
public import LinuxIO
internal import Wire

/// Why an exchange came to no good end.
public enum ExchangeError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The connection did not come about, or broke.
    case system(SystemCallError)
    case timeout
    /// The peer closed before its reply was whole.
    case torn
    case tooLarge(limit: Int)
    /// What came is no reply of HTTP.
    case malformed(String)
    /// A reply that is not the one that was asked for.
    case status(Int)

    public var description: String {
        switch self {
        case .system(let error): "the connection broke (\(error))"
        case .timeout: "found no answer in time; expected one"
        case .torn: "found a part of an answer; expected all of it"
        case .tooLarge(let limit): "found an answer of more than \(limit >> 10) KiB; expected a shorter one"
        case .malformed(let reason): "found no answer of HTTP (\(reason)); expected one"
        case .status(let status): "found status \(status); expected 200"
        }
    }
}

/// The one way in which this program speaks HTTP: a request and its reply, step by step, and no step waits.
public struct HTTPExchange: ~Copyable {
    private let socket: Socket
    private let request: [UInt8]
    private var sent = 0
    private var collector: ReplyCollector

    /// Begins on a socket that may still be connecting.
    public init(_ socket: consuming Socket, request: [UInt8], limit: Int) {
        self.socket = socket
        self.request = request
        collector = ReplyCollector(limit: limit)
    }

    /// What the caller's poller watches.
    public var descriptor: CInt { socket.descriptor.number }

    /// What it is watched for.
    public var interest: Interest { sent < request.count ? .everything : .reading }

    /// Goes as far as it can without waiting, and returns the reply once it is whole.
    ///
    /// A peer that answers before it has read everything is heard out.
    public mutating func advance() throws(ExchangeError) -> ControlReply? {
        if sent < request.count { guard try send() else { return nil } }
        var piece: [UInt8] = []
        while true {
            piece.removeAll(keepingCapacity: true)
            switch socket.read(appendingTo: &piece, limit: 65_536) {
            case .bytes: if try collector.take(piece.span) { return collector.reply }
            case .end: return try collector.finish()
            case .wouldBlock: return nil
            case .failed(let reason): throw .system(SystemCallError("read", errno: reason))
            }
        }
    }

    /// Sends what is left; false when that has to wait.
    private mutating func send() throws(ExchangeError) -> Bool {
        while sent < request.count {
            if let reason = socket.connectError(), reason != .brokenPipe, reason != .connectionReset {
                throw .system(SystemCallError("connect", errno: reason))
            }
            switch socket.write(request.span.extracting(sent...)) {
            case .bytes(let count): sent += count
            // Before a connection stands, writing says so.
            case .wouldBlock, .failed(.notConnected): return false
            // One that was closed may hold a reply.
            case .failed(.brokenPipe), .failed(.connectionReset): sent = request.count
            case .failed(let reason): throw .system(SystemCallError("connect", errno: reason))
            }
        }
        return true
    }

    /// Carries an exchange through, with one deadline over all of it.
    public static func run(
        _ socket: consuming Socket, request: [UInt8], limit: Int, until deadline: Instant
    ) throws(ExchangeError) -> ControlReply {
        var exchange = HTTPExchange(socket, request: request, limit: limit)
        var poller = try exchange.poller()
        var events = [PolledEvent.none]
        while true {
            if let reply = try exchange.advance() { return reply }
            try exchange.watch(poller)
            guard poller.wait(into: &events, until: deadline) > 0, Clock.now() < deadline else { throw .timeout }
        }
    }

    private func poller() throws(ExchangeError) -> Poller {
        do throws(SystemCallError) {
            let poller = try Poller()
            try poller.add(descriptor, token: 0, events: interest)
            return poller
        } catch {
            throw .system(error)
        }
    }

    private func watch(_ poller: borrowing Poller) throws(ExchangeError) {
        do throws(SystemCallError) {
            try poller.modify(descriptor, token: 0, events: interest)
        } catch {
            throw .system(error)
        }
    }
}
