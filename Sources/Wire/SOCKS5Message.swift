/// The messages of SOCKS5 (RFC 1928) and of its user and password login (RFC 1929).
///
/// Each `parse` returns nil while the message is incomplete and otherwise how long it is, so that what was
/// sent early behind it is found. Lengths stand in front of everything: no message has more than 513 octets.

import Addresses
import Bytes

/// Numbers of the protocol.
public enum SOCKS5 {
    public static let version: UInt8 = 5

    /// Login methods (RFC 1928, section 3).
    public enum Method {
        public static let none: UInt8 = 0x00
        public static let password: UInt8 = 0x02
        public static let unacceptable: UInt8 = 0xff
    }

    /// Reply codes (RFC 1928, section 6).
    public enum Reply: UInt8, Sendable {
        case succeeded = 0
        case generalFailure = 1
        case notAllowed = 2
        case networkUnreachable = 3
        case hostUnreachable = 4
        case connectionRefused = 5
        case lifetimeExpired = 6
        case commandNotSupported = 7
        case addressTypeNotSupported = 8
    }
}

/// Why bytes are no SOCKS5.
public enum SOCKS5Error: Error, Equatable, Sendable, CustomStringConvertible {
    case badVersion(UInt8)
    case badReservedOctet
    case unknownAddressType(UInt8)

    public var description: String {
        switch self {
        case .badVersion(4): "SOCKS4, which is not spoken here"
        case .badVersion(let version): "not SOCKS5 (first octet \(version))"
        case .badReservedOctet: "malformed SOCKS5 message"
        case .unknownAddressType(let type): "unknown SOCKS5 address type \(type)"
        }
    }
}

/// The client's greeting: the login methods that it knows.
public struct SOCKS5Greeting: Equatable, Sendable {
    public var methods: [UInt8]

    public static func parse(_ bytes: Span<UInt8>) throws(SOCKS5Error) -> (greeting: SOCKS5Greeting, length: Int)? {
        guard bytes.count > 0 else { return nil }
        guard bytes[0] == SOCKS5.version else { throw .badVersion(bytes[0]) }
        guard bytes.count >= 2, bytes.count >= 2 + Int(bytes[1]) else { return nil }
        let length = 2 + Int(bytes[1])
        return (SOCKS5Greeting(methods: Array(copying: bytes.extracting(2..<length))), length)
    }
}

/// A login with user and password (RFC 1929, section 2).
public struct SOCKS5Login: Equatable, Sendable {
    public var user: [UInt8]
    public var password: [UInt8]

    public init(user: [UInt8], password: [UInt8]) {
        self.user = user
        self.password = password
    }

    public static func parse(_ bytes: Span<UInt8>) throws(SOCKS5Error) -> (login: SOCKS5Login, length: Int)? {
        guard bytes.count > 0 else { return nil }
        guard bytes[0] == 1 else { throw .badVersion(bytes[0]) }
        guard bytes.count >= 2 else { return nil }
        let userEnd = 2 + Int(bytes[1])
        guard bytes.count > userEnd else { return nil }
        let end = userEnd + 1 + Int(bytes[userEnd])
        guard bytes.count >= end else { return nil }
        let login = SOCKS5Login(
            user: Array(copying: bytes.extracting(2..<userEnd)),
            password: Array(copying: bytes.extracting(userEnd + 1..<end)))
        return (login, end)
    }

    /// Appends the message; both parts have 1 to 255 octets.
    public func write(into output: inout [UInt8]) {
        precondition((1...255).contains(user.count) && (1...255).contains(password.count), "a login too long")
        output.append(1)
        output.append(UInt8(user.count))
        output.append(contentsOf: user)
        output.append(UInt8(password.count))
        output.append(contentsOf: password)
    }

    /// Whether these are the same, compared in a time that does not depend on where they differ.
    public func matches(_ other: SOCKS5Login) -> Bool {
        Self.matches(user, other.user) && Self.matches(password, other.password)
    }

    private static func matches(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        guard left.count == right.count else { return false }
        var difference: UInt8 = 0
        for index in left.indices { difference |= left[index] ^ right[index] }
        return difference == 0
    }
}

extension SOCKS5Login: CustomStringConvertible, CustomReflectable {
    /// Never the secret.
    public var description: String { "login" }
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// A request or a reply: one octet that says what, and an address (RFC 1928, sections 4 to 6).
public struct SOCKS5Message: Equatable, Sendable {
    /// The command of a request, the code of a reply.
    public var code: UInt8
    /// Nil for what is no address and no host name.
    public var host: Host?
    public var port: UInt16

    public init(code: UInt8, host: Host?, port: UInt16) {
        self.code = code
        self.host = host
        self.port = port
    }

    public static let connect: UInt8 = 1

    /// Reads one message; the third octet is reserved.
    public static func parse(_ bytes: Span<UInt8>) throws(SOCKS5Error) -> (message: SOCKS5Message, length: Int)? {
        guard bytes.count > 0 else { return nil }
        guard bytes[0] == SOCKS5.version else { throw .badVersion(bytes[0]) }
        guard bytes.count >= 5 else {
            if bytes.count == 4 { _ = try addressLength(bytes[3], first: 0) }
            return nil
        }
        let addressEnd = 4 + (try addressLength(bytes[3], first: bytes[4]))
        guard bytes.count >= addressEnd + 2 else { return nil }
        let host: Host?
        switch bytes[3] {
        case 1: host = .address(IPAddress(v4: bytes.uint32(at: 4)))
        case 4: host = .address(IPAddress(high: bytes.uint64(at: 4), low: bytes.uint64(at: 12)))
        default: host = Host.parse(bytes.extracting(5..<addressEnd))
        }
        return (SOCKS5Message(code: bytes[1], host: host, port: bytes.uint16(at: addressEnd)), addressEnd + 2)
    }

    private static func addressLength(_ type: UInt8, first: UInt8) throws(SOCKS5Error) -> Int {
        switch type {
        case 1: 4
        case 3: 1 + Int(first)
        case 4: 16
        default: throw .unknownAddressType(type)
        }
    }

    /// Appends the message; without a host it has the address 0.0.0.0.
    public func write(into output: inout [UInt8]) {
        output.append(contentsOf: [SOCKS5.version, code, 0])
        switch host ?? .address(IPAddress(v4: 0)) {
        case .address(let address) where address.isIPv4:
            output.append(1)
            Self.append(UInt64(address.v4), octets: 4, to: &output)
        case .address(let address):
            output.append(4)
            Self.append(address.high, octets: 8, to: &output)
            Self.append(address.low, octets: 8, to: &output)
        case .name(let name):
            output.append(3)
            output.append(UInt8(name.utf8.count))
            output.append(contentsOf: name.utf8)
        }
        Self.append(UInt64(port), octets: 2, to: &output)
    }

    private static func append(_ value: UInt64, octets: Int, to output: inout [UInt8]) {
        for place in (0..<octets).reversed() { output.append(UInt8(truncatingIfNeeded: value >> UInt64(8 * place))) }
    }
}
