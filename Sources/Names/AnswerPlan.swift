/// What a query is answered with: one value for every query, before any address is drawn or any resolver asked.

public import Addresses
public import Wire

/// How a query is answered.
public enum AnswerPlan: Equatable, Sendable {
    /// With the fake address of the name, of the family of this type.
    case fake(DNSType)
    /// With addresses of our own, as many as fit the type.
    case addresses([IPAddress])
    /// With the name that this fake address stands for.
    case pointer(IPAddress)
    /// NOERROR without a record: the name has others, or none (RFC 2308, section 2.2).
    case empty
    case nonexistent
    case refused
    /// With the resolvers' answer; `plan(forUnknown:)` is to follow where they do not know the name and it may be
    /// faked.
    case forward(maximumTTL: UInt32?, fakesUnknown: Bool = false)
}

/// The rules by which plans are made; what they need to know of a name is asked as they need it.
public struct AnswerRules: Sendable {
    public let settings: AnswerSettings
    private let special: DNSSpecialNames
    /// Whether an address is of the fake range or the gateway's own part of it.
    private let isFake: @Sendable (IPAddress) -> Bool

    public init(_ settings: AnswerSettings, isFake: @escaping @Sendable (IPAddress) -> Bool) {
        self.settings = settings
        self.isFake = isFake
        special = DNSSpecialNames(settings)
    }

    /// Plans the answer; `verdict` is asked only for names that mean nothing by themselves.
    public func plan(for query: DNSQuery, verdict: (String) -> NameVerdict) -> AnswerPlan {
        // Transfers and the like are between servers; other classes say something about this one.
        guard query.class == 1, !query.type.isMeta else { return .refused }
        if query.type == .pointer, let address = Self.address(inReverse: query.name), isFake(address) {
            return .pointer(address)
        }
        switch special.meaning(of: query.name) {
        case .local: return .forward(maximumTTL: nil)
        case .nonexistent: return .nonexistent
        case .empty: return .empty
        case .addresses(let addresses): return .addresses(addresses)
        case .ipv4only: return query.type == .address4 ? .addresses(Self.ipv4only) : .forward(maximumTTL: nil)
        case nil: break
        }
        if settings.mode == .off { return .forward(maximumTTL: nil) }
        switch verdict(query.name) {
        case .fake: return planProxied(query)
        case .real(let maximumTTL, let fakesUnknown):
            let isFaked = fakesUnknown && settings.mode == .fakeIP && DNSSpecialNames.mayExistElsewhere(query.name)
            return .forward(maximumTTL: maximumTTL, fakesUnknown: isFaked)
        case .addresses(let addresses): return .addresses(addresses)
        case .nonexistent: return .nonexistent
        case .empty: return .empty
        case .refused: return .refused
        }
    }

    /// Plans the answer for a name that the resolvers do not know and an upstream may know.
    ///
    /// It exists then, for every type: NXDOMAIN for AAAA would take its A along (RFC 8020).
    public func plan(forUnknown query: DNSQuery) -> AnswerPlan { planProxied(query) }

    /// Plans the answer for a proxied name.
    ///
    /// Nothing about it comes from a resolver, or its real addresses would come with it: HTTPS and SVCB records hold
    /// some (RFC 9460, section 7.3). Where they are empty, clients go on with A and AAAA (section 3).
    private func planProxied(_ query: DNSQuery) -> AnswerPlan {
        let hasFamily =
            query.type == .address4 && settings.families != .ipv6
            || query.type == .address6 && settings.families != .ipv4
        guard settings.mode == .snoop else {
            guard hasFamily, case .name? = Host.parse(query.name) else { return .empty }
            return .fake(query.type)
        }
        switch query.type {
        case .service, .https: return .empty
        case .address4, .address6: return hasFamily ? .forward(maximumTTL: Self.snoopedTTL) : .empty
        default: return .forward(maximumTTL: nil)
        }
    }

    /// How long a device may keep a real address of a proxied name, in seconds.
    static let snoopedTTL: UInt32 = 60

    private static let ipv4only = [IPAddress(v4: 0xc000_00aa), IPAddress(v4: 0xc000_00ab)]

    /// The address that a reverse name is about (RFC 1035, section 3.5; RFC 3596, section 2.5), or nil.
    public static func address(inReverse name: String) -> IPAddress? {
        let labels = name.split(separator: ".", omittingEmptySubsequences: false)
        if labels.count == 6, labels[5] == "arpa", labels[4] == "in-addr" {
            return IPAddress(parsing: labels[..<4].reversed().joined(separator: "."))
        }
        guard labels.count == 34, labels[33] == "arpa", labels[32] == "ip6" else { return nil }
        var words: [UInt64] = [0, 0]
        for place in 0..<32 {
            guard labels[31 - place].utf8.count == 1, let digit = UInt64(labels[31 - place], radix: 16) else {
                return nil
            }
            words[place / 16] = words[place / 16] << 4 | digit
        }
        return IPAddress(high: words[0], low: words[1])
    }
}
