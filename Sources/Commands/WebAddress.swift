/// Where a document is fetched from: plain http alone.

public import Addresses
internal import Profiles

/// `http://host[:port]/path?query`.
public struct WebAddress: Equatable, Sendable {
    /// Whose address it is.
    public enum Host: Equatable, Sendable {
        case address(IPAddress)
        case name(String)
    }

    public let host: Host
    public let port: UInt16
    /// Path and query, as they are sent.
    public let target: String
    /// Host and port, as they are sent and shown.
    public let authority: String

    /// The most octets of an address.
    public static let sizeLimit = 4096

    /// Reads an address; nil for a text that is none at all, so perhaps a file's name.
    public static func parse(_ text: String) throws(WebAddressError) -> WebAddress? {
        guard let border = text.range(ofFirst: "://") else { return nil }
        switch text[..<border.lowerBound].lowercased() {
        case "http": break
        case "https": throw .encrypted
        default: throw .scheme
        }
        let isPlain = text.utf8.allSatisfy { 0x21...0x7e ~= $0 }
        guard isPlain, text.utf8.count <= sizeLimit else { throw .characters }
        let rest = text[border.upperBound...].prefix { $0 != "#" }
        let authority = rest.prefix { $0 != "/" && $0 != "?" }
        guard !authority.contains("@") else { throw .userInfo }
        let tail = rest[authority.endIndex...]
        return try WebAddress(authority: authority.lowercased(), tail: String(tail))
    }

    private init(authority: String, tail: String) throws(WebAddressError) {
        self.authority = authority
        target = tail.hasPrefix("/") ? tail : "/" + tail
        // What stands in brackets has colons of its own.
        let behind = authority.lastIndex(of: "]").map { authority.index(after: $0) } ?? authority.startIndex
        let colon = authority[behind...].firstIndex(of: ":")
        if let colon {
            let digits = authority[authority.index(after: colon)...]
            guard digits.utf8.count <= 5, digits.utf8.allSatisfy({ 0x30...0x39 ~= $0 }), let port = UInt16(digits),
                port > 0
            else { throw .port }
            self.port = port
        } else {
            port = 80
        }
        host = try Self.host(authority[..<(colon ?? authority.endIndex)])
    }

    private static func host(_ text: Substring) throws(WebAddressError) -> Host {
        if text.first == "[" {
            guard text.last == "]", let address = IPAddress(parsing: text.dropFirst().dropLast()), !address.isIPv4
            else { throw .host }
            return .address(address)
        }
        if let address = IPAddress(parsing: text), address.isIPv4 { return .address(address) }
        let labels = text.split(separator: ".", omittingEmptySubsequences: false)
        let isName = labels.allSatisfy { label in
            (1...63).contains(label.utf8.count)
                && label.utf8.allSatisfy { octet in
                    0x61...0x7a ~= octet || 0x30...0x39 ~= octet || octet == 0x2d || octet == 0x5f
                }
        }
        // A last label of digits makes it an address, and then a wrong one (WHATWG URL, section 3.5).
        guard isName, text.utf8.count <= 253, labels.last?.utf8.allSatisfy({ 0x30...0x39 ~= $0 }) == false else {
            throw .host
        }
        return .name(String(text))
    }

    /// The request, in octets.
    public var request: [UInt8] {
        Array(
            """
            GET \(target) HTTP/1.1\r
            Host: \(authority)\r
            User-Agent: starshipctl/\(ProgramVersion.text)\r
            Accept: application/json, text/plain, */*;q=0.1\r
            Connection: close\r
            \r\n
            """.utf8)
    }

    /// Without the query, which may hold what opens a door.
    public var shown: String { "http://\(authority)\(target.prefix { $0 != "?" })" }
}

/// Why nothing can be fetched from an address; nothing of its text is repeated.
public enum WebAddressError: Error, Equatable, Sendable, CustomStringConvertible {
    case encrypted
    case scheme
    case characters
    case userInfo
    case host
    case port

    public var description: String {
        switch self {
        case .encrypted:
            "found an https address; expected http (fetch it yourself: curl -fsS URL | starshipctl push -)"
        case .scheme: "found an address of another scheme; expected http://HOST/PATH, a file, or - for standard input"
        case .characters: "found an address with blanks or other characters that none has; expected http://HOST/PATH"
        case .userInfo:
            "found a user in the address; expected none (arguments can be read by everybody on this machine: "
                + "curl -fsS -n URL | starshipctl push -)"
        case .host: "found no usable host in the address; expected http://HOST/PATH"
        case .port: "found no port from 1 to 65535 behind the host's colon; expected http://HOST:PORT/PATH"
        }
    }
}

extension String {
    /// Where a text stands for the first time.
    func range(ofFirst text: String) -> Range<String.Index>? {
        var start = startIndex
        while start < endIndex {
            if self[start...].hasPrefix(text) { return start..<index(start, offsetBy: text.count) }
            start = index(after: start)
        }
        return nil
    }
}
