/// Reading a link: its head, its parameters, and that each of them is one of ours, once.

internal import Bytes
internal import Routing

extension Link {
    /// Reads a link; blanks and line ends around it do not count, nor does a fragment.
    public static func parse(_ text: String) throws(LinkError) -> Link {
        guard text.utf8.count <= sizeLimit else {
            throw LinkError(
                .tooLong, found: "\(text.utf8.count) octets", expected: "at most \(sizeLimit)")
        }
        let trimmed = text.trimmingBlanks
        if let stray = trimmed.unicodeScalars.first(where: isGap) {
            throw LinkError(
                .encoding, found: stray == " " ? "a blank" : stray.codePoint, expected: "text without gaps",
                hint: "within a value, a blank is %20")
        }
        guard let (scheme, rest) = HostText.scheme(String(trimmed)) else { throw unknownScheme(found: "no scheme") }
        // On scalars: a mark that combines with a sign must not hide it.
        let meant = rest.unicodeScalars.prefix { $0 != "#" }
        let head = meant.prefix { $0 != "?" }
        let query = meant.dropFirst(head.count + 1)
        let form = try form(scheme, String(head))
        let values = try values(of: query)
        return Link(form: form, request: try LinkReader(values).request(), values: values)
    }

    private static func isGap(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .spaceSeparator, .lineSeparator, .paragraphSeparator: true
        default: false
        }
    }

    private static let heads = "starship://activate? or http://GATEWAY/a?"

    private static func unknownScheme(found: String) -> LinkError {
        LinkError(.scheme, found: found, expected: heads)
    }

    /// Reads what stands in front of the question mark; capitals and a slash at its end mean nothing.
    private static func form(_ scheme: String, _ head: String) throws(LinkError) -> Form {
        let place = (head.hasSuffix("/") ? String(head.dropLast()) : head).lowercased()
        switch scheme {
        case "starship":
            guard place == "activate" else {
                let near = NearMiss.suggestion(for: place, among: ["activate"])
                throw LinkError(
                    .action, found: "the action \(Shown.text(place))", expected: "activate",
                    hint: near.map { "did you mean \($0)?" })
            }
            return .starship
        case "http":
            guard let slash = place.firstIndex(of: "/"), place[slash...] == "/a" else {
                throw LinkError(.action, found: "another page", expected: "http://GATEWAY/a?")
            }
            return .page(gateway: try gateway(place[..<slash]))
        case "https":
            throw LinkError(
                .scheme, found: "https://", expected: heads, hint: "the gateway's page speaks plain http on the LAN")
        default:
            throw unknownScheme(found: "the scheme \(Shown.text(scheme))")
        }
    }

    /// Whether a text is a gateway's name or address, with or without a port, in small letters.
    public static func isGateway(_ text: String) -> Bool {
        (try? gateway(text[...])) != nil && text == text.lowercased()
    }

    private static func gateway(_ text: Substring) throws(LinkError) -> String {
        // An http URL of a proxy differs by its path alone.
        if let url = try? ProxyURL.parse("http://\(text)"), url.upstream.credentials == nil { return String(text) }
        if let url = try? ProxyURL.parse("http://\(text):80"), url.upstream.credentials == nil { return String(text) }
        throw LinkError(
            .scheme, found: "no usable name or address of a gateway",
            expected: "http://GATEWAY/a? or http://GATEWAY:PORT/a?")
    }

    private static func values(of query: Substring.UnicodeScalarView.SubSequence) throws(LinkError) -> LinkValues {
        guard !query.isEmpty else {
            throw LinkError(
                .missingParameter, .version, found: "no parameters", expected: "v=1, and a profile or a host")
        }
        var values = LinkValues([:])
        for (index, piece) in query.split(separator: "&", omittingEmptySubsequences: false).enumerated() {
            guard let equals = piece.firstIndex(of: "="), equals > piece.startIndex else {
                throw LinkError(
                    .emptyParameter, found: "piece \(index + 1) without a name or a value",
                    expected: "name=value&name=value",
                    hint: "within a value, & is %26")
            }
            let name = String(piece[..<equals])
            guard let parameter = LinkParameter(rawValue: name) else { throw unknown(name) }
            guard values[parameter] == nil else {
                throw LinkError(.repeatedParameter, parameter, found: "it twice", expected: "each parameter once")
            }
            values[parameter] = try value(String(piece[piece.index(after: equals)...]), of: parameter)
        }
        return values
    }

    private static func value(_ text: String, of parameter: LinkParameter) throws(LinkError) -> String {
        let value: String
        do throws(PercentCodingError) {
            value = try PercentCoding.decode(text)
        } catch {
            throw coding(error, of: parameter)
        }
        guard !value.isEmpty else {
            throw LinkError(
                .emptyParameter, parameter, found: "nothing behind it", expected: "a value, or no such parameter")
        }
        return value
    }

    private static func coding(_ error: PercentCodingError, of parameter: LinkParameter) -> LinkError {
        switch error {
        case .malformed:
            LinkError(
                .encoding, parameter, found: "a % that two hexadecimal digits of UTF-8 text do not follow",
                expected: "percent-encoded UTF-8", hint: "a percent sign is %25")
        case .controlCharacter:
            LinkError(.encoding, parameter, found: "control characters", expected: "text of one line")
        }
    }

    /// What other links carry, or what one might hope that ours do.
    private static let forbidden = [
        "user", "username", "password", "pass", "passwd", "passwordfile", "token", "secret", "auth", "key", "file",
        "path",
        "url", "uri", "src", "source", "subscription", "import", "config", "fetch", "script", "command", "cmd", "exec",
        "run",
    ]

    private static func unknown(_ name: String) -> LinkError {
        let shown = Shown.key(name)
        guard !forbidden.contains(name.lowercased()) else {
            return LinkError(
                .forbiddenParameter, named: String(shown.dropFirst().dropLast()), found: "what a link never carries",
                expected: "no file, secret, command or place to fetch from",
                hint: "`starshipctl push` takes a configuration, and a profile can hold a user and a password")
        }
        let near = NearMiss.suggestion(for: name, among: LinkParameter.names)
        return LinkError(
            .unknownParameter, found: "the unknown parameter \(shown)",
            expected: "\(LinkParameter.names.dropLast().joined(separator: ", ")) or sig",
            hint: near.map { "did you mean `\($0)`?" } ?? "an & within a value is %26")
    }
}
