/// What is asked about a flow, and what is answered: the words that every part of the gateway shares.

public import Addresses

/// What carries a flow.
public enum Network: String, Hashable, Sendable {
    case tcp
    case udp
}

/// What is known of a flow; nil is not known, and a rule that looks at it does not match.
public struct RouteQuery: Equatable, Sendable {
    /// As `DomainName.normalise` returns it: lower-case A-labels without a trailing dot.
    public var name: String?
    /// Where the flow goes, never a fake address: those say nothing.
    public var address: IPAddress?
    public var port: UInt16?
    /// The device's address.
    public var source: IPAddress?
    public var network: Network?

    public init(
        name: String? = nil, address: IPAddress? = nil, port: UInt16? = nil, source: IPAddress? = nil,
        network: Network? = nil
    ) {
        self.name = name
        self.address = address
        self.port = port
        self.source = source
        self.network = network
    }
}

/// What happens to a flow.
public enum Verdict: Hashable, Sendable, CustomStringConvertible {
    /// Through the upstream of the device's profile.
    case proxy
    /// Through the upstream of another profile.
    case profile(String)
    case direct
    case reject

    /// As the rules spell it.
    public var description: String {
        switch self {
        case .proxy: "PROXY"
        case .profile(let name): name
        case .direct: "DIRECT"
        case .reject: "REJECT"
        }
    }
}

/// Whether the domain list says what is proxied, or everything is.
public enum Mode: String, Sendable {
    case domain
    case global
}

/// One entry of a list as the configuration has it.
public struct SourceText: Equatable, Sendable {
    public var text: String
    public var line: Int?
    public var file: String?

    public init(text: String, line: Int? = nil, file: String? = nil) {
        self.text = text
        self.line = line
        self.file = file
    }
}

/// Names that go through the profile's own upstream in both modes, because they mean something to it alone.
public struct ImpliedNames: Equatable, Sendable {
    /// What stands in the place of a list's name in explanations.
    public var list: String
    /// Each by itself, without what is below it.
    public var names: [String]

    public init(list: String, names: [String]) {
        self.list = list
        self.names = names
    }
}

/// What happens to a flow, and why.
public struct Decision: Equatable, Sendable {
    public var verdict: Verdict
    /// The entry that matched; nil when none did and the mode decided.
    public var origin: RuleOrigin?

    public init(verdict: Verdict, origin: RuleOrigin? = nil) {
        self.verdict = verdict
        self.origin = origin
    }

    /// Whether no entry looked at the flow: the mode decided, or a MATCH, and what is done for phones comes first.
    public var isByDefault: Bool { origin?.isCatchAll ?? true }
}

/// What a name alone says about the flows to it.
public enum NameOutcome: Equatable, Sendable {
    /// Every flow to the name is decided so, whatever its port, network or device.
    case settled(Decision)
    /// It depends on the flow, and one of them may be proxied or refused.
    case open
}

/// What has to be routed into the TUN device beside the fake range.
public enum Capture: Equatable, Sendable {
    /// Only these networks: everything else is decided by name, and names that are not direct get fake addresses.
    case names(prefixes: [IPPrefix])
    /// Everything, and which rule or mode forces it.
    case all(because: String)
}
