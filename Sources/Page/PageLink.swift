/// Addresses that pages lead to: a path of this gateway's, or plain http elsewhere.

internal import Addresses
internal import Profiles

/// An address that is no script and no text of somebody else's making.
public struct PageLink: Equatable, Sendable {
    public let text: String

    /// A path of this gateway, with values that are encoded here.
    init(_ path: StaticString, _ values: KeyValuePairs<String, String> = [:]) {
        text = "\(path)" + Self.query(values)
    }

    /// A path of another host by plain http; nil for what is no host, with its port where that is not 80.
    init?(authority: String, path: StaticString, _ values: KeyValuePairs<String, String> = [:]) {
        guard Authority(parsing: authority) != nil else { return nil }
        text = "http://\(authority)\(path)" + Self.query(values)
    }

    /// Scheme and authority of a link to another host.
    var origin: String { "http://" + text.dropFirst("http://".count).prefix { $0 != "/" } }

    private static func query(_ values: KeyValuePairs<String, String>) -> String {
        let pairs = values.map { "\($0.key)=\(PercentCoding.encode($0.value))" }
        return pairs.isEmpty ? "" : "?" + pairs.joined(separator: "&")
    }
}

/// Host and port as Host and Origin have them (RFC 3986, section 3.2).
struct Authority: Hashable, Sendable {
    enum Host: Hashable, Sendable {
        case address(IPAddress)
        /// In small letters.
        case name(String)
    }

    var host: Host
    /// 80 where none stands.
    var port: UInt16

    /// Reads `10.9.0.1`, `[2001:db8::1]:8080` or `starship.internal`; nil for anything else.
    init?(parsing text: String) {
        guard (1...300).contains(text.utf8.count) else { return nil }
        let behind = text.lastIndex(of: "]").map { text.index(after: $0) } ?? text.startIndex
        let colon = text[behind...].firstIndex(of: ":")
        port = 80
        if let colon {
            let digits = text[text.index(after: colon)...]
            guard digits.utf8.count <= 5, digits.utf8.allSatisfy({ 0x30...0x39 ~= $0 }), digits.first != "0",
                let port = UInt16(digits)
            else { return nil }
            self.port = port
        }
        guard let host = Self.host(text[..<(colon ?? text.endIndex)]) else { return nil }
        self.host = host
    }

    private static func host(_ text: Substring) -> Host? {
        if text.first == "[" {
            guard text.last == "]", let address = IPAddress(parsing: text.dropFirst().dropLast()), !address.isIPv4
            else { return nil }
            return .address(address)
        }
        if let address = IPAddress(parsing: text) { return address.isIPv4 ? .address(address) : nil }
        let labels = text.split(separator: ".", omittingEmptySubsequences: false)
        let isName = labels.allSatisfy { label in
            (1...63).contains(label.utf8.count) && label.utf8.allSatisfy(isOfNames)
        }
        // A last label of digits makes it an address, and then a wrong one (WHATWG URL, section 3.5).
        guard isName, text.utf8.count <= 253, labels.last?.utf8.allSatisfy({ 0x30...0x39 ~= $0 }) == false else {
            return nil
        }
        return .name(text.lowercased())
    }

    private static func isOfNames(_ octet: UInt8) -> Bool {
        switch octet {
        case 0x30...0x39, 0x41...0x5a, 0x61...0x7a, 0x2d, 0x5f: true
        default: false
        }
    }
}
