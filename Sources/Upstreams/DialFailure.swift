/// Why a stream could not be opened, and how each side is told.

public import LinuxIO
public import Wire

/// The cause of a failed dial.
public enum DialFailure: Error, Equatable, Sendable {
    /// The proxy answered something else than 2xx; the text is its own, 200 characters at most.
    case refused(status: Int, text: String)
    /// The proxy has rejected our credentials, now or within the last 15 minutes.
    case credentialsRejected
    /// The proxy wants a login that we do not speak.
    case schemesNotSupported([String])
    /// The proxy's answer made no sense; the text says in what way.
    case malformedReply(String)
    /// The proxy closed the connection before it had answered.
    case proxyClosed
    /// The proxy was connected and did not answer in time.
    case proxySilent
    /// No connection to the proxy; a timeout is ETIMEDOUT.
    case proxyUnreachable(ErrorNumber)
    /// The proxy's name has no address.
    case proxyUnknown(String)
    /// A SOCKS5 proxy said no.
    case socksRefused(code: UInt8)
    /// No connection to the target itself.
    case targetUnreachable(ErrorNumber)
    /// The target's name has no address.
    case targetUnknown(String)
    /// The target is none that the gateway goes to: itself, its host, its links.
    case forbidden
    /// Descriptors ran out.
    case noDescriptors
}

extension DialFailure {
    /// The reply of our SOCKS5 server.
    public var socksReply: UInt8 {
        let reply: SOCKS5.Reply
        switch self {
        case .refused(403, _), .refused(407, _), .credentialsRejected, .schemesNotSupported, .forbidden:
            reply = .notAllowed
        case .refused(502, _): reply = .connectionRefused
        case .refused(504, _): reply = .hostUnreachable
        case .refused, .malformedReply, .proxyClosed, .proxySilent, .proxyUnreachable, .proxyUnknown, .noDescriptors:
            reply = .generalFailure
        case .socksRefused(let code): return (1...8).contains(code) ? code : SOCKS5.Reply.generalFailure.rawValue
        case .targetUnreachable(.connectionRefused): reply = .connectionRefused
        case .targetUnreachable(.networkUnreachable): reply = .networkUnreachable
        case .targetUnreachable, .targetUnknown: reply = .hostUnreachable
        }
        return reply.rawValue
    }

    /// The status of our HTTP server (RFC 9110, section 15.6).
    public var httpStatus: Int {
        switch self {
        case .forbidden: 403
        case .proxySilent, .proxyUnreachable(.timedOut), .targetUnreachable(.timedOut), .refused(504, _): 504
        case .noDescriptors: 503
        case .refused(403, _): 403
        default: 502
        }
    }

    /// One word for logs and counters.
    public var word: String {
        switch self {
        case .refused: "connect_refused"
        case .credentialsRejected: "credentials_rejected"
        case .schemesNotSupported: "schemes_not_supported"
        case .malformedReply: "upstream_malformed"
        case .proxyClosed: "upstream_closed"
        case .proxySilent: "upstream_timeout"
        case .proxyUnreachable: "upstream_unreachable"
        case .proxyUnknown: "upstream_unknown"
        case .socksRefused: "socks_refused"
        case .targetUnreachable: "target_unreachable"
        case .targetUnknown: "target_unknown"
        case .forbidden: "target_forbidden"
        case .noDescriptors: "no_descriptors"
        }
    }

    /// Whether the upstream itself is at fault, and not just this target: a sample for its health.
    public var concernsUpstream: Bool {
        switch self {
        case .credentialsRejected, .schemesNotSupported, .malformedReply, .proxyClosed, .proxySilent,
            .proxyUnreachable, .proxyUnknown, .refused(407, _):
            true
        case .refused, .socksRefused, .targetUnreachable, .targetUnknown, .forbidden, .noDescriptors: false
        }
    }

    /// What happened, for whoever reads the flow log; never with a secret in it.
    public func sentence(for target: Target) -> String {
        switch self {
        case .refused(407, let text): "the proxy wants credentials (407\(Self.quoted(text)))"
        case .refused(let status, let text):
            "the proxy refused CONNECT \(target) with \(status)\(Self.quoted(text))\(Self.hint(status, target))"
        case .credentialsRejected: "the proxy rejected the credentials"
        case .schemesNotSupported(let schemes):
            "the proxy accepts only \(schemes.joined(separator: ", ")), and Basic is what we speak"
        case .malformedReply(let what): "the proxy's answer is \(what)"
        case .proxyClosed: "the proxy closed the connection without an answer"
        case .proxySilent: "the proxy did not answer in time"
        case .proxyUnreachable(let reason): "no connection to the proxy: \(reason)"
        case .proxyUnknown(let name): "the proxy's name \(name) does not resolve"
        case .socksRefused(let code): "the SOCKS5 proxy refused \(target): \(Self.words(ofReply: code))"
        case .targetUnreachable(let reason): "no connection to \(target): \(reason)"
        case .targetUnknown(let name): "the name \(name) does not resolve"
        case .forbidden: "\(target) is not a target that the gateway connects to"
        case .noDescriptors: "no descriptor left for another connection"
        }
    }

    private static func quoted(_ text: String) -> String { text.isEmpty ? "" : ": \(text)" }

    private static func hint(_ status: Int, _ target: Target) -> String {
        guard status == 403 || status == 405, target.port != 443 else { return "" }
        return " (many proxies allow CONNECT to port 443 alone)"
    }

    /// The words of RFC 1928, section 6.
    static func words(ofReply code: UInt8) -> String {
        switch SOCKS5.Reply(rawValue: code) {
        case .succeeded: "succeeded"
        case .generalFailure: "general failure"
        case .notAllowed: "not allowed by its rules"
        case .networkUnreachable: "network unreachable"
        case .hostUnreachable: "host unreachable"
        case .connectionRefused: "connection refused"
        case .lifetimeExpired: "TTL expired"
        case .commandNotSupported: "command not supported"
        case .addressTypeNotSupported: "address type not supported"
        case nil: "reply \(code)"
        }
    }
}
