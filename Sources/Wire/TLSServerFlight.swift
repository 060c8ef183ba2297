/// A look at a server's certificate: in TLS 1.2 it comes in clear (RFC 5246, section 7.4.2).
///
/// The hello that is sent offers nothing newer, and the handshake is not gone on with.

import Bytes

/// What a server answers to a ClientHello, up to its certificate.
public struct TLSServerFlight: Sendable {
    /// What came of looking.
    public enum Outcome: Equatable, Sendable {
        case certificate(CertificateNames)
        /// There is none to be seen; the words say why.
        case failure(String)
    }

    /// A ServerHello and a certificate of 64 KiB, in records of any size.
    private static let limit = 131_072

    private var pending: [UInt8] = []
    private var handshake: [UInt8] = []
    private var total = 0

    public init() {}

    /// Takes the next octets; nil when it needs more.
    public mutating func receive(_ input: Span<UInt8>) -> Outcome? {
        total += input.count
        guard total <= Self.limit else { return .failure("no certificate in the first 128 KiB") }
        pending.append(copying: input)
        var position = 0
        while position < pending.count {
            guard TLSRecordHeader.Content(rawValue: pending[position]) != nil else {
                return .failure("not TLS: \"\(HTTPErrorText.clean(Array(pending[position...].prefix(40))))\"")
            }
            guard pending.count - position >= TLSRecordHeader.length else { break }
            guard let record = TLSRecordHeader(pending.span.extracting(position..<pending.count)) else {
                return .failure("a malformed TLS record")
            }
            let body = position + TLSRecordHeader.length..<position + TLSRecordHeader.length + record.bodyLength
            guard body.upperBound <= pending.count else { break }
            switch record.content {
            case .alert: return .failure(Self.words(of: Array(pending[body])))
            case .handshake: handshake += pending[body]
            case .changeCipherSpec, .applicationData: return .failure("encryption before a certificate")
            }
            if let outcome = readMessages() { return outcome }
            position = body.upperBound
        }
        pending.removeFirst(position)
        return nil
    }

    /// Passes over the ServerHello and stops at the first certificate.
    private mutating func readMessages() -> Outcome? {
        while handshake.count >= 4 {
            let message = handshake
            let bytes = message.span
            let length = Self.length(bytes, at: 1)
            switch bytes[0] {
            case 2:
                guard handshake.count >= 4 + length else { return nil }
                guard length >= 38, bytes[4] == 3, bytes[5] <= 3 else { return .failure("a malformed ServerHello") }
                handshake.removeFirst(4 + length)
            case 11:
                guard handshake.count >= 10 else { return nil }
                let first = Self.length(bytes, at: 7)
                guard length >= 6, Self.length(bytes, at: 4) == length - 3, first <= length - 6 else {
                    return .failure("a malformed certificate message")
                }
                guard handshake.count >= 10 + first else { return nil }
                let names = CertificateNames.parse(bytes.extracting(10..<10 + first))
                return names.map(Outcome.certificate) ?? .failure("a certificate that can't be read")
            default:
                return .failure("a handshake without a certificate")
            }
        }
        return nil
    }

    private static func length(_ bytes: Span<UInt8>, at place: Int) -> Int {
        Int(bytes[place]) << 16 | Int(bytes.uint16(at: place + 1))
    }

    /// The alerts that a server has for a hello (RFC 5246, section 7.2.2; RFC 6066, section 3).
    private static func words(of alert: [UInt8]) -> String {
        guard alert.count == 2 else { return "a malformed TLS alert" }
        switch alert[1] {
        case 40: return "no cipher in common (TLS alert handshake_failure)"
        case 70: return "no TLS 1.2 there (TLS alert protocol_version), so no certificate in clear"
        case 80: return "TLS alert internal_error"
        case 112: return "it doesn't know the host's name (TLS alert unrecognized_name)"
        default: return "TLS alert \(alert[1])"
        }
    }
}

extension TLSServerFlight {
    /// Appends a ClientHello that offers TLS 1.2 and nothing newer, with the host's name where it is one.
    public static func writeHello(
        to host: Host, random: (UInt64, UInt64, UInt64, UInt64), into output: inout [UInt8]
    ) {
        var hello: [UInt8] = [3, 3]
        for word in [random.0, random.1, random.2, random.3] { append(word, octets: 8, to: &hello) }
        // No session.
        hello.append(0)
        append(UInt64(suites.count * 2), octets: 2, to: &hello)
        for suite in suites { append(UInt64(suite), octets: 2, to: &hello) }
        // No compression.
        hello += [1, 0]
        let extensions = serverName(host) + otherExtensions
        append(UInt64(extensions.count), octets: 2, to: &hello)
        hello += extensions
        // The oldest version in the record is what old servers expect (RFC 5246, appendix E.1).
        output += [TLSRecordHeader.Content.handshake.rawValue, 3, 1]
        append(UInt64(hello.count + 4), octets: 2, to: &output)
        output.append(1)
        append(UInt64(hello.count), octets: 3, to: &output)
        output += hello
    }

    /// ECDHE with AES-GCM, ChaCha20 and AES-CBC, then RSA alone, then the renegotiation's signal (RFC 5746).
    private static let suites: [UInt16] = [
        0xc02b, 0xc02f, 0xc02c, 0xc030, 0xcca9, 0xcca8, 0xc009, 0xc013, 0xc00a, 0xc014, 0x009c, 0x009d, 0x002f,
        0x0035, 0x00ff,
    ]

    /// Groups, point formats, signature algorithms and the extended master secret: what servers insist on.
    private static let otherExtensions: [UInt8] = [
        0x00, 0x0a, 0x00, 0x0a, 0x00, 0x08, 0x00, 0x1d, 0x00, 0x17, 0x00, 0x18, 0x00, 0x19,
        0x00, 0x0b, 0x00, 0x02, 0x01, 0x00,
        0x00, 0x0d, 0x00, 0x18, 0x00, 0x16, 0x04, 0x03, 0x05, 0x03, 0x06, 0x03, 0x08, 0x04, 0x08, 0x05,
        0x08, 0x06, 0x04, 0x01, 0x05, 0x01, 0x06, 0x01, 0x02, 0x03, 0x02, 0x01,
        0x00, 0x17, 0x00, 0x00,
    ]

    /// The server_name extension (RFC 6066, section 3); addresses have none.
    private static func serverName(_ host: Host) -> [UInt8] {
        guard case .name(let name) = host else { return [] }
        let octets = Array(name.utf8)
        var result: [UInt8] = [0, 0]
        append(UInt64(octets.count + 5), octets: 2, to: &result)
        append(UInt64(octets.count + 3), octets: 2, to: &result)
        result.append(0)
        append(UInt64(octets.count), octets: 2, to: &result)
        return result + octets
    }

    private static func append(_ value: UInt64, octets: Int, to output: inout [UInt8]) {
        for place in (0..<octets).reversed() { output.append(UInt8(truncatingIfNeeded: value >> UInt64(8 * place))) }
    }
}
