/// One message of the kernel's configuration sockets (RFC 3549, section 2.2): a header, a body of fixed length,
/// and attributes behind it.
///
/// Unlike everything on the wire, netlink is in the machine's own byte order.

internal import Addresses
internal import Bytes
internal import CLinux

struct NetlinkMessage {
    let type: UInt16
    /// The body and the attributes.
    let payload: [UInt8]

    static let headerLength = 16

    /// Reads the messages of one datagram; what is cut short is left out.
    static func split(_ datagram: [UInt8]) -> [NetlinkMessage] {
        var messages: [NetlinkMessage] = []
        var start = 0
        while start + headerLength <= datagram.count {
            let length = Int(datagram.native32(at: start))
            guard length >= headerLength, start + length <= datagram.count else { break }
            messages.append(
                NetlinkMessage(
                    type: datagram.native16(at: start + 4),
                    payload: Array(datagram[start + headerLength..<start + length])))
            start += (length + 3) & ~3
        }
        return messages
    }

    /// Where each attribute's value is, by its type; of repeated ones the last.
    func attributes(after bodyLength: Int) -> [UInt16: Range<Int>] {
        Self.attributes(of: payload, in: bodyLength..<payload.count)
    }

    static func attributes(of bytes: [UInt8], in range: Range<Int>) -> [UInt16: Range<Int>] {
        var found: [UInt16: Range<Int>] = [:]
        var start = range.lowerBound
        while start + 4 <= range.upperBound {
            let length = Int(bytes.native16(at: start))
            guard length >= 4, start + length <= range.upperBound else { break }
            // The two upper bits say how the value is encoded.
            found[bytes.native16(at: start + 2) & 0x3fff] = start + 4..<start + length
            start += (length + 3) & ~3
        }
        return found
    }

    /// The address in an attribute of 4 or 16 octets.
    func address(_ range: Range<Int>?) -> IPAddress? {
        guard let range else { return nil }
        switch range.count {
        case 4: return IPAddress(v4: payload.span.uint32(at: range.lowerBound))
        case 16:
            return IPAddress(
                high: payload.span.uint64(at: range.lowerBound), low: payload.span.uint64(at: range.lowerBound + 8))
        default: return nil
        }
    }

    func number(_ range: Range<Int>?) -> UInt32? {
        guard let range, range.count >= 4 else { return nil }
        return payload.native32(at: range.lowerBound)
    }

    /// A text that ends with NUL.
    func text(_ range: Range<Int>?) -> String? {
        guard let range else { return nil }
        return String(decoding: payload[range].prefix { $0 != 0 }, as: UTF8.self)
    }
}

extension [UInt8] {
    func native16(at offset: Int) -> UInt16 {
        UInt16(littleEndian: UInt16(self[offset]) | UInt16(self[offset + 1]) << 8)
    }

    func native32(at offset: Int) -> UInt32 {
        let low = UInt32(self[offset]) | UInt32(self[offset + 1]) << 8
        return UInt32(littleEndian: low | UInt32(self[offset + 2]) << 16 | UInt32(self[offset + 3]) << 24)
    }

    mutating func appendNative(_ value: UInt16) {
        let value = value.littleEndian
        append(UInt8(value & 0xff))
        append(UInt8(value >> 8))
    }

    mutating func appendNative(_ value: UInt32) {
        let value = value.littleEndian
        for shift in [0, 8, 16, 24] as [UInt32] { append(UInt8(value >> shift & 0xff)) }
    }
}
