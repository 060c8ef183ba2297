/// What `TCPEndpoint` tells its caller.

public import Bytes
public import Wire

/// What the caller has to know after an endpoint took a segment or a tick.
public struct TCPEvents: OptionSet, Hashable, Sendable {
    public let rawValue: UInt32

    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// The client completed the handshake.
    public static let established = TCPEvents(rawValue: 1 << 0)
    /// The client acknowledged octets: `sendSpace` may have grown.
    public static let acknowledged = TCPEvents(rawValue: 1 << 1)
    /// Octets became unread.
    public static let unread = TCPEvents(rawValue: 1 << 2)
    /// The client's FIN is in order: nothing comes after the octets that are unread.
    public static let finReceived = TCPEvents(rawValue: 1 << 3)
    /// The client reset the stream, or took its SYN back.
    public static let reset = TCPEvents(rawValue: 1 << 4)
    /// The client is gone: it acknowledged nothing for too long.
    public static let timedOut = TCPEvents(rawValue: 1 << 5)
    /// Both directions are finished; a `TimeWaitRecord` may take the endpoint's place.
    public static let timeWait = TCPEvents(rawValue: 1 << 6)
    /// The endpoint has nothing more to do: release and remove it.
    public static let closed = TCPEvents(rawValue: 1 << 7)
    /// The segment is a SYN of a new connection: remove this endpoint and answer it with a new one.
    public static let reopen = TCPEvents(rawValue: 1 << 8)

    // For the counters: why something of the segment was not taken.

    /// Octets found no chunk in the pool; the client sends them again.
    public static let outOfMemory = TCPEvents(rawValue: 1 << 16)
    /// Octets would have made one stretch too many (`reassemblyRanges`).
    public static let tooManyRanges = TCPEvents(rawValue: 1 << 17)
    /// The sequence number was not acceptable (RFC 9293, section 3.10.7.4).
    public static let outOfWindow = TCPEvents(rawValue: 1 << 18)
    /// The timestamp was too old (PAWS, RFC 7323, section 5).
    public static let outdated = TCPEvents(rawValue: 1 << 19)
    /// A RST, SYN or ACK looked forged (RFC 5961).
    public static let challenged = TCPEvents(rawValue: 1 << 20)
}

/// What became of a segment that an endpoint took.
public struct Receipt: Sendable {
    /// The octets of the payload that come next in the stream and are not stored.
    ///
    /// The caller offers them to the upstream and then calls `keep` with the rest, once, before anything else. It
    /// is empty when octets are unread already: then everything is stored.
    public var direct: Range<Int>
    public var events: TCPEvents

    init(direct: Range<Int> = 0..<0, events: TCPEvents = []) {
        self.direct = direct
        self.events = events
    }
}

/// A segment to write to the tunnel, now.
public struct OutgoingSegment: Sendable {
    public var segment: TCPSegment
    /// Where the payload stands; the runs are good until the endpoint is used again.
    public var payload: ByteRuns
    /// The payload's octets in each segment that the kernel cuts, or 0 for a segment that is whole already.
    public var gsoSize: Int

    @inline(__always) init(_ segment: TCPSegment, payload: ByteRuns = ByteRuns(), gsoSize: Int = 0) {
        self.segment = segment
        self.payload = payload
        self.gsoSize = gsoSize
    }
}

/// What a stream did so far, for the flow log.
public struct TCPAccounts: Equatable, Sendable {
    /// Octets of the client that the caller took.
    public var received: UInt64 = 0
    /// Octets sent for the first time.
    public var sent: UInt64 = 0
    /// Octets that the client acknowledged.
    public var acknowledged: UInt64 = 0
    /// Octets sent again.
    public var retransmitted: UInt64 = 0
    /// How often the retransmission timer ran out.
    public var timeouts: UInt32 = 0
}
