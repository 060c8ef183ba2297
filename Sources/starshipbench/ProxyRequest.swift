/// What a gateway asks of the measuring upstream: CONNECT (RFC 9110, section 9.3.6) or SOCKS5 (RFC 1928).
///
/// The upstream serves gateways under test on one machine, so it knows addresses and no names, and asks nobody
/// who they are. The first byte tells the two protocols apart.

internal import Addresses
internal import Bytes

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

    private static let longest = 65536
    private var isSOCKS = false

    /// Looks at the bytes that have arrived and are not consumed.
    mutating func read(_ bytes: [UInt8]) -> Step {
        guard let first = bytes.first else { return .incomplete }
        if isSOCKS { return Self.request(bytes) }
        if first == 5 {
            guard bytes.count >= 2, bytes.count >= 2 + Int(bytes[1]) else { return .incomplete }
            isSOCKS = true
            return .answer([5, 0], consumed: 2 + Int(bytes[1]))
        }
        return Self.head(bytes)
    }

    /// What to say when the target's connection stands.
    var success: [UInt8] {
        isSOCKS ? [5, 0, 0, 1, 0, 0, 0, 0, 0, 0] : Array("HTTP/1.1 200 OK\r\n\r\n".utf8)
    }

    /// What to say when it does not come to be.
    var failure: [UInt8] {
        isSOCKS ? [5, 1, 0, 1, 0, 0, 0, 0, 0, 0] : Array("HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n".utf8)
    }

    private static func head(_ bytes: [UInt8]) -> Step {
        guard let end = endOfHead(bytes) else { return bytes.count < longest ? .incomplete : .refused }
        let line = bytes[..<end].prefix { $0 != UInt8(ascii: "\r") }
        let words = line.split(separator: UInt8(ascii: " "))
        guard words.count == 3, words[0].elementsEqual("CONNECT".utf8),
            let target = SocketAddress(parsing: String(decoding: words[1], as: UTF8.self))
        else { return .refused }
        return .connect(target, consumed: end)
    }

    /// The offset behind the empty line, searched from the end of what arrived: the head is most often complete.
    private static func endOfHead(_ bytes: [UInt8]) -> Int? {
        guard bytes.count >= 4 else { return nil }
        for end in 4...bytes.count
        where bytes[end - 1] == 10 && bytes[end - 2] == 13 && bytes[end - 3] == 10 && bytes[end - 4] == 13 {
            return end
        }
        return nil
    }

    private static func request(_ bytes: [UInt8]) -> Step {
        guard bytes.count >= 4 else { return .incomplete }
        guard bytes[0] == 5, bytes[1] == 1 else { return .refused }
        switch bytes[3] {
        case 1:
            guard bytes.count >= 10 else { return .incomplete }
            let address = IPAddress(v4: bytes.span.uint32(at: 4))
            return .connect(SocketAddress(address, bytes.span.uint16(at: 8)), consumed: 10)
        case 4:
            guard bytes.count >= 22 else { return .incomplete }
            let address = IPAddress(high: bytes.span.uint64(at: 4), low: bytes.span.uint64(at: 12))
            return .connect(SocketAddress(address, bytes.span.uint16(at: 20)), consumed: 22)
        default: return .refused
        }
    }
}
