/// The outside of ASN.1 in DER (X.690, section 10): tags and lengths, read strictly.

import Bytes

/// One element: what it is, and where its content stands.
struct DERElement: Equatable {
    var tag: UInt8
    var content: Range<Int>

    static let boolean: UInt8 = 0x01
    static let integer: UInt8 = 0x02
    static let bitString: UInt8 = 0x03
    static let octetString: UInt8 = 0x04
    static let objectIdentifier: UInt8 = 0x06
    static let utcTime: UInt8 = 0x17
    static let generalizedTime: UInt8 = 0x18
    static let sequence: UInt8 = 0x30
    static let set: UInt8 = 0x31
    /// `[0]`, constructed: the version of a certificate.
    static let version: UInt8 = 0xa0
    /// `[3]`, constructed: the extensions of a certificate.
    static let extensions: UInt8 = 0xa3

    /// Reads the element at the beginning of a range, and takes it off; nil for what is no DER.
    ///
    /// Lengths are definite and as short as can be (section 10.1), tags have one octet, and nothing leaves the range.
    static func next(in bytes: Span<UInt8>, _ range: inout Range<Int>) -> DERElement? {
        guard range.count >= 2, bytes[range.lowerBound] & 0x1f != 0x1f else { return nil }
        let tag = bytes[range.lowerBound]
        var start = range.lowerBound + 2
        var length = Int(bytes[start - 1])
        if length >= 0x80 {
            let octets = length & 0x7f
            guard (1...3).contains(octets), start + octets <= range.upperBound, bytes[start] != 0 else { return nil }
            length = 0
            for place in start..<start + octets { length = length << 8 | Int(bytes[place]) }
            guard length >= 0x80 else { return nil }
            start += octets
        }
        guard length <= range.upperBound - start else { return nil }
        range = start + length..<range.upperBound
        return DERElement(tag: tag, content: start..<start + length)
    }

    /// As `next`, and nil for another tag too.
    static func next(_ tag: UInt8, in bytes: Span<UInt8>, _ range: inout Range<Int>) -> DERElement? {
        guard let element = next(in: bytes, &range), element.tag == tag else { return nil }
        return element
    }
}
