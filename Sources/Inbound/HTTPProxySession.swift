/// One client's conversation with our HTTP proxy: CONNECT, and plain http in absolute form (RFC 9110, section 7).

public import Bytes
public import Wire

/// The first request of one client connection.
///
/// A CONNECT becomes a stream. A request in absolute form becomes a stream too, with one request on it: the
/// next one may be for another host, so its client opens another connection for it.
public struct HTTPProxySession: Sendable {
    /// What the caller is to do, after it has sent what was appended to the output.
    public enum Action: Equatable, Sendable {
        case needsMore
        /// Open a stream there; these octets of the input are the client's first on it.
        case connect(Target, leftover: Range<Int>)
        /// Open a stream there and pass `request`, then these octets of the input, then everything that
        /// follows through an `HTTPForward` with one request.
        case forward(Target, request: [UInt8], leftover: Range<Int>)
        /// Send what there is and close; the text is the reason.
        case close(String)
    }

    /// How long a client may take to send its request's head.
    public static let patience = Interval.seconds(10)

    /// Empty when everybody is let in.
    private let expected: [BasicCredentials]
    private var collector = HTTPHeadCollector()
    private var isConnect = false
    private var isOver = false

    /// When a client that has not asked for anything is closed; `never` afterwards.
    public private(set) var deadline: Instant

    /// Begins a conversation; with credentials, nobody gets past without some of them.
    public init(expecting credentials: [BasicCredentials], now: Instant) {
        expected = credentials
        deadline = now + Self.patience
    }

    /// Takes the next bytes of the client, in whatever pieces, and appends what it is answered.
    public mutating func receive(_ input: Span<UInt8>, output: inout [UInt8]) -> Action {
        guard !isOver else { return .needsMore }
        do throws(HTTPError) {
            guard let end = try collector.collect(input) else { return .needsMore }
            let head = collector.isEmpty ? Array(copying: input.extracting(0..<end)) : collector.kept
            collector = HTTPHeadCollector()
            return try take(head, leftover: end..<input.count, &output)
        } catch {
            return refuse(error.status, "\(error)", &output)
        }
    }

    /// Appends the answer to an open stream: nothing for a forwarded request, whose answer comes from the origin.
    public mutating func opened(output: inout [UInt8]) {
        if isConnect { HTTPAnswer.writeTunnelOpen(into: &output) }
    }

    /// Appends the answer to a stream that could not be opened; the connection is closed after it.
    public mutating func failed(status: Int, text: String, output: inout [UInt8]) {
        HTTPAnswer.write(status: status, text: text, into: &output)
    }

    private mutating func take(
        _ head: [UInt8], leftover: Range<Int>, _ output: inout [UInt8]
    ) throws(HTTPError) -> Action {
        let request = try HTTPRequestHead.parse(head.span)
        if !expected.isEmpty {
            guard let field = request.proxyAuthorization,
                expected.contains(where: { $0.match(head.span.extracting(field)) })
            else {
                return refuse(407, "this proxy wants a user and a password", &output)
            }
        }
        let text = head.span.extracting(request.targetRange)
        if request.method == .connect {
            guard let target = Target.parse(text) else { return refuse(400, "CONNECT wants host:port", &output) }
            isConnect = true
            stop()
            return .connect(target, leftover: leftover)
        }
        if request.method == .trace { return refuse(405, "TRACE is not served", &output) }
        guard let authority = try HTTPRequestHead.authority(of: request, in: head.span) else {
            return refuse(400, "this is a proxy: send CONNECT, or http in absolute form", &output)
        }
        guard let target = Target.parse(head.span.extracting(authority), defaultPort: 80) else { throw .badHost }
        stop()
        return .forward(target, request: head, leftover: leftover)
    }

    private mutating func refuse(_ status: Int, _ text: String, _ output: inout [UInt8]) -> Action {
        HTTPAnswer.write(status: status, text: text, into: &output)
        stop()
        return .close(text)
    }

    private mutating func stop() {
        isOver = true
        deadline = .never
        collector = HTTPHeadCollector()
    }
}
