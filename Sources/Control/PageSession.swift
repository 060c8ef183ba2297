/// One browser's conversation: bytes in, visits out; answers in, bytes out.

internal import Addresses
internal import Bytes
internal import Page
internal import Wire

/// A connection of the page, as a value without its socket.
///
/// As in `ControlSession` one request is under way at a time, and what comes behind it waits.
struct PageSession: Sendable {
    /// The longest head.
    static let headLimit = 8 << 10
    /// How long a request may take from its first octet to its last.
    static let patience = Interval.seconds(10)
    /// How long a connection may say nothing.
    static let idleTime = Interval.seconds(15)
    /// How long the client's end is waited for after the last answer.
    static let lingerTime = Interval.seconds(2)

    private enum Phase: Sendable {
        /// Between requests, or in a head.
        case head
        /// The head was read, the body is on its way.
        case body(Incomplete)
        /// A visit was handed out; nothing is read until it was answered.
        case answering(isHead: Bool, closes: Bool)
        /// Everything was said: what is left in `output` goes, and what still comes is thrown away.
        case over
    }

    private struct Incomplete: Sendable {
        var visit: PageVisit
        var rest: HTTPBody
        var isHead: Bool
        var closes: Bool
    }

    let client: SocketAddress
    private let local: IPAddress
    private var phase = Phase.head
    private var reader = RequestReader(headLimit: headLimit)
    /// What is to be sent.
    private(set) var output: [UInt8] = []
    /// When the connection is closed unless something happens.
    private(set) var deadline: Instant

    init(client: SocketAddress, local: IPAddress, now: Instant) {
        self.client = client
        self.local = local
        deadline = now + Self.idleTime
    }

    /// Whether the connection ends once `output` was sent.
    var isOver: Bool { if case .over = phase { true } else { false } }

    /// Whether nothing of a request is there, and nothing waits to be sent.
    var isIdle: Bool {
        if case .head = phase { output.isEmpty && reader.isEmpty } else { false }
    }

    /// Whether more octets of the client are wanted.
    var wantsInput: Bool {
        switch phase {
        case .head: output.isEmpty
        case .body, .over: true
        case .answering: false
        }
    }

    /// Takes the next octets of the client and returns the visit that they complete.
    mutating func receive(_ bytes: Span<UInt8>, now: Instant) -> PageVisit? {
        guard !isOver else { return nil }
        if isIdle, bytes.count > 0 { deadline = now + Self.patience }
        reader.append(bytes)
        return advance()
    }

    /// Takes the answer to the visit that is under way.
    mutating func answer(_ answer: PageAnswer, now: Instant) {
        guard case .answering(let isHead, let closes) = phase else { return }
        answer.write(into: &output, isHead: isHead, closes: closes)
        phase = closes ? .over : .head
        deadline = now + Self.idleTime
    }

    /// Notes that the first octets of `output` were sent.
    mutating func sent(_ count: Int, now: Instant) {
        output.removeFirst(count)
        // A body that is on its way has its time already: what was sent is leave to go on.
        if case .body = phase { return }
        guard output.isEmpty else {
            deadline = now + Self.idleTime
            return
        }
        deadline = now + (isOver ? Self.lingerTime : isIdle ? Self.idleTime : Self.patience)
    }

    /// The next visit, where it has come behind the one that was answered.
    mutating func next() -> PageVisit? {
        guard case .head = phase, output.isEmpty, !reader.isEmpty else { return nil }
        return advance()
    }

    private mutating func advance() -> PageVisit? {
        while true {
            switch phase {
            case .head:
                guard output.isEmpty, readHead() else { return nil }
            case .body(var incomplete):
                // A second owner of the body would have each piece of it cost a copy of the whole.
                phase = .over
                guard readBody(&incomplete) else { return nil }
                incomplete.visit.head.bodyCount = incomplete.visit.body.count
                phase = .answering(isHead: incomplete.isHead, closes: incomplete.closes)
                return incomplete.visit
            case .answering, .over:
                return nil
            }
        }
    }

    /// Reads a head; false when it isn't whole, or refused.
    private mutating func readHead() -> Bool {
        var isHead = false
        do throws(HTTPError) {
            guard let octets = try reader.takeHead() else { return false }
            isHead = RequestReader.isHead(octets)
            let head = try PageRequestHead(octets.span)
            if case .length(let count) = head.rest, count > PageGuard.bodyLimit {
                refuse(PageRefusal.tooLarge.line, isHead: isHead)
                return false
            }
            if head.expectsContinue, !head.rest.isComplete {
                output.append(contentsOf: "HTTP/1.1 100 Continue\r\n\r\n".utf8)
            }
            let visit = PageVisit(head: head.head, target: head.target, client: client, local: local)
            phase = .body(Incomplete(visit: visit, rest: head.rest, isHead: head.isHead, closes: head.closes))
            return true
        } catch {
            refuse(error, isHead: isHead)
            return false
        }
    }

    /// Reads of a body what is there; false when more has to come, or it was refused.
    private mutating func readBody(_ incomplete: inout Incomplete) -> Bool {
        do throws(HTTPError) {
            try reader.takeBody(&incomplete.rest, into: &incomplete.visit.body)
        } catch {
            refuse(error, isHead: incomplete.isHead)
            return false
        }
        guard incomplete.visit.body.count <= PageGuard.bodyLimit else {
            refuse(PageRefusal.tooLarge.line, isHead: incomplete.isHead)
            return false
        }
        guard incomplete.rest.isComplete else {
            phase = .body(incomplete)
            return false
        }
        return true
    }

    private mutating func refuse(_ error: HTTPError, isHead: Bool) {
        let words = error == .headTooLong ? "head over \(Self.headLimit >> 10) KiB" : "\(error)"
        refuse(.line(words, status: error.status), isHead: isHead)
    }

    /// Answers what can't be read on from: where the next request begins is not known.
    private mutating func refuse(_ answer: PageAnswer, isHead: Bool) {
        answer.write(into: &output, isHead: isHead, closes: true)
        reader.clear()
        phase = .over
    }
}

extension PageAnswer {
    /// Appends the answer; of an answer to HEAD the body stays away (RFC 9110, section 9.3.2), and a 204 has no length
    /// (section 8.6).
    func write(into output: inout [UInt8], isHead: Bool, closes: Bool) {
        var head = "HTTP/1.1 \(status) \(HTTPStatus.reason(status))\r\n"
        if let type { head += "Content-Type: \(type)\r\n" }
        for field in fields { head += "\(field.name): \(field.value)\r\n" }
        if status != 204 { head += "Content-Length: \(body.count)\r\n" }
        if closes { head += "Connection: close\r\n" }
        output.append(contentsOf: (head + "\r\n").utf8)
        if !isHead, status != 204 { output.append(contentsOf: body) }
    }
}
