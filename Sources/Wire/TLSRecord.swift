/// The outside of TLS: record headers and plain alerts (RFC 8446, sections 5 and 6), enough to tell a client
/// that refused the certificate from one that was content.

import Bytes

/// The header of one record.
struct TLSRecordHeader: Equatable, Sendable {
    enum Content: UInt8 {
        case changeCipherSpec = 20
        case alert = 21
        case handshake = 22
        case applicationData = 23
    }

    static let length = 5

    var content: Content
    /// The octets of the record behind its header.
    var bodyLength: Int

    /// Reads a header; nil when these five octets are not one.
    init?(_ bytes: Span<UInt8>) {
        guard bytes.count >= Self.length, let content = Content(rawValue: bytes[0]), bytes[1] == 3 else { return nil }
        self.content = content
        bodyLength = Int(bytes.uint16(at: 3))
        // 2^14 and what encryption may add (RFC 8446, section 5.2; RFC 5246, section 6.2.3).
        guard bodyLength > 0, bodyLength <= 16384 + 2048 else { return nil }
    }
}

/// Looks at the beginning of both directions of a stream and knows in the end whether its client refused the
/// certificate: it closed right after the server's first flight with at most an alert.
///
/// It keeps at most 64 octets, and `isWatching` says when it need not be shown any more.
public struct TLSRefusalWatch: Sendable {
    private enum Phase: Equatable {
        /// Nothing from the client yet, or a ClientHello.
        case greeting
        /// The server has begun to answer; the client's next octets are kept.
        case answered
        case over
    }

    /// More than any alert: a dummy ChangeCipherSpec and an encrypted alert have 30 octets, the shortest
    /// Finished of TLS 1.3 has 58.
    private static let limit = 48

    private var phase = Phase.greeting
    private var sawHello = false
    private var answer: [UInt8] = []

    public init() {}

    /// Whether the next bytes still matter.
    public var isWatching: Bool { phase != .over }

    /// Looks at bytes of the client.
    public mutating func client(_ bytes: Span<UInt8>) {
        guard bytes.count > 0 else { return }
        switch phase {
        case .over:
            return
        case .greeting:
            if !sawHello, bytes[0] != TLSRecordHeader.Content.handshake.rawValue { phase = .over }
            sawHello = true
        case .answered:
            let isSecondHello =
                answer.isEmpty && bytes.count > 5 && bytes[0] == TLSRecordHeader.Content.handshake.rawValue
                && bytes[5] == 1
            // A server may ask for another ClientHello (RFC 8446, section 4.1.4).
            if isSecondHello {
                phase = .greeting
            } else if answer.count + bytes.count > Self.limit {
                phase = .over
                answer = []
            } else {
                answer.append(copying: bytes)
            }
        }
    }

    /// Looks at bytes of the server.
    public mutating func server(_ bytes: Span<UInt8>) {
        guard phase == .greeting, bytes.count > 0 else { return }
        let isHandshake = sawHello && bytes[0] == TLSRecordHeader.Content.handshake.rawValue
        phase = isHandshake ? .answered : .over
    }

    /// Whether a client that has closed now, before the server did, has refused the certificate.
    public var clientRefused: Bool {
        guard phase == .answered else { return false }
        let answer = answer.span
        var position = 0
        var alerts = 0
        while position < answer.count {
            guard let record = TLSRecordHeader(answer.extracting(position..<answer.count)),
                position + TLSRecordHeader.length + record.bodyLength <= answer.count
            else { return false }
            let body = answer.extracting(
                position + TLSRecordHeader.length..<position + TLSRecordHeader.length + record.bodyLength)
            switch record.content {
            case .changeCipherSpec:
                guard body.count == 1, alerts == 0 else { return false }
            case .alert:
                guard Self.concernsCertificate(body) else { return false }
                alerts += 1
            case .applicationData:
                // An encrypted alert: 2 octets, the content type and the tag.
                guard body.count <= 35 else { return false }
                alerts += 1
            case .handshake:
                return false
            }
            position += TLSRecordHeader.length + record.bodyLength
        }
        return alerts <= 1
    }

    /// Whether a plain alert can be about the certificate; what cannot be read is taken for one that is.
    private static func concernsCertificate(_ alert: Span<UInt8>) -> Bool {
        guard alert.count == 2 else { return alert.count <= 40 }
        switch alert[1] {
        // unexpected_message, record errors, handshake_failure, illegal_parameter, decode_error, versions, ciphers,
        // internal_error, inappropriate_fallback, extensions, names, ALPN (RFC 8446, section 6).
        case 10, 20, 21, 22, 30, 40, 47, 50, 70, 71, 80, 86, 109, 110, 112, 115, 120: return false
        default: return true
        }
    }
}
