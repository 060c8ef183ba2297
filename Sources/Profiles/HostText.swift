/// Hosts and endpoints as people write them, and what they meant when they wrote something else.

internal import Addresses

/// What was found instead of a host or an endpoint, and how to write it.
struct HostMistake: Error, Equatable {
    var found: String
    var hint: String?
}

enum HostText {
    /// Reads a name or an address without port, brackets or scheme.
    static func host(_ text: String) throws(HostMistake) -> Upstream.Host {
        if let address = IPAddress(parsing: text) {
            guard !address.isUnspecified else { throw HostMistake(found: "\(address), which is every address") }
            try checkReach(of: address)
            return .address(address)
        }
        if let mistake = mistake(in: text) { throw mistake }
        if let port = trailingPort(text) {
            throw HostMistake(found: "a host with a port", hint: "the port stands apart: port: \(port)")
        }
        let name = text.hasSuffix(".") ? String(text.dropLast()) : text
        guard isName(name) else { throw HostMistake(found: "\(Shown.text(text)), which is neither", hint: nil) }
        return .name(name.lowercased())
    }

    /// Reads an address and a port to listen on; an address alone has the default port.
    static func endpoint(_ text: String, defaultPort: UInt16) throws(HostMistake) -> SocketAddress {
        let alone = IPAddress(parsing: text[...].trimmed(of: "[", "]")).map { SocketAddress($0, defaultPort) }
        if let endpoint = SocketAddress(parsing: text) ?? alone, endpoint.port != 0 {
            try checkReach(of: endpoint.address)
            return endpoint
        }
        if let mistake = mistake(in: text, brackets: true) { throw mistake }
        if text.first == ":" || text.first == "*" {
            throw HostMistake(found: "a port without an address", hint: "0.0.0.0 and [::] mean every address")
        }
        if let colon = text.lastIndex(of: ":") {
            let host = text[..<colon].trimmed(of: "[", "]")
            if IPAddress(parsing: host) != nil {
                throw HostMistake(found: "an address with a bad port", hint: "ports go from 1 to 65535")
            }
            if isName(String(host)) { throw HostMistake(found: "a name", hint: "listeners have addresses") }
        }
        throw HostMistake(found: Shown.text(text), hint: nil)
    }

    /// Reads a resolver: an address, with a port or on port 53.
    static func resolver(_ text: String) throws(HostMistake) -> SocketAddress {
        if let (scheme, rest) = scheme(text) {
            let place = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
            let address = (try? endpoint(String(place), defaultPort: 53)).map { endpoint in
                endpoint.port == 53 ? endpoint.address.description : endpoint.description
            }
            let isKnown = ["tcp", "udp", "dns"].contains(scheme)
            throw HostMistake(
                found: "a URL",
                hint: address.map { "write \"\($0)\"" + (isKnown ? "" : "; resolvers are asked by plain DNS") }
                    ?? "resolvers are asked by plain DNS, at an address")
        }
        // An IPv6 address has two colons, and a name with a port one.
        let hasPort = text.utf8.count { $0 == UInt8(ascii: ":") } == 1
        if isName(hasPort ? String(text.prefix { $0 != ":" }) : text) {
            throw HostMistake(found: "\(Shown.text(text)), a name", hint: "a resolver has an address")
        }
        let endpoint = try endpoint(text, defaultPort: 53)
        guard !endpoint.address.isUnspecified else {
            throw HostMistake(found: "\(endpoint.address), which is every address")
        }
        return endpoint
    }

    /// Whether the text is a DNS name: labels of letters, digits, hyphens and underscores (RFC 1035, 2181), and
    /// not one that could be taken for an address.
    static func isName(_ text: String) -> Bool {
        guard (1...253).contains(text.utf8.count) else { return false }
        let labels = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        for label in labels {
            guard (1...63).contains(label.count), label.first != 0x2d, label.last != 0x2d else { return false }
            guard label.allSatisfy({ $0 == 0x2d || $0 == 0x5f || Unicode.Scalar($0).isASCIILetterOrDigit }) else {
                return false
            }
        }
        // A last label of digits makes it an address, and then a wrong one (WHATWG URL, section 3.5).
        guard let last = labels.last else { return false }
        let isHexadecimal = last.starts(with: "0x".utf8) || last.starts(with: "0X".utf8)
        return !last.allSatisfy { Unicode.Scalar($0).isDecimalDigit } && !isHexadecimal
    }

