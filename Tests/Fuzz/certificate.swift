/// Any bytes as DER and as a certificate: elements fill their range and are written as they are read, names are lines.

import Bytes

@testable import Wire

func fuzzCertificate(_ bytes: [UInt8]) {
    walk(bytes, bytes.indices)
    guard let names = CertificateNames.parse(bytes.span) else { return }
    for name in [names.issuer, names.subject] {
        precondition((1...200).contains(name.unicodeScalars.count), "a name of no length, or without end")
        let hasControls = name.unicodeScalars.contains { $0.properties.generalCategory == .control }
        precondition(!hasControls, "a name that is no line")
    }
    let longer = bytes + [0]
    let shorter = Array(bytes.dropLast())
    precondition(CertificateNames.parse(longer.span) == nil, "something behind a certificate")
    precondition(CertificateNames.parse(shorter.span) == nil, "a part of a certificate")
}

/// Reads one element after the other, and what is in those that are constructed (X.690, section 8.1.2.5).
private func walk(_ bytes: [UInt8], _ range: Range<Int>) {
    var rest = range
    while true {
        let before = rest
        guard let element = DERElement.next(in: bytes.span, &rest) else {
            precondition(rest == before, "what is not read is taken off")
            return
        }
        let (content, end) = (element.content, rest.lowerBound)
        precondition(content.lowerBound > before.lowerBound && content.upperBound == end, "an element outside")
        precondition(rest.upperBound == range.upperBound, "another range")
        let head = [element.tag] + length(content.count)
        precondition(head == Array(bytes[before.lowerBound..<content.lowerBound]), "written otherwise")
        if element.tag & 0x20 != 0 { walk(bytes, content) }
    }
}

/// A definite length, as short as can be (X.690, section 10.1).
private func length(_ count: Int) -> [UInt8] {
    guard count >= 0x80 else { return [UInt8(count)] }
    var octets: [UInt8] = []
    var rest = count
    while rest > 0 {
        octets.insert(UInt8(rest & 0xff), at: 0)
        rest >>= 8
    }
    return [0x80 | UInt8(octets.count)] + octets
}
