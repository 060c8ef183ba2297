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
        if let own = meaning(ofOwn: name) { return own }
        if name.isEmpty || local.contains(name) || ownHosts.contains(name) { return .local }
        if !name.utf8.contains(UInt8(ascii: ".")) { return name == "localhost" ? Self.loopback : .local }
        if let zone = Self.zone(of: name) { return meaning(of: name, in: zone) }
        return Self.clocks.contains(name) ? .local : nil
    }

    /// Of the page's own name and those below it, which nobody else may answer for.
    private func meaning(ofOwn name: String) -> DNSSpecialName? {
        guard name.hasSuffix(Self.page) else { return nil }
        if name.utf8.count == Self.page.utf8.count || Self.checkLabel(of: name) != nil { return .addresses(gateway) }
        guard name.hasSuffix("." + Self.page) else { return nil }
        // There are names below it, so it exists: NXDOMAIN would take them along (RFC 8020).
        return name.utf8.count == Self.checks.utf8.count - 1 && Self.checks.hasSuffix(name) ? .empty : .nonexistent
    }

    /// The one label in front of the self-checks' name, by which a check is known again; nil of every other name.
    public static func checkLabel(of name: String) -> String? {
        guard name.hasSuffix(checks) else { return nil }
        let label = name.dropLast(checks.count)
        return label.isEmpty || label.contains(".") ? nil : String(label)
    }

    private static let page = "starship.internal"
    private static let checks = ".check.starship.internal"

    private func meaning(of name: String, in zone: Zone) -> DNSSpecialName? {
        switch zone {
        case .nonexistent: .nonexistent
        case .local: .local
        case .loopback: Self.loopback
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

    private enum Zone { case nonexistent, local, loopback, arpa }

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
        ("lan", .local), ("arpa", .arpa),
    ]

    /// Whether a name that the network here does not know can be known elsewhere: it is no address, and its last label
    /// is none that the Internet has not and will not have.
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
