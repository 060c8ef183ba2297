/// The name that a TLS client asks for (server_name, RFC 6066, section 3).

import Bytes

/// What the first bytes of a stream say about its server's name.
public enum TLSServerName: Equatable, Sendable {
    /// It may still come.
    case needsMore
    case name(String)
    /// A ClientHello without one.
    case none
    /// Not a ClientHello.
    case notTLS
}

/// Reads the ClientHello at the beginning of a stream, whole or in part, across records.
public enum TLSClientHello {
    /// The octets of a stream that are looked at; a ClientHello with post-quantum keys has about 1,800.
    public static let maximumLength = 16384

    /// Looks for the server's name in the first bytes of a stream.
    public static func serverName(in stream: Span<UInt8>) -> TLSServerName {
        var message: [UInt8] = []
        var position = 0
        while position < stream.count {
            let rest = stream.extracting(position..<stream.count)
            guard rest[0] == TLSRecordHeader.Content.handshake.rawValue else { return .notTLS }
            if rest.count < TLSRecordHeader.length { break }
            guard let record = TLSRecordHeader(rest), record.bodyLength <= 16384 else { return .notTLS }
            let end = min(TLSRecordHeader.length + record.bodyLength, rest.count)
            message.append(copying: rest.extracting(TLSRecordHeader.length..<end))
            position += TLSRecordHeader.length + record.bodyLength
            if message.count >= 4, message.count >= 4 + length(of: message.span) { break }
        }
        guard !message.isEmpty else { return .needsMore }
        guard message[0] == 1 else { return .notTLS }
        guard message.count >= 4 else { return .needsMore }
        let wanted = length(of: message.span)
        guard wanted <= maximumLength else { return .notTLS }
        guard message.count >= 4 + wanted else { return stream.count >= maximumLength ? .none : .needsMore }
        return serverName(ofHello: message.span.extracting(4..<4 + wanted))
    }

    private static func length(of message: Span<UInt8>) -> Int {
        Int(message[1]) << 16 | Int(message.uint16(at: 2))
    }

    /// Walks over version, random, session, ciphers and compression (RFC 8446, section 4.1.2).
    private static func serverName(ofHello hello: Span<UInt8>) -> TLSServerName {
        var position = 34
        guard skip(hello, &position, lengthOctets: 1), skip(hello, &position, lengthOctets: 2),
            skip(hello, &position, lengthOctets: 1)
        else { return .notTLS }
        guard position + 2 <= hello.count else { return .none }
        let end = position + 2 + Int(hello.uint16(at: position))
        guard end <= hello.count else { return .notTLS }
        position += 2
        while position + 4 <= end {
            let type = hello.uint16(at: position)
            let length = Int(hello.uint16(at: position + 2))
            guard position + 4 + length <= end else { return .notTLS }
            if type == 0 { return name(in: hello.extracting(position + 4..<position + 4 + length)) }
            position += 4 + length
        }
        return .none
    }

    private static func skip(_ hello: Span<UInt8>, _ position: inout Int, lengthOctets: Int) -> Bool {
        guard position + lengthOctets <= hello.count else { return false }
        let length = lengthOctets == 1 ? Int(hello[position]) : Int(hello.uint16(at: position))
        position += lengthOctets + length
        return position <= hello.count
    }

    /// Reads the first entry of the list, which must be a host name (RFC 6066, section 3).
    private static func name(in list: Span<UInt8>) -> TLSServerName {
        guard list.count >= 5, list[2] == 0, 5 + Int(list.uint16(at: 3)) <= list.count else { return .none }
        let text = list.extracting(5..<5 + Int(list.uint16(at: 3)))
        guard case .name(let name)? = Host.parse(text) else { return .none }
        return .name(name)
    }
}
