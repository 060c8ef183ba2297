/// # Upstreams: the way to a target
///
/// An `Upstream` is what a profile names: an HTTP proxy, a SOCKS5 proxy, or nothing in between. A `Dial`
/// carries one stream there, from "whose address is it" to "the proxy said yes". The conversations
/// themselves (`ConnectDialogue`, `SOCKS5Dialogue`) are values without sockets; the dial moves their bytes.
///
///     start ─▶ needsName ─▶ resolved ─▶ register ─▶ ready … ─▶ open or failed
///
/// Workers share an `Upstream`; it never changes, but for what was learned about it. Other settings may stand around
/// the same upstream: a timeout, an address of this machine. They make another object of it, with the same number.

import Addresses
public import Bytes
internal import Synchronization
public import Wire

/// What the configuration says about one upstream.
public struct UpstreamSettings: Equatable, Sendable {
    /// How it is spoken to.
    public enum Kind: Equatable, Sendable {
        /// A proxy that takes CONNECT (RFC 9110, section 9.3.6).
        case http(server: Target)
        /// A proxy that speaks RFC 1928.
        case socks5(server: Target)
        /// The target itself.
        case direct
    }

    /// When credentials are sent.
    public enum Authentication: Equatable, Sendable { case preemptive, challenge }

    /// How plain http goes through an HTTP proxy.
    public enum PlainHTTP: Equatable, Sendable {
        /// With CONNECT until the proxy refuses one to port 80 with 403 or 405, then in absolute form.
        case auto
        case connect
        case absolute
    }

    /// What becomes of a client's FIN.
    public enum HalfClose: Equatable, Sendable {
        /// It is passed on.
        case pass
        /// It is held back until the upstream has closed: some proxies end a tunnel at the first FIN.
        case hold
    }

    public var kind: Kind
    public var user: String?
    public var password: String?
    public var authentication = Authentication.preemptive
    /// Says who the client is, for proxies that keep their clients apart.
    public var identify = false
    public var plainHTTP = PlainHTTP.auto
    public var halfClose = HalfClose.pass
    /// For one TCP connection.
    public var connectTimeout = Interval.seconds(5)
    /// The time before the next address is tried beside the last one (RFC 8305, section 5).
    public var attemptDelay = Interval.milliseconds(250)
    /// How long rejected credentials rest before they are tried again.
    public var credentialRest = Interval.seconds(15 * 60)
    /// For everything, names and logins included.
    public var overallTimeout = Interval.seconds(20)
    /// The routing mark of our sockets.
    public var mark: UInt32?
    /// Where streams may not go.
    public var policy = DirectPolicy()

    public init(_ kind: Kind) { self.kind = kind }

    /// Whether a stream through either goes the same way and is treated alike.
    ///
    /// How long a dial takes at most and which addresses it must not go to, this machine's own among them, concern
    /// streams that are yet to be opened.
    public func isSameUpstream(as other: UpstreamSettings) -> Bool {
        kind == other.kind && user == other.user && password == other.password
            && authentication == other.authentication && identify == other.identify && plainHTTP == other.plainHTTP
            && halfClose == other.halfClose && mark == other.mark && policy.allowed == other.policy.allowed
    }
}

extension UpstreamSettings: CustomStringConvertible, CustomReflectable {
    /// The way without its secret.
    public var description: String {
        switch kind {
        case .http(let server): "http \(server)"
        case .socks5(let server): "socks5 \(server)"
        case .direct: "direct"
        }
    }

    public var customMirror: Mirror { Mirror(self, children: ["kind": description]) }
}

/// Why settings cannot be used.
public enum UpstreamSettingsError: Error, Equatable, Sendable, CustomStringConvertible {
    /// Basic credentials have no colon in the user and no control characters (RFC 7617, section 2).
    case unusableBasicCredentials
    /// A SOCKS5 login has 1 to 255 octets in either part (RFC 1929, section 2).
    case unusableSOCKS5Login

    public var description: String {
        switch self {
        case .unusableBasicCredentials:
            "a user name for an HTTP proxy must not contain a colon, and neither part may hold control characters"
        case .unusableSOCKS5Login:
            "user and password for a SOCKS5 proxy must have 1 to 255 bytes each"
        }
    }
}

