/// # Inbound: clients that say where they want to go
///
/// A session reads a client's first words and says to whom the stream is to be opened; what the dial brings
/// is told to it, and it puts that into the protocol's words. Sessions hold no socket: the caller moves the
/// bytes, and after `connect` the stream is a stream like those from the tunnel.
///
///     client ── receive ──▶ needsMore … connect ─▶ (dial) ─▶ opened or failed ──▶ client

public import Bytes
public import Wire

/// One client's conversation in SOCKS5 (RFC 1928), with a login if one is wanted (RFC 1929).
public struct SOCKS5Session: Sendable {
    /// What the caller is to do, after it has sent what was appended to the output.
    public enum Action: Equatable, Sendable {
        case needsMore
        /// Open a stream there; these octets of the input are the client's first on it.
        case connect(Target, leftover: Range<Int>)
        /// Send what there is and close; the text is the reason.
        case close(String)
    }

    private enum Phase {
        /// The login methods come first.
        case greeting
        /// User and password.
        case login
        case request
        /// A stream is being opened; nothing is read.
        case opening
        case over
    }

    /// How long a client may take from its first octet to its request.
    public static let patience = Interval.seconds(10)

    /// Empty when everybody is let in.
    private let expected: [SOCKS5Login]
    private var phase = Phase.greeting
    private var kept: [UInt8] = []

    /// When a client that has not asked for anything is closed; `never` afterwards.
    public private(set) var deadline: Instant

    /// Begins a conversation; with logins, nobody gets past without one of them.
    public init(expecting logins: [SOCKS5Login], now: Instant) {
        expected = logins
        deadline = now + Self.patience
    }

    /// Takes the next bytes of the client, in whatever pieces, and appends what it is answered.
    public mutating func receive(_ input: Span<UInt8>, output: inout [UInt8]) -> Action {
        let earlier = kept.count
        var bytes = kept
        bytes.append(copying: input)
        var position = 0
        do throws(SOCKS5Error) {
            while true {
                let rest = bytes.span.extracting(position..<bytes.count)
                switch phase {
                case .greeting:
                    guard let (greeting, length) = try SOCKS5Greeting.parse(rest) else { return keep(bytes, position) }
                    position += length
                    if let end = choose(among: greeting.methods, &output) { return end }
                case .login:
                    guard let (login, length) = try SOCKS5Login.parse(rest) else { return keep(bytes, position) }
                    position += length
                    if let end = check(login, &output) { return end }
                case .request:
                    guard let (request, length) = try SOCKS5Message.parse(rest) else { return keep(bytes, position) }
                    position += length
                    // The request ends in this input, or it would have been taken before.
                    return take(request, leftover: position - earlier..<input.count, &output)
                case .opening, .over:
                    return .needsMore
                }
            }
        } catch {
            return refuse(error, &output)
        }
    }

    /// Appends the reply to an open stream.
    ///
    /// Its bound address is none: it would be that of our connection to a proxy.
    public mutating func opened(output: inout [UInt8]) {
        phase = .over
        write(.succeeded, &output)
    }

    /// Appends the reply to a stream that could not be opened; the connection is closed after it.
    public mutating func failed(code: UInt8, output: inout [UInt8]) {
        phase = .over
        SOCKS5Message(code: code, host: nil, port: 0).write(into: &output)
    }

    private mutating func keep(_ bytes: [UInt8], _ position: Int) -> Action {
        kept = Array(bytes[position...])
        return .needsMore
    }

    private mutating func choose(among methods: [UInt8], _ output: inout [UInt8]) -> Action? {
        let method = expected.isEmpty ? SOCKS5.Method.none : SOCKS5.Method.password
        guard methods.contains(method) else {
            output.append(contentsOf: [SOCKS5.version, SOCKS5.Method.unacceptable])
            return close("no acceptable SOCKS5 login method")
        }
        output.append(contentsOf: [SOCKS5.version, method])
        phase = expected.isEmpty ? .request : .login
        return nil
    }

    private mutating func check(_ login: SOCKS5Login, _ output: inout [UInt8]) -> Action? {
        guard expected.contains(where: { $0.matches(login) }) else {
            output.append(contentsOf: [1, 1])
            return close("wrong SOCKS5 user or password")
        }
        output.append(contentsOf: [1, 0])
        phase = .request
        return nil
    }

    private mutating func take(
        _ request: SOCKS5Message, leftover: Range<Int>, _ output: inout [UInt8]
    ) -> Action {
        guard request.code == SOCKS5Message.connect else {
            write(.commandNotSupported, &output)
            return close("unsupported SOCKS5 command \(request.code)")
        }
        guard let host = request.host else {
            write(.generalFailure, &output)
            return close("a target that is no host name")
        }
        guard request.port > 0 else {
            write(.generalFailure, &output)
            return close("a target with port 0")
        }
        phase = .opening
        deadline = .never
        kept = []
        return .connect(Target(host: host, port: request.port), leftover: leftover)
    }

    /// A message that cannot be read ends the conversation, with a reply where there is one for it.
    private mutating func refuse(_ error: SOCKS5Error, _ output: inout [UInt8]) -> Action {
        if case .unknownAddressType = error, case .request = phase { write(.addressTypeNotSupported, &output) }
        if case .login = phase { return close("not a login as in RFC 1929") }
        return close(error.description)
    }

    private func write(_ reply: SOCKS5.Reply, _ output: inout [UInt8]) {
        SOCKS5Message(code: reply.rawValue, host: nil, port: 0).write(into: &output)
    }

    private mutating func close(_ reason: String) -> Action {
        phase = .over
        deadline = .never
        kept = []
        return .close(reason)
    }
}
