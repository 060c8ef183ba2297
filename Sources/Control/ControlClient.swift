/// The other end of the control socket, for `starshipctl`: one request a connection, and everything has an end.

public import Bytes
public import LinuxIO

/// Where a daemon listens, and how much of its answer is taken.
public struct ControlClient: Sendable {
    public let socket: String
    /// The most octets of an answer's body.
    public var limit = 32 << 20

    public init(socket: String) { self.socket = socket }

    /// Asks, and waits for the whole answer; the time is for all of it.
    public func ask(
        _ method: String, _ target: String, body: [UInt8]?, within time: Interval = .seconds(30)
    ) throws(ControlClientError) -> ControlReply {
        let deadline = Clock.now() + time
        let connection = try connect()
        do throws(ExchangeError) {
            return try HTTPExchange.run(
                connection, request: Self.request(method, target, body), limit: limit, until: deadline)
        } catch {
            throw .exchange(socket: socket, error)
        }
    }

    /// Begins to ask; the caller watches and has it go on.
    public func begin(
        _ method: String, _ target: String, body: [UInt8]?
    ) throws(ControlClientError) -> HTTPExchange {
        HTTPExchange(try connect(), request: Self.request(method, target, body), limit: limit)
    }

    /// Opens the stream of events, from the one behind `id` or from now on.
    public func listen(since id: String?) throws(ControlClientError) -> EventStream {
        let connection = try connect()
        let last = id.map { "Last-Event-ID: \($0)\r\n" } ?? ""
        let request = Array(
            "GET /v1/events HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\(last)\r\n".utf8)
        // A new connection takes more than these octets at once.
        guard connection.write(request.span) == .bytes(request.count) else {
            throw .exchange(socket: socket, .torn)
        }
        return EventStream(connection)
    }

    private func connect() throws(ControlClientError) -> Socket {
        do throws(SystemCallError) {
            return try Socket.connectUnix(to: socket)
        } catch {
            throw .noDaemon(socket: socket, error.errno, group: FileOwner.group(of: socket))
        }
    }

    private static func request(_ method: String, _ target: String, _ body: [UInt8]?) -> [UInt8] {
        var head = "\(method) \(target) HTTP/1.1\r\nHost: localhost\r\nAccept: application/json\r\n"
        if let body { head += "Content-Type: application/json\r\nContent-Length: \(body.count)\r\n" }
        return Array((head + "Connection: close\r\n\r\n").utf8) + (body ?? [])
    }
}

/// Why there is no answer.
public enum ControlClientError: Error, Equatable, Sendable, CustomStringConvertible {
    /// Nobody is at the socket, or nobody may go there; `group` is the one that may.
    case noDaemon(socket: String, ErrorNumber, group: String?)
    case exchange(socket: String, ExchangeError)

    public var description: String {
        switch self {
        case .noDaemon(let socket, _, group: _), .exchange(let socket, _): "\(socket): \(words)"
        }
    }

    /// The same for those who know which socket it is about.
    public var words: String {
        switch self {
        case .noDaemon(_, .accessDenied, let group):
            "found a socket that you may not use (\(ErrorNumber.accessDenied)); expected to be root"
                + (group.flatMap {
                    $0 == "root" ? nil : " or in the group \($0) (sudo usermod -aG \($0) YOU, then log in again)"
                }
                    ?? " (`control: { group }` in the configuration lets a group in)")
        case .noDaemon(_, let reason, group: _):
            "found no daemon (\(reason)); is starshipd running? (--socket PATH names another place)"
        case .exchange(_, let error): "\(error)"
        }
    }

    /// Whether nobody has read the request.
    public var isNoDaemon: Bool {
        if case .noDaemon = self { true } else { false }
    }
}
