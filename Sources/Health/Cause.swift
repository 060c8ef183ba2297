/// Why an upstream has its colour, in one sentence.

public import Bytes

/// What is wrong, or why nothing can be said.
public enum Cause: Equatable, Sendable {
    /// The gateway itself has no way out; the words say what is missing.
    case noUplink(String)
    /// The proxy's name does not resolve.
    case nameUnknown(String)
    /// Nobody listens at the proxy's port.
    case portClosed
    /// No connection to the proxy for another reason; the words are the kernel's.
    case unreachable(String)
    /// The proxy does not answer: not to a SYN, not to CONNECT, or not to the request behind it.
    case silent(Step)
    /// The proxy ended the connection where an answer was due.
    case closed(Step)
    /// 407 to our credentials, or to none.
    case credentialsRejected
    /// The proxy wants a login that we do not speak.
    case schemesNotSupported([String])
    /// The proxy refuses CONNECT; the text is its own, 200 characters at most.
    case refused(status: Int, text: String)
    /// A SOCKS5 proxy refuses; the words are those of RFC 1928, section 6.
    case socksRefused(String)
    /// What came makes no sense; the words say in what way.
    case malformed(Step, String)
    /// The origin behind the proxy fails: 502, 504 or its like, or nothing comes back through an open tunnel.
    case originFailing(String)
    /// Another page than the one asked for: a captive portal's, or an error's; the words say what differs.
    case wrongPage(String)
    /// The answer was right and took so long.
    case slow(Interval)
    /// The last good request is so long ago.
    case stale(Interval)
    /// Nobody has tried it.
    case neverTried
    /// There is no URL to ask for, so green cannot be reached.
    case notVerified
    /// The gateway is short of something itself, such as descriptors.
    case gateway(String)
    /// Nothing is wrong with the upstream, and devices may leave around the gateway; the words say how.
    case wayAround(String)

    /// Where something was missed.
    public enum Step: String, Equatable, Sendable {
        case connect
        case proxy
        case page
    }
}
