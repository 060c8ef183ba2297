/// The head of a reply, read tolerantly and in any number of pieces.
///
/// A proxy's first words are the place where other tunnels break, so this reader takes what RFC 9112 lets a
/// recipient take (sections 2.2, 4 and 5.2): bare line feeds, a missing reason, folded lines, any case,
/// HTTP/1.0, any number of fields. It keeps what somebody asks for and nothing else: a head of 64 KiB costs
/// no more memory than its longest interesting line, and a head that comes whole costs none.

import Bytes

/// What the gateway wants to know of a reply's head.
public struct HTTPReplyHead: Equatable, Sendable {
    public internal(set) var status = 0
    /// The text behind the status, kept for replies that are no success.
    public internal(set) var reason: [UInt8] = []
    public internal(set) var contentLength: Int?
    public internal(set) var isChunked = false
    /// HTML, whose text has to be looked for between the tags.
    public internal(set) var isHTML = false
    /// The values of all Proxy-Authenticate fields, joined by commas (RFC 9110, section 5.3).
    public internal(set) var challenges: [UInt8] = []
    /// Where a redirect leads (Location, RFC 9110, section 10.2.2), as much as is kept of it.
    var location: [UInt8] = []
    /// The first word of X-Squid-Error: `ERR_ACCESS_DENIED`.
    var squidError: [UInt8] = []
    var isVersion11 = false
    var saysClose = false
    var saysKeepAlive = false
    var lengthIsBroken = false

    /// What another gateway has signed its answer with; its first 64 octets, empty without one.
    public var signature: [UInt8] = []

    public init() {}

    public var isInterim: Bool { status / 100 == 1 && status != 101 }
    public var isSuccess: Bool { status / 100 == 2 }
    public var isRedirect: Bool { status / 100 == 3 && status != 304 }

    /// Where a redirect leads, for a log line: without the query, which may hold what opens a door.
    public var locationText: String {
        HTTPErrorText.clean(Array(location.prefix { $0 != ASCII.question && $0 != ASCII.hash }))
    }

    /// Where a redirect leads, whole; nil for what is none, and for an address that is cut off or no text.
    public var redirect: String? {
        guard isRedirect, !location.isEmpty, location.count < Self.longestLocation,
            location.allSatisfy({ $0 > 0x20 && $0 < 0x7f })
        else { return nil }
        return String(decoding: location, as: UTF8.self)
    }

    /// The octets that are kept of where a redirect leads.
    static let longestLocation = 512

    /// Whether the connection outlives this exchange (RFC 9112, section 9.3).
    public var keepsAlive: Bool { !saysClose && (isVersion11 || saysKeepAlive) }

    /// How the body of this reply ends (RFC 9112, section 6.3); CONNECT aside.
    public func body(answeringHead isHead: Bool) -> HTTPBody {
        if isHead || status / 100 == 1 || status == 204 || status == 304 { return .none }
        if isChunked { return .chunked(.start) }
        guard let contentLength, !lengthIsBroken else { return .untilClose }
        return contentLength == 0 ? .none : .length(contentLength)
    }
}

/// Reads one head after the other from a stream of replies.
public struct HTTPReplyReader: Equatable, Sendable {
    /// The octets that a head may have, line ends included.
    public static let maximumHead = 65536

    /// The octets of a line that are kept when it comes in pieces; the rest of a longer one is skipped.
    private static let maximumLine = 4096

    public private(set) var head = HTTPReplyHead()
    private var field = Field.other
    private var sawStatus = false
    private var total = 0
    private var partial: [UInt8] = []

    private enum Field { case challenge, other }

    public init() {}

    /// Takes bytes and returns how many belong to the head once it is complete; nil when it needs more.
    ///
    /// What follows the head is the caller's. After a complete head `restart` makes ready for the next one.
    public mutating func read(_ input: Span<UInt8>) throws(HTTPError) -> Int? {
        var start = 0
        while let end = input.firstIndex(of: ASCII.lineFeed, from: start) {
            total += end + 1 - start
            guard total <= Self.maximumHead else { throw .headTooLong }
            let piece = input.extracting(start..<end)
            start = end + 1
            if try finishLine(piece) { return start }
        }
        total += input.count - start
        guard total <= Self.maximumHead else { throw .headTooLong }
        keep(input.extracting(start..<input.count))
        if !sawStatus { try checkBeginning(partial.span) }
        return nil
    }

    /// Makes ready for the next head of the same connection.
    public mutating func restart() { self = HTTPReplyReader() }

    private mutating func keep(_ piece: Span<UInt8>) {
        let room = Self.maximumLine - partial.count
        guard piece.count > 0, room > 0 else { return }
        partial.append(copying: piece.extracting(0..<min(room, piece.count)))
    }

    /// Takes the last piece of a line, without its line feed; true when the head ends with it.
    private mutating func finishLine(_ piece: Span<UInt8>) throws(HTTPError) -> Bool {
        guard !partial.isEmpty else { return try take(line: piece) }
        keep(piece)
        let whole = partial
        partial.removeAll()
        return try take(line: whole.span)
    }

