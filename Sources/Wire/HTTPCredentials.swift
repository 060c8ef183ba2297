/// Basic authentication (RFC 7617): what is sent to a proxy, and what a client sent to ours.

import Bytes
import Digest

/// A user and a password as the value of an authorization field.
public struct BasicCredentials: Equatable, Sendable {
    /// `Basic dTpw`; a secret.
    let value: [UInt8]
    private let password: String

    /// Takes both literally, in UTF-8 (RFC 7617, section 2.1).
    ///
    /// Returns nil for a user with a colon, whose password nobody could find again, and for control characters.
    public init?(user: String, password: String) {
        let octets = Array("\(user):\(password)".utf8)
        guard !user.utf8.contains(ASCII.colon), octets.allSatisfy({ $0 >= 0x20 && $0 != 0x7f }) else { return nil }
        value = Array("Basic \(Base64.standard.encode(octets.span))".utf8)
        self.password = password
    }

    /// Whether a field value carries these credentials, compared in the same time whatever it is.
    public func match(_ field: Span<UInt8>) -> Bool {
        guard field.count == value.count, field.hasPrefix("basic ") else { return false }
        var difference: UInt8 = 0
        for index in 6..<value.count { difference |= field[index] ^ value[index] }
        return difference == 0
    }

    /// Appends the field line `Proxy-Authorization`.
    public func writeProxyAuthorization(into output: inout [UInt8]) {
        output.append(contentsOf: "Proxy-Authorization: ".utf8)
        output.append(contentsOf: value)
        output.append(contentsOf: "\r\n".utf8)
    }

    /// A text of somebody else's with every trace of the password taken out: a proxy's error page may echo it.
    public func redacted(from text: String) -> String {
        let mark = Array("…".utf8)
        // Octets, not characters: an accent behind a secret makes another character of its last letter.
        var result = Array(text.utf8)
        var secrets = [Array(value.dropFirst(6))]
        if password.unicodeScalars.count > 2 { secrets.append(Array(password.utf8)) }
        for secret in secrets {
            while let range = Self.range(of: secret, in: result) { result.replaceSubrange(range, with: mark) }
            // A text that was cut may end in the middle of it.
            for length in stride(from: secret.count - 1, through: 3, by: -1)
            where result.suffix(length) == secret.prefix(length) {
                result.replaceSubrange((result.count - length)..., with: mark)
                break
            }
        }
        return String(decoding: result, as: UTF8.self)
    }

    private static func range(of secret: [UInt8], in text: [UInt8]) -> Range<Int>? {
        for start in text.indices.dropLast(secret.count - 1)
        where text[start..<start + secret.count] == secret[...] {
            return start..<start + secret.count
        }
        return nil
    }
}

extension BasicCredentials: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Never the secret.
    public var description: String { "credentials" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
