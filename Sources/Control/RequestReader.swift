/// Where a request ends, for the sessions of this module.

internal import Bytes
internal import Wire

/// Finds heads and bodies in what comes of a client, whatever pieces it comes in.
struct RequestReader: Sendable {
    /// The longest head, in octets.
    private let headLimit: Int
    /// The beginning of a head.
    private var collector: HTTPHeadCollector
    /// What was not looked at yet.
    private var input: [UInt8] = []

    init(headLimit: Int = HTTPHeadCollector.maximumHead) {
        self.headLimit = headLimit
        collector = HTTPHeadCollector(limit: headLimit)
    }

    /// Whether nothing of a request is there.
    var isEmpty: Bool { input.isEmpty && collector.isEmpty }

    mutating func append(_ bytes: Span<UInt8>) { input.append(copying: bytes) }

    /// Throws away what is there.
    mutating func clear() { self = RequestReader(headLimit: headLimit) }

    /// Takes the next head; nil when more has to come.
    mutating func takeHead() throws(HTTPError) -> [UInt8]? {
        var collector = collector
        self.collector = HTTPHeadCollector(limit: headLimit)
        guard let end = try collector.collect(input.span) else {
            input = []
            self.collector = collector
            return nil
        }
        let head = collector.isEmpty ? Array(input[..<end]) : collector.kept
        input.removeFirst(end)
        return head
    }

    /// Takes of a body what is there.
    mutating func takeBody(_ rest: inout HTTPBody, into body: inout [UInt8]) throws(HTTPError) {
        var position = 0
        while position < input.count, !rest.isComplete {
            let (content, end) = try rest.take(input.span.extracting(position..<input.count))
            body.append(contentsOf: input[position + content.lowerBound..<position + content.upperBound])
            position += end
        }
        input.removeFirst(position)
    }

    /// Whether a head asks with HEAD: then a refusal, too, is answered without a body (RFC 9110, section 9.3.2).
    static func isHead(_ head: [UInt8]) -> Bool {
        head.drop { $0 == 0x0d || $0 == 0x0a }.starts(with: "HEAD ".utf8)
    }
}
