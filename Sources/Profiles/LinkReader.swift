/// What the values of a link mean: the profile or the proxy, and that nothing is missing and nothing too much.

internal import Addresses
internal import Digest
internal import Routing

struct LinkReader {
    private let values: LinkValues

    init(_ values: LinkValues) { self.values = values }

    func request() throws(LinkError) -> Link.Request {
        let version = try required(.version, "v=1")
        guard version == "1" else {
            throw LinkError(
                .version, .version, found: Shown.text(version), expected: "1",
                hint: "this link is for another version of the gateway")
        }
        guard let profile = values[.profile] else { return .proxy(try proxy(), try grant()) }
        for parameter in LinkParameter.ofProxies where values[parameter] != nil {
            throw LinkError(
                .conflict, parameter, found: "it beside `profile`",
                expected: "v and profile alone, or a host without profile",
                hint: "a profile's link follows the profile: it has no address, no expiry and no signature")
        }
        return .profile(try identifier(profile, .profile, .badProfile))
    }

    /// The signature's octets.
    static func signature(_ text: String) throws(LinkError) -> [UInt8] {
        let expected = "43 characters of URL-safe Base64 without padding"
        let problem: String
        do throws(Base64Error) {
            let octets = try Base64.url.decode(text)
            guard octets.count != SHA256.digestSize else { return octets }
            problem = "one of \(octets.count) octets"
        } catch {
            problem =
                switch error {
                case .character(let offset): "one with a wrong character at place \(offset + 1)"
                case .length: "one that was cut"
                case .slack: "one with bits behind its end"
                }
        }
        throw LinkError(.malformedSignature, .signature, found: problem, expected: expected)
    }

    // MARK: Proxy

    private func proxy() throws(LinkError) -> LinkedProxy {
        let server = Upstream.Server(host: try host(), port: try port())
        if let name = values[.name], name.utf8.count > 255 {
            throw LinkError(.badName, .name, found: "\(name.utf8.count) octets", expected: "at most 255")
        }
        return LinkedProxy(name: values[.name], type: try type(), server: server, domains: try domains())
    }

    private func type() throws(LinkError) -> Upstream.UpstreamType {
        guard let text = values[.type] else { return .http }
        guard let type = Upstream.UpstreamType(rawValue: text), [.http, .socks5].contains(type) else {
            throw LinkError(.badType, .type, found: Shown.text(text), expected: "http or socks5")
        }
        return type
    }

    private func host() throws(LinkError) -> Upstream.Host {
        let text = try required(.host, "the proxy's name or address, or else a profile")
        do throws(HostMistake) {
            return try HostText.host(text)
        } catch {
            throw LinkError(
                .badHost, .host, found: error.found, expected: "the name or the address of the proxy, alone",
                hint: error.hint)
        }
    }

    private func port() throws(LinkError) -> UInt16 {
        let expected = "a whole number from 1 to 65535"
        let text = try required(.port, expected)
        guard let port = Self.number(text, upTo: 65535) else {
            throw LinkError(.badPort, .port, found: Shown.text(text), expected: expected)
        }
        return UInt16(port)
    }

    private func domains() throws(LinkError) -> [String] {
        guard let text = values[.domains] else { return [] }
        let entries = text.unicodeScalars.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        for (index, entry) in entries.enumerated() {
            do throws(RoutingError) {
                _ = try RuleSet(domains: [SourceText(text: entry)], bypass: [], rules: [])
            } catch {
                throw LinkError(
                    .badDomains, .domains, found: "\(error.found) as entry \(index + 1)", expected: error.expected,
                    hint: error.hint ?? "entries are cut at commas")
            }
        }
        return entries
    }

    // MARK: Grant

    private func grant() throws(LinkError) -> LinkGrant {
        let expected = "the second at which the link ends, counted from 1970"
        let text = try required(.expires, expected)
        guard let expires = Self.number(text, upTo: LinkGrant.latest) else {
            throw LinkError(.badExpiry, .expires, found: Shown.text(text), expected: expected)
        }
        let key = try required(.key, "the id of the key that signed the link")
        var grant = LinkGrant(key: try identifier(key, .key, .badKey), expires: expires)
        if let gateway = values[.gateway] { grant.gateway = try identifier(gateway, .gateway, .badGateway) }
        if let once = values[.once] { grant.once = try identifier(once, .once, .badOnce) }
        let signature = try required(.signature, "a signature: links with an address are signed")
        _ = try Self.signature(signature)
        return grant
    }

    // MARK: Values

    private func required(_ parameter: LinkParameter, _ expected: String) throws(LinkError) -> String {
        guard let value = values[parameter] else {
            throw LinkError(.missingParameter, parameter, found: "no such parameter", expected: expected)
        }
        return value
    }

    private func identifier(
        _ text: String, _ parameter: LinkParameter, _ code: LinkError.Code
    ) throws(LinkError) -> String {
        guard LinkValues.isIdentifier(text) else {
            throw LinkError(
                code, parameter, found: Shown.text(text),
                expected: "1 to 64 letters, digits, hyphens, dots and underscores, a letter or a digit first")
        }
        return text
    }

    /// A number from 1 on in its one spelling: no sign, no zero in front.
    private static func number(_ text: String, upTo most: Int64) -> Int64? {
        let digits = text.unicodeScalars
        guard digits.count <= 18, digits.allSatisfy(\.isDecimalDigit), digits.first != "0", let number = Int64(text)
        else {
            return nil
        }
        return number <= most ? number : nil
    }
}
