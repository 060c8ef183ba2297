/// One client's conversation: bytes in, requests out; answers in, bytes out.

public import Bytes
internal import Wire

/// A connection of the control API, as a value without its socket.
///
/// One request is under way at a time: what a client sends behind it waits until the answer was sent. So no client can
/// have more kept for it than one request and one answer. A stream of events is an answer without an end: it takes from
/// the ring (`ControlSession+Stream`) when what it took before was sent.
public struct ControlSession: Sendable {
    /// The longest body of a request.
    public static let bodyLimit = 4 << 20
    /// How long a request may take from its first octet to its last.
    public static let patience = Interval.seconds(10)
    /// How long a connection may say nothing.
    public static let idleTime = Interval.seconds(60)

    /// How long an answer that was promised may take: the longest timeout of a probe, and what is around it.
    public static let promiseTime = Interval.seconds(150)

    enum Phase: Sendable {
        /// Between requests, or in a head.
        case head
        /// The head was read, the body is on its way.
        case body(Incomplete)
        /// A request was handed out; nothing is read until it was answered.
        case answering(isHead: Bool, closes: Bool)
        /// The answer is a stream; what the client still says is thrown away.
        case streaming(EventCursor)
        /// Everything was said: what is left in `output` goes, and what still comes is thrown away.
        case over
    }

    struct Incomplete: Sendable {
        var request: ControlRequest
        var rest: HTTPBody
        var isHead: Bool
        var closes: Bool
    }

    private let source: ControlRequest.Source
    var phase = Phase.head
    private var reader = RequestReader()
    /// What is to be sent.
    public internal(set) var output: [UInt8] = []
    /// When the connection is closed unless something happens.
    public internal(set) var deadline: Instant

    public init(source: ControlRequest.Source, now: Instant) {
        self.source = source
        deadline = now + Self.idleTime
    }

    /// Whether the connection ends once `output` was sent.
    public var isOver: Bool { if case .over = phase { true } else { false } }

    /// Whether a request waits for its answer.
    public var isAnswering: Bool { if case .answering = phase { true } else { false } }

    /// Whether more octets of the client are wanted.
    public var wantsInput: Bool {
        switch phase {
        case .head: output.isEmpty
        case .body, .streaming, .over: true
        case .answering: false
        }
    }

    /// Whether nothing of a request is there.
    private var isIdle: Bool {
        if case .head = phase { reader.isEmpty } else { false }
    }

    /// Takes the next octets of the client and returns the request that they complete.
    public mutating func receive(_ bytes: Span<UInt8>, now: Instant) -> ControlRequest? {
        guard !isOver, !isStream else { return nil }
        if isIdle, bytes.count > 0 { deadline = now + Self.patience }
        reader.append(bytes)
        return advance()
    }

    /// Takes the answer to the request that is under way.
    public mutating func answer(_ answer: ControlAnswer, now: Instant) {
        guard case .answering(let isHead, let closes) = phase else { return }
        switch answer.content {
        case .json, .document: break
        case .later:
            deadline = now + Self.promiseTime
            return
        case .events(let since):
            answer.write(into: &output, isHead: isHead, closes: true)
            phase = isHead ? .over : .streaming(EventCursor(since: since, now: now))
            deadline = now + Self.idleTime
            return
        }
        answer.write(into: &output, isHead: isHead, closes: closes)
        phase = closes ? .over : .head
        deadline = now + Self.idleTime
    }

    /// Notes that the first octets of `output` were sent, and returns the next request where it has come already.
    public mutating func sent(_ count: Int, now: Instant) -> ControlRequest? {
        output.removeFirst(count)
        if isStream {
            deadline = output.isEmpty ? .never : now + Self.idleTime
            return nil
        }
        // A body that is on its way has its time already, and so has a promise.
        switch phase {
        case .body, .answering: return nil
        case .head, .streaming, .over: break
        }
        deadline = now + (isOver ? Self.patience : Self.idleTime)
        guard output.isEmpty, !isOver else { return nil }
        if !isIdle { deadline = now + Self.patience }
        return advance()
    }

    private mutating func advance() -> ControlRequest? {
        while true {
            switch phase {
            case .head:
                guard output.isEmpty, readHead() else { return nil }
            case .body(var incomplete):
                // A second owner of the body would have each piece of it cost a copy of the whole.
                phase = .over
                guard readBody(&incomplete) else { return nil }
                phase = .answering(isHead: incomplete.isHead, closes: incomplete.closes)
                return incomplete.request
            case .answering, .streaming, .over:
                return nil
            }
        }
    }

    /// Reads a head; false when it isn't whole, or refused.
    private mutating func readHead() -> Bool {
        do throws(HTTPError) {
            guard let head = try reader.takeHead() else { return false }
            take(head)
            return true
        } catch {
            refuse(ControlAnswer(ControlError(.badRequest, "\(error)"), status: error.status))
            return false
        }
    }

    private mutating func take(_ head: [UInt8]) {
        let isHead = RequestReader.isHead(head)
        do throws(ControlHeadError) {
            let head = try ControlHead(head.span, from: source)
            if case .length(let count) = head.body, count > Self.bodyLimit { throw .refused(Self.tooLarge) }
            if head.expectsContinue, !head.body.isComplete {
                output.append(contentsOf: "HTTP/1.1 100 Continue\r\n\r\n".utf8)
            }
            phase = .body(
                Incomplete(request: head.request, rest: head.body, isHead: head.isHead, closes: head.closes))
        } catch {
            switch error {
            case .malformed(let error):
                refuse(ControlAnswer(ControlError(.badRequest, "\(error)"), status: error.status), isHead: isHead)
            case .refused(let error): refuse(ControlAnswer(error), isHead: isHead)
            }
        }
    }

    private static var tooLarge: ControlError {
        ControlError(.tooLarge, "found a body over \(bodyLimit >> 20) MiB; expected a shorter one")
    }

    /// Reads of a body what is there; false when more has to come, or it was refused.
    private mutating func readBody(_ incomplete: inout Incomplete) -> Bool {
        do throws(HTTPError) {
            try reader.takeBody(&incomplete.rest, into: &incomplete.request.body)
        } catch {
            refuse(
                ControlAnswer(ControlError(.badRequest, "\(error)"), status: error.status), isHead: incomplete.isHead)
            return false
        }
        guard incomplete.request.body.count <= Self.bodyLimit else {
            refuse(ControlAnswer(Self.tooLarge), isHead: incomplete.isHead)
            return false
        }
        guard incomplete.rest.isComplete else {
            phase = .body(incomplete)
            return false
        }
        return true
    }

    /// Answers what can't be read on from: where the next request begins is not known.
    private mutating func refuse(_ answer: ControlAnswer, isHead: Bool = false) {
        answer.write(into: &output, isHead: isHead, closes: true)
        reader.clear()
        phase = .over
    }
}

extension ControlAnswer {
    fileprivate init(_ error: ControlError, status: Int) {
        self.init(error)
        self.status = status
    }
}
