/// DNS over TCP (RFC 1035, section 4.2.2; RFC 7766, section 8): two octets of length in front of each message.

import Bytes

/// What came over a connection and is not read yet, cut into messages wherever the pieces ended.
public struct DNSStream: Sendable {
    private var bytes: [UInt8] = []
    private var position = 0

    public init() {}

    /// The octets that wait: part of a message, or several whole ones.
    public var count: Int { bytes.count - position }

    /// Whether a whole message waits.
    public var hasMessage: Bool { count >= 2 && count >= 2 + Int(bytes.span.uint16(at: position)) }

    public mutating func append(_ piece: Span<UInt8>) { bytes.append(copying: piece) }

    /// The next whole message, or nil when it is not there yet.
    public mutating func next() -> [UInt8]? {
        guard hasMessage else { return compact() }
        let end = position + 2 + Int(bytes.span.uint16(at: position))
        defer { position = end }
        return Array(bytes[position + 2..<end])
    }

    /// Drops what was read.
    private mutating func compact() -> [UInt8]? {
        bytes.removeFirst(position)
        position = 0
        return nil
    }

    /// Appends a message with its length; one that is longer than the length can say is not one.
    public static func write(_ message: Span<UInt8>, into output: inout [UInt8]) {
        precondition(message.count <= 65_535, "a message too long for its length")
        output.append(UInt8(message.count >> 8))
        output.append(UInt8(message.count & 255))
        output.append(copying: message)
    }
}