    private mutating func take(line: Span<UInt8>) throws(HTTPError) -> Bool {
        let endsInReturn = line.count > 0 && line[line.count - 1] == ASCII.carriageReturn
        let content = line.extracting(0..<(endsInReturn ? line.count - 1 : line.count))
        if !sawStatus {
            // An empty line before the message is a left-over of the one before (RFC 9112, section 2.2).
            if content.count == 0 { return false }
            try checkBeginning(content)
            try readStatus(content)
            sawStatus = true
            return false
        }
        if content.count == 0 { return true }
        if ASCII.isBlank(content[0]) { continueField(content) } else { readField(content) }
        return false
    }

    /// Refuses what cannot become a status line, as early as it shows.
    private func checkBeginning(_ line: Span<UInt8>) throws(HTTPError) {
        guard line.count > 0, line[0] != ASCII.carriageReturn else { return }
        let expected: StaticString = "http/"
        var index = 0
        for octet in expected.description.utf8 where index < line.count {
            guard ASCII.lowercase(line[index]) == octet else {
                throw line[0] == 0x15 || line[0] == 0x16 ? .speaksTLS : .notHTTP
            }
            index += 1
        }
    }

    /// Reads `HTTP/1.1 200 Connection established` (RFC 9112, section 4), a reason or none.
    private mutating func readStatus(_ line: Span<UInt8>) throws(HTTPError) {
        guard let blank = line.firstIndex(of: ASCII.space, from: 0) else { throw .badStatusLine }
        head.isVersion11 = !line.extracting(0..<blank).matches("http/1.0")
        let rest = line.trimmed(blank..<line.count)
        let digits = rest.lowerBound..<min(rest.lowerBound + 3, rest.upperBound)
        guard digits.count == 3, let status = decimal(line.extracting(digits), limit: 999), status >= 100 else {
            throw .badStatusLine
        }
        guard digits.upperBound == rest.upperBound || ASCII.isBlank(line[digits.upperBound]) else {
            throw .badStatusLine
        }
        head.status = status
        if status >= 300 {
            head.reason = Array(copying: line.extracting(line.trimmed(digits.upperBound..<rest.upperBound)))
        }
    }

    private mutating func readField(_ line: Span<UInt8>) {
        field = .other
        guard let colon = line.firstIndex(of: ASCII.colon, from: 0) else { return }
        // A blank before the colon is tolerated in a reply (RFC 9112, section 5.1).
        let name = line.extracting(line.trimmed(0..<colon))
        let value = line.extracting(line.trimmed(colon + 1..<line.count))
        switch name.count {
        case 8 where name.matches("location"):
            head.location = Array(copying: value.extracting(0..<min(value.count, HTTPReplyHead.longestLocation)))
        case 10 where name.matches("connection"), 16 where name.matches("proxy-connection"):
            if listContains(value, "close") { head.saysClose = true }
            if listContains(value, "keep-alive") { head.saysKeepAlive = true }
        case 12 where name.matches("content-type"):
            head.isHTML = value.hasPrefix("text/html") || value.hasPrefix("application/xhtml")
        case 13 where name.matches("x-squid-error"):
            let end = value.firstIndex(of: ASCII.space, from: 0) ?? value.count
            head.squidError = Array(copying: value.extracting(0..<min(end, 64)))
        case 14 where name.matches("content-length"):
            let length = decimal(value, limit: .max)
            if length == nil || (head.contentLength ?? length) != length { head.lengthIsBroken = true }
            head.contentLength = length
        case 17 where name.matches("transfer-encoding"):
            head.isChunked = listContains(value, "chunked")
            if !head.isChunked { head.lengthIsBroken = true }
        case 18 where name.matches("starship-signature"):
            head.signature = Array(copying: value.extracting(0..<min(value.count, 64)))
        case 18 where name.matches("proxy-authenticate"):
            field = .challenge
            addChallenge(value, separator: ASCII.comma)
        default:
            break
        }
    }

    /// Takes a line that continues the one before (obs-fold, RFC 9112, section 5.2).
    private mutating func continueField(_ line: Span<UInt8>) {
        guard field == .challenge else { return }
        addChallenge(line.extracting(line.trimmed(0..<line.count)), separator: ASCII.space)
    }

    private mutating func addChallenge(_ value: Span<UInt8>, separator: UInt8) {
        guard head.challenges.count + value.count < Self.maximumLine else { return }
        if !head.challenges.isEmpty { head.challenges.append(separator) }
        head.challenges.append(copying: value)
    }
}

/// Whether a comma-separated list holds this member, in any case, parameters aside (RFC 9110, section 5.6.1).
func listContains(_ list: Span<UInt8>, _ member: StaticString) -> Bool {
    var start = 0
    while start <= list.count {
        let end = list.firstIndex(of: ASCII.comma, from: start) ?? list.count
        let name = list.firstIndex(of: ASCII.semicolon, from: start).map { min($0, end) } ?? end
        if list.extracting(list.trimmed(start..<name)).matches(member) { return true }
        start = end + 1
    }
    return false
}
