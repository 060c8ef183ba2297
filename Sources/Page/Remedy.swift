/// What is wrong with an upstream and what to do about it, for somebody with a phone in hand.
///
/// `Cause.sentence` speaks to whoever runs the gateway; this speaks to whoever sits in front of the proxy's laptop.

public import Health

/// One sentence that says what is so, and what to try, the likeliest first.
public struct Remedy: Equatable, Sendable {
    public var sentence: String
    public var steps: [String]

    /// What a cause means for an upstream of this address and kind.
    public init(_ cause: Cause, address: String, kind: UpstreamView.Kind) {
        let subject = Subject(address: address, kind: kind)
        switch cause {
        case .noUplink(let words):
            self.init("The gateway itself has no way out: \(words)", Self.gatewaySteps)
        case .gateway(let words):
            self.init("The gateway could not try \(address): \(words)", Self.gatewaySteps)
        case .wayAround(let words):
            self.init("Some of what this phone sends may go out beside the gateway: \(words)", Self.gatewaySteps)
        case .nameUnknown(let host):
            self.init(
                "The name \(host) does not resolve: it is misspelt, or its laptop is off",
                ["Have its owner say the address, and bring it here as a proxy of your own.", Self.otherProfile])
        case .portClosed: self = subject.closedPort
        case .unreachable(let words):
            self.init(
                "No connection to \(address): \(words)",
                ["Is the laptop on the network that the gateway is on?", Self.otherProfile])
        case .silent(let step): self = subject.silence(step)
        case .closed(let step), .malformed(let step, _): self = subject.nonsense(step)
        case .credentialsRejected, .schemesNotSupported, .refused, .socksRefused: self = subject.refusal(cause)
        case .originFailing(let words):
            self.init(
                "\(address) works, and the page that it was tried with does not: \(words)",
                ["Other hosts may well work: just go on."])
        case .wrongPage(let words):
            self.init(
                "Another page than the one asked for comes through \(address): \(words)",
                ["Does the laptop's own network ask for a login? Open any page there.", subject.rules])
        case .slow, .stale, .neverTried, .notVerified: self = subject.doubt(cause)
        }
    }

    fileprivate init(_ sentence: String, _ steps: [String]) {
        self.sentence = sentence
        self.steps = steps
    }

    fileprivate static let again = "Then tap “Try again” here."
    fileprivate static let otherProfile = "Or switch this phone to another profile below."
    private static let gatewaySteps = ["Tell whoever looks after the gateway; this phone can't mend it."]
}

/// The proxy that something is wrong with.
private struct Subject {
    var address: String
    var kind: UpstreamView.Kind

    var closedPort: Remedy {
        let start: String =
            switch kind {
            case .whistle: "Start it on the laptop: w2 start."
            case .charles: "Start Charles, and see Proxy, Proxy Settings for the port."
            case .mitmproxy: "Start mitmproxy or mitmweb on the laptop, and see --listen-port for the port."
            case .proxyman: "Start Proxyman, and see its window's title for the port."
            case .plain: "Start it there, or have its owner say the right port."
            }
        return Remedy(
            "\(address) is there, and nothing listens at that port: \(kind.name) is not running, or has another port",
            [start, Remedy.again])
    }

    func silence(_ step: Cause.Step) -> Remedy {
        switch step {
        case .connect:
            return Remedy(
                "\(address) does not answer: laptop asleep, its firewall, or no route",
                [
                    "Wake the laptop, and keep it awake while you test.",
                    "Let \(kind.name) in through its firewall: macOS System Settings, Network, Firewall; Windows "
                        + "Security, Firewall & network protection, Allow an app.",
                    "Has its address changed, or is a VPN on there? Bring it again with its new one.", Remedy.again,
                ])
        case .proxy where kind == .charles:
            return Remedy(
                "\(address) accepts but does not answer CONNECT: Charles may be waiting for Allow",
                [
                    "Look at the laptop: Charles asks whether to let the gateway in. Choose Allow.",
                    "To be asked no more: Proxy, Access Control Settings, add the gateway's address.", Remedy.again,
                ])
        case .proxy:
            // A plain proxy may be one of SOCKS, which knows no CONNECT of HTTP.
            let request = kind == .plain ? "" : " CONNECT"
            return Remedy(
                "\(address) accepts but does not answer\(request): \(kind.name) hangs, or asks somebody there",
                ["Look at the laptop: is there a question on its screen?", "Restart \(kind.name).", Remedy.again])
        case .page:
            return Remedy(
                "\(address) opens a tunnel, and nothing comes back through it",
                ["Does the laptop itself reach the network? Open any page there.", rules, Remedy.again])
        }
    }

    func nonsense(_ step: Cause.Step) -> Remedy {
        switch step {
        case .connect, .proxy:
            Remedy(
                "\(address) answers, and not as an HTTP proxy does: another program may have that port",
                ["See which port \(kind.name) has, and whether it is for HTTP or for SOCKS.", Remedy.again])
        case .page:
            Remedy(
                "\(address) opens a tunnel, and what comes back makes no sense or breaks off",
                ["Does the laptop itself reach the network? Open any page there.", rules])
        }
    }

    func refusal(_ cause: Cause) -> Remedy {
        switch cause {
        case .credentialsRejected:
            Remedy(
                "\(address) rejects the user or the password that the profile has",
                ["Tell whoever wrote the profile; this phone can't mend it.", Remedy.otherProfile])
        case .schemesNotSupported(let schemes):
            Remedy(
                "\(address) wants a login that the gateway does not speak: \(schemes.joined(separator: ", "))",
                ["Have the proxy let the gateway's address in without one.", Remedy.otherProfile])
        case .refused(let status, let text):
            Remedy(
                "\(address) refuses CONNECT: \(status)\(text.isEmpty ? "" : ", \(text)")",
                [access, Remedy.again])
        case .socksRefused(let words): Remedy("\(address) refuses: \(words)", [access, Remedy.again])
        default: doubt(cause)
        }
    }

    func doubt(_ cause: Cause) -> Remedy {
        switch cause {
        case .slow: Remedy("\(address) works, slowly", ["Is much running through it? See its window."])
        case .stale:
            Remedy("\(address) has not been tried for a while, so nobody knows how it is", ["Tap “Try again”."])
        case .neverTried: Remedy("Nobody has tried \(address) yet", ["Tap “Try again”, or open any page."])
        default:
            Remedy(
                "\(address) takes connections; whether requests come back is not tried, since no page is set",
                ["Open any page on this phone to see."])
        }
    }

    /// Who is let in is written in another place in each program.
    private var access: String {
        switch kind {
        case .whistle: "In Whistle, look for a rule or a plugin that refuses the gateway's address."
        case .charles: "In Charles: Proxy, Access Control Settings, add the gateway's address."
        case .mitmproxy: "mitmproxy lets private addresses in; others want --set block_global=false."
        case .proxyman: "In Proxyman: Tools, Access Control, let the gateway's address in."
        case .plain: "Its access rules must let the gateway's address in."
        }
    }

    var rules: String {
        switch kind {
        case .whistle: "In Whistle, look whether a rule catches that page."
        case .charles: "In Charles, see Tools for Map Remote, Rewrite and Breakpoints that are on."
        case .mitmproxy: "In mitmproxy, see whether an intercept filter holds the request."
        case .proxyman: "In Proxyman, see Scripting, Map and Breakpoint for rules that are on."
        case .plain: "See whether a rule of \(kind.name) catches that page."
        }
    }
}
