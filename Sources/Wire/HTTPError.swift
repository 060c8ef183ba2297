/// Why HTTP from the wire was refused.

/// What is wrong with a message; the text goes into flow logs and answers.
public enum HTTPError: Error, Equatable, Sendable {
    /// The bytes do not begin like an HTTP message.
    case notHTTP
    /// They begin like a TLS record: this port wants TLS.
    case speaksTLS
    case headTooLong
    case badStatusLine
    case badRequestLine
    case badVersion
    case badField
    case badHost
    /// Content-Length and Transfer-Encoding contradict each other or themselves (RFC 9112, section 6.3).
    case ambiguousLength
    case badChunk
    /// A request target in a form that makes no sense here (RFC 9112, section 3.2).
    case badTarget
    /// A later request of the connection names another host than the first one.
    case otherHost
}

extension HTTPError {
    /// The status of an answer to a client whose request was refused so (RFC 9110, section 15.5).
    public var status: Int {
        switch self {
        case .headTooLong: 431
        case .badVersion: 505
        case .otherHost: 421
        case .notHTTP, .speaksTLS, .badStatusLine, .badRequestLine, .badField, .badHost, .ambiguousLength, .badChunk,
            .badTarget:
            400
        }
    }
}

extension HTTPError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .notHTTP: "not HTTP"
        case .speaksTLS: "TLS where plain HTTP was expected"
        case .headTooLong: "head over 64 KiB"
        case .badStatusLine: "malformed status line"
        case .badRequestLine: "malformed request line"
        case .badVersion: "unsupported HTTP version"
        case .badField: "malformed field line"
        case .badHost: "missing, repeated or malformed Host"
        case .ambiguousLength: "ambiguous message length"
        case .badChunk: "malformed chunk"
        case .badTarget: "unusable request target"
        case .otherHost: "another Host on the same connection"
        }
    }
}
