/// What the name service answers a device, as far as the configuration alone says it.

public import Addresses
public import Bytes
internal import Routing

/// An answer, whatever the record's type.
public enum NameAnswer: Equatable, Sendable {
    /// An address of the pool.
    case fake
    /// What the resolvers say, with a time to live no longer than this.
    case real(maximumTTL: Interval?)
    /// The gateway's own addresses.
    case gateway
    /// There is no such name.
    case nonexistent
    /// There is the name, without records.
    case empty
    /// Nothing: there is no name service.
    case unserved
}

extension ResolvedConfiguration {
    /// The gateway's own name.
    public static let gatewayName = "starship.internal"

    /// The names by which a device asks for leave to take its names elsewhere.
    private static let privateRelay = ["mask.icloud.com", "mask-h2.icloud.com", "mask-canary.icloud.com"]
    private static let encryptedDNS = ["doh.dns.apple.com", "use-application-dns.net"]
    /// Where a device asks which encrypted servers stand behind a resolver (RFC 9462, section 4).
    private static let designation = "_dns.resolver.arpa"

    /// What a device is answered for a name, and why.
    public func nameAnswer(
        _ name: String, for device: IPAddress?, profile: Profile
    ) -> (answer: NameAnswer, because: String) {
        guard configuration.dns.mode != .off else { return (.unserved, "dns.mode \"off\"") }
        if name == Self.gatewayName { return (.gateway, "the gateway's own name") }
        if let refusal = phoneRefusal(name) { return refusal }
        let isDomainMode = rules(of: profile.id).mode == .domain
        let cap = isDomainMode ? configuration.dns.maximumTTL : nil
        if let reason = neverFaked(name) { return (.real(maximumTTL: cap), reason) }
        if configuration.dns.mode == .snoop { return (.real(maximumTTL: cap), "dns.mode \"snoop\"") }
        switch rules(of: profile.id).verdict(forName: name, device: device) {
        case .open: return (.fake, "what becomes of a flow to it depends on more than the name")
        case .settled(let decision) where decision.verdict == .direct:
            return (.real(maximumTTL: cap), "it is direct")
        case .settled(let decision):
            return (.fake, decision.verdict == .reject ? "it is refused" : "it is proxied")
        }
    }

    private func phoneRefusal(_ name: String) -> (NameAnswer, String)? {
        let phones = configuration.phones
        if !phones.privateRelay, Self.privateRelay.contains(name) {
            return (.nonexistent, "phones.privateRelay is false")
        }
        if phones.doh == .refuse, Self.encryptedDNS.contains(name) { return (.nonexistent, "phones.doh \"refuse\"") }
        let isDesignation = name == Self.designation || name.hasSuffix("." + Self.designation)
        guard isDesignation, phones.doh == .refuse || phones.dot == .refuse else { return nil }
        return (.empty, "the gateway answers no encrypted DNS")
    }

    /// Why a name is never faked, if it isn't.
    private func neverFaked(_ name: String) -> String? {
        if !name.contains(".") { return "a single label is never faked" }
        for local in DNSOptions.alwaysLocal + configuration.dns.local {
            if name == local || name.hasSuffix("." + local) { return "names in \(local) are never faked" }
        }
        let owner = configuration.profiles.first { $0.upstream.server?.host == .name(name) }
        return owner.map { "it is the upstream of \($0.id)" }
    }
}

extension ResolvedConfiguration {
    /// An answer in words.
    static func words(_ answer: NameAnswer, dns: DNSOptions) -> String {
        switch answer {
        case .fake:
            dns.families == .both
                ? "A from \(dns.pool), AAAA from \(dns.pool6), TTL 1" : "A from \(dns.pool), TTL 1; AAAA empty"
        case .real(let cap): "the real answer" + (cap.map { ", TTL at most \(Quantity.text($0))" } ?? "")
        case .gateway: "the gateway's own address"
        case .nonexistent: "no such name"
        case .empty: "empty"
        case .unserved: "none"
        }
    }
}
