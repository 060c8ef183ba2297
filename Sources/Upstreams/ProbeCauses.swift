/// From what went wrong to the cause that a colour is given with.

public import Health
import LinuxIO
import Wire

extension Cause {
    /// The cause that a failed dial is a sample of.
    public init(_ failure: DialFailure) {
        switch failure {
        case .refused(407, _), .credentialsRejected: self = .credentialsRejected
        case .refused(let status, let text): self = Self.refusal(status, text)
        case .schemesNotSupported(let schemes): self = .schemesNotSupported(schemes)
        case .malformedReply(let what): self = .malformed(.proxy, what)
        case .proxyClosed: self = .closed(.proxy)
        case .proxySilent: self = .silent(.proxy)
        case .proxyUnreachable(.connectionRefused): self = .portClosed
        case .proxyUnreachable(.timedOut): self = .silent(.connect)
        case .proxyUnreachable(let reason): self = .unreachable("\(reason)")
        case .proxyUnknown(let name): self = .nameUnknown(name)
        case .socksRefused(let code): self = Self.socksRefusal(code)
        case .targetUnreachable(let reason): self = Self.target(reason)
        case .targetUnknown(let name): self = .originFailing("the name \(name) does not resolve")
        case .forbidden: self = .gateway("it does not go to this page's address on anybody's behalf")
        case .noDescriptors: self = .gateway("no descriptor left for another connection")
        }
    }

    /// A proxy's no to CONNECT or to a request in absolute form: about the origin, or about the request.
    ///
    /// A gateway that can't reach who is behind it says 502 or 504 (RFC 9110, section 15.6); squid says 503 and
    /// tinyproxy 500, each in words of its own. A redirect or 511 (RFC 6585, section 6) is no proxy's.
    static func refusal(_ status: Int, _ text: String) -> Cause {
        let squid = ["ERR_DNS_FAIL", "ERR_CONNECT_FAIL", "ERR_READ_", "ERR_ZERO_SIZE", "ERR_SECURE_CONNECT_FAIL"]
        let isOrigin =
            status == 502 || status == 504 || squid.contains { text.hasPrefix($0) }
            || status == 500 && text.contains("Unable to connect")
        if status / 100 == 3 || status == 511 {
            return .wrongPage("\(status), as a captive portal says it, in place of a yes")
        }
        guard isOrigin else { return .refused(status: status, text: text) }
        return .originFailing("the proxy says \(status)\(text.isEmpty ? "" : ": \(text)")")
    }

    /// RFC 1928, section 6: four replies are about the way behind the proxy.
    private static func socksRefusal(_ code: UInt8) -> Cause {
        let words = DialFailure.words(ofReply: code)
        switch SOCKS5.Reply(rawValue: code) {
        case .networkUnreachable, .hostUnreachable, .connectionRefused, .lifetimeExpired:
            return .originFailing("the SOCKS5 proxy says \(words)")
        case .succeeded, .generalFailure, .notAllowed, .commandNotSupported, .addressTypeNotSupported, nil:
            return .socksRefused(words)
        }
    }

    /// Without a proxy in between: the origin's fault, or that of the way out.
    private static func target(_ reason: ErrorNumber) -> Cause {
        switch reason {
        case .networkUnreachable, .networkDown, .addressNotAvailable: .unreachable("\(reason)")
        default: .originFailing("no connection to it: \(reason)")
        }
    }
}

/// How a request for a page goes.
enum PageWay: Equatable, Sendable {
    /// Through an open tunnel.
    case tunnel
    /// To an HTTP proxy, in absolute form.
    case absolute
    /// To the origin itself.
    case direct
}

extension Cause {
    /// The cause that an answer is a sample of; nil for the right one.
    init?(_ verdict: PageVerdict, _ way: PageWay) {
        switch verdict {
        case .right: return nil
        case .wrong(let words): self = .wrongPage(words)
        case .malformed(let words): self = .malformed(.page, words)
        case .failing(let status, let text):
            self =
                way == .absolute
                ? Self.refusal(status, text) : .originFailing("\(status)\(text.isEmpty ? "" : ": \(text)")")
        case .wantsLogin(let challenge):
            guard way == .absolute else {
                self = .wrongPage("407, a proxy's answer, from behind the tunnel")
                return
            }
            let isBasic = challenge.schemes.isEmpty || challenge.offersBasic
            self = isBasic ? .credentialsRejected : .schemesNotSupported(challenge.schemes)
        }
    }

    /// Nothing came in time: a proxy that was asked for the page itself owes an answer, an open tunnel's origin does.
    static func silentPage(_ way: PageWay, _ seconds: String) -> Cause {
        switch way {
        case .absolute: .silent(.page)
        case .tunnel: .originFailing("nothing came back through the open tunnel within \(seconds)")
        case .direct: .originFailing("nothing came back within \(seconds)")
        }
    }

    /// The connection ended where an answer was due.
    static func closedPage(_ way: PageWay) -> Cause {
        switch way {
        case .absolute: .closed(.page)
        case .tunnel: .originFailing("the open tunnel was closed without an answer")
        case .direct: .originFailing("it closed the connection without an answer")
        }
    }
}
