/// # Plain http through a proxy, without CONNECT
///
/// Where a proxy refuses CONNECT to port 80, each request of the client's connection goes to it in absolute
/// form (RFC 9112, section 3.2.2). This value reads what the client sends, rewrites the heads and says which
/// stretches pass as they are; it watches what comes back just enough to know which answer belongs to which
/// request, because an answer of 101 turns the connection into a tunnel.
///
///     client ── next ──▶ heads rewritten, bodies passed ──▶ proxy
///     client ◀───────── unchanged ───────── observe ◀────── proxy
///
/// The same value serves our own HTTP inbound, towards an origin in origin form.

import Bytes

/// The requests of one client connection on their way to one upstream connection.
public struct HTTPForward: Sendable {
    /// How requests are written.
    public enum Form: Sendable {
        /// `GET http://name/path`: to a proxy.
        case absolute
        /// `GET /path`: to an origin.
        case origin
    }

    /// What is to happen with the first octets of the input.
    public enum Piece: Equatable, Sendable {
        /// All of them were taken in; the next ones are needed.
        case needsMore
        /// So many go on as they are.
        case pass(Int)
        /// So many were a head, or its end; what was appended to the output goes on in their place.
        case head(Int)
        /// Nothing is taken before the upstream has answered: call again after `observe`.
        case wait
        /// Nothing more of this client goes upstream: its one request is complete.
        case finished
    }

    /// Where the client's side stands.
    enum Phase: Equatable, Sendable {
        case head
        case body(HTTPBody)
        /// An upgrade was asked for: what follows is HTTP or is not, as the answer says.
        case upgrading
        /// The answer was 101: bytes, both ways.
        case transparent
        case finished
    }

    var phase = Phase.head
    /// Requests without an answer, the oldest in the lowest bit; set where the method is HEAD.
    var headRequests: UInt64 = 0
    var waiting = 0
    var asksUpgrade = false
    var reply = Reply.head(HTTPReplyReader())
    /// The proxy has answered 407: the credentials are not good.
    public internal(set) var credentialsRefused = false

    private let target: Target
    private let form: Form
    private let addedFields: [UInt8]
    private let credentials: [UInt8]
    let isOneRequest: Bool
    private var collector = HTTPHeadCollector()
    private var firstHost: [UInt8]?
    private var authority = ""

    /// Requests that may wait for their answers.
    static let maximumPipeline = 64

    /// Forwards a connection that its client meant for `target`.
    ///
    /// A target by name is whom the requests are for, whatever their Host says; for an address the first
    /// request's Host decides. `fields` are whole lines for each request, and so are `credentials`, which are not
    /// sent again once they were refused. With `oneRequest` the connection ends after one exchange, as our
    /// inbound wants it.
    public init(
        to target: Target, as form: Form, adding fields: [UInt8] = [], credentials: [UInt8] = [],
        oneRequest: Bool = false
    ) {
        self.credentials = credentials
        self.target = target
        self.form = form
        addedFields = fields
        isOneRequest = oneRequest
    }

    /// Whether the client's side is a plain stream of bytes now.
    public var isTransparent: Bool { phase == .transparent }

    /// Whether nothing more of this client goes upstream: its one request is complete.
    public var isFinished: Bool { phase == .finished }

    /// Says what becomes of the first octets of `input`, which must not be empty.
    ///
    /// Rewritten heads are appended to `output`. Call again with the rest until everything is gone, or until
    /// it says `wait` or `finished`.
    public mutating func next(_ input: Span<UInt8>, output: inout [UInt8]) throws(HTTPError) -> Piece {
        switch phase {
        case .transparent: return .pass(input.count)
        case .finished: return .finished
        case .upgrading: return .wait
        case .body(var body):
            let count = try body.consume(input)
            phase = .body(body)
            if body.isComplete { endRequest() }
            return .pass(count)
        case .head:
            guard waiting < Self.maximumPipeline else { return .wait }
            guard let end = try collector.collect(input) else { return .needsMore }
            if collector.isEmpty {
                try begin(input.extracting(0..<end), output: &output)
            } else {
                let head = collector.kept
                try begin(head.span, output: &output)
            }
            collector = HTTPHeadCollector()
            return .head(end)
        }
    }

    /// Appends to `output` what goes upstream of `input`, bodies copied, and returns how much of it was taken.
    ///
    /// Less than all only while an answer has to be waited for, or when the client's part is over.
    public mutating func rewrite(_ input: Span<UInt8>, into output: inout [UInt8]) throws(HTTPError) -> Int {
        var position = 0
        while position < input.count {
            let rest = input.extracting(position..<input.count)
            switch try next(rest, output: &output) {
            case .needsMore:
                return input.count
            case .pass(let count):
                output.append(copying: rest.extracting(0..<count))
                position += count
            case .head(let count):
                position += count
            case .wait, .finished:
                return position
            }
        }
        return position
    }

    private mutating func begin(_ head: Span<UInt8>, output: inout [UInt8]) throws(HTTPError) {
        let request = try HTTPRequestHead.parse(head)
        let requestTarget = try HTTPRequestTarget(of: request, in: head)
        try checkHost(requestTarget.authority ?? request.hostRange, of: head)
        let rewriting = HTTPRewriting(
            prefix: form == .absolute ? "http://\(authority)" : "", host: authority,
            addedFields: credentialsRefused ? addedFields : addedFields + credentials,
            actsAsProxy: isOneRequest)
        try rewriting.write(request, requestTarget, of: head, into: &output)
        if request.method == .head { headRequests |= 1 << UInt64(waiting) }
        waiting += 1
        asksUpgrade = request.wantsUpgrade
        phase = .body(request.body)
        if request.body.isComplete { endRequest() }
    }

    /// Takes the first request's host, and refuses another one later: the way of the stream was chosen by it.
    private mutating func checkHost(_ range: Range<Int>?, of head: Span<UInt8>) throws(HTTPError) {
        let text = range.map { Array(copying: head.extracting($0)) } ?? []
        if let firstHost {
            guard equal(firstHost.span, text.span) else { throw .otherHost }
            return
        }
        firstHost = text
        var host = target.host
        if !text.isEmpty {
            guard let named = Target.parse(text.span, defaultPort: 80) else { throw .badHost }
            if case .address = host { host = named.host }
        }
        authority = target.port == 80 ? "\(host)" : "\(host):\(target.port)"
    }

    private mutating func endRequest() {
        if reply == .opaque, asksUpgrade {
            phase = .transparent
        } else if asksUpgrade {
            phase = .upgrading
        } else {
            phase = isOneRequest ? .finished : .head
        }
    }
}
