/// # Fetching a decrypting proxy's certificate, through that proxy
///
/// The proxy answers a few names itself, by plain http and in absolute form. What comes back is whatever stands behind
/// those names for whoever asks, so it is read strictly and believed nothing:
///
///     request ─▶ Prober ─ ProbeResult ─▶ take ──▶ a certificate
///        ▲                                 ├────▶ why there is none
///        └──── once, within the names ─────┘

public import Bytes
public import Health
public import Wire

/// Why there is no certificate.
public enum AuthorityFetchError: Error, Equatable, Sendable {
    /// The proxy is not there, or does not answer as one.
    case upstream(Cause)
    /// Another page is there; the words say what was found at the URL.
    case page(url: String, words: String)
    case certificate(url: String, CertificateError)

    /// One line, for the upstream of this name.
    public func sentence(_ name: String) -> String {
        switch self {
        case .upstream(let cause): cause.sentence(name)
        case .page(let url, let words): "\(url) through \(name): \(words)"
        case .certificate(let url, let error): "\(url) through \(name): \(error)"
        }
    }
}

/// One fetch under way, without its input and output.
public struct AuthorityFetch: Equatable, Sendable {
    /// What is to be done next, or what came of it.
    public enum Step: Equatable, Sendable {
        /// Ask again: the page is another one now.
        case again
        case found(Certificate)
        case failed(AuthorityFetchError)
    }

    /// For each request.
    public static let timeout = Interval.seconds(10)
    /// Redirects that are followed.
    private static let maximumRedirects = 1

    /// The names that the proxy answers itself.
    private let hosts: [String]
    private var page: ProbePage
    private var redirects = 0

    /// A fetch of a page of the first of these names.
    public init(hosts: [String], path: String) {
        precondition(!hosts.isEmpty, "no name to ask for")
        self.hosts = hosts
        page = Self.page(Target(host: .name(hosts[0]), port: 80), path)
    }

    private static func page(_ target: Target, _ path: String) -> ProbePage {
        var page = ProbePage(target, path: path)
        page.via = .absolute
        page.keepsBody = true
        return page
    }

    /// Where it stands.
    public var url: String { page.url }

    /// What the prober is asked.
    public func request(through upstream: Upstream) -> ProbeRequest {
        var request = ProbeRequest(upstream, page: page)
        request.timeout = Self.timeout
        return request
    }

    /// Takes the prober's answer.
    public mutating func take(_ result: ProbeResult) -> Step {
        if let body = result.body {
            do throws(CertificateError) {
                return .found(try Certificate.parse(body))
            } catch {
                return .failed(.certificate(url: url, error))
            }
        }
        if let redirect = result.redirect { return follow(redirect) }
        guard let step = result.steps.last(where: { $0.failure != nil }), let cause = step.failure else {
            return .failed(.page(url: url, words: "found no answer; expected a certificate"))
        }
        guard step.name == .page else { return .failed(.upstream(cause)) }
        return .failed(.page(url: url, words: "found \(step.words); expected a certificate"))
    }

    private mutating func follow(_ address: String) -> Step {
        let place = HTTPErrorText.clean(Array(address.utf8))
        guard redirects < Self.maximumRedirects, let next = resolve(address) else {
            let expected = redirects < Self.maximumRedirects ? hosts.joined(separator: " or ") : "no more than one"
            return .failed(.page(url: url, words: "found a redirect to \(place); expected \(expected)"))
        }
        redirects += 1
        page = next
        return .again
    }

    /// The page of an address: a whole one by plain http on port 80, or a path on the same host.
    private func resolve(_ address: String) -> ProbePage? {
        let address = address.prefix { $0 != "#" }
        if address.hasPrefix("/"), !address.hasPrefix("//") { return Self.page(page.target, String(address)) }
        guard address.lowercased().hasPrefix("http://") else { return nil }
        let rest = address.dropFirst("http://".count)
        let authority = rest.prefix { $0 != "/" && $0 != "?" }
        guard let target = Target.parse(Array(authority.lowercased().utf8).span, defaultPort: 80), target.port == 80,
            case .name(let name) = target.host, hosts.contains(name)
        else { return nil }
        let path = rest.dropFirst(authority.count)
        return Self.page(target, path.hasPrefix("/") ? String(path) : "/" + path)
    }
}
