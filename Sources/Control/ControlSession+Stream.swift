/// An answer without an end: events, from the ring to one client.

public import Bytes

/// How far a client has come in the ring.
struct EventCursor: Sendable {
    /// The last event that the client has seen, as it says.
    let since: Int?
    /// The next event to be sent; nil before the first octet.
    var next: Int?
    /// When a comment shows that the connection stands.
    var beat: Instant

    init(since: Int?, now: Instant) {
        self.since = since
        beat = now + ControlSession.beatTime
    }
}

extension ControlSession {
    /// How long a stream says nothing: proxies and clients take silence for a dead connection (WHATWG HTML,
    /// section 9.2.7).
    public static let beatTime = Interval.seconds(15)
    /// So much is taken from the ring at a time.
    static let streamPiece = 16 << 10

    /// Whether the answer is a stream of events.
    public var isStream: Bool { if case .streaming = phase { true } else { false } }

    /// When `fill` is called at the latest.
    var beat: Instant { if case .streaming(let cursor) = phase { cursor.beat } else { .never } }

    /// Takes the next events into `output`, as many as are sent in one go.
    ///
    /// Returns false when the client's next event has left the ring: it is too slow.
    mutating func fill(from ring: EventRing, now: Instant) -> Bool {
        guard case .streaming(var cursor) = phase else { return true }
        if cursor.beat <= now, output.isEmpty { output += ":\n\n".utf8 }
        var next = cursor.next ?? begin(cursor.since, ring)
        guard next >= ring.oldest else { return false }
        while next <= ring.newest, output.count < Self.streamPiece {
            output += ring.text(of: next)
            next += 1
        }
        if cursor.beat <= now || cursor.next != next { cursor.beat = now + Self.beatTime }
        cursor.next = next
        phase = .streaming(cursor)
        // From the first octet that waits, the client has this long to take one.
        if !output.isEmpty, deadline == .never { deadline = now + Self.idleTime }
        return true
    }

    private mutating func begin(_ since: Int?, _ ring: EventRing) -> Int {
        let (text, next) = ring.opening(since: since)
        output += text
        return next
    }
}