    /// One machine has the address, and the address alone says on which link it is.
    private static func checkReach(of address: IPAddress) throws(HostMistake) {
        guard !address.isMulticast, !address.isLimitedBroadcast else {
            throw HostMistake(found: "\(address), a group address")
        }
        guard address.isIPv4 || !address.isLinkLocal else {
            throw HostMistake(
                found: "\(address), a link-local address", hint: "it wants a zone, which is not supported")
        }
    }

    /// Mistakes that hosts and endpoints share.
    private static func mistake(in text: String, brackets: Bool = false) -> HostMistake? {
        guard let first = text.first, let last = text.last else { return HostMistake(found: "an empty text") }
        if first.isWhitespace || last.isWhitespace {
            return HostMistake(found: "a text with blanks around it", hint: "leave them out")
        }
        if let (scheme, rest) = scheme(text) { return url(scheme, rest) }
        if text.utf8.contains(UInt8(ascii: "@")) {
            return HostMistake(found: "a host with a user", hint: "use `user` and `passwordFile`")
        }
        if text.utf8.contains(UInt8(ascii: "/")) { return HostMistake(found: "a host with a path or a prefix length") }
        if text.utf8.contains(UInt8(ascii: "%")) {
            return HostMistake(found: "an address with a zone", hint: "zones are not supported")
        }
        if !brackets, first == "[" {
            let inside = text.dropFirst().prefix { $0 != "]" }
            let isAddress = IPAddress(parsing: inside) != nil
            return HostMistake(found: "brackets", hint: isAddress ? "write host: \"\(inside)\"" : nil)
        }
        if text.utf8.contains(where: { $0 >= 0x80 }) {
            return HostMistake(found: "a name outside ASCII", hint: "write its A-labels, which begin with xn--")
        }
        let looksLikeIPv4 = text.utf8.allSatisfy { $0 == 0x2e || Unicode.Scalar($0).isDecimalDigit }
        guard looksLikeIPv4 else { return nil }
        return HostMistake(found: "\"\(text.prefix(60))\", which is no IPv4 address", hint: "four numbers up to 255")
    }

    /// What a URL says, in the keys that it should be written in; the user part is never repeated.
    private static func url(_ scheme: String, _ rest: Substring) -> HostMistake {
        let authority = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        let place = authority[(authority.lastIndex(of: "@").map(authority.index(after:)) ?? authority.startIndex)...]
        guard let colon = place.lastIndex(of: ":"), let port = UInt16(place[place.index(after: colon)...]) else {
            return HostMistake(found: "a URL", hint: "write the host alone, without a scheme")
        }
        let host = String(place[..<colon].trimmed(of: "[", "]"))
        guard IPAddress(parsing: host) != nil || isName(host) else {
            return HostMistake(found: "a URL", hint: "write the host alone, without a scheme")
        }
        let type = ["http", "socks5"].contains(scheme) ? "type: \"\(scheme)\", " : ""
        return HostMistake(found: "a URL", hint: "write \(type)host: \"\(host)\", port: \(port)")
    }

    /// Cuts `http://host` into the scheme, in small letters, and what follows the slashes.
    static func scheme(_ text: String) -> (scheme: String, rest: Substring)? {
        guard let colon = text.firstIndex(of: ":"), text[colon...].hasPrefix("://") else { return nil }
        return (text[..<colon].lowercased(), text[colon...].dropFirst(3))
    }

    private static func trailingPort(_ text: String) -> UInt16? {
        guard let colon = text.lastIndex(of: ":"), text[..<colon].allSatisfy({ $0 != ":" }) else { return nil }
        return UInt16(text[text.index(after: colon)...])
    }
}

extension Unicode.Scalar {
    /// A letter or a digit of ASCII.
    var isASCIILetterOrDigit: Bool {
        isDecimalDigit || "a"..."z" ~= self || "A"..."Z" ~= self
    }
}

extension Substring {
    /// The text without one opening and one closing character around it.
    func trimmed(of open: Character, _ close: Character) -> Substring {
        first == open && last == close && count > 1 ? dropFirst().dropLast() : self
    }
}