/// One upstream as the workers share it.
public final class Upstream: Sendable {
    public let settings: UpstreamSettings
    /// Which one it is: two objects have the same where they stand for the same upstream.
    public let number: Int

    let credentials: BasicCredentials?
    let login: SOCKS5Login?
    /// The server's address where it was given as one.
    let literalAddress: [IPAddress]?
    private let learned: Learned

    /// What dials have shown, whichever settings they had.
    private final class Learned: Sendable {
        let gate = CredentialGate()
        let reach = UpstreamReach()
        let book = TrafficBook()
        let port80Refused = Atomic(false)
    }

    var gate: CredentialGate { learned.gate }
    var reach: UpstreamReach { learned.reach }
    var book: TrafficBook { learned.book }

    public convenience init(_ settings: UpstreamSettings, number: Int = 0) throws(UpstreamSettingsError) {
        try self.init(settings, number: number, Learned())
    }

    /// The same upstream with other settings around it.
    public convenience init(_ settings: UpstreamSettings, continuing other: Upstream) throws(UpstreamSettingsError) {
        try self.init(settings, number: other.number, other.learned)
    }

    private init(_ settings: UpstreamSettings, number: Int, _ learned: Learned) throws(UpstreamSettingsError) {
        self.settings = settings
        self.number = number
        self.learned = learned
        var credentials: BasicCredentials?
        var login: SOCKS5Login?
        if let user = settings.user {
            let password = settings.password ?? ""
            switch settings.kind {
            case .http:
                credentials = BasicCredentials(user: user, password: password)
                guard credentials != nil else { throw .unusableBasicCredentials }
            case .socks5:
                guard (1...255).contains(user.utf8.count), (1...255).contains(password.utf8.count) else {
                    throw .unusableSOCKS5Login
                }
                login = SOCKS5Login(user: Array(user.utf8), password: Array(password.utf8))
            case .direct:
                break
            }
        }
        self.credentials = credentials
        self.login = login
        switch settings.kind {
        case .http(let server), .socks5(let server):
            if case .address(let address) = server.host { literalAddress = [address] } else { literalAddress = nil }
        case .direct:
            literalAddress = nil
        }
    }

    /// Whether both stand for the same upstream.
    public func isSame(as other: Upstream) -> Bool { number == other.number }

    /// The machine that is connected to; nil for direct dials.
    public var server: Target? {
        switch settings.kind {
        case .http(let server), .socks5(let server): server
        case .direct: nil
        }
    }

    /// Whether it can be asked in absolute form at all.
    var mayUseAbsoluteForm: Bool {
        if case .http = settings.kind { true } else { false }
    }

    /// Whether plain http goes to this upstream in absolute form, by the settings or by what was learned.
    public var usesAbsoluteForm: Bool {
        guard mayUseAbsoluteForm else { return false }
        switch settings.plainHTTP {
        case .auto: return learned.port80Refused.load(ordering: .relaxed)
        case .connect: return false
        case .absolute: return true
        }
    }

    /// The translator for a stream that was opened in absolute form.
    public func forward(to target: Target, for client: ClientIdentity?, oneRequest: Bool = false) -> HTTPForward {
        var fields: [UInt8] = []
        if settings.identify { client?.writeFields(into: &fields) }
        var authorization: [UInt8] = []
        credentials?.writeProxyAuthorization(into: &authorization)
        return HTTPForward(
            to: target, as: .absolute, adding: fields, credentials: authorization, oneRequest: oneRequest)
    }

    /// Whether the credentials are known to be bad and are not sent for the time being.
    public func credentialsAreLockedOut(at now: Instant) -> Bool { gate.isShut(at: now) }

    /// Takes note of a 407 that came to credentials outside of a dial: in absolute form.
    public func credentialsWereRejected(at now: Instant) { gate.reject(at: now, for: settings.credentialRest) }

    /// Has the next request for plain http find out anew how it goes: what was learned did not lead anywhere.
    func forgetAbsoluteForm() { learned.port80Refused.store(false, ordering: .relaxed) }

    /// Whether a CONNECT that was answered so is to be carried on in absolute form; remembers it if it is.
    func fallsBackToAbsoluteForm(_ target: Target, status: Int) -> Bool {
        guard target.port == 80, status == 403 || status == 405, settings.plainHTTP == .auto else { return false }
        learned.port80Refused.store(true, ordering: .relaxed)
        return true
    }
}
