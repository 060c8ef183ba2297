/// A reply in the making: octets in any pieces become a status and a body, never more than was agreed.

internal import Bytes
internal import Wire

/// What came back.
public struct ControlReply: Equatable, Sendable {
    public var status: Int
    public var body: [UInt8]
    /// Starship-Signature; empty without one.
    public var signature = ""

    public init(status: Int, body: [UInt8]) {
        self.status = status
        self.body = body
    }

    public var isSuccess: Bool { status / 100 == 2 }
}

/// Takes a reply as it comes in; interim replies are passed over.
public struct ReplyCollector: Sendable {
    private let limit: Int
    private var reader = HTTPReplyReader()
    /// Nil until the head is there.
    private var rest: HTTPBody?
    private var body: [UInt8] = []

    public init(limit: Int) { self.limit = limit }

    /// The reply; whole once `take` has said so.
    public var reply: ControlReply {
        var reply = ControlReply(status: reader.head.status, body: body)
        reply.signature = String(decoding: reader.head.signature, as: UTF8.self)
        return reply
    }

    /// Takes octets, and says whether the reply is whole.
    public mutating func take(_ octets: Span<UInt8>) throws(ExchangeError) -> Bool {
        do throws(HTTPError) {
            let position = try takeHeads(octets)
            try takeBody(octets.extracting(position...))
        } catch {
            throw .malformed("\(error)")
        }
        guard body.count <= limit else { throw .tooLarge(limit: limit) }
        return rest?.isComplete == true
    }

    /// Reads up to the body and returns where it begins.
    private mutating func takeHeads(_ octets: Span<UInt8>) throws(HTTPError) -> Int {
        var position = 0
        while rest == nil {
            guard let end = try reader.read(octets.extracting(position...)) else { return octets.count }
            position += end
            if reader.head.isInterim {
                reader.restart()
            } else {
                rest = reader.head.body(answeringHead: false)
            }
        }
        return position
    }

    /// Takes content up to one octet more than the limit: with that the reply is refused.
    private mutating func takeBody(_ octets: Span<UInt8>) throws(HTTPError) {
        guard var left = rest else { return }
        var position = 0
        while position < octets.count, !left.isComplete, body.count <= limit {
            let input = octets.extracting(position...)
            let (content, end) = try left.take(input)
            body.append(copying: input.extracting(content))
            position += end
        }
        rest = left
    }

    /// Takes the end of the stream; what a length has promised must be there.
    public mutating func finish() throws(ExchangeError) -> ControlReply {
        switch rest {
        case .untilClose?, HTTPBody.none?: return reply
        case .length?, .chunked?, nil: throw .torn
        }
    }
}
