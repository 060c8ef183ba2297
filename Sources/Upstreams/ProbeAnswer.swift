/// The answer to a probe's request: read as far as it takes to tell the right page from a wrong one.

import Bytes
import Wire

/// What an answer amounts to.
enum PageVerdict: Equatable {
    case right
    /// Another page; the words say in what it differs.
    case wrong(String)
    /// 502, 503, 504 or an error page of squid's: a proxy's or a gateway's words about who is behind it.
    case failing(status: Int, text: String)
    /// 407, with the schemes that are offered.
    case wantsLogin(HTTPChallenge)
    case malformed(String)
}

/// Reads one answer; it keeps at most 64 KiB of it.
struct PageReader: Sendable {
    private enum Phase {
        case head
        case body(HTTPBody)
    }

    /// What is looked at of a body.
    static let longestBody = 65536

    /// Interim answers (RFC 9110, section 15.2) that are passed over; nobody has a use for as many.
    private static let maximumInterims = 8

    private let page: ProbePage
    /// What an error page may echo and nobody is shown.
    private let secret: BasicCredentials?
    private var pattern: BodyPattern?
    private var phase = Phase.head
    private var reader = HTTPReplyReader()
    private var hasBegun = false
    private var interims = 0
    private var body: [UInt8] = []
    private var text = HTTPErrorText()

    init(_ page: ProbePage, hiding secret: BasicCredentials? = nil) {
        self.page = page
        self.secret = secret
        pattern = page.body.map(BodyPattern.init)
    }

    /// The status, once the head is there.
    var status: Int? {
        if case .body = phase { return reader.head.status }
        return nil
    }

    /// The words of an error, as far as they came.
    var words: String { status == nil ? "" : shown(text.text(of: reader.head)) }

    /// Whether the rest would only bring the words of an error.
    var awaitsWords: Bool { status != nil && !isExpected }

    private var isExpected: Bool { page.statuses.contains(reader.head.status) }

    /// Takes the next octets; nil when it needs more.
    mutating func receive(_ input: Span<UInt8>) -> PageVerdict? {
        var position = 0
        let isMarkup = !hasBegun && input.count > 0 && input[0] == UInt8(ascii: "<")
        hasBegun = true
        // A captive portal's, or a server's of the first days: HTML and no head.
        if isMarkup { return .wrong("a page without a head in place of \(page.expectation)") }
        do throws(HTTPError) {
            while case .head = phase {
                guard let end = try reader.read(input.extracting(position..<input.count)) else { return nil }
                position += end
                if reader.head.isInterim {
                    interims += 1
                    guard interims <= Self.maximumInterims else { return .malformed("interim answers without end") }
                    reader.restart()
                } else {
                    phase = .body(reader.head.body(answeringHead: false))
                }
            }
            return try readBody(input.extracting(position..<input.count))
        } catch {
            return .malformed(error.description)
        }
    }

    /// Takes the end of the answer, or of patience with it; nil where there was no head.
    mutating func end() -> PageVerdict? { status == nil ? nil : conclude() }

    private mutating func readBody(_ input: Span<UInt8>) throws(HTTPError) -> PageVerdict? {
        guard case .body(var rest) = phase else { return nil }
        let head = reader.head
        // The status says it all.
        if isExpected ? pattern == nil : head.status == 407 || head.isRedirect { return conclude() }
        var position = 0
        while position < input.count, !rest.isComplete, body.count < Self.longestBody {
            let left = input.extracting(position..<input.count)
            let piece = try rest.take(left)
            let content = left.extracting(piece.content)
            if isExpected {
                body.append(copying: content.extracting(0..<min(content.count, Self.longestBody - body.count)))
            } else {
                text.append(content)
            }
            position += piece.end
        }
        phase = .body(rest)
        if isExpected, pattern?.isFound(in: body) ?? true { return .right }
        let isFull = isExpected ? body.count >= Self.longestBody : text.isFull
        return rest.isComplete || isFull ? conclude() : nil
    }

    private mutating func conclude() -> PageVerdict {
        let head = reader.head
        if isExpected {
            guard var pattern, !pattern.isFound(in: body) else { return .right }
            return .wrong("\(head.status) without the text \"\(page.body?.prefix(80) ?? "")\"")
        }
        if head.status == 407 { return .wantsLogin(HTTPChallenge(head.challenges)) }
        if head.isRedirect {
            let place = shown(head.locationText)
            return .wrong("\(head.status)\(place.isEmpty ? "" : " to \(place)") in place of \(page.expectation)")
        }
        let words = shown(text.text(of: head))
        if (502...504).contains(head.status) || words.hasPrefix("ERR_") {
            return .failing(status: head.status, text: words)
        }
        let quoted = words.isEmpty ? "" : " (\(words.prefix(80)))"
        return .wrong("\(head.status)\(quoted) in place of \(page.expectation)")
    }

    private func shown(_ words: String) -> String { secret?.redacted(from: words) ?? words }
}
