/// A proxy as a tester sees it: whose it is, how it is, and whether it reads along.

public import Health
internal import Profiles

/// A profile's upstream.
public struct UpstreamView: Equatable, Sendable {
    /// Which program it is, as far as a person has to know.
    public enum Kind: String, CaseIterable, Sendable {
        case whistle, charles, mitmproxy, proxyman
        /// One that passes on what it gets, or of which nothing is known.
        case plain

        /// Whether it reads what is encrypted, so that a phone has to trust its certificate.
        public var decrypts: Bool { self != .plain }

        /// As it is called.
        var name: String {
            switch self {
            case .whistle: "Whistle"
            case .charles: "Charles"
            case .mitmproxy: "mitmproxy"
            case .proxyman: "Proxyman"
            case .plain: "the proxy"
            }
        }
    }

    /// Whether what is encrypted is read.
    public enum Reading: Equatable, Sendable {
        /// Its kind says so, or a certificate of its own was seen.
        case decrypts(issuer: String?)
        /// The certificates that came through it were those of the hosts.
        case passes
        case unknown
    }

    /// Host and port, `10.20.3.77:8899`; nil: there is none, requests go out directly.
    public var address: String?
    public var kind: Kind
    public var reading: Reading
    public var colour: Colour
    /// Why it is not green.
    public var cause: Cause?
    /// What is worth a word although it is green.
    public var note: String?
    /// Since when it has had its colour, and when a request last came through; seconds since 1970.
    public var since: Int64?
    public var lastGood: Int64?

    public init(
        address: String?, kind: Kind = .plain, reading: Reading = .unknown, colour: Colour, cause: Cause? = nil,
        note: String? = nil, since: Int64? = nil, lastGood: Int64? = nil
    ) {
        self.address = address
        self.kind = kind
        self.reading = reading
        self.colour = colour
        self.cause = cause
        self.note = note
        self.since = since
        self.lastGood = lastGood
    }

    /// What it is called in sentences.
    var name: String { address ?? "the way out" }
}

extension UpstreamView {
    /// A sign and a word; the colour comes on top.
    var state: Markup { Self.state(colour) }

    static func state(_ colour: Colour) -> Markup {
        switch colour {
        case .green: tag(.span, .class("state green")) { "✓ Works" }
        case .yellow: tag(.span, .class("state yellow")) { "! Trouble" }
        case .red: tag(.span, .class("state red")) { "✕ Does not work" }
        case .grey: tag(.span, .class("state grey")) { "? Not known" }
        }
    }

    /// How the state is framed.
    var frame: StaticString {
        switch colour {
        case .green: "status green"
        case .yellow: "status yellow"
        case .red: "status red"
        case .grey: "status grey"
        }
    }

    /// Who reads along, in one sentence.
    var readingWords: Markup {
        guard address != nil else { return Markup("No proxy sees this phone's requests: they go out directly.") }
        let subject = foreign(name) + Markup(kind == .plain ? "" : " (\(kind.name))")
        switch reading {
        case .decrypts(let issuer):
            let whose = issuer.map { Markup(", with certificates by ") + foreign($0) } ?? .empty
            return subject + Markup(" sees the names of all hosts and reads encrypted requests too") + whose
                + Markup(". Without its certificate this phone shows warnings, and most apps refuse to work.")
        case .passes:
            return subject + Markup(" sees the names of hosts, and passes encrypted requests on unread.")
        case .unknown:
            return subject
                + Markup(" sees the names of hosts. Whether it reads encrypted requests is not known yet.")
        }
    }
}

/// A profile as a device has it.
public struct ProfileView: Equatable, Sendable {
    /// What goes through the proxy.
    public enum Mode: Equatable, Sendable {
        case everything
        /// These domains, and all below them.
        case domains([String])
        /// Nothing: the profile's upstream is direct.
        case nothing
    }

    public var id: String
    public var name: String
    public var mode: Mode
    public var upstream: UpstreamView

    public init(id: String, name: String, mode: Mode, upstream: UpstreamView) {
        self.id = id
        self.name = name
        self.mode = mode
        self.upstream = upstream
    }

    /// The domains that are named in a sentence; a longer list is folded.
    private static let shownDomains = 5

    var modeWords: Markup {
        switch mode {
        case .everything: return Markup("Everything goes through the proxy.")
        case .nothing: return Markup("Everything goes out directly.")
        case .domains(let domains):
            guard domains.count > Self.shownDomains else {
                return Markup("Only these go through the proxy: ") + foreign(domains.joined(separator: ", "))
                    + Markup(". All else goes out directly.")
            }
            return tag(.details) {
                tag(.summary) { "Only \(domains.count) domains go through the proxy" }
                tag(.ul) { Markup.joined(domains.map { domain in tag(.li) { foreign(domain) } }) }
            }
        }
    }
}
