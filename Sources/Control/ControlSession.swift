/// One client's conversation: bytes in, requests out; answers in, bytes out.

public import Bytes
internal import Wire

/// A connection of the control API, as a value without its socket.
///
/// One request is under way at a time: what a client sends behind it waits until it was answered.
public struct ControlSession: Sendable {
    /// The longest body of a request.
    public static let bodyLimit = 4 << 20
    /// How long a request may take from its first octet to its last.
    public static let patience = Interval.seconds(10)
    /// How long a connection may say nothing.
    public static let idleTime = Interval.seconds(60)

    private enum Phase: Sendable {
        /// Between requests, or in a head.
        case head
        /// The head was read, the body is on its way.
        case body(Incomplete)
        /// A request was handed out; nothing is read until it was answered.
        case answering(isHead: Bool, closes: Bool)
        /// Everything was said; what is left in `output` goes, then the connection.
        case over
    }

    private struct Incomplete: Sendable {
        var request: ControlRequest
        var rest: HTTPBody
        var isHead: Bool
        var closes: Bool
    }

    private let source: ControlRequest.Source
    private var phase = Phase.head
    private var input: [UInt8] = []
    /// What is to be sent.
    public private(set) var output: [UInt8] = []
    /// When the connection is closed unless something happens.
    public private(set) var deadline: Instant

    public init(source: ControlRequest.Source, now: Instant) {
        self.source = source
        deadline = now + Self.idleTime
    }

    /// Whether the connection ends once `output` was sent.
    public var isOver: Bool { if case .over = phase { true } else { false } }

    /// Whether more octets of the client are wanted.
    public var wantsInput: Bool {
        switch phase {
        case .head, .body: true
        case .answering, .over: false
        }
    }

    /// Takes the next octets of the client and returns the request that they complete.
    public mutating func receive(_ bytes: Span<UInt8>, now: Instant) -> ControlRequest? {
        if input.isEmpty, case .head = phase, !bytes.isEmpty { deadline = now + Self.patience }
        input.append(copying: bytes)
        return advance()
    }

    /// Takes the answer to the request that is under way and returns the next one where it has come already.
    public mutating func answer(_ answer: ControlAnswer, now: Instant) -> ControlRequest? {
        guard case .answering(let isHead, let closes) = phase else { return nil }
        answer.write(into: &output, isHead: isHead, closes: closes)
        phase = closes ? .over : .head
        deadline = now + Self.idleTime
        return closes ? nil : advance()
    }

    /// Notes that the first octets of `output` were sent.
    public mutating func sent(_ count: Int, now: Instant) {
        output.removeFirst(count)
        deadline = now + (isOver ? Self.patience : Self.idleTime)
    }

    private mutating func advance() -> ControlRequest? {
        while true {
            switch phase {
            case .head:
                guard readHead() else { return nil }
            case .body(var incomplete):
                guard readBody(&incomplete) else { return nil }
                if case .over = phase { return nil }
                phase = .answering(isHead: incomplete.isHead, closes: incomplete.closes)
                return incomplete.request
            case .answering, .over:
                return nil
            }
        }
    }

    /// Reads a head; false when it isn't whole, or refused.
    private mutating func readHead() -> Bool {
        var collector = HTTPHeadCollector()
        do throws(HTTPError) {
            guard let end = try collector.collect(input.span) else { return false }
            let head = Array(input[..<end])
            input.removeFirst(end)
            try take(head)
            return true
        } catch {
            refuse(ControlAnswer(ControlError(.badRequest, "\(error)"), status: error.status))
            return false
        }
    }

    private mutating func take(_ head: [UInt8]) throws(HTTPError) {
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
            case .malformed(let error): throw error
            case .refused(let error): refuse(ControlAnswer(error))
            }
        }
    }

    private static var tooLarge: ControlError {
        ControlError(.tooLarge, "found a body over \(bodyLimit >> 20) MiB; expected a shorter one")
    }

    /// Reads of a body what is there; false when more has to come.
    private mutating func readBody(_ incomplete: inout Incomplete) -> Bool {
        var position = 0
        do throws(HTTPError) {
            while position < input.count, !incomplete.rest.isComplete {
                let (content, end) = try incomplete.rest.take(input.span.extracting(position..<input.count))
                incomplete.request.body.append(
                    contentsOf: input[position + content.lowerBound..<position + content.upperBound])
                position += end
            }
        } catch {
            refuse(ControlAnswer(ControlError(.badRequest, "\(error)"), status: error.status))
            return false
        }
        input.removeFirst(position)
        guard incomplete.request.body.count <= Self.bodyLimit else {
            refuse(ControlAnswer(Self.tooLarge))
            return false
        }
        guard incomplete.rest.isComplete else {
            phase = .body(incomplete)
            return false
        }
        return true
    }

    /// Answers what can't be read on from: where the next request begins is not known.
    private mutating func refuse(_ answer: ControlAnswer) {
        answer.write(into: &output, isHead: false, closes: true)
        input = []
        phase = .over
    }
}

extension ControlAnswer {
    fileprivate init(_ error: ControlError, status: Int) {
        self.init(error)
        self.status = status
    }
}
