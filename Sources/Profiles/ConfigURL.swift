/// Whatever a scanner or a person hands over: a link, a proxy's URL, or something that is neither.

/// What a text asks for.
public enum ConfigURL: Equatable, Sendable {
    case link(Link)
    /// A plain proxy URL; whoever may write to the control socket may say one.
    case proxy(ProxyURL)

    /// Where a text came from.
    public enum Source: Equatable, Sendable {
        /// The control socket: an administrator, by the program or a hand scanner.
        case control
        /// A device that opened it on the gateway's page.
        case device
    }

    /// Reads a text; blanks around it do not count.
    public static func parse(_ text: String, from source: Source) throws(ConfigURLError) -> ConfigURL {
        guard text.utf8.count <= Link.sizeLimit else { throw .link(tooLong(text)) }
        let trimmed = String(text.trimmingBlanks)
        guard let (scheme, rest) = HostText.scheme(trimmed) else { throw .foreign(ForeignText(trimmed)) }
        let head = rest.unicodeScalars.prefix { $0 != "?" && $0 != "#" }
        let path = head.drop { $0 != "/" }
        switch scheme {
        case "starship": return .link(try link(trimmed))
        case "http" where ["/a", "/a/"].contains(String(path).lowercased()): return .link(try link(trimmed))
        case "http" where !head.contains("@") && path.count > 1, "https" where !head.contains("@"):
            throw .foreign(.web)
        case "http", "https", "socks5", "socks5h":
            guard source == .control else { throw .controlOnly }
            do throws(ProxyURLError) {
                return .proxy(try ProxyURL.parse(trimmed))
            } catch {
                throw .proxy(error)
            }
        default: throw .foreign(ForeignText(trimmed))
        }
    }

    private static func link(_ text: String) throws(ConfigURLError) -> Link {
        do throws(LinkError) {
            return try Link.parse(text)
        } catch {
            throw .link(error)
        }
    }

    private static func tooLong(_ text: String) -> LinkError {
        LinkError(.tooLong, found: "\(text.utf8.count) octets", expected: "at most \(Link.sizeLimit)")
    }
}

/// Why a text is nothing that a gateway can act on.
public enum ConfigURLError: Error, Equatable, Sendable, CustomStringConvertible {
    case link(LinkError)
    case proxy(ProxyURLError)
    /// A proxy URL that a device opened: those are the administrator's.
    case controlOnly
    case foreign(ForeignText)

    public var description: String {
        switch self {
        case .link(let error): error.description
        case .proxy(let error): error.description
        case .controlOnly:
            "the text: found a proxy URL from a device; expected a link (proxy URLs are taken from starshipctl alone)"
        case .foreign(let text):
            "the text: found what looks like \(text.rawValue), not a config URL; expected starship://activate?…,"
                + " http://GATEWAY/a?…, or a proxy URL" + (text.advice.map { " (\($0))" } ?? "")
        }
    }
}

/// What people scan by mistake, by its looks; nothing of the text itself is kept.
public enum ForeignText: String, CaseIterable, Sendable {
    case nothing = "an empty text"
    case wifi = "a Wi-Fi code"
    case web = "the address of a page or a document"
    case otherTool = "a link of another proxy tool"
    case object = "a JSON document"
    case yaml = "a YAML file of another tool"
    case base64 = "a Base64 text"
    case contact = "a contact, mail, phone or login code"
    case other = "plain text"

    /// Guesses from the first characters.
    init(_ text: String) {
        let small = text.prefix(64).lowercased()
        let scheme = small.prefix { $0 != ":" }
        let isBase64 = text.unicodeScalars.allSatisfy {
            $0.isASCIILetterOrDigit || "+/-_=\r\n".unicodeScalars.contains($0)
        }
        self =
            switch scheme {
            case _ where text.isEmpty: .nothing
            case "wifi": .wifi
            case "http", "https", "ftp": .web
            case "mailto", "tel", "sms", "smsto", "geo", "mecard", "begin", "otpauth": .contact
            case "proxies", "proxy-groups", "port", "mixed-port", "rules", "outbounds", "---\nproxies": .yaml
            case _ where small.hasPrefix("{") || small.hasPrefix("["): .object
            case _ where small.contains("://"): .otherTool
            case _ where isBase64 && text.utf8.count >= 16: .base64
            default: .other
            }
    }

    var advice: String? {
        switch self {
        case .wifi: "join it with the phone's camera, then scan a profile"
        case .web: "links carry, they never fetch: starshipctl push URL does"
        case .object: "starshipctl push FILE takes a configuration"
        case .nothing, .otherTool, .yaml, .base64, .contact, .other: nil
        }
    }
}
