/// The conversation with a SOCKS5 proxy (RFC 1928, RFC 1929): greeting, login, request.

import Bytes
public import Wire

/// A request to a SOCKS5 proxy and its answer.
public struct SOCKS5Dialogue: Sendable {
    /// What the bytes so far amount to.
    public enum Step: Equatable, Sendable {
        case needsMore
        /// What was appended to the output is to be sent.
        case send
        /// The stream is open; these octets of the last input are its first.
        case open(leftover: Range<Int>)
        case refused(code: UInt8)
        /// The proxy knows no login that we could use.
        case noMethod
        case loginRejected
        case failed(SOCKS5Error)
    }

    private enum Phase {
        case method
        case login
        case reply
    }

    private let target: Target
    private let login: SOCKS5Login?
    private var phase = Phase.method
    private var kept: [UInt8] = []

    public init(to target: Target, login: SOCKS5Login?) {
        self.target = target
        self.login = login
    }

    /// Appends the greeting, which is sent at once.
    public func writeGreeting(into output: inout [UInt8]) {
        let methods = login == nil ? [SOCKS5.Method.none] : [SOCKS5.Method.none, SOCKS5.Method.password]
        output.append(contentsOf: [SOCKS5.version, UInt8(methods.count)] + methods)
    }

    /// Takes the next bytes of the proxy and appends what they are answered with.
    public mutating func receive(_ input: Span<UInt8>, output: inout [UInt8]) -> Step {
        let earlier = kept.count
        var bytes = kept
        bytes.append(copying: input)
        do throws(SOCKS5Error) {
            switch phase {
            case .method, .login:
                guard bytes.count >= 2 else { break }
                kept = []
                // Nobody speaks before he is asked: what follows here would not be an answer.
                return try takeChoice(bytes[0], bytes[1], output: &output)
            case .reply:
                guard let (reply, length) = try SOCKS5Message.parse(bytes.span) else { break }
                guard reply.code == SOCKS5.Reply.succeeded.rawValue else { return .refused(code: reply.code) }
                return .open(leftover: length - earlier..<input.count)
            }
        } catch {
            return .failed(error)
        }
        kept = bytes
        return .needsMore
    }

    private mutating func takeChoice(
        _ version: UInt8, _ choice: UInt8, output: inout [UInt8]
    ) throws(SOCKS5Error) -> Step {
        if case .login = phase {
            // Some servers answer with their SOCKS version here; the status is what counts.
            guard choice == 0 else { return .loginRejected }
            return request(&output)
        }
        guard version == SOCKS5.version else { throw .badVersion(version) }
        switch choice {
        case SOCKS5.Method.none:
            return request(&output)
        case SOCKS5.Method.password:
            guard let login else { return .noMethod }
            phase = .login
            login.write(into: &output)
            return .send
        default:
            return .noMethod
        }
    }

    private mutating func request(_ output: inout [UInt8]) -> Step {
        phase = .reply
        SOCKS5Message(code: SOCKS5Message.connect, host: target.host, port: target.port).write(into: &output)
        return .send
    }
}
