/// One request and its reply on a stream socket, with one deadline over all of it.

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

    public var description: String {
        switch self {
        case .system(let error): "the connection broke (\(error))"
        case .timeout: "found no answer in time; expected one"
        case .torn: "found a part of an answer; expected all of it"
        case .tooLarge(let limit): "found an answer of more than \(limit >> 10) KiB; expected a shorter one"
        case .malformed(let reason): "found no answer of HTTP (\(reason)); expected one"
        }
    }
}

/// The one way in which this program speaks HTTP.
public enum HTTPExchange {
    /// Sends a request and returns the reply; the socket may still be connecting.
    ///
    /// A peer that answers before it has read everything is heard out.
    public static func run(
        _ socket: borrowing Socket, request: [UInt8], limit: Int, until deadline: Instant
    ) throws(ExchangeError) -> ControlReply {
        var poller = try poller(for: socket)
        try send(request, on: socket, &poller, until: deadline)
        do throws(SystemCallError) {
            try poller.modify(socket.descriptor.number, token: 0, events: .reading)
        } catch {
            throw .system(error)
        }
        var collector = ReplyCollector(limit: limit)
        var piece: [UInt8] = []
        while true {
            piece.removeAll(keepingCapacity: true)
            switch socket.read(appendingTo: &piece, limit: 65_536) {
            case .bytes: if try collector.take(piece.span) { return collector.reply }
            case .end: return try collector.finish()
            case .wouldBlock: try wait(&poller, until: deadline)
            case .failed(let reason): throw .system(SystemCallError("read", errno: reason))
            }
            guard Clock.now() < deadline else { throw .timeout }
        }
    }

    private static func poller(for socket: borrowing Socket) throws(ExchangeError) -> Poller {
        do throws(SystemCallError) {
            let poller = try Poller()
            try poller.add(socket.descriptor.number, token: 0, events: .everything)
            return poller
        } catch {
            throw .system(error)
        }
    }

    private static func send(
        _ request: [UInt8], on socket: borrowing Socket, _ poller: inout Poller, until deadline: Instant
    ) throws(ExchangeError) {
        var sent = 0
        while sent < request.count {
            switch socket.write(request.span.extracting(sent...)) {
            case .bytes(let count): sent += count
            case .wouldBlock: try wait(&poller, until: deadline)
            // Before a connection stands, writing says so; one that was closed may hold a reply.
            case .failed(.notConnected): try wait(&poller, until: deadline)
            case .failed(.brokenPipe), .failed(.connectionReset): return
            case .failed(let reason): throw .system(SystemCallError("connect", errno: reason))
            }
            guard Clock.now() < deadline else { throw .timeout }
            if let reason = socket.connectError(), reason != .brokenPipe, reason != .connectionReset {
                throw .system(SystemCallError("connect", errno: reason))
            }
        }
    }

    private static func wait(_ poller: inout Poller, until deadline: Instant) throws(ExchangeError) {
        var events = [PolledEvent.none]
        guard poller.wait(into: &events, until: deadline) > 0 else { throw .timeout }
    }
}
