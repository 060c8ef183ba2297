/// Names that mean something by themselves, wherever they are asked for: no rule is needed for them, and no rule
/// sends them through a proxy.

public import Addresses
import Wire

/// What is known about a name before any rule is asked.
public enum DNSSpecialName: Equatable, Sendable {
    /// Only the network here knows it: never a fake address.
    case local
    case nonexistent
    /// It exists and has nothing.
    case empty
    /// Our own answer.
    case addresses([IPAddress])
    /// 192.0.0.170 and 192.0.0.171 (RFC 7050); what its AAAA is, only the resolver knows.
    case ipv4only
}

public struct DNSSpecialNames: Sendable {
    private let local: DNSSuffixes
    private let ownHosts: Set<String>
    private let gateway: [IPAddress]

    public init(_ settings: AnswerSettings) {
        local = DNSSuffixes(settings.localNames)
        ownHosts = settings.ownHosts
        gateway = settings.gateway
    }

    /// What a name means by itself, or nil when it is like any other.
    public func meaning(of name: String) -> DNSSpecialName? {
        if name.isEmpty || local.contains(name) || ownHosts.contains(name) { return .local }
        if !name.utf8.contains(UInt8(ascii: ".")) { return name == "localhost" ? Self.loopback : .local }
        if let zone = Self.zone(of: name) { return meaning(of: name, in: zone) }
        return Self.clocks.contains(name) ? .local : nil
    }

    private func meaning(of name: String, in zone: Zone) -> DNSSpecialName? {
        switch zone {
        case .nonexistent: .nonexistent
        case .local: .local
        case .loopback: Self.loopback
        case .internet: name == "starship.internal" ? .addresses(gateway) : nil
        case .arpa: Self.meaning(inArpa: name)
        }
    }

    private static func meaning(inArpa name: String) -> DNSSpecialName {
        // Whoever finds a resolver here asks it over TLS or HTTPS, past us (RFC 9462, section 6.4).
        if name == "_dns.resolver.arpa" || name.hasSuffix("._dns.resolver.arpa") || name == "resolver.arpa" {
            return .empty
        }
        return name == "ipv4only.arpa" ? .ipv4only : .local
    }

    private enum Zone { case nonexistent, local, loopback, internet, arpa }

    /// The last label's meaning.
    private static func zone(of name: String) -> Zone? {
        let octets = name.utf8
        guard let dot = octets.lastIndex(of: UInt8(ascii: ".")) else { return nil }
        let last = octets[octets.index(after: dot)...]
        for (label, zone) in zones where last.elementsEqual(label.utf8) { return zone }
        return nil
    }

    private static let zones: [(String, Zone)] = [
        // Multicast names are asked for by multicast (RFC 6762, section 22.1).
        ("local", .nonexistent), ("invalid", .nonexistent), ("onion", .nonexistent), ("localhost", .loopback),
        // What routers call their own network. Reverse names and `home.arpa` (RFC 8375) are below `arpa`.
        ("lan", .local), ("arpa", .arpa), ("internal", .internet),
    ]

    /// Whether a name that the network here does not know can be known elsewhere: it is no address, and its last label is
    /// none that the Internet has not and will not have.
    public static func mayExistElsewhere(_ name: String) -> Bool {
        guard case .name? = Host.parse(name), let dot = name.utf8.lastIndex(of: UInt8(ascii: ".")) else { return false }
        return !neverPublic.contains(String(name[name.utf8.index(after: dot)...]))
    }

    /// RFC 6761, RFC 6762 (with its appendix G), RFC 7686, RFC 9476, and what ICANN keeps free for private use.
    private static let neverPublic: Set<String> = [
        "alt", "arpa", "corp", "example", "home", "internal", "intranet", "invalid", "lan", "local", "localdomain",
        "localhost", "mail", "onion", "private", "test",
    ]

    private static let loopback = DNSSpecialName.addresses([
        IPAddress(v4: 0x7f00_0001), IPAddress(high: 0, low: 1),
    ])

    /// Servers of time: what they are asked is no TCP stream, and a clock is needed before any certificate is good.
    private static let clocks = DNSSuffixes([
        "pool.ntp.org", "time.apple.com", "time-ios.apple.com", "time-macos.apple.com", "time.asia.apple.com",
        "time.euro.apple.com", "time.google.com", "time1.google.com", "time2.google.com", "time3.google.com",
        "time4.google.com", "time.android.com", "time.windows.com", "time.cloudflare.com", "time.facebook.com",
        "time.nist.gov", "ntp.ubuntu.com", "ntp.aliyun.com", "ntp1.aliyun.com", "ntp2.aliyun.com", "ntp3.aliyun.com",
        "ntp.tencent.com",
    ])
}
