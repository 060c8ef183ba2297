/// # The page: what a tester with a phone in hand sees and does
///
/// Values alone. The daemon says what is so, and gets octets for a browser; it hears what a browser asks, and gets told
/// what that means. Nothing here knows a socket, a clock or a profile store:
///
///     head ── PageGuard ──▶ whose host it is, or why nothing is said
///     method, path, query, form ── PageRequest ──▶ what is wanted, or what is wrong with it
///     a view (HomeView, RequestsView …), PageContext ── answer ──▶ PageAnswer: status, fields, octets
///
/// A view is plain data in words of this domain; each has a function `answer(in:)`. A request that changes something is
/// a POST with a token (`PageToken`), and is answered by a redirection (`PageAnswer.done`), so a reload repeats
/// nothing; refused, it is answered by the same form with what was typed and what is wrong with it.

/// What is sent to a browser.
public struct PageAnswer: Equatable, Sendable {
    /// One field of the head.
    public struct Field: Equatable, Sendable {
        public var name: String
        public var value: String
    }

    public var status: Int
    /// Content-Type; nil where there is no body.
    public var type: String?
    /// The other fields, apart from those of the connection and of the body's length.
    public var fields: [Field]
    public var body: [UInt8]

    init(status: Int, type: String?, body: [UInt8], policy: ContentPolicy = ContentPolicy()) {
        self.status = status
        self.type = type
        self.body = body
        fields = policy.fields
    }

    /// The value of a field, by its name as it is written here.
    public subscript(_ name: String) -> String? { fields.first { $0.name == name }?.value }

    mutating func set(_ name: String, _ value: String) {
        fields.removeAll { $0.name == name }
        fields.append(Field(name: name, value: value))
    }

    /// A line of text, for who can't be shown a page.
    public static func line(_ words: String, status: Int) -> PageAnswer {
        PageAnswer(status: status, type: "text/plain; charset=utf-8", body: Array("\(words)\n".utf8))
    }

    /// What follows a change: the page of its form, fetched anew (303, RFC 9110, section 15.4.4).
    public static func done(_ notice: PageNotice) -> PageAnswer {
        var answer = PageAnswer(status: 303, type: nil, body: [])
        answer.set("Location", notice.place.text)
        return answer
    }
}

/// What a browser may do with a page, and what it may keep of it.
struct ContentPolicy {
    /// Hosts besides ours whose images the page shows.
    var images: [PageLink] = []
    /// Frames of our own stand in it.
    var hasFrame = false
    /// It stands in a frame of ours and has nothing but an image, of a host that no policy can name.
    var isFrame = false

    /// Each answer has all of them, so that none is forgotten.
    var fields: [PageAnswer.Field] {
        [
            PageAnswer.Field(name: "Content-Security-Policy", value: isFrame ? Self.frame : policy),
            // For browsers that do not know `frame-ancestors` (RFC 7034).
            PageAnswer.Field(name: "X-Frame-Options", value: isFrame ? "SAMEORIGIN" : "DENY"),
            PageAnswer.Field(name: "Cross-Origin-Resource-Policy", value: "same-origin"),
            // With `no-referrer` browsers would hide the Origin of our own forms too (Fetch, section 3.2).
            PageAnswer.Field(name: "Referrer-Policy", value: "same-origin"),
            PageAnswer.Field(name: "Cache-Control", value: "no-store"),
            PageAnswer.Field(name: "X-Content-Type-Options", value: "nosniff"),
        ]
    }

    private var policy: String {
        let sources = images.map(\.origin).joined(separator: " ")
        return "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self'"
            + (sources.isEmpty ? "" : " \(sources)") + (hasFrame ? "; frame-src 'self'" : "")
            + "; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
    }

    /// A host source has letters, digits and hyphens between dots alone, so none is an IPv6 address (Content Security
    /// Policy Level 3, section 2.3.1).
    private static let frame =
        "default-src 'none'; img-src http:; form-action 'none'; frame-ancestors 'self'; base-uri 'none'"
}

/// What has been done, as the page says it afterwards.
public enum PageNotice: String, CaseIterable, Sendable {
    case switched, released, tried, extended, named, direct, proxied, learning, learned
    case handedOver = "handed-over"

    /// Where it is said.
    var place: PageLink {
        switch self {
        case .switched, .released, .tried, .extended, .named, .handedOver: PageLink("/", ["done": rawValue])
        case .direct, .proxied: PageLink("/requests", ["done": rawValue])
        case .learning, .learned: PageLink("/learn", ["done": rawValue])
        }
    }

    var markup: Markup { tag(.div, .class("notice"), .role("status")) { tag(.p) { words } } }

    /// One sentence.
    private var words: String {
        switch self {
        case .switched: "Switched. What this phone opens from now on takes the new way."
        case .released: "Back to the default. What this phone opens from now on takes it."
        case .tried: "Tried again: the result stands here."
        case .extended: "One hour more."
        case .named: "The name is kept."
        case .direct: "That host now goes direct for this phone."
        case .proxied: "That host now goes through the proxy for this phone."
        case .learning: "Learning: use the app on this phone now."
        case .learned: "The domains are in this phone's list."
        case .handedOver: "Handed over: what was set for this phone has ended."
        }
    }
}
