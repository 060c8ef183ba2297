/// The client's end of a stream of events.

internal import Bytes
internal import LinuxIO
internal import Wire

/// A connection on which events come in; the caller's poller says when.
public struct EventStream: ~Copyable {
    private let socket: Socket
    private var reader = HTTPReplyReader()
    /// Nil until the head is there.
    private var rest: HTTPBody?
    private var parser = EventParser()

    /// Takes over a socket on which the request was sent.
    init(_ socket: consuming Socket) { self.socket = socket }

    /// What is watched for reading.
    public var descriptor: CInt { socket.descriptor.number }

    /// The id to come again with; nil before there was one.
    public var lastID: String? { parser.lastID.isEmpty ? nil : parser.lastID }

    /// Takes what has come; nil when the stream is over.
    public mutating func take() throws(ExchangeError) -> [ReceivedEvent]? {
        var events: [ReceivedEvent] = []
        var piece: [UInt8] = []
        // A daemon that never pauses must not keep its reader from everything else.
        for _ in 0..<16 {
            piece.removeAll(keepingCapacity: true)
            switch socket.read(appendingTo: &piece, limit: 65_536) {
            case .bytes: events += try take(piece.span)
            case .wouldBlock: return events
            case .end: return events.isEmpty ? nil : events
            case .failed(let reason): throw .system(SystemCallError("read", errno: reason))
            }
        }
        return events
    }

    private mutating func take(_ octets: Span<UInt8>) throws(ExchangeError) -> [ReceivedEvent] {
        var position = 0
        do throws(HTTPError) {
            position = try takeHeads(octets)
        } catch {
            throw .malformed("\(error)")
        }
        guard var left = rest else { return [] }
        guard reader.head.status == 200 else { throw .status(reader.head.status) }
        var events: [ReceivedEvent] = []
        while position < octets.count, !left.isComplete {
            let input = octets.extracting(position...)
            let content: Range<Int>
            let end: Int
            do throws(HTTPError) {
                (content, end) = try left.take(input)
            } catch {
                throw .malformed("\(error)")
            }
            do throws(EventTooLong) {
                events += try parser.take(input.extracting(content))
            } catch {
                throw .tooLarge(limit: EventParser.limit)
            }
            position += end
        }
        rest = left
        return events
    }

    /// Reads up to the body and returns where it begins.
    private mutating func takeHeads(_ octets: Span<UInt8>) throws(HTTPError) -> Int {
        var position = 0
        while rest == nil {
            guard let end = try reader.read(octets.extracting(position...)) else { return octets.count }
            position += end
            if reader.head.isInterim { reader.restart() } else { rest = reader.head.body(answeringHead: false) }
        }
        return position
    }
}
