/// # Lint: what a proxy does, tried out, and the settings that fit it
///
///     resolve ─▶ connect ─▶ CONNECT site:443 ─▶ login ─▶ site:80 ─▶ a port of ours ─▶ … ─▶ idle
///
/// It needs no daemon: it blocks, on sockets of its own. Wherever the proxy lets it, the far end of a tunnel is a
/// listener on this machine, so that both ends of what the proxy carries are in one hand and nobody else decides a
/// verdict. The rest is tried with a web site behind the proxy, which the caller names.
///
/// `LintRun` tries, `LintFindings` keeps what was seen, `LintAdvice` makes settings of that.

public import Bytes
public import LinuxIO
public import Wire

/// What is to be tried out.
public struct LintPlan: Sendable {
    public var server: Target
    public var user: String?
    public var password: String?
    /// A web site behind the proxy, on the ports 80 and 443.
    public var site = Host.name("example.com")
    /// How long a tunnel without traffic is watched.
    public var idle = Interval.seconds(15)
    /// For one answer.
    public var timeout = Interval.seconds(10)
    /// The routing mark of our sockets.
    public var mark: UInt32?

    public init(_ server: Target) { self.server = server }
}

extension LintPlan: CustomStringConvertible, CustomReflectable {
    /// The plan without its secret.
    public var description: String { "lint \(server)" }
    public var customMirror: Mirror { Mirror(self, children: ["server": server]) }
}

/// One thing that was tried.
public struct LintCheck: Equatable, Sendable {
    /// What was tried.
    public enum Name: String, CaseIterable, Sendable {
        case name
        case connect
        case login
        case port443
        case port80
        case otherPort
        case framing
        case firstOctets
        case halfClose
        case unknownHost
        case certificate
        case idle
    }

    /// How well it works.
    public enum Verdict: String, CaseIterable, Sendable {
        case good
        /// It works, and somebody should know.
        case odd
        case bad
        /// It could not be tried.
        case unknown
    }

    public var name: Name
    public var verdict: Verdict
    public var words: String
    public var took: Interval?

    public init(_ name: Name, _ verdict: Verdict, _ words: String, took: Interval? = nil) {
        self.name = name
        self.verdict = verdict
        self.words = words
        self.took = took
    }
}

/// The program behind the port, in the words of a profile's `kind`.
public enum ProxyKind: String, CaseIterable, Sendable {
    case other
    case whistle
    case charles
    case mitmproxy
    case proxyman
    case squid
    case tinyproxy
}

/// A key of a profile, the value that fits, and why.
public struct LintSetting: Equatable, Sendable {
    /// As it stands in the profile.
    public enum Value: Equatable, Sendable {
        case text(String)
        case flag(Bool)
    }

    public var key: String
    public var value: Value
    public var reason: String
    /// Whether it belongs into `upstream`, or stands beside it.
    public var isUpstreams: Bool
}

/// What was found out.
public struct LintReport: Equatable, Sendable {
    public var server: Target
    /// `http` or `socks5`; nil where it is neither.
    public var type: String?
    public var kind = ProxyKind.other
    public var checks: [LintCheck] = []
    public var settings: [LintSetting] = []
    /// What else one should know.
    public var notes: [String] = []

    public init(server: Target) { self.server = server }

    /// The worst of what was tried.
    public var grade: LintCheck.Verdict {
        let found = checks.map(\.verdict)
        return [.bad, .odd].first(where: found.contains) ?? .good
    }
}

public enum Lint {
    /// Tries a proxy out; with a proxy that answers it takes about as long as `idle`, and never longer than a dozen
    /// timeouts.
    public static func run(_ plan: LintPlan) throws(SystemCallError) -> LintReport {
        var run = try LintRun(plan)
        return try run.run()
    }
}
