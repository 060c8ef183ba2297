/// Whether a link may do what it says, here and now.

public import Bytes
internal import Digest

/// What a gateway knows when a link arrives.
public struct LinkVerifier: Sendable {
    /// What the gateway's clock says, and whether it can be believed.
    public struct Clock: Equatable, Sendable {
        public var now: UnixTime
        /// Whether the kernel calls the clock synchronised.
        public var isSynchronised: Bool

        public init(now: UnixTime, isSynchronised: Bool) {
            self.now = now
            self.isSynchronised = isSynchronised
        }
    }

    /// A nonce that was used, under the key that signed it; it need not be kept once its link has ended.
    public struct Nonce: Hashable, Sendable {
        public let key: String
        public let once: String

        public init(key: String, once: String) {
            self.key = key
            self.once = once
        }
    }

    /// How much clocks may differ, in seconds.
    public static let leeway: Int64 = 120

    public var keys: [LinkKey]
    /// The id of this gateway.
    public var gateway: String
    /// The day this program was built, in seconds since 1970: no clock can be before it.
    public var built: Int64
    /// The profiles that there are, and whether each is marked `selfService`.
    public var profiles: [String: Bool]
    public var spent: Set<Nonce> = []

    public init(keys: [LinkKey], gateway: String, built: Int64, profiles: [String: Bool]) {
        self.keys = keys
        self.gateway = gateway
        self.built = built
        self.profiles = profiles
    }

    /// Checks a link and returns what it asks for.
    ///
    /// The signature comes first, so that nothing further is told to those who have none. A link with `once` is to be
    /// added to `spent` by whoever carries it out.
    public func check(_ link: Link, at clock: Clock) throws(LinkError) -> Link.Request {
        switch link.request {
        case .profile(let id): try check(profile: id)
        case .proxy(let proxy, let grant):
            let key = try key(grant.key)
            try checkSignature(of: link, under: key)
            try check(grant, at: clock, under: key)
            try Self.checkRights(of: key, to: proxy)
        }
        return link.request
    }

    private func check(profile id: String) throws(LinkError) {
        guard let isSelfService = profiles[id] else {
            let near = NearMiss.suggestion(for: id, among: profiles.filter(\.value).keys.sorted())
            throw LinkError(
                .unknownProfile, .profile, found: "\(Shown.text(id)), which this gateway does not have",
                expected: "the id of one of its self-service profiles", hint: near.map { "did you mean \($0)?" })
        }
        guard isSelfService else {
            throw LinkError(
                .notSelfService, .profile, found: "\(Shown.text(id)), which is not for everybody",
                expected: "a profile marked selfService: true")
        }
    }

    private func key(_ id: String) throws(LinkError) -> LinkKey {
        guard let key = keys.first(where: { $0.id == id }) else {
            throw LinkError(
                .unknownKey, .key, found: "\(Shown.text(id)), which this gateway does not know",
                expected: "the id of one of its keys")
        }
        guard !key.isRevoked else {
            throw LinkError(
                .revokedKey, .key, found: "\(Shown.text(id)), which was revoked",
                expected: "a key that is in use", hint: "ask for a new link")
        }
        return key
    }

    private func checkSignature(of link: Link, under key: LinkKey) throws(LinkError) {
        let given = try LinkReader.signature(link.values[.signature] ?? "")
        let right = key.sign(link.values.message)
        guard equalInConstantTime(given.span, right.span) else {
            throw LinkError(
                .wrongSignature, .signature, found: "one that doesn't fit",
                expected: "the link as it was signed under the key \(key.id)",
                hint: "the link was changed, or signed with another key")
        }
    }

    private func check(_ grant: LinkGrant, at clock: Clock, under key: LinkKey) throws(LinkError) {
        if let meant = grant.gateway, meant != gateway {
            throw LinkError(
                .otherGateway, .gateway, found: "\(Shown.text(meant)), another gateway", expected: gateway)
        }
        // A wrong clock would call good links expired, and expired ones good.
        guard clock.isSynchronised, clock.now.seconds >= built else {
            let state = clock.isSynchronised ? "which is before this program was built" : "not synchronised"
            throw LinkError(
                .clock, .expires, found: "the gateway's clock at \(clock.now), \(state)",
                expected: "a clock that is right",
                hint: "the gateway's clock isn't set; the link may be good")
        }
        let earliest = clock.now.seconds - Self.leeway
        guard grant.expires >= earliest else {
            throw LinkError(
                .expired, .expires, found: "\(UnixTime(seconds: grant.expires)), which is over",
                expected: "a time after \(clock.now)",
                hint: "ask for a new link")
        }
        if let until = key.until, until < earliest {
            throw LinkError(
                .expiredKey, .key, found: "\(key.id), which ended at \(UnixTime(seconds: until))",
                expected: "a key that is in use",
                hint: "ask for a new link")
        }
        if let once = grant.once, spent.contains(Nonce(key: key.id, once: once)) {
            throw LinkError(
                .spent, .once, found: "a link that was used already", expected: "each such link once",
                hint: "ask for a new link")
        }
    }

    static func checkRights(of key: LinkKey, to proxy: LinkedProxy) throws(LinkError) {
        guard key.scope.contains(.links) else {
            throw LinkError(
                .scope, .key, found: "\(key.id), which may not sign links", expected: "a key with the scope \"links\"")
        }
        guard key.allows(proxy.server.host) else {
            throw LinkError(
                .hostNotAllowed, .host, found: "\(proxy.server), which the key \(key.id) may not name",
                expected: "a host within the key's hosts")
        }
    }
}
