/// # Config links: one scan, another environment
///
/// A link says `activate` and either names a profile that the gateway has, or brings a proxy's address along:
///
///     http://10.9.0.1/a?v=1&profile=whistle-qa
///     starship://activate?v=1&name=Whistle%20QA&host=whistle.qa.example&port=8899&exp=…&kid=beetle&sig=…
///
/// The first holds no secret and never expires: it works for profiles marked `selfService`, and follows the profile
/// when its proxy moves. The second is signed under a named key and expires. Both work behind `starship://activate?`
/// and behind `http://GATEWAY/a?`.
///
///     text ── Link.parse ──▶ Link ── LinkVerifier.check ──▶ what may be done
///     LinkedProxy, LinkKey ── Link.init ──▶ Link ── text ──▶ what a QR code says
///
/// A link carries values and nothing else: it never names a file, a secret, a command or a place to fetch from. It is
/// read strictly: whatever isn't understood is refused by an error of its own, because half a link is another link.

internal import Addresses
internal import Routing

/// A link that is well-formed; whether it may do what it says is `LinkVerifier`'s to decide.
public struct Link: Equatable, Sendable {
    /// What stands in front of the parameters.
    public enum Form: Equatable, Sendable {
        /// `starship://activate?`
        case starship
        /// `http://GATEWAY/a?`: the page of a gateway, by its name or address, with its port where that isn't 80.
        case page(gateway: String)
    }

    /// What the link asks for.
    public enum Request: Equatable, Sendable {
        /// A profile of the gateway's, by its id.
        case profile(String)
        /// A proxy that the link describes, and the right to it.
        case proxy(LinkedProxy, LinkGrant)
    }

    public let form: Form
    public let request: Request
    /// The decoded values as they were written: a host in capitals is another text under a signature.
    let values: LinkValues

    /// The most octets of a link.
    public static let sizeLimit = 4096

    /// A link to a profile; traps when the id is none that a configuration could have, or the gateway no `isGateway`.
    public init(profile id: String, form: Form) {
        precondition(LinkValues.isIdentifier(id), "no profile has such an id")
        if case .page(let gateway) = form { precondition(Self.isGateway(gateway), "no gateway has such a name") }
        self.init(form: form, request: .profile(id), values: LinkValues([.version: "1", .profile: id]))
    }

    init(form: Form, request: Request, values: LinkValues) {
        self.form = form
        self.request = request
        self.values = values
    }

    /// The link as a QR code says it, and as `parse` reads it.
    ///
    /// The parameters stand in one order, and each character is encoded in one way.
    public var text: String {
        let head =
            switch form {
            case .starship: "starship://activate?"
            case .page(let gateway): "http://\(gateway)/a?"
            }
        return head + values.query
    }

    public static func == (left: Link, right: Link) -> Bool {
        left.form == right.form && left.values == right.values
    }
}

/// A proxy as a link describes it.
public struct LinkedProxy: Equatable, Sendable {
    /// A name to show; the server where the link has none.
    public var name: String
    /// `http` or `socks5`.
    public var type: Upstream.UpstreamType
    public var server: Upstream.Server
    /// What is proxied, spelled as in a profile's `domains`; empty: everything.
    public var domains: [String]

    public init(
        name: String? = nil, type: Upstream.UpstreamType = .http, server: Upstream.Server, domains: [String] = []
    ) {
        self.name = name ?? server.description
        self.type = type
        self.server = server
        self.domains = domains
    }

    /// The profile that the link amounts to.
    public func profile(id: String) -> Profile {
        var profile = Profile(id: id, name: name, upstream: Upstream(type: type, server: server))
        profile.routes.domains = domains.map { RuleText($0, at: nil) }
        return profile
    }
}

/// By whose right, for how long and for which gateway a link is good.
public struct LinkGrant: Equatable, Sendable {
    /// The `id` of the key (`kid`).
    public var key: String
    /// The last second, counted from 1970 (`exp`).
    public var expires: Int64
    /// The only gateway that it is for (`gw`); nil: each one that knows the key.
    public var gateway: String?
    /// With this, the link works a single time (`once`).
    public var once: String?

    /// The latest `exp`: the end of the year 9999.
    public static let latest: Int64 = 253_402_300_799

    public init(key: String, expires: Int64, gateway: String? = nil, once: String? = nil) {
        self.key = key
        self.expires = expires
        self.gateway = gateway
        self.once = once
    }
}
