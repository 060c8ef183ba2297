/// What a dial and its caller say to each other.

import LinuxIO
import Wire

/// What the caller is to do next.
public enum DialProgress: Equatable, Sendable {
    /// Nothing, until an event or the deadline comes.
    case waiting
    /// Watch this descriptor once, edge-triggered, and report its events with the slot.
    ///
    /// Where `needsWritable` is false, readiness for writing is of no interest before a write falls short.
    case register(descriptor: CInt, slot: UInt8, needsWritable: Bool)
    /// Resolve this name and come back with `resolved`, also with nothing.
    case needsName(String)
    /// The stream is open: take the socket.
    case open(Opening)
    case failed(DialFailure)
}

/// How a stream was opened.
public struct Opening: Equatable, Sendable {
    /// The stream's first octets, in the input of the buffers that were lent; good until they are lent again.
    public var leftover: Range<Int>
    /// Whether more may be there to read although no event will say so.
    public var mayRead: Bool
    /// Plain http without CONNECT: what the client sends goes through `Upstream.forward`.
    public var inAbsoluteForm: Bool
    /// The slot under which the descriptor was registered.
    public var slot: UInt8
    /// Whether it was registered for writing too.
    public var watchesWritable: Bool
}

/// Memory that a worker lends to its dials, one at a time.
public struct DialBuffers: Sendable {
    /// What the last read brought.
    public internal(set) var input: [UInt8]
    var output: [UInt8] = []

    public init(capacity: Int = 16384) {
        input = [UInt8](repeating: 0, count: capacity)
    }
}

/// A connection that is being tried.
struct Attempt: ~Copyable {
    let socket: Socket
    let slot: UInt8
    /// Which of the candidates it goes to.
    let candidate: Int
}

/// A conversation that is under way.
enum Dialogue {
    case none
    case connect(ConnectDialogue)
    case socks5(SOCKS5Dialogue)
}
