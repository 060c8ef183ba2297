/// Which name the first octets of a client's stream ask for: the server_name of a TLS ClientHello (RFC 6066,
/// section 3) or the host of an HTTP/1 request (RFC 9112, section 3.2).
///
/// The octets come in whatever pieces the network made of them. As soon as they can be judged they are, so a
/// protocol that is neither costs no wait beyond its first line:
///
///     0x16 …           TLS: records are joined until the ClientHello is whole; with ECH its outer name counts
///     GET / HTTP/1.1   HTTP: the target if it has a host, else the first Host field
///     PRI * HTTP/2.0   HTTP/2 without TLS: its names come later, and compressed
///     anything else    nothing
///
/// A name is what its client claims, no more: what may follow from it is decided elsewhere.

import Bytes

/// Looks for a name in the beginning of a stream.
public struct Sniffer: Equatable, Sendable {
    /// Where a name was found.
    public enum Source: String, Sendable {
        /// A TLS ClientHello.
        case sni
        /// An HTTP request.
        case host
    }

    /// What is known so far; all but `needsMore` are final.
    public enum Outcome: Equatable, Sendable {
        case needsMore
        /// A host name in lower case without a trailing dot; never an address.
        case name(String, Source)
        /// Neither TLS nor HTTP/1, or no name in it.
        case none
        /// The bound is reached, and nothing was found.
        case tooLong
    }

    /// The most octets that are looked at unless told otherwise.
    public static let defaultLimit = 8 << 10

    private let limit: Int
    /// What may still become a name.
    private var kept: [UInt8] = []

    public private(set) var outcome = Outcome.needsMore

    /// How many octets were given so far.
    public private(set) var count = 0

    public init(limit: Int = Sniffer.defaultLimit) {
        precondition(limit > 0, "a look at nothing")
        self.limit = limit
    }

    /// Takes the octets that follow those it was given before; once the outcome is known they are only counted.
    @discardableResult public mutating func take(_ piece: Span<UInt8>) -> Outcome {
        count += piece.count
        guard outcome == .needsMore, piece.count > 0 else { return outcome }
        kept.append(copying: piece.extracting(0..<min(piece.count, limit - kept.count)))
        outcome = Self.look(at: kept.span)
        if outcome == .needsMore, kept.count == limit { outcome = .tooLong }
        if outcome != .needsMore { kept = [] }
        return outcome
    }

    private static func look(at stream: Span<UInt8>) -> Outcome {
        guard stream[0] == TLSRecordHeader.Content.handshake.rawValue else { return HTTPHostSearch.look(at: stream) }
        switch TLSClientHello.serverName(in: stream) {
        case .needsMore: return .needsMore
        case .name(let name): return .name(name.lowercased(), .sni)
        case .none, .notTLS: return .none
        }
    }
}

/// Finds the host that an HTTP/1 request is for, before its head is complete.
///
/// The first Host field decides: a request with two is refused by every server (RFC 9112, section 3.2), and a head
/// with many cookies may have more octets than are looked at.
private enum HTTPHostSearch {
    /// Longer methods than this are nobody's (the longest registered one has 17 letters).
    private static let longestMethod = 24

    static func look(at stream: Span<UInt8>) -> Sniffer.Outcome {
        var start = 0
        // RFC 9112, section 2.2: empty lines before the request.
        while start < stream.count, isLineEnd(stream[start]) { start += 1 }
        guard let lineFeed = stream.firstIndex(of: ASCII.lineFeed, from: start) else {
            return mayBeRequest(stream.extracting(start..<stream.count)) ? .needsMore : .none
        }
        let line = stream.extracting(start..<lineFeed)
        guard mayBeRequest(line), let range = targetRange(in: line) else { return .none }
        let target = line.extracting(range)
        if let authority = authorityRange(in: target) { return name(in: target.extracting(authority)) }
        return searchFields(stream, from: lineFeed + 1)
    }

    /// Whether a request may begin like this: a method, a blank, and no control characters behind it.
    private static func mayBeRequest(_ line: Span<UInt8>) -> Bool {
        let blank = line.firstIndex(of: ASCII.space, from: 0)
        let method = line.extracting(0..<(blank ?? line.count))
        guard method.count <= longestMethod, method.allSatisfy(ASCII.isToken) else { return false }
        guard let blank else { return true }
        return blank > 0
            && line.extracting(blank..<line.count).allSatisfy { $0 >= 0x20 && $0 != 0x7f || isLineEnd($0) }
    }

    /// The request target of a whole request line; nil unless it is HTTP/1, and for CONNECT.
    ///
    /// What a CONNECT names is where a proxy is to go; the name of the proxy, to which this stream goes, it does not
    /// say.
    private static func targetRange(in line: Span<UInt8>) -> Range<Int>? {
        let end = line.count > 0 && line[line.count - 1] == ASCII.carriageReturn ? line.count - 1 : line.count
        guard let first = line.firstIndex(of: ASCII.space, from: 0),
            let second = line.firstIndex(of: ASCII.space, from: first + 1), second > first + 1, second < end
        else { return nil }
        let version = line.extracting(second + 1..<end)
        guard version.count == 8, version.hasPrefix("http/1."), ASCII.isDigit(version[7]) else { return nil }
        return line.extracting(0..<first).matches("connect") ? nil : first + 1..<second
    }

    /// The host and port of a target in absolute form, which counts before any Host (RFC 9112, section 3.2.2).
    private static func authorityRange(in target: Span<UInt8>) -> Range<Int>? {
        var start = 0
        if target.hasPrefix("http://") { start = 7 } else if target.hasPrefix("https://") { start = 8 }
        guard start > 0 else { return nil }
        var end = start
        while end < target.count, !endsAuthority(target[end]) {
            // A user's name and password are no part of the host (RFC 3986, section 3.2).
            if target[end] == ASCII.at { start = end + 1 }
            end += 1
        }
        return start..<end
    }

    private static func endsAuthority(_ octet: UInt8) -> Bool {
        octet == ASCII.slash || octet == ASCII.question || octet == ASCII.hash
    }

    private static func searchFields(_ stream: Span<UInt8>, from first: Int) -> Sniffer.Outcome {
        var start = first
        while let lineFeed = stream.firstIndex(of: ASCII.lineFeed, from: start) {
            let end = lineFeed > start && stream[lineFeed - 1] == ASCII.carriageReturn ? lineFeed - 1 : lineFeed
            // The head is over, or this is none.
            guard let colon = stream.firstIndex(of: ASCII.colon, from: start), colon > start, colon < end,
                stream.extracting(start..<colon).allSatisfy(ASCII.isToken)
            else { return .none }
            if stream.extracting(start..<colon).matches("host") {
                return name(in: stream.extracting(stream.trimmed(colon + 1..<end)))
            }
            start = lineFeed + 1
        }
        return .needsMore
    }

    /// The name of a host and perhaps a port; an address is none.
    private static func name(in authority: Span<UInt8>) -> Sniffer.Outcome {
        guard case .name(let name)? = Target.parse(authority, defaultPort: 80)?.host else { return .none }
        return .name(name.lowercased(), .host)
    }

    private static func isLineEnd(_ octet: UInt8) -> Bool {
        octet == ASCII.carriageReturn || octet == ASCII.lineFeed
    }
}
