/// Who may be answered at all: other sites have no business here, whatever they make a browser send.
///
/// A page of somebody else can make a browser send almost anything to almost any address. What it can't do is choose
/// Host, which says under which name it believes to be talking (so a name that was pointed at us is told apart), nor
/// Origin, nor read a token.

public import Addresses

/// What a request's head says, as it stands there.
public struct PageHead: Equatable, Sendable {
    public var method: String
    /// Empty where there is none.
    public var host: String
    public var origin: String?
    public var contentType: String?
    /// The octets of the body.
    public var bodyCount: Int

    public init(
        method: String, host: String, origin: String? = nil, contentType: String? = nil, bodyCount: Int = 0
    ) {
        self.method = method
        self.host = host
        self.origin = origin
        self.contentType = contentType
        self.bodyCount = bodyCount
    }
}

/// Checks heads against what is ours.
public struct PageGuard: Sendable {
    /// Under which host a request came.
    public enum Place: Equatable, Sendable {
        /// The page's own.
        case page
        /// One that only a self-check's images have, with the label in front of the name, or the address.
        case check(String)
    }

    /// The name of the page.
    public static let name = "starship.internal"
    /// What the names of self-checks end with.
    public static let checkSuffix = ".check.starship.internal"
    /// The octets that a form may have.
    public static let bodyLimit = 16 << 10

    private let addresses: Set<IPAddress>
    private let checks: Set<IPAddress>
    private let ports: Set<UInt16>

    /// Takes the addresses that the page has on the LAN, those that only the self-check has, and the listener's port.
    public init(addresses: Set<IPAddress>, checks: Set<IPAddress> = [], port: UInt16) {
        self.addresses = addresses
        self.checks = checks
        ports = [80, port]
    }

    /// Returns whose host the request names; a POST is from a page of ours then, as far as a browser can say.
    public func check(_ head: PageHead) throws(PageRefusal) -> Place {
        guard let authority = Authority(parsing: head.host), ports.contains(authority.port),
            let place = place(of: authority.host)
        else { throw .otherHost }
        switch head.method {
        case "GET", "HEAD": return place
        case "POST" where place == .page: break
        default: throw .method(allowed: place == .page ? ["GET", "HEAD", "POST"] : ["GET", "HEAD"])
        }
        guard let origin = head.origin, origin.hasPrefix("http://"),
            Authority(parsing: String(origin.dropFirst("http://".count))) == authority
        else { throw .otherOrigin }
        guard Self.isForm(head.contentType ?? "") else { throw .notForm }
        guard head.bodyCount <= Self.bodyLimit else { throw .tooLarge }
        return .page
    }

    private func place(of host: Authority.Host) -> Place? {
        switch host {
        case .address(let address) where addresses.contains(address): return .page
        case .address(let address): return checks.contains(address) ? .check(address.description) : nil
        case .name(Self.name): return .page
        case .name(let name):
            guard name.hasSuffix(Self.checkSuffix) else { return nil }
            let label = name.dropLast(Self.checkSuffix.count)
            return label.isEmpty || label.contains(".") ? nil : .check(String(label))
        }
    }

    /// Parameters mean nothing here (WHATWG HTML, section 4.10.21.8: a form is always UTF-8 where its page is).
    private static func isForm(_ value: String) -> Bool {
        let type = value.prefix { $0 != ";" && $0 != " " && $0 != "\t" }
        return type.lowercased() == "application/x-www-form-urlencoded"
    }
}

/// Why a request is not looked at.
public enum PageRefusal: Error, Equatable, Sendable {
    /// Host is none of ours.
    case otherHost
    case method(allowed: [String])
    /// Origin is missing, hidden (`null`) or another site's.
    case otherOrigin
    case notForm
    case tooLarge
    /// The form makes no sense.
    case form(PageFormError)
    /// The token is wrong, or its time is over.
    case token
    /// There is no such page.
    case unknownPath
    case tooOften
    /// All devices together ask too often.
    case busy

    public var status: Int {
        switch self {
        case .otherHost: 421
        case .method: 405
        case .otherOrigin, .token: 403
        case .notForm: 415
        case .tooLarge: 413
        case .form: 400
        case .unknownPath: 404
        case .tooOften: 429
        case .busy: 503
        }
    }
}
