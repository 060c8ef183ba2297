/// # The conversation with a device that checks whether there is Internet
///
/// A check is one small request, and its answer is known before: no origin is asked. The session is a value that is
/// shown what the device has said and not been answered yet; it keeps none of it, so a flow that turns out to be no
/// check goes on with every octet to whomever the rules say.

import Bytes
import Routing
import Wire

struct CheckSession: Sendable {
    enum Step: Equatable {
        case needsMore
        /// The first so many octets are a request, which the output answers; with `isLast` nothing more is answered.
        case answered(Int, isLast: Bool)
        /// The first request of the flow is for no check of a host that serves much else.
        case noCheck
    }

    /// The longest head of a request: checks have a few hundred octets.
    static let maximumHead = 8 << 10

    let host: CheckAnswers.Host
    private var isFirst = true

    init(_ host: CheckAnswers.Host) { self.host = host }

    /// Takes all that was said and not answered, and appends the answer to its first request.
    mutating func take(_ input: Span<UInt8>, output: inout [UInt8]) -> Step {
        guard input.count > 0 else { return .needsMore }
        do throws(HTTPError) {
            var collector = HTTPHeadCollector()
            guard let end = try collector.collect(input.extracting(0..<min(input.count, Self.maximumHead))) else {
                guard input.count < Self.maximumHead else { throw .headTooLong }
                return .needsMore
            }
            return try answer(input.extracting(0..<end), &output)
        } catch {
            if isFirst, host.isShared { return .noCheck }
            HTTPAnswer.write(status: error.status, text: "\(error)", into: &output)
            return .answered(input.count, isLast: true)
        }
    }

    private mutating func answer(_ head: Span<UInt8>, _ output: inout [UInt8]) throws(HTTPError) -> Step {
        let request = try HTTPRequestHead.parse(head)
        let path = try HTTPRequestHead.path(of: request, in: head)
        let isHead = request.method == .head
        let page = host.page(at: path)
        if isFirst, host.isShared, page == nil { return .noCheck }
        isFirst = false
        // What a body would bring isn't read, so nothing behind it can be.
        let isLast = request.saysClose || !request.isVersion11 || request.body != .none
        if !isHead, !Self.isGet(request, of: head) {
            Self.write(405, "Method Not Allowed", "", fields: "Allow: GET, HEAD\r\n", isLast: true, &output)
            return .answered(head.count, isLast: true)
        }
        guard let page else {
            Self.write(404, "Not Found", "no check is here\n", isHead: isHead, isLast: isLast, &output)
            return .answered(head.count, isLast: isLast)
        }
        let reason = page.status == 204 ? "No Content" : "OK"
        Self.write(page.status, reason, page.body, isHead: isHead, isLast: isLast, &output)
        return .answered(head.count, isLast: isLast)
    }

    /// Methods are case-sensitive (RFC 9110, section 9.1).
    private static func isGet(_ request: HTTPRequestHead, of head: Span<UInt8>) -> Bool {
        let method = head.extracting(request.methodRange)
        return method.count == 3 && method[0] == UInt8(ascii: "G") && method[1] == UInt8(ascii: "E")
            && method[2] == UInt8(ascii: "T")
    }

    /// Appends an answer; a 204 has no length (RFC 9110, section 8.6), and what answers HEAD has that of GET's body.
    private static func write(
        _ status: Int, _ reason: String, _ body: String, fields: String = "", isHead: Bool = false, isLast: Bool,
        _ output: inout [UInt8]
    ) {
        var head = "HTTP/1.1 \(status) \(reason)\r\n\(fields)Cache-Control: no-store\r\n"
        if status != 204 {
            let type = body.hasPrefix("<") ? "text/html" : "text/plain"
            head += "Content-Type: \(type)\r\nContent-Length: \(body.utf8.count)\r\n"
        }
        if isLast { head += "Connection: close\r\n" }
        output.append(contentsOf: (head + "\r\n" + (isHead ? "" : body)).utf8)
    }
}
