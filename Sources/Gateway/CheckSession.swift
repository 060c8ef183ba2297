/// # The conversation with a device whose small request the gateway answers itself
///
/// A connectivity check is one small request, and its answer is known before: no origin is asked. A self-check fetches
/// one tiny image, and that it came here is all that matters. The session is a value that is shown what the device has
/// said and not been answered yet; it keeps none of it, so a flow that turns out to be no check goes on with every
/// octet to whomever the rules say.

import Bytes
import Routing
import Wire

struct CheckSession: Sendable {
    /// What is asked for.
    enum Subject: Sendable {
        /// Whether there is Internet: in the place of this host.
        case connectivity(CheckAnswers.Host)
        /// The image of a self-check; that it came is this event.
        case image(CheckNote.Event)

        /// It serves much else.
        fileprivate var isShared: Bool {
            if case .connectivity(let host) = self { host.isShared } else { false }
        }
    }

    enum Step: Equatable {
        case needsMore
        /// The first so many octets are a request, which the output answers; with `isLast` nothing more is answered.
        case answered(Int, isLast: Bool)
        /// The first request of the flow is for no check of a host that serves much else.
        case noCheck
    }

    /// What a path is answered.
    private struct Page {
        var status = 200
        var type = "text/plain"
        var body: [UInt8] = []
        /// Whole field lines.
        var fields = ""
    }

    /// The longest head of a request: checks have a few hundred octets.
    static let maximumHead = 8 << 10

    let subject: Subject
    /// The self-check whose image was asked for last; nil where the last request was for none.
    private(set) var nonce: String?
    private var isFirst = true

    init(_ subject: Subject) { self.subject = subject }

    /// Takes all that was said and not answered, and appends the answer to its first request.
    mutating func take(_ input: Span<UInt8>, output: inout [UInt8]) -> Step {
        nonce = nil
        guard input.count > 0 else { return .needsMore }
        do throws(HTTPError) {
            var collector = HTTPHeadCollector()
            guard let end = try collector.collect(input.extracting(0..<min(input.count, Self.maximumHead))) else {
                guard input.count < Self.maximumHead else { throw .headTooLong }
                return .needsMore
            }
            return try answer(input.extracting(0..<end), &output)
        } catch {
            if isFirst, subject.isShared { return .noCheck }
            HTTPAnswer.write(status: error.status, text: "\(error)", into: &output)
            return .answered(input.count, isLast: true)
        }
    }

    private mutating func answer(_ head: Span<UInt8>, _ output: inout [UInt8]) throws(HTTPError) -> Step {
        let request = try HTTPRequestHead.parse(head)
        let path = try HTTPRequestHead.path(of: request, in: head)
        let isHead = request.method == .head
        let asked = Self.nonce(in: head.extracting(request.targetRange))
        let page = page(at: path, asked)
        if isFirst, subject.isShared, page == nil { return .noCheck }
        isFirst = false
        // What a body would bring isn't read, so nothing behind it can be.
        let isLast = request.saysClose || !request.isVersion11 || request.body != .none
        if !isHead, !Self.isGet(request, of: head) {
            let refusal = Page(status: 405, fields: "Allow: GET, HEAD\r\n")
            Self.write(refusal, "Method Not Allowed", isLast: true, &output)
            return .answered(head.count, isLast: true)
        }
        guard let page else {
            let missing = Page(status: 404, body: Array("no check is here\n".utf8))
            Self.write(missing, "Not Found", isHead: isHead, isLast: isLast, &output)
            return .answered(head.count, isLast: isLast)
        }
        if case .image = subject { nonce = asked }
        Self.write(page, page.status == 204 ? "No Content" : "OK", isHead: isHead, isLast: isLast, &output)
        return .answered(head.count, isLast: isLast)
    }

    private func page(at path: String, _ nonce: String?) -> Page? {
        switch subject {
        case .connectivity(let host):
            guard let page = host.page(at: path) else { return nil }
            let type = page.body.hasPrefix("<") ? "text/html" : "text/plain"
            return Page(status: page.status, type: type, body: Array(page.body.utf8))
        case .image:
            guard path == "/check.png", nonce != nil else { return nil }
            // A page of another host shows it (Fetch, section 3.7).
            let fields = "Cross-Origin-Resource-Policy: cross-origin\r\n"
            return Page(type: "image/png", body: Pixel.png, fields: fields)
        }
    }

    /// The parameter `n` of a target; a nonce has letters and digits alone, so nothing of it is escaped.
    private static func nonce(in target: Span<UInt8>) -> String? {
        let text = String(decoding: [UInt8](copying: target), as: UTF8.self)
        guard let question = text.firstIndex(of: "?") else { return nil }
        let parameters = text[text.index(after: question)...].split(separator: "&")
        return parameters.first { $0.hasPrefix("n=") }.flatMap { CheckBook.nonce(String($0.dropFirst(2))) }
    }

    /// Methods are case-sensitive (RFC 9110, section 9.1).
    private static func isGet(_ request: HTTPRequestHead, of head: Span<UInt8>) -> Bool {
        let method = head.extracting(request.methodRange)
        return method.count == 3 && method[0] == UInt8(ascii: "G") && method[1] == UInt8(ascii: "E")
            && method[2] == UInt8(ascii: "T")
    }

    /// Appends an answer; a 204 has no length (RFC 9110, section 8.6), and what answers HEAD has that of GET's body.
    private static func write(
        _ page: Page, _ reason: String, isHead: Bool = false, isLast: Bool, _ output: inout [UInt8]
    ) {
        var head = "HTTP/1.1 \(page.status) \(reason)\r\n\(page.fields)Cache-Control: no-store\r\n"
        if page.status != 204 { head += "Content-Type: \(page.type)\r\nContent-Length: \(page.body.count)\r\n" }
        if isLast { head += "Connection: close\r\n" }
        output.append(contentsOf: (head + "\r\n").utf8)
        if !isHead { output.append(contentsOf: page.body) }
    }
}
