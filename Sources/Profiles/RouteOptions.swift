/// What a profile proxies, as its lists say it.

/// Lists of rules, and what is done where a list alone doesn't decide.
public struct RouteOptions: Equatable, Sendable {
    /// What is proxied; empty: everything is (global mode).
    public var domains: [RuleText] = []
    /// What is not, before `domains` are asked.
    public var bypass: [RuleText] = []
    /// Rules in the notation of Surge and Clash, asked before both.
    public var rules: [RuleText] = []
    public var capture = Capture.auto
    public var connectName = ConnectName.evidence
    public var sniff = Sniff.needed
    public var udp = UDP.reject

    /// What is routed into the TUN device.
    public enum Capture: String, CaseIterable, Sendable {
        /// The fake addresses, and more where a rule needs more.
        case auto
        /// In domain mode the real addresses of the listed names too, for apps that have a resolver of their own.
        case addresses
    }

    /// Which name a CONNECT bears when the client named none.
    public enum ConnectName: String, CaseIterable, Sendable {
        /// What the client's first bytes say, where the names it was answered agree; else the address.
        case evidence
        /// What the client's first bytes say, for proxies that decrypt.
        case sni
    }

    /// Whether the client's first bytes are read for a name.
    public enum Sniff: String, CaseIterable, Sendable {
        /// Where no name is known and one could change the decision.
        case needed
        /// Where no name is known.
        case always
        case off
    }

    /// What becomes of datagrams that nothing else is said of.
    public enum UDP: String, CaseIterable, Sendable {
        /// Port unreachable, so that QUIC falls back to TCP at once.
        case reject
        /// They are sent to their destination by the gateway itself.
        case direct
    }

    public init() {}
}

/// One entry of a list of rules, with its place.
///
/// Two entries are equal when they say the same, wherever they stand: an edit elsewhere changes no rule.
public struct RuleText: Equatable, Sendable {
    public var text: String
    /// Nil for one that was never in a file.
    public var position: TextPosition?

    public init(_ text: String, at position: TextPosition? = nil) {
        self.text = text
        self.position = position
    }

    public static func == (left: RuleText, right: RuleText) -> Bool { left.text == right.text }
}

/// A file of rules that RULE-SET names.
public struct RuleSetFile: Equatable, Sendable {
    public var name: String
    /// The path as it is written; a relative one is meant from the configuration's directory.
    public var file: String
    public var format: Format
    /// Where the configuration names the file; two sets are equal wherever they stand.
    public var position: TextPosition?

    /// The notation of the file.
    public enum Format: String, CaseIterable, Sendable {
        /// Told by the first line that says anything.
        case auto
        /// One entry a line, as in `domains`.
        case plain
        /// A hosts file.
        case hosts
        /// Domain lists of v2fly.
        case v2fly
        /// A payload of Clash.
        case clash
        /// A list of Surge: rules without their policy.
        case surge
    }

    public init(name: String, file: String, format: Format = .auto) {
        self.name = name
        self.file = file
        self.format = format
    }

    public static func == (left: RuleSetFile, right: RuleSetFile) -> Bool {
        left.name == right.name && left.file == right.file && left.format == right.format
    }
}
