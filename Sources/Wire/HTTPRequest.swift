/// The head of a request, read strictly: what is unclear is refused, never guessed (RFC 9112, section 11.2).

import Bytes

/// A request's head as ranges of the bytes that it was parsed from.
public struct HTTPRequestHead: Equatable, Sendable {
    public enum Method: Sendable { case connect, head, options, trace, other }

    public internal(set) var method = Method.other
    public internal(set) var methodRange = 0..<0
    public internal(set) var targetRange = 0..<0
    public internal(set) var isVersion11 = true
    /// Where the field lines begin.
    public internal(set) var fieldsStart = 0
    /// The value of the one Host field.
    public internal(set) var hostRange: Range<Int>?
    /// The value of Proxy-Authorization.
    public internal(set) var proxyAuthorization: Range<Int>?
    public internal(set) var body = HTTPBody.none
    /// Upgrade is asked for (RFC 9110, section 7.8).
    public internal(set) var wantsUpgrade = false
    public internal(set) var saysClose = false

    /// Reads a whole head, which ends with its empty line.
    public static func parse(_ head: Span<UInt8>) throws(HTTPError) -> HTTPRequestHead {
        var request = HTTPRequestHead()
        try request.readRequestLine(head)
        var collected = Collected()
        var cursor = HTTPFieldCursor(at: request.fieldsStart)
        while let field = try cursor.next(in: head) {
            try request.read(field, of: head, &collected)
        }
        try request.conclude(collected)
        return request
    }

    /// What several fields say together.
    private struct Collected {
        var length: Int?
        var hasEncoding = false
        var isChunked = false
        var saysUpgrade = false
        var hasUpgrade = false
    }

    /// How many octets of empty lines stand before a request (RFC 9112, section 2.2).
    private static func leadingBlanks(_ head: Span<UInt8>) -> Int {
        var count = 0
        while count < head.count, head[count] == ASCII.carriageReturn || head[count] == ASCII.lineFeed { count += 1 }
        return count
    }

    private mutating func readRequestLine(_ head: Span<UInt8>) throws(HTTPError) {
        let start = Self.leadingBlanks(head)
        guard let lineFeed = head.firstIndex(of: ASCII.lineFeed, from: start) else { throw .badRequestLine }
        let end = head[lineFeed - 1] == ASCII.carriageReturn ? lineFeed - 1 : lineFeed
        let line = head.extracting(0..<end)
        guard let first = line.firstIndex(of: ASCII.space, from: start),
            let second = line.firstIndex(of: ASCII.space, from: first + 1), second > first + 1, first > start
        else { throw .badRequestLine }
        guard line.extracting(start..<first).allSatisfy(ASCII.isToken) else { throw .badRequestLine }
        guard line.extracting(first..<second).allSatisfy({ $0 >= 0x20 && $0 < 0x7f }) else { throw .badTarget }
        let version = line.extracting(second + 1..<end)
        if version.matches("http/1.1") {
            isVersion11 = true
        } else if version.matches("http/1.0") {
            isVersion11 = false
        } else {
            throw version.hasPrefix("http/") ? .badVersion : .badRequestLine
        }
        methodRange = start..<first
        targetRange = first + 1..<second
        fieldsStart = lineFeed + 1
        // Methods are case-sensitive (RFC 9110, section 9.1).
        switch String(validating: line.extracting(methodRange)) {
        case "CONNECT": method = .connect
        case "HEAD": method = .head
        case "OPTIONS": method = .options
        case "TRACE": method = .trace
        default: method = .other
        }
    }

    private mutating func read(
        _ field: HTTPField, of head: Span<UInt8>, _ collected: inout Collected
    ) throws(HTTPError) {
        let name = head.extracting(field.name)
        let value = head.extracting(field.value)
        switch name.count {
        case 4 where name.matches("host"):
            guard hostRange == nil else { throw .badHost }
            hostRange = field.value
        case 7 where name.matches("upgrade"):
            collected.hasUpgrade = true
        case 10 where name.matches("connection"):
            if listContains(value, "close") { saysClose = true }
            if listContains(value, "upgrade") { collected.saysUpgrade = true }
        case 14 where name.matches("content-length"):
            guard let length = decimal(value, limit: .max), collected.length == nil else { throw .ambiguousLength }
            collected.length = length
        case 17 where name.matches("transfer-encoding"):
            // One field, one coding: everything else is read differently by somebody.
            guard !collected.hasEncoding, value.matches("chunked") else { throw .ambiguousLength }
            collected.hasEncoding = true
        case 19 where name.matches("proxy-authorization"):
            proxyAuthorization = field.value
        default:
            break
        }
    }

    private mutating func conclude(_ collected: Collected) throws(HTTPError) {
        if isVersion11, hostRange == nil { throw .badHost }
        wantsUpgrade = isVersion11 && collected.hasUpgrade && collected.saysUpgrade
        if collected.hasEncoding {
            guard collected.length == nil, isVersion11 else { throw .ambiguousLength }
            body = .chunked(.start)
        } else if let length = collected.length, length > 0 {
            body = .length(length)
        }
    }
}

/// One field line as ranges of the head.
public struct HTTPField: Equatable, Sendable {
    public var name: Range<Int>
    public var value: Range<Int>
}

/// Walks over the field lines of a request's head.
public struct HTTPFieldCursor: Sendable {
    private var position: Int

    public init(at start: Int) { position = start }

    /// The next field, or nil at the empty line.
    ///
    /// Folded lines, blanks before the colon, bare carriage returns and NUL are refused (RFC 9112, sections 2.2,
    /// 5.1 and 5.2).
    public mutating func next(in head: Span<UInt8>) throws(HTTPError) -> HTTPField? {
        guard let lineFeed = head.firstIndex(of: ASCII.lineFeed, from: position) else { throw .badField }
        let start = position
        let hasReturn = lineFeed > start && head[lineFeed - 1] == ASCII.carriageReturn
        let end = hasReturn ? lineFeed - 1 : lineFeed
        position = lineFeed + 1
        if start == end { return nil }
        guard let colon = head.firstIndex(of: ASCII.colon, from: start), colon < end, colon > start else {
            throw .badField
        }
        let name = start..<colon
        guard head.extracting(name).allSatisfy(ASCII.isToken) else { throw .badField }
        let value = head.trimmed(colon + 1..<end)
        guard head.extracting(value).allSatisfy({ $0 >= 0x20 && $0 != 0x7f || $0 == ASCII.tab }) else {
            throw .badField
        }
        return HTTPField(name: name, value: value)
    }
}
