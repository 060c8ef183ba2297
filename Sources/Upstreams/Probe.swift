/// # Probes: whether an upstream works, found out step by step
///
/// A probe goes the way that a stream of a user would go, with the same `Dial`, and says of each step how long it took
/// or why it failed:
///
///     resolve ─▶ connect ─▶ proxy (CONNECT, SOCKS5) ─▶ request ─▶ page
///
/// `ProbeRun` is one probe under way: events and time in, what to do next out. `Prober` runs many beside each other on
/// a thread of its own. Nothing here knows what a colour is: `Health` makes one of the samples.

public import Bytes
public import Health
public import Wire

/// What is to be found out.
public struct ProbeRequest: Sendable {
    public var upstream: Upstream
    /// The page to ask for; without one nothing but a TCP connection to the proxy is tried.
    public var page: ProbePage?
    /// For everything up to the page, and once more for the look at a certificate.
    public var timeout = Interval.seconds(10)
    /// The host whose certificate is looked at through the upstream.
    public var certificate: Target?

    public init(_ upstream: Upstream, page: ProbePage? = nil) {
        self.upstream = upstream
        self.page = page
    }
}

/// One step of a probe, and what became of it.
public struct ProbeStep: Equatable, Sendable {
    /// What is tried, in this order.
    public enum Name: String, CaseIterable, Sendable {
        /// The name of the proxy, or of the page's host where there is none.
        case resolve
        /// A TCP connection.
        case connect
        /// The proxy's answer to CONNECT, or to SOCKS5's request.
        case proxy
        /// The head of the answer to the request for the page.
        case request
        /// Whether it is the page that was expected.
        case page
    }

    public var name: Name
    public var took: Interval
    /// Why it failed; nil where it did not.
    public var failure: Cause?
    /// What was found, in one line.
    public var words: String

    public init(_ name: Name, took: Interval, failure: Cause? = nil, words: String) {
        self.name = name
        self.took = took
        self.failure = failure
        self.words = words
    }
}

/// What was found out.
public struct ProbeResult: Equatable, Sendable {
    /// What the asker gave, to find its own again.
    public var ticket: UInt64
    /// The steps in their order; the first one that failed is the last.
    public var steps: [ProbeStep] = []
    /// What it says about connections; nil where none was tried.
    public var connect: Sample?
    /// What it says about requests; nil where it did not come to one.
    public var request: Sample?
    /// Who has signed the certificate that was looked at.
    public var certificate: CertificateLook?
    /// The page, where it was to be kept and was the right one, and where it leads else.
    public var body: [UInt8]?
    public var redirect: String?

    public init(ticket: UInt64) { self.ticket = ticket }

    /// Who has signed the certificate, where it could be read.
    public var issuer: String? {
        if case .issuer(let name)? = certificate { name } else { nil }
    }
}

/// What a look at a certificate has shown.
public enum CertificateLook: Equatable, Sendable {
    /// The issuer of the certificate that a client behind the upstream gets to see.
    case issuer(String)
    /// There was none to be read; the words say why.
    case unreadable(String)
}
