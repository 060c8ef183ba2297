/// The keys that links are signed with, and what each of them may sign.

internal import Addresses
internal import Bytes
internal import Digest
public import Routing

/// A named key; each generator of links has one of its own, so that each can be revoked alone.
///
/// No description or dump shows its octets.
public struct LinkKey: Sendable {
    /// What a key may sign.
    public enum Scope: String, CaseIterable, Sendable {
        case links
        case push
        /// Telling what was decided at another gateway, and nothing else.
        case peer
    }

    /// The name in `kid`.
    public let id: String
    public let scope: Set<Scope>
    /// The last second of its life, counted from 1970; nil: none.
    public let until: Int64?
    /// Whether everything that it signed is void.
    public var isRevoked = false
    private let secret: [UInt8]
    private let hosts: RuleSet?

    /// The octets that a key may have.
    public static let sizes = 16...64

    /// Takes a key for proxies whose hosts match one of `hosts`.
    ///
    /// Hosts are spelled as in a profile's `domains`; nil allows each, an empty list none. Traps on an id or a secret
    /// that no configuration could have.
    public init(
        id: String, secret: [UInt8], hosts: [String]? = nil, scope: Set<Scope> = [.links], until: Int64? = nil
    ) throws(RoutingError) {
        precondition(LinkValues.isIdentifier(id) && Self.sizes.contains(secret.count), "no such key")
        self.id = id
        self.secret = secret
        self.scope = scope
        self.until = until
        guard let hosts else {
            self.hosts = nil
            return
        }
        // A list that matches nothing: an empty one would be global mode.
        let domains = hosts.isEmpty ? ["full:none.invalid"] : hosts
        self.hosts = try RuleSet(domains: domains.map { SourceText(text: $0) }, bypass: [], rules: [])
    }

    /// Reads a key file: one line of hexadecimal digits, two for each octet.
    ///
    /// `openssl rand -hex 32` writes one.
    public static func secret(file: Span<UInt8>) throws(LinkKeyFileError) -> [UInt8] {
        guard file.count <= 2 * sizes.upperBound + 2 else { throw .size }
        var digits = [UInt8](copying: file)
        if digits.last == 0x0a { digits.removeLast() }
        if digits.last == 0x0d { digits.removeLast() }
        let values = digits.compactMap { Unicode.Scalar($0).hexDigit }
        guard values.count == digits.count else { throw .character }
        guard values.count % 2 == 0, sizes.contains(values.count / 2) else { throw .size }
        return stride(from: 0, to: values.count, by: 2).map { UInt8(values[$0] << 4 | values[$0 + 1]) }
    }

    /// Whether the key may sign links to a proxy's host.
    public func allows(_ host: Upstream.Host) -> Bool {
        guard let hosts else { return true }
        switch host {
        case .name(let name): return hosts.decide(RouteQuery(name: name)).origin != nil
        case .address(let address): return hosts.decide(RouteQuery(address: address)).origin != nil
        }
    }

    /// The 32 octets of a signature (HMAC with SHA-256).
    func sign(_ message: [UInt8]) -> [UInt8] { HMACSHA256.sign(message.span, key: secret.span) }
}

extension LinkKey: CustomStringConvertible, CustomReflectable {
    public var description: String { "key \(id) (hidden)" }
    public var customMirror: Mirror { Mirror(self, children: ["id": id]) }
}

/// Why a key file was refused; nothing of what is in it is shown.
public enum LinkKeyFileError: Error, Equatable, Sendable, CustomStringConvertible {
    case size
    case character

    public var description: String {
        let found = self == .size ? "the wrong number of digits" : "characters that are no hexadecimal digits"
        return "the key file: found \(found); expected one line of 32 to 128 hexadecimal digits, an even number"
            + " (openssl rand -hex 32)"
    }
}
