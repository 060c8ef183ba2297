/// Passwords, and how they stay out of everything that is shown.

internal import Digest

/// A text that no description, dump or interpolation shows.
public struct Secret: Equatable, Sendable {
    /// The text itself, for the wire alone.
    public let revealed: String

    public init(_ text: String) { revealed = text }

    /// Reads the contents of a password file: one line, taken literally, with or without its line end.
    public static func parse(file: Span<UInt8>) throws(SecretError) -> Secret {
        guard file.count <= sizeLimit + 2 else { throw .tooLong }
        var bytes = (0..<file.count).map { file[$0] }
        if bytes.starts(with: [0xef, 0xbb, 0xbf]) { bytes.removeFirst(3) }
        if bytes.last == 0x0a { bytes.removeLast() }
        if bytes.last == 0x0d { bytes.removeLast() }
        guard !bytes.isEmpty else { throw .empty }
        guard bytes.count <= sizeLimit else { throw .tooLong }
        guard let text = String(validating: bytes, as: UTF8.self) else { throw .encoding }
        guard !text.hasControlCharacters else { throw .controlCharacter }
        return Secret(text)
    }

    /// The most octets of a password.
    public static let sizeLimit = 1024
}

/// Why a password file was refused; none of these shows what is in it.
public enum SecretError: Error, Equatable, Sendable, CustomStringConvertible {
    case empty
    case tooLong
    case encoding
    case controlCharacter

    public var description: String {
        switch self {
        case .empty: "the password file is empty"
        case .tooLong: "the password file holds more than \(Secret.sizeLimit) octets"
        case .encoding: "the password is not UTF-8"
        case .controlCharacter: "the password file holds more than one line, or control characters"
        }
    }
}

extension Secret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "(hidden)" }
    public var debugDescription: String { "(hidden)" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// A user's name and where the password comes from.
public struct CredentialSource: Equatable, Sendable {
    public var user: String
    public var password: Password

    public init(user: String, password: Password) {
        self.user = user
        self.password = password
    }

    /// A configuration names a file; a proxy URL brings the password along.
    public enum Password: Equatable, Sendable {
        case file(String)
        case given(Secret)
    }
}

/// A user and a password as they go over the wire.
public struct Credentials: Equatable, Sendable {
    public let user: String
    public let password: Secret

    /// Takes both literally.
    public init(user: String, password: Secret) {
        self.user = user
        self.password = password
    }

    /// The value of Authorization and Proxy-Authorization: UTF-8, then Base64 (RFC 7617, sections 2 and 2.1).
    public var basic: Secret {
        let pair = Array("\(user):\(password.revealed)".utf8)
        return Secret("Basic " + Base64.standard.encode(pair.span))
    }
}

extension String {
    /// Whether any character is one that no header and no login may hold.
    var hasControlCharacters: Bool { unicodeScalars.contains { $0.properties.generalCategory == .control } }
}
