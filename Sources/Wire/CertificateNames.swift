/// Whose certificate it is and who has signed it (RFC 5280, section 4.1), and nothing else of it.
///
/// Nothing is verified: the names are for a person who wants to know whether somebody stands in between.

import Bytes

/// The two names of a certificate, each in one line of at most 200 characters.
public struct CertificateNames: Equatable, Sendable {
    public var issuer: String
    public var subject: String

    /// Reads a certificate in DER; nil for what is none.
    public static func parse(_ bytes: Span<UInt8>) -> CertificateNames? {
        var whole = 0..<bytes.count
        guard let certificate = DERElement.next(DERElement.sequence, in: bytes, &whole), whole.isEmpty else {
            return nil
        }
        var rest = certificate.content
        guard let body = DERElement.next(DERElement.sequence, in: bytes, &rest) else { return nil }
        var fields = body.content
        guard var field = DERElement.next(in: bytes, &fields) else { return nil }
        if field.tag == DERElement.version {
            guard let serial = DERElement.next(in: bytes, &fields) else { return nil }
            field = serial
        }
        // Serial number, signature, issuer, validity, subject.
        guard field.tag == DERElement.integer,
            DERElement.next(DERElement.sequence, in: bytes, &fields) != nil,
            let issuer = DERElement.next(DERElement.sequence, in: bytes, &fields),
            DERElement.next(DERElement.sequence, in: bytes, &fields) != nil,
            let subject = DERElement.next(DERElement.sequence, in: bytes, &fields),
            let issuerName = name(bytes, issuer.content), let subjectName = name(bytes, subject.content)
        else { return nil }
        return CertificateNames(issuer: issuerName, subject: subjectName)
    }

    /// The common name, or what else there is to call it by (X.520: 2.5.4.3, 2.5.4.10, 2.5.4.11).
    private static func name(_ bytes: Span<UInt8>, _ content: Range<Int>) -> String? {
        var found: [UInt8: String] = [:]
        var sets = content
        while !sets.isEmpty {
            guard let set = DERElement.next(DERElement.set, in: bytes, &sets) else { return nil }
            var attributes = set.content
            while !attributes.isEmpty {
                guard let attribute = DERElement.next(DERElement.sequence, in: bytes, &attributes) else { return nil }
                var parts = attribute.content
                guard let type = DERElement.next(DERElement.objectIdentifier, in: bytes, &parts),
                    let value = DERElement.next(in: bytes, &parts), parts.isEmpty
                else { return nil }
                let isName = type.content.count == 3 && bytes.uint16(at: type.content.lowerBound) == 0x5504
                guard isName, let text = text(bytes, value), !text.isEmpty else { continue }
                // The most specific one is the last.
                found[bytes[type.content.lowerBound + 2]] = text
            }
        }
        return found[3] ?? found[10] ?? found[11] ?? "(without a name)"
    }

    /// A string of any of the kinds that names are made of (RFC 5280, section 4.1.2.4), in one line; nil for what is
    /// none.
    static func text(_ bytes: Span<UInt8>, _ value: DERElement) -> String? {
        let octets = Array(copying: bytes.extracting(value.content))
        switch value.tag {
        // UTF8String, PrintableString, IA5String, VisibleString.
        case 0x0c, 0x13, 0x16, 0x1a: return HTTPErrorText.clean(octets)
        // TeletexString: read as Latin-1, as everybody does.
        case 0x14: return clean(octets.map { Unicode.Scalar($0) })
        // BMPString and UniversalString.
        case 0x1e: return wide(octets, width: 2)
        case 0x1c: return wide(octets, width: 4)
        default: return nil
        }
    }

    private static func wide(_ octets: [UInt8], width: Int) -> String {
        var scalars: [Unicode.Scalar] = []
        for start in stride(from: 0, to: octets.count / width * width, by: width) {
            let value = octets[start..<start + width].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
            scalars.append(Unicode.Scalar(value) ?? "\u{fffd}")
        }
        return clean(scalars)
    }

    private static func clean(_ scalars: [Unicode.Scalar]) -> String {
        var text = String.UnicodeScalarView()
        text.append(contentsOf: scalars)
        return HTTPErrorText.clean(Array(String(text).utf8))
    }
}
