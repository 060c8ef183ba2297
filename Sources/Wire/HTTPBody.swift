/// Where the body of a message ends (RFC 9112, sections 6 and 7).
///
/// Bodies are passed on as they are; this only counts them, so that the next head is found. Chunked framing
/// is read strictly: a relay that finds another boundary than the next reader can be made to smuggle.

/// What is left of a body.
public enum HTTPBody: Equatable, Sendable {
    case none
    /// So many octets more, at least one.
    case length(Int)
    case chunked(HTTPChunk)
    case untilClose

    /// Whether the message is over.
    public var isComplete: Bool { self == .none }

    /// Takes the octets of `input` that belong to the body and returns how many they are.
    ///
    /// Fewer than all only when the message is over.
    public mutating func consume(_ input: Span<UInt8>) throws(HTTPError) -> Int {
        var position = 0
        while position < input.count, !isComplete {
            position += try take(input.extracting(position..<input.count)).end
        }
        return position
    }

    /// Takes framing and then one stretch of content: where the content stands, and how far it went.
    public mutating func take(_ input: Span<UInt8>) throws(HTTPError) -> (content: Range<Int>, end: Int) {
        switch self {
        case .none:
            return (0..<0, 0)
        case .untilClose:
            return (0..<input.count, input.count)
        case .length(let left):
            let count = min(left, input.count)
            self = count == left ? .none : .length(left - count)
            return (0..<count, count)
        case .chunked(var chunk):
            var position = 0
            while position < input.count {
                if case .data(let left) = chunk {
                    let end = position + min(left, input.count - position)
                    let rest = left - (end - position)
                    self = .chunked(rest == 0 ? .dataReturn : .data(left: rest))
                    return (position..<end, end)
                }
                try chunk.take(input[position])
                position += 1
                if chunk == .end { break }
            }
            self = chunk == .end ? .none : .chunked(chunk)
            return (position..<position, position)
        }
    }
}

/// A place in a chunked body (RFC 9112, section 7.1).
public enum HTTPChunk: Equatable, Sendable {
    /// Before the first digit of a size.
    case start
    case size(Int)
    /// In a chunk extension, of which so many octets are gone.
    case extensions(size: Int, length: Int)
    /// Behind the carriage return of a size line.
    case sizeReturn(Int)
    case data(left: Int)
    /// Before the carriage return behind the data.
    case dataReturn
    case dataLineFeed
    /// In the trailer section: at the start of a line, inside of one, behind its carriage return.
    case trailerStart
    case trailer
    case trailerReturn
    case lastReturn
    case end

    /// The octets that the extensions of one chunk may have; nobody uses any.
    private static let maximumExtensions = 4096

    mutating func take(_ octet: UInt8) throws(HTTPError) {
        switch self {
        case .start:
            guard let digit = Self.digit(octet) else { throw .badChunk }
            self = .size(digit)
        case .size(let size):
            try takeInSizeLine(octet, size: size)
        case .extensions(let size, let length):
            guard octet != ASCII.lineFeed, length < Self.maximumExtensions else { throw .badChunk }
            self =
                octet == ASCII.carriageReturn ? .sizeReturn(size) : .extensions(size: size, length: length + 1)
        case .sizeReturn(let size):
            guard octet == ASCII.lineFeed else { throw .badChunk }
            self = size == 0 ? .trailerStart : .data(left: size)
        case .dataReturn:
            guard octet == ASCII.carriageReturn else { throw .badChunk }
            self = .dataLineFeed
        case .dataLineFeed:
            guard octet == ASCII.lineFeed else { throw .badChunk }
            self = .start
        case .trailerStart, .trailer:
            guard octet != ASCII.lineFeed else { throw .badChunk }
            let isEmpty = self == .trailerStart
            self = octet == ASCII.carriageReturn ? (isEmpty ? .lastReturn : .trailerReturn) : .trailer
        case .trailerReturn:
            guard octet == ASCII.lineFeed else { throw .badChunk }
            self = .trailerStart
        case .lastReturn:
            guard octet == ASCII.lineFeed else { throw .badChunk }
            self = .end
        case .data, .end:
            preconditionFailure("octets of the data are counted, not taken")
        }
    }

    private mutating func takeInSizeLine(_ octet: UInt8, size: Int) throws(HTTPError) {
        switch octet {
        case ASCII.carriageReturn:
            self = .sizeReturn(size)
        case ASCII.semicolon, ASCII.space, ASCII.tab:
            self = .extensions(size: size, length: 0)
        default:
            guard let digit = Self.digit(octet), size < 1 << 55 else { throw .badChunk }
            self = .size(size << 4 | digit)
        }
    }

    private static func digit(_ octet: UInt8) -> Int? {
        guard ASCII.isHexDigit(octet) else { return nil }
        return ASCII.isDigit(octet) ? Int(octet - ASCII.zero) : Int(ASCII.lowercase(octet) - 0x61 + 10)
    }
}
