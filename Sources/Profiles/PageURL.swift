/// The URL of the page that probes ask for: `http://host`, `http://host:port/path?query`.
///
/// It is read strictly, because a probe that asks for something else than was meant gives every proxy the wrong colour.

internal import Addresses

/// Why a text names no page that can be asked for.
public struct PageURLError: Error, Equatable, Sendable, CustomStringConvertible {
    public var found: String
    public var hint: String?

    public init(found: String, hint: String? = nil) {
        self.found = found
        self.hint = hint
    }

    /// What would be right.
    public static let expected = "the URL of an http page, such as \"http://intranet.example/ok\""

    /// One line: found, expected, and advice where there is any.
    public var description: String {
        "found \(found); expected \(Self.expected)" + (hint.map { " (\($0))" } ?? "")
    }
}

/// A page of plain http.
public struct PageURL: Equatable, Sendable, CustomStringConvertible {
    public var host: Upstream.Host
    public var port: UInt16
    /// Path and query as the origin is asked for them, with a slash in front (RFC 9112, section 3.2.1).
    public var target: String

    /// Host and port as `Host` carries them: without the port of http (RFC 9110, section 7.2).
    public var authority: String {
        let place = Upstream.Server(host: host, port: port).description
        return port == 80 ? String(place.dropLast(3)) : place
    }

    /// The whole URL; reading it gives an equal one.
    public var description: String { "http://" + authority + target }

    /// Reads a URL of at most 1024 octets, also as it is written again.
    public static func parse(_ text: String) throws(PageURLError) -> PageURL {
        guard text.utf8.count <= sizeLimit else { throw PageURLError(found: "a text of \(text.utf8.count) octets") }
        let url: PageURL
        do throws(HostMistake) {
            url = try read(text)
        } catch {
            throw PageURLError(found: error.found, hint: error.hint)
        }
        // A slash may have come in front of the query.
        let size = url.description.utf8.count
        guard size <= sizeLimit else { throw PageURLError(found: "a URL of \(size) octets") }
        return url
    }

    /// The most octets of a URL.
    static let sizeLimit = 1024

    /// Reads a URL, or says what is wrong with it; nothing of a user part is repeated.
    private static func read(_ text: String) throws(HostMistake) -> PageURL {
        guard text.utf8.allSatisfy({ (0x21...0x7e).contains($0) }) else {
            throw HostMistake(
                found: "a URL with blanks, or outside ASCII", hint: "percent-encode the path; names have A-labels")
        }
        guard let (scheme, rest) = HostText.scheme(text) else {
            throw HostMistake(found: Shown.text(text), hint: "it begins with http://")
        }
        guard scheme != "https" else {
            throw HostMistake(
                found: "an https URL", hint: "there is no TLS in this program, so a probe can't read such a page")
        }
        guard scheme == "http" else { throw HostMistake(found: Shown.text(text), hint: "probes speak http") }
        guard !rest.contains("#") else {
            throw HostMistake(found: "a URL with a fragment", hint: "# and what follows is never sent")
        }
        let authority = rest.prefix { $0 != "/" && $0 != "?" }
        guard !authority.contains("@") else {
            throw HostMistake(found: "a URL with a user", hint: "a probe logs in at the proxy alone")
        }
        let (host, port) = try place(authority)
        return PageURL(host: host, port: port, target: try target(rest[authority.endIndex...]))
    }

    private static func place(_ authority: Substring) throws(HostMistake) -> (host: Upstream.Host, port: UInt16) {
        guard !authority.isEmpty else { throw HostMistake(found: "a URL without a host") }
        let isBracketed = authority.first == "["
        let end = isBracketed ? authority.lastIndex(of: "]") : nil
        guard let colon = authority[(end ?? authority.startIndex)...].lastIndex(of: ":") else {
            return (try host(authority, isBracketed: isBracketed), 80)
        }
        let digits = authority[authority.index(after: colon)...]
        guard (1...5).contains(digits.utf8.count), digits.unicodeScalars.allSatisfy(\.isDecimalDigit),
            let port = UInt16(digits), port > 0
        else { throw HostMistake(found: "a URL with a bad port", hint: "ports go from 1 to 65535") }
        return (try host(authority[..<colon], isBracketed: isBracketed), port)
    }

    private static func host(_ text: Substring, isBracketed: Bool) throws(HostMistake) -> Upstream.Host {
        guard isBracketed else {
            // Without brackets nobody can tell the last group of an address from a port (RFC 3986, section 3.2.2).
            guard !text.contains(":") else {
                throw HostMistake(
                    found: "a URL with a colon in its host", hint: "an IPv6 address stands in brackets")
            }
            return try HostText.host(String(text))
        }
        let inside = text.trimmed(of: "[", "]")
        guard inside.count == text.count - 2, let address = IPAddress(parsing: inside), !address.isIPv4 else {
            throw HostMistake(found: "a URL with brackets around no IPv6 address")
        }
        return try HostText.host(String(inside))
    }

    private static func target(_ text: Substring) throws(HostMistake) -> String {
        // RFC 3986, section 3.3 and 3.4: what else stands in a path or a query is percent-encoded.
        let plain = "-._~!$&'()*+,;=:@/?".unicodeScalars
        var rest = text.unicodeScalars
        while let scalar = rest.popFirst() {
            if scalar == "%" {
                guard rest.prefix(2).count == 2, rest.prefix(2).allSatisfy({ $0.hexDigit != nil }) else {
                    throw HostMistake(found: "a URL with a % that two hexadecimal digits do not follow")
                }
            } else if !scalar.isASCIILetterOrDigit, !plain.contains(scalar) {
                throw HostMistake(
                    found: "a URL with \(Shown.text(String(scalar))) in its path", hint: "percent-encode it")
            }
        }
        return text.first == "/" ? String(text) : "/" + text
    }
}
