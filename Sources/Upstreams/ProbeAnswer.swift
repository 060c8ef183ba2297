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

    /// The same with its framing: chunks may have extensions, and a trailer section has no end of its own.
    private static let longestRest = 1 << 18

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
    /// The octets behind the head that were looked at.
    private var taken = 0
    private(set) var body: [UInt8] = []
    private var isTooLong = false
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

    /// Where a redirect leads; nil for what is none.
    var redirect: String? { status == nil ? nil : reader.head.redirect }

    /// Takes the end of the answer, or of patience with it; nil where there was no head.
    mutating func end(isClosed: Bool) -> PageVerdict? {
        guard status != nil, page.keepsBody, isExpected, case .body(let rest) = phase, !rest.isComplete else {
            return status == nil ? nil : conclude()
        }
        // Only a body that nothing else ends may end so.
        return isClosed && rest == .untilClose ? conclude() : .malformed("an answer that is cut short")
    }

    private mutating func readBody(_ input: Span<UInt8>) throws(HTTPError) -> PageVerdict? {
        guard case .body(var rest) = phase else { return nil }
        let head = reader.head
        // The status says it all.
        if isExpected ? pattern == nil && !page.keepsBody : head.status == 407 || head.isRedirect { return conclude() }
        let end = min(input.count, Self.longestRest - taken)
        var position = 0
        while true {
            // Once the text is there, nothing that comes behind it in the same piece matters any more.
            if isExpected, !page.keepsBody, pattern?.isFound(in: body) ?? true { return .right }
            guard position < end, !rest.isComplete, !isFull else { break }
            let left = input.extracting(position..<end)
            let piece = try rest.take(left)
            keep(left.extracting(piece.content))
            position += piece.end
        }
        taken += position
        phase = .body(rest)
        return rest.isComplete || isFull || taken == Self.longestRest ? conclude() : nil
    }

    private var isFull: Bool {
        guard isExpected else { return text.isFull }
        // What is kept has to be whole: whether there is more is known by the next octet alone.
        return page.keepsBody ? isTooLong : body.count >= Self.longestBody
    }

    private mutating func keep(_ content: Span<UInt8>) {
        if isExpected {
            let room = Self.longestBody - body.count
            isTooLong = isTooLong || content.count > room
            body.append(copying: content.extracting(0..<min(content.count, room)))
        } else {
            text.append(content)
        }
    }

    private mutating func conclude() -> PageVerdict {
        let head = reader.head
        if isExpected {
            if page.keepsBody, isTooLong || !isComplete {
                return .wrong("more than \(Self.longestBody >> 10) KiB")
            }
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

    private var isComplete: Bool {
        guard case .body(let rest) = phase else { return false }
        return rest.isComplete || rest == .untilClose
    }

    private func shown(_ words: String) -> String { secret?.redacted(from: words) ?? words }
}
