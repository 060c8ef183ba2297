/// Basic authentication (RFC 7617): what is sent to a proxy, and what a client sent to ours.

import Bytes

/// Base64 with padding (RFC 4648, section 4), as Basic credentials need it.
enum Base64 {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    static func encode(_ bytes: [UInt8]) -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count + 2) / 3 * 4)
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let count = min(3, bytes.count - start)
            var group = UInt32(bytes[start]) << 16
            if count > 1 { group |= UInt32(bytes[start + 1]) << 8 }
            if count > 2 { group |= UInt32(bytes[start + 2]) }
            for place in 0..<4 {
                let sextet = Int(group >> UInt32(18 - 6 * place)) & 63
                text.append(place <= count ? alphabet[sextet] : ASCII.equals)
            }
        }
        return text
    }
}

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
        value = Array("Basic ".utf8) + Base64.encode(octets)
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
        let token = String(decoding: value.dropFirst(6), as: UTF8.self)
        var result = text
        for secret in [token, password] where secret.count > 2 {
            while let range = result.firstRange(of: secret) { result.replaceSubrange(range, with: "…") }
            // A text that was cut may end in the middle of it.
            for length in stride(from: secret.count - 1, through: 3, by: -1)
            where result.hasSuffix(secret.prefix(length)) {
                result = String(result.dropLast(length)) + "…"
                break
            }
        }
        return result
    }
}

extension BasicCredentials: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Never the secret.
    public var description: String { "credentials" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
