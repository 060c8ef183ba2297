/// What a gateway asks of the measuring upstream: CONNECT (RFC 9110, section 9.3.6) or SOCKS5 (RFC 1928).
///
/// The upstream serves gateways under test on one machine, so it knows addresses and no names, and asks nobody
/// who they are. The first byte tells the two protocols apart.

internal import Addresses
internal import Bytes
internal import Wire

/// The request of one connection, read from what has arrived so far.
struct ProxyRequest {
    enum Step: Equatable {
        /// More bytes have to arrive.
        case incomplete
        /// These bytes are to be sent, and the first `consumed` ones are done with.
        case answer([UInt8], consumed: Int)
        /// The request is complete: where to, and how many bytes it had.
        case connect(SocketAddress, consumed: Int)
        case refused
    }

    private var isSOCKS = false

    /// Looks at the bytes that have arrived and are not consumed.
    mutating func read(_ bytes: [UInt8]) -> Step {
        guard let first = bytes.first else { return .incomplete }
        do {
            if isSOCKS { return try Self.request(bytes.span) }
            guard first == SOCKS5.version else { return try Self.head(bytes.span) }
            guard let greeting = try SOCKS5Greeting.parse(bytes.span) else { return .incomplete }
            isSOCKS = true
            return .answer([SOCKS5.version, SOCKS5.Method.none], consumed: greeting.length)
        } catch {
            return .refused
        }
    }

    /// What to say when the target's connection stands.
    var success: [UInt8] { isSOCKS ? Self.reply(.succeeded) : Array("HTTP/1.1 200 OK\r\n\r\n".utf8) }

    /// What to say when it does not come to be.
    var failure: [UInt8] {
        isSOCKS ? Self.reply(.generalFailure) : Array("HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n".utf8)
    }

    private static func head(_ bytes: Span<UInt8>) throws -> Step {
        var collector = HTTPHeadCollector()
        guard let end = try collector.collect(bytes) else { return .incomplete }
        let head = try HTTPRequestHead.parse(bytes.extracting(0..<end))
        guard head.method == .connect else { return .refused }
        return connect(Target.parse(bytes.extracting(head.targetRange)), consumed: end)
    }

    private static func request(_ bytes: Span<UInt8>) throws -> Step {
        guard let (message, length) = try SOCKS5Message.parse(bytes) else { return .incomplete }
        guard message.code == SOCKS5Message.connect, let host = message.host else { return .refused }
        return connect(Target(host: host, port: message.port), consumed: length)
    }

    private static func connect(_ target: Target?, consumed: Int) -> Step {
        switch target?.host {
        case .address(let address): .connect(SocketAddress(address, target?.port ?? 0), consumed: consumed)
        case .name, nil: .refused
        }
    }

    private static func reply(_ code: SOCKS5.Reply) -> [UInt8] {
        var bytes: [UInt8] = []
        SOCKS5Message(code: code.rawValue, host: nil, port: 0).write(into: &bytes)
        return bytes
    }
}
