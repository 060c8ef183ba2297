/// The words of a proxy that said no, fit for a log line.

import Bytes

/// Collects the beginning of an error page and makes a sentence of it.
public struct HTTPErrorText: Sendable {
    /// The characters that are kept in the end.
    public static let maximumLength = 200

    /// The octets of a page that are looked at: squid puts its style sheet before its words.
    private static let maximumBody = 4096

    private var body: [UInt8] = []

    public init() {}

    /// Whether more of the page would change nothing.
    public var isFull: Bool { body.count >= Self.maximumBody }

    public mutating func append(_ piece: Span<UInt8>) {
        body.append(copying: piece.extracting(0..<min(piece.count, Self.maximumBody - body.count)))
    }

    /// The visible text of the page, or the reason of the status line when it has none; squid's own name for the
    /// error goes first.
    public func text(of head: HTTPReplyHead) -> String {
        var text = head.squidError
        let visible = head.isHTML || body.first == ASCII.less ? Self.withoutMarkup(body) : body
        let hasWords = !Self.clean(visible).isEmpty
        if !text.isEmpty { text.append(contentsOf: ": ".utf8) }
        text.append(contentsOf: hasWords ? visible : head.reason)
        return Self.clean(text)
    }

    /// One line of at most 200 printable characters, blanks folded.
    public static func clean(_ octets: [UInt8]) -> String {
        var text = ""
        var length = 0
        var pendingBlank = false
        for scalar in String(decoding: octets, as: UTF8.self).unicodeScalars {
            if scalar.properties.isWhitespace || isInvisible(scalar) {
                pendingBlank = !text.isEmpty
                continue
            }
            guard length + (pendingBlank ? 2 : 1) <= maximumLength else { break }
            if pendingBlank { text.append(" ") }
            length += pendingBlank ? 2 : 1
            pendingBlank = false
            text.unicodeScalars.append(scalar)
        }
        return text
    }

    /// Control and format characters: among them those that turn the direction of a terminal's line.
    private static func isInvisible(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator, .paragraphSeparator: true
        default: false
        }
    }

    /// Takes tags, comments, styles and scripts out.
    private static func withoutMarkup(_ page: [UInt8]) -> [UInt8] {
        let page = page.span
        var visible: [UInt8] = []
        var position = 0
        while position < page.count {
            guard page[position] == ASCII.less else {
                visible.append(page[position])
                position += 1
                continue
            }
            let tag = page.extracting(position + 1..<page.count)
            var end: StaticString = ">"
            if tag.hasPrefix("style") { end = "</style>" }
            if tag.hasPrefix("script") { end = "</script>" }
            if tag.hasPrefix("!--") { end = "-->" }
            while position < page.count, !page.extracting(position..<page.count).hasPrefix(end) { position += 1 }
            position = min(position + end.utf8CodeUnitCount, page.count)
            visible.append(ASCII.space)
        }
        return visible
    }
}
