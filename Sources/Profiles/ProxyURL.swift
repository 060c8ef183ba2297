/// Proxies written as URLs: `http://user:password@host:port` and `socks5://…`.
///
/// User and password are cut at the first colon and percent-decoded once, after that (RFC 3986, sections 2.4
/// and 3.2.1). No error repeats anything of the text, because most texts of this kind hold a password.

internal import Addresses

/// Why a text is no proxy URL.
public enum ProxyURLError: Error, Equatable, Sendable, CustomStringConvertible {
    case scheme
    case encryptedProxy
    case host(hint: String?)
    case port
    case path
    case userInfo
    case percentEncoding
    case controlCharacter
    case userName
    case colonInUser
    case length

    public var description: String {
        "the proxy URL " + reason
            + "; expected http://host:port or socks5://host:port, with user:password@ where needed"
    }

    private var reason: String {
        switch self {
        case .scheme: "begins with neither http:// nor socks5://"
        case .encryptedProxy: "begins with https://, but TLS to the proxy itself is not supported"
        case .host(let hint): "has no usable host" + (hint.map { " (\($0))" } ?? "")
        case .port: "has no port from 1 to 65535"
        case .path: "has a path or a query"
        case .userInfo: "has a user or password with a character that must be percent-encoded (@ is %40, / is %2F)"
        case .percentEncoding: "has a % that two hexadecimal digits of UTF-8 text do not follow"
        case .controlCharacter: "has blanks or control characters in it"
        case .userName: "has an @ and no user before it"
        case .colonInUser: "has a user name with a colon, which Basic authentication cannot carry (RFC 7617)"
        case .length: "is too long, or has a SOCKS5 user or password that is not 1 to 255 octets long (RFC 1929)"
        }
    }
}

/// What a proxy URL says.
public struct ProxyURL: Equatable, Sendable {
    public let upstream: Upstream
    /// The fragment: a name to show.
    public let name: String?

    /// The most octets of a URL.
    public static let sizeLimit = 4096

    /// Reads a proxy URL; blanks around it do not count.
    public static func parse(_ text: String) throws(ProxyURLError) -> ProxyURL {
        guard text.utf8.count <= sizeLimit else { throw .length }
        let trimmed = text.trimmingBlanks
        let hasGaps = trimmed.unicodeScalars.contains { $0 == " " || $0.properties.generalCategory == .control }
        guard !hasGaps else { throw .controlCharacter }
        guard let (scheme, rest) = HostText.scheme(String(trimmed)) else { throw .scheme }
        let type = try type(scheme)

        let authority = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        let tail = rest[authority.endIndex...]
        // An @ that comes after a slash or the like ended the authority too early.
        guard !tail.utf8.contains(UInt8(ascii: "@")) else { throw .userInfo }
        let place = authority.split(separator: "@", omittingEmptySubsequences: false)
        guard place.count <= 2, let last = place.last else { throw .userInfo }

        var upstream = Upstream(type: type, server: try server(last))
        if place.count == 2 { upstream.credentials = try credentials(place[0], type: type) }
        return ProxyURL(upstream: upstream, name: try name(tail))
    }

    /// Reads the contents of a file that holds one proxy URL.
    public static func parse(file: Span<UInt8>) throws(ProxyURLError) -> ProxyURL {
        guard file.count <= sizeLimit else { throw .length }
        let bytes = (0..<file.count).map { file[$0] }
        guard let text = String(validating: bytes, as: UTF8.self) else { throw .percentEncoding }
        return try parse(text)
    }

    private static func type(_ scheme: String) throws(ProxyURLError) -> Upstream.UpstreamType {
        switch scheme {
        case "http": return .http
        // With the letter, curl resolves names at the proxy; the gateway does so in any case.
        case "socks5", "socks5h": return .socks5
        case "https": throw .encryptedProxy
        default: throw .scheme
        }
    }

    private static func server(_ text: Substring) throws(ProxyURLError) -> Upstream.Server {
        guard let colon = text.lastIndex(of: ":") else { throw .port }
        let digits = text[text.index(after: colon)...]
        guard digits.utf8.count <= 5, digits.unicodeScalars.allSatisfy(\.isDecimalDigit), let port = UInt16(digits),
            port > 0
        else { throw .port }
        let host = text[..<colon]
        if host.first == "[" {
            guard host.last == "]", let address = IPAddress(parsing: host.dropFirst().dropLast()), !address.isIPv4
            else {
                throw .host(hint: "brackets are for IPv6 addresses")
            }
            return Upstream.Server(host: .address(address), port: port)
        }
        do throws(HostMistake) {
            let parsed = try HostText.host(String(host))
            if case .address(let address) = parsed, !address.isIPv4 {
                throw HostMistake(found: "", hint: "an IPv6 address stands in brackets")
            }
            return Upstream.Server(host: parsed, port: port)
        } catch {
            throw .host(hint: error.hint)
        }
    }

    private static func credentials(
        _ text: Substring, type: Upstream.UpstreamType
    ) throws(ProxyURLError) -> CredentialSource {
        let colon = text.firstIndex(of: ":") ?? text.endIndex
        let user = try decode(text[..<colon])
        let password = colon < text.endIndex ? try decode(text[text.index(after: colon)...]) : ""
        guard !user.isEmpty else { throw .userName }
        switch type {
        case .socks5:
            guard user.utf8.count <= 255, (1...255).contains(password.utf8.count) else { throw .length }
        case .http, .direct, .group:
            guard !user.utf8.contains(UInt8(ascii: ":")) else { throw .colonInUser }
            guard password.utf8.count <= Secret.sizeLimit, user.utf8.count <= 255 else { throw .length }
        }
        return CredentialSource(user: user, password: .given(Secret(password)))
    }

    /// Reads what follows the authority: at most a slash and a name.
    private static func name(_ tail: Substring) throws(ProxyURLError) -> String? {
        let rest = tail.first == "/" ? tail.dropFirst() : tail
        guard let first = rest.first else { return nil }
        guard first == "#" else { throw .path }
        let name = try decode(rest.dropFirst())
        return name.isEmpty ? nil : name
    }

    private static func decode(_ text: Substring) throws(ProxyURLError) -> String {
        do throws(PercentCodingError) {
            return try PercentCoding.decode(text)
        } catch {
            throw error == .malformed ? .percentEncoding : .controlCharacter
        }
    }
}
