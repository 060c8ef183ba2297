/// Answers, and how they are written.

public import Profiles
internal import Wire

/// What a request is answered.
public struct ControlAnswer: Equatable, Sendable {
    public var status: Int
    public var content: Content
    /// The methods that a path has, for 405.
    public var allowed: [String] = []
    /// Further fields of the head: those of a signature.
    public var fields: [(name: String, value: String)] = []

    /// What follows the head.
    public enum Content: Equatable, Sendable {
        case json(JSON)
        /// A document that is there already.
        case document(String, type: String)
        /// Events from now on, or from the one behind a number; the answer has no end.
        case events(since: Int?)
        /// The answer comes later, under this ticket.
        case later(UInt64)

        var text: String {
            switch self {
            case .json(let json): json.text + "\n"
            case .document(let text, type: _): text
            case .events, .later: ""
            }
        }

        var type: String {
            switch self {
            case .json: "application/json"
            case .document(_, let type): type
            case .events: "text/event-stream"
            case .later: ""
            }
        }
    }

    public init(_ json: JSON, status: Int = 200) {
        self.status = status
        content = .json(json)
    }

    public init(document: String, type: String) {
        status = 200
        content = .document(document, type: type)
    }

    public init(_ error: ControlError) {
        status = error.status
        content = .json(error.json)
        allowed = error.allowed
    }

    private init(_ content: Content) {
        status = 200
        self.content = content
    }

    /// A stream of events (`GET /v1/events`).
    public static func stream(since id: Int?) -> ControlAnswer { ControlAnswer(.events(since: id)) }

    /// The promise of an answer: `ControlServer.deliver` keeps it, within `ControlSession.promiseTime`.
    public static func later(_ ticket: UInt64) -> ControlAnswer { ControlAnswer(.later(ticket)) }

    /// The octets of the body.
    public var body: String { content.text }

    public static func == (left: ControlAnswer, right: ControlAnswer) -> Bool {
        left.status == right.status && left.content == right.content && left.allowed == right.allowed
    }

    /// Appends the answer; of an answer to HEAD the body stays away (RFC 9110, section 9.3.2).
    ///
    /// Nothing here gives another origin leave to read it: there is no CORS field, ever.
    func write(into output: inout [UInt8], isHead: Bool, closes: Bool) {
        let body = body
        var head = "HTTP/1.1 \(status) \(HTTPStatus.reason(status))\r\nContent-Type: \(content.type)\r\n"
        // A stream has no length: it lasts as long as its connection (RFC 9112, section 6.3).
        if case .events = content {} else { head += "Content-Length: \(body.utf8.count)\r\n" }
        head += "Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n"
        if !allowed.isEmpty { head += "Allow: \(allowed.joined(separator: ", "))\r\n" }
        for field in fields { head += "\(field.name): \(field.value)\r\n" }
        if closes { head += "Connection: close\r\n" }
        output.append(contentsOf: (head + "\r\n").utf8)
        if !isHead { output.append(contentsOf: body.utf8) }
    }
}
