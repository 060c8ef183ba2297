/// Where a stream is to go: a host and a port, as SOCKS5, CONNECT and an upstream's settings name it.
///
/// Text becomes a `Host` here and nowhere else, so what a client wrote can never reach a request head as
/// anything but one address or one plain name.

public import Addresses
import Bytes

/// An address, or a name that somebody else resolves.
public enum Host: Hashable, Sendable {
    case address(IPAddress)
    /// Letters, digits, `-`, `_` and `.` alone, without a trailing dot.
    case name(String)
}

extension Host {
    /// The longest name in text (RFC 1035, section 2.3.4: 255 octets on the wire).
    public static let maximumNameLength = 253

    /// Reads an address literal, with or without the brackets of RFC 3986, section 3.2.2, or a name.
    ///
    /// Returns nil for anything else: a character that no host name has, an empty label or one of more than 63
    /// octets, and a last label that is a number. The last kind ("127.1", "0x7f.1", "2130706433") is what
    /// resolvers read as an address although it is not written like one.
    public static func parse(_ text: Span<UInt8>) -> Host? {
        guard text.count > 0, text.count <= maximumNameLength + 2 else { return nil }
        if text[0] == ASCII.openBracket {
            guard text.count > 2, text[text.count - 1] == ASCII.closeBracket else { return nil }
            return address(text.extracting(1..<text.count - 1), allowingV4: false)
        }
        if ASCII.isDigit(text[0]) || text.contains(ASCII.colon), let address = address(text, allowingV4: true) {
            return address
        }
        let length = text[text.count - 1] == ASCII.dot ? text.count - 1 : text.count
        let name = text.extracting(0..<length)
        guard isName(name) else { return nil }
        return String(validating: name).map(Host.name)
    }

    /// Reads a host from a string.
    public static func parse(_ text: String) -> Host? {
        parse(Array(text.utf8).span)
    }

    private static func address(_ text: Span<UInt8>, allowingV4: Bool) -> Host? {
        guard text.count <= 45, let string = String(validating: text) else { return nil }
        guard let address = IPAddress(parsing: string) else { return nil }
        guard allowingV4 || text.contains(ASCII.colon) else { return nil }
        return .address(address)
    }

    private static func isName(_ name: Span<UInt8>) -> Bool {
        guard name.count > 0, name.count <= maximumNameLength else { return false }
        var label = 0
        for index in name.indices {
            if name[index] == ASCII.dot {
                guard index - label > 0, index - label <= 63 else { return false }
                label = index + 1
            } else if !ASCII.isNameOctet(name[index]) {
                return false
            }
        }
        let last = name.extracting(label..<name.count)
        return last.count > 0 && last.count <= 63 && !isNumber(last)
    }

    private static func isNumber(_ label: Span<UInt8>) -> Bool {
        if label[0] == ASCII.zero, label.count > 1, label[1] | 0x20 == ASCII.lowerX {
            return label.extracting(2..<label.count).allSatisfy(ASCII.isHexDigit)
        }
        return label.allSatisfy(ASCII.isDigit)
    }
}

extension Host: CustomStringConvertible {
    /// As it stands in a URI: IPv6 in brackets, exactly one pair.
    public var description: String {
        switch self {
        case .address(let address): address.isIPv4 ? address.description : "[\(address)]"
        case .name(let name): name
        }
    }
}

/// A host and a port.
public struct Target: Hashable, Sendable, CustomStringConvertible {
    public var host: Host
    public var port: UInt16

    public init(host: Host, port: UInt16) {
        self.host = host
        self.port = port
    }

    public init(_ address: SocketAddress) {
        self.init(host: .address(address.address), port: address.port)
    }

    /// `name:443`, `192.0.2.1:443` or `[2001:db8::1]:443`.
    public var description: String { "\(host):\(port)" }

    /// Appends the text of `description`, without making a string of what needs none.
    public func write(into output: inout [UInt8]) {
        switch host {
        case .address(let address) where address.isIPv4:
            for shift: UInt32 in [24, 16, 8, 0] {
                Self.write(Int(address.v4 >> shift & 0xff), into: &output)
                output.append(shift == 0 ? ASCII.colon : ASCII.dot)
            }
        case .address, .name:
            if case .name(let name) = host { output.append(contentsOf: name.utf8) }
            if case .address = host { output.append(contentsOf: "\(host)".utf8) }
            output.append(ASCII.colon)
        }
        Self.write(Int(port), into: &output)
    }

    private static func write(_ number: Int, into output: inout [UInt8]) {
        var divisor = 1
        while number / divisor >= 10 { divisor *= 10 }
        while divisor > 0 {
            output.append(ASCII.zero + UInt8(number / divisor % 10))
            divisor /= 10
        }
    }

    /// Reads `host:port`; without a port only where `defaultPort` gives one.
    ///
    /// Port 0 is refused, and so is an IPv6 literal without brackets: its last group would pass for a port.
    public static func parse(_ text: Span<UInt8>, defaultPort: UInt16? = nil) -> Target? {
        var end = text.count
        while end > 0, ASCII.isDigit(text[end - 1]) { end -= 1 }
        let hasPort = end > 0 && text[end - 1] == ASCII.colon
        let hostText = hasPort ? text.extracting(0..<end - 1) : text
        guard hostText.count > 0, hostText[0] == ASCII.openBracket || !hostText.contains(ASCII.colon) else {
            return nil
        }
        guard let host = Host.parse(hostText) else { return nil }
        guard hasPort, end < text.count else { return defaultPort.map { Target(host: host, port: $0) } }
        guard let port = decimal(text.extracting(end..<text.count), limit: 65535), port > 0 else { return nil }
        return Target(host: host, port: UInt16(port))
    }
}
