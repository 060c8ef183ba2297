/// What bytes are that were meant to be a configuration and are none.
///
/// A guess from the looks of a text that could not be read; nothing of the text itself is repeated.

/// A format of others, or something that stands in place of a file.
enum ForeignFormat: String, CaseIterable {
    case html = "an HTML page"
    case xml = "an XML document"
    case compressed = "a compressed file"
    case wifi = "a Wi-Fi code"
    case link = "a config link"
    case url = "a URL"
    case otherLink = "a link of another proxy tool"
    case v2ray = "a V2Ray or sing-box configuration"
    case clash = "a Clash configuration"
    case surge = "a Surge configuration"
    case wireGuard = "a WireGuard configuration"
    case base64 = "a Base64 text"

    /// What to do instead.
    var advice: String? {
        switch self {
        case .html: "the server sent a page instead of a file"
        case .link: "starshipctl apply takes links"
        case .url: "starshipctl push URL fetches what it leads to"
        case .clash, .surge: "lists of such rules can be `ruleSets`"
        case .base64: "no format of ours is in Base64"
        case .xml, .compressed, .wifi, .otherLink, .v2ray, .wireGuard: nil
        }
    }

    init?(_ bytes: Span<UInt8>) {
        let head = (0..<min(bytes.count, 4096)).map { bytes[$0] }
        if head.starts(with: [0x1f, 0x8b]) || head.starts(with: Array("PK\u{3}\u{4}".utf8)) {
            self = .compressed
            return
        }
        let lines = String(decoding: head, as: UTF8.self).lowercased().split(whereSeparator: \.isNewline)
            .map { String($0).trimmingBlanks }
        guard let first = lines.first(where: { !Self.isComment($0) }) else { return nil }
        if first.hasPrefix("{") {
            guard let keys = Self.keys(bytes), let format = Self(keys: keys) else { return nil }
            self = format
            return
        }
        guard let format = Self(first) ?? Self(lines: lines) ?? Self(characters: head) else { return nil }
        self = format
    }

    private static func isComment(_ line: Substring) -> Bool {
        line.isEmpty || line == "\u{feff}" || ["#", ";", "//", "---"].contains { line.hasPrefix($0) }
    }

    /// Tells a format by how its first line begins.
    private init?(_ line: Substring) {
        let line = line.drop { $0 == "\u{feff}" }
        let scheme = HostText.scheme(String(line))?.scheme
        let isLink = scheme == "starship" || scheme == "http" && line.contains("/a?")
        switch scheme {
        case _ where line.hasPrefix("<?xml"): self = .xml
        case _ where line.hasPrefix("<"): self = .html
        case _ where line.hasPrefix("wifi:"): self = .wifi
        case _ where isLink: self = .link
        case "http"?, "https"?, "ftp"?: self = .url
        case let other? where other.utf8.allSatisfy({ Unicode.Scalar($0).isASCIILetterOrDigit }): self = .otherLink
        default: return nil
        }
    }

    /// Tells a format by its sections or its keys.
    private init?(lines: [Substring]) {
        for line in lines {
            switch line {
            case "[general]", "[proxy]", "[proxy group]", "[rule]", "[rules]", "[host]", "[mitm]", "[url rewrite]":
                self = .surge
                return
            case "[interface]", "[peer]":
                self = .wireGuard
                return
            case _ where Self.clashKeys.contains(String(line.prefix { $0 != ":" })) && line.contains(":"):
                self = .clash
                return
            default: continue
            }
        }
        return nil
    }

    private static let clashKeys = [
        "proxies", "proxy-groups", "proxy-providers", "rule-providers", "mixed-port", "socks-port", "redir-port",
        "port",
        "allow-lan", "external-controller", "log-level", "payload", "rules", "mode",
    ]

    /// Tells a JSON document of another program by its keys.
    private init?(keys: [String]) {
        if keys.contains("outbounds") || keys.contains("inbounds") {
            self = .v2ray
        } else if keys.contains("proxy-groups") || keys.contains("mixed-port") {
            self = .clash
        } else {
            return nil
        }
    }

    private static func keys(_ bytes: Span<UInt8>) -> [String]? {
        guard case .object(let members)? = try? JSON5Reader.read(bytes).content else { return nil }
        return members.map(\.key)
    }

    private init?(characters: [UInt8]) {
        let isBase64 = { (octet: UInt8) in
            Unicode.Scalar(octet).isASCIILetterOrDigit || "+/-_=\r\n".utf8.contains(octet)
        }
        guard characters.count >= 16, characters.allSatisfy(isBase64) else { return nil }
        self = .base64
    }
}

extension ConfigurationError {
    /// The same error, or what the whole text seems to be where that is something else altogether.
    func recognising(_ bytes: Span<UInt8>) -> ConfigurationError {
        let isAboutTheWhole =
            switch code {
            case .syntax, .encoding: true
            case .unknownKey, .missingKey, .wrongType: !path.contains(".")
            default: false
            }
        guard isAboutTheWhole, let format = ForeignFormat(bytes) else { return self }
        return ConfigurationError(
            .foreign, at: position, path: "",
            found: "what looks like \(format.rawValue), not a gateway configuration",
            expected: "a JSON5 object of the gateway's own keys", hint: format.advice)
    }
}
