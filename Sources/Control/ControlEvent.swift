/// What has happened, for those who listen: events, and the ring that keeps the last of them.
///
/// The format is that of server-sent events (WHATWG HTML, section 9.2): an id, a name, one line of JSON.

public import Profiles

/// One thing that has happened.
public struct ControlEvent: Equatable, Sendable {
    /// What it is about; also the name of the event.
    public enum Kind: String, CaseIterable, Sendable {
        case health
        case `switch`
        case group
        case device
        case config
        case flow
        case certificate
        case stalled
    }

    public var kind: Kind
    public var data: JSON

    public init(_ kind: Kind, _ data: JSON) {
        self.kind = kind
        self.data = data
    }

    /// The event as it is sent.
    func text(id: Int) -> [UInt8] {
        // JSON on one line has no line end in it, so one `data` field is enough.
        Array("id: \(id)\nevent: \(kind.rawValue)\ndata: \(data.text)\n\n".utf8)
    }
}

/// The last events, each with its number.
///
/// Whoever listens reads from here at a pace of its own, so that nothing is kept for a client: one that is so slow that
/// its next event has left the ring is beyond catching up.
public struct EventRing: Sendable {
    /// The most events that are kept.
    public static let limit = 1024
    /// The most octets that are kept; the newest event always is.
    public static let octets = 256 << 10

    /// The number of the oldest event that is kept; one more than `newest` when there is none.
    public private(set) var oldest: Int
    /// The number of the newest event.
    public private(set) var newest: Int
    /// Events as they are sent, each at its number modulo `limit`.
    private var texts = [[UInt8]](repeating: [], count: limit)
    private var size = 0

    /// Begins with the number that the first event gets.
    ///
    /// A daemon that begins each of its lives with greater numbers than the one before recognises what a client has
    /// seen of a former life.
    public init(first: Int = 1) {
        oldest = first
        newest = first - 1
    }

    /// Keeps an event; the oldest ones make room.
    public mutating func add(_ event: ControlEvent) {
        if newest - oldest + 1 == Self.limit { dropOldest() }
        newest += 1
        let text = event.text(id: newest)
        texts[newest % Self.limit] = text
        size += text.count
        while size > Self.octets, oldest < newest { dropOldest() }
    }

    private mutating func dropOldest() {
        size -= texts[oldest % Self.limit].count
        texts[oldest % Self.limit] = []
        oldest += 1
    }

    /// An event that is kept, as it is sent.
    func text(of id: Int) -> [UInt8] { texts[id % Self.limit] }

    /// What a stream begins with, and the number of the event that follows.
    ///
    /// Nil asks for what is new from now on. A number that is not of this ring's events, or whose successor is gone, is
    /// answered with `missed` and everything that is kept.
    func opening(since: Int?) -> (text: [UInt8], next: Int) {
        var next = newest + 1
        var hasMissed = false
        if let since {
            hasMissed = since < oldest - 1 || since > newest
            next = hasMissed ? oldest : since + 1
        }
        // The id is where a client that hears nothing more goes on from.
        var text = "retry: 1000\nid: \(next - 1)\nevent: hello\ndata: {\"newest\":\(newest)}\n\n"
        if let since, hasMissed { text += "event: missed\ndata: {\"since\":\(since),\"oldest\":\(oldest)}\n\n" }
        return (Array(text.utf8), next)
    }
}
