/// What the name service answers a device, as far as the configuration alone says it.

public import Addresses
public import Bytes
public import Routing

/// An answer, whatever the record's type.
public enum NameAnswer: Equatable, Sendable {
    /// An address of the pool.
    case fake
    /// What the resolvers say, with a time to live no longer than this; where they do not know the name, an address of
    /// the pool.
    case real(maximumTTL: Interval?, fakesUnknown: Bool = false)
    /// These addresses, the gateway's own among them.
    case addresses([IPAddress])
    /// There is no such name.
    case nonexistent
    /// There is the name, without records.
    case empty
    /// Nothing: there is no name service.
    case unserved
}

/// What is known besides the configuration, which others have read or know by themselves.
public struct Surroundings: Sendable {
    /// What the name service answers for a name that means something by itself, before any rule is asked.
    public var special: NameAnswer?
    /// Lists of names that go direct where no rule says otherwise: checks and push.
    public var direct: [RuleList] = []
    /// What the gateway answers connectivity checks itself.
    public var answers: CheckAnswers?
    /// Hosts of checks that go direct while the upstream is lost or decrypts.
    public var shared: RuleList?
    /// Lists of names that do not exist here where no rule says otherwise: iCloud Private Relay, encrypted DNS.
    public var denied: [RuleList] = []
    /// Whether the name can be known anywhere, if not here.
    public var mayExistElsewhere = true
    /// The interface that the device is on.
    public var interface: String?
    /// The profile that the device has for itself.
    public var profile: String?
    /// What the device sends elsewhere than that says.
    public var lists: DeviceRules?

    public init() {}

    /// The first of the lists that holds a name, in words.
    static func list(of name: String, in lists: [RuleList]) -> String? {
        lists.first { $0.contains(RouteQuery(name: name)) }.map { "phones: \($0.name)" }
    }
}

extension ResolvedConfiguration {
    /// What a device is answered for a name, and why; what a rule says counts more than what is done for phones.
    func nameAnswer(
        _ name: String, for device: IPAddress?, _ profile: Profile, _ surroundings: Surroundings
    ) -> (answer: NameAnswer, because: String) {
        let dns = configuration.dns
        guard dns.mode != .off else { return (.unserved, "dns.mode \"off\"") }
        if let special = surroundings.special { return (special, "the name means something by itself") }
        if let device, let owner = upstreamOwner(of: device) {
            return (.real(maximumTTL: nil), "the device is the upstream of \(owner)")
        }
        if let reason = neverFaked(name) { return (.real(maximumTTL: nil), reason) }
        let fakesUnknown = configuration.egress != .direct && dns.mode == .fake && surroundings.mayExistElsewhere
        let real = NameAnswer.real(
            maximumTTL: rules(of: profile.id).mode == .domain ? dns.maximumTTL : nil, fakesUnknown: fakesUnknown)
        if let own = surroundings.lists?.decide(name: name) {
            return own.verdict == .direct
                ? (real, "it is direct, by \(DeviceRules.name)") : (proxied, "it is proxied, by \(DeviceRules.name)")
        }
        let named = rules(of: profile.id).decide(RouteQuery(name: name, source: device))
        let forPhones = named.isByDefault ? phoneAnswer(name, real, surroundings) : nil
        guard case .settled(let decision) = rules(of: profile.id).verdict(forName: name, device: device) else {
            if let forPhones, forPhones.answer != real { return forPhones }
            return (proxied, "what becomes of a flow to it depends on more than the name")
        }
        if let forPhones { return forPhones }
        switch decision.verdict {
        case .direct: return (real, "it is direct")
        case .reject: return (proxied, "it is refused")
        case .proxy, .profile: return (proxied, "it is proxied")
        }
    }

    /// What a name is answered for a phone's sake, where no rule names it.
    private func phoneAnswer(
        _ name: String, _ real: NameAnswer, _ surroundings: Surroundings
    ) -> (answer: NameAnswer, because: String)? {
        if let answers = surroundings.answers, let host = answers.hosts[name] {
            return (host.addresses.isEmpty ? proxied : .addresses(host.addresses), answers.origin(of: host))
        }
        if let list = Surroundings.list(of: name, in: surroundings.denied) { return (.nonexistent, list) }
        return Surroundings.list(of: name, in: surroundings.direct).map { (real, $0) }
    }

    /// The answer for a name whose flows have to come to us.
    private var proxied: NameAnswer {
        configuration.dns.mode == .snoop ? .real(maximumTTL: .seconds(60)) : .fake
    }

    /// Why a name is never faked, if it isn't.
    private func neverFaked(_ name: String) -> String? {
        if !name.contains(".") { return "a single label is never faked" }
        for local in DNSOptions.alwaysLocal + configuration.dns.local where name.isWithin(local) {
            return "names in \(local) are never faked"
        }
        let owner = configuration.profiles.first { profile in
            guard case .name(let host)? = profile.upstream.server?.host else { return false }
            return name.isWithin(host)
        }
        return owner.map { "it is the upstream of \($0.id)" }
    }

    /// The profile whose upstream stands at this address.
    func upstreamOwner(of address: IPAddress) -> String? {
        configuration.profiles.first { $0.upstream.server?.host == .address(address) }?.id
    }

    /// An answer in words.
    func words(_ answer: NameAnswer) -> String {
        let dns = configuration.dns
        switch answer {
        case .fake:
            return dns.families == .both
                ? "A from \(dns.pool), AAAA from \(dns.pool6), TTL 1" : "A from \(dns.pool), TTL 1; AAAA empty"
        case .real(let cap, let fakesUnknown):
            let bound = cap.map { ", TTL at most \(Quantity.text($0))" } ?? ""
            return "the real answer" + bound + (fakesUnknown ? "; where no resolver knows it, \(words(.fake))" : "")
        case .addresses(let addresses): return addresses.map(\.description).joined(separator: " ")
        case .nonexistent: return "no such name"
        case .empty: return "empty"
        case .unserved: return "none"
        }
    }
}

extension String {
    /// Whether a name is this one or below it.
    fileprivate func isWithin(_ name: String) -> Bool { self == name || hasSuffix("." + name) }
}
