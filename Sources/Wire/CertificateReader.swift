/// From the DER of a certificate to its parts (RFC 5280, section 4.1).

import Bytes

enum CertificateReader {
    /// What the extensions say of authorities; nil: they don't say it.
    private struct Extensions {
        var isAuthority: Bool?
        var maySign: Bool?
    }

    /// 2.5.29.19 and 2.5.29.15.
    private static let basicConstraints: [UInt8] = [0x55, 0x1d, 0x13]
    private static let keyUsage: [UInt8] = [0x55, 0x1d, 0x0f]
    /// The extensions that a certificate may have; those that are seen have a dozen.
    private static let maximumExtensions = 64

    static func read(_ der: [UInt8]) throws(CertificateError) -> Certificate {
        let bytes = der.span
        var whole = 0..<bytes.count
        guard let outside = DERElement.next(DERElement.sequence, in: bytes, &whole), whole.isEmpty else {
            throw CertificateError.malformed("its outermost sequence")
        }
        var parts = outside.content
        guard let body = DERElement.next(DERElement.sequence, in: bytes, &parts),
            DERElement.next(DERElement.sequence, in: bytes, &parts) != nil,
            DERElement.next(DERElement.bitString, in: bytes, &parts) != nil, parts.isEmpty
        else { throw CertificateError.malformed("its body or its signature") }
        var fields = body.content
        let version = try version(bytes, &fields)
        // Serial number and signature algorithm.
        guard DERElement.next(DERElement.integer, in: bytes, &fields) != nil,
            DERElement.next(DERElement.sequence, in: bytes, &fields) != nil
        else { throw CertificateError.malformed("its serial number or its algorithm") }
        let issuer = try CertificateNameText.next(in: bytes, &fields, "its issuer")
        let (notBefore, notAfter) = try validity(bytes, &fields)
        let subject = try CertificateNameText.next(in: bytes, &fields, "its subject")
        guard DERElement.next(DERElement.sequence, in: bytes, &fields) != nil else {
            throw CertificateError.malformed("its key")
        }
        let extensions = try extensions(bytes, fields, version)
        return Certificate(
            subject: subject, issuer: issuer, notBefore: notBefore, notAfter: notAfter,
            authorityDoubt: doubt(extensions, version), der: der)
    }

    /// The version as people count it: 1, 2 or 3.
    private static func version(_ bytes: Span<UInt8>, _ fields: inout Range<Int>) throws(CertificateError) -> UInt8 {
        guard !fields.isEmpty, bytes[fields.lowerBound] == DERElement.version else { return 1 }
        guard var inside = DERElement.next(in: bytes, &fields)?.content,
            let number = DERElement.next(DERElement.integer, in: bytes, &inside), inside.isEmpty,
            // What is the default is not written (X.690, section 11.5).
            number.content.count == 1, (1...2).contains(bytes[number.content.lowerBound])
        else { throw CertificateError.malformed("its version") }
        return bytes[number.content.lowerBound] + 1
    }

    private static func doubt(_ extensions: Extensions, _ version: UInt8) -> String? {
        guard version == 3 else { return "it has version \(version), in which no certificate says what it is for" }
        if extensions.isAuthority == nil { return "it has no basicConstraints" }
        if extensions.isAuthority == false { return "its basicConstraints say that it is no authority's" }
        return extensions.maySign == false ? "its keyUsage doesn't include signing certificates" : nil
    }

    // MARK: Validity

    private static func validity(
        _ bytes: Span<UInt8>, _ fields: inout Range<Int>
    ) throws(CertificateError) -> (Int64, Int64) {
        guard var times = DERElement.next(DERElement.sequence, in: bytes, &fields)?.content,
            let first = DERElement.next(in: bytes, &times), let last = DERElement.next(in: bytes, &times),
            times.isEmpty, let notBefore = time(bytes, first), let notAfter = time(bytes, last)
        else { throw CertificateError.malformed("its validity") }
        return (notBefore, notAfter)
    }

    /// UTCTime or GeneralizedTime, in UTC with whole seconds (section 4.1.2.5).
    private static func time(_ bytes: Span<UInt8>, _ element: DERElement) -> Int64? {
        let isShort = element.tag == DERElement.utcTime
        guard isShort || element.tag == DERElement.generalizedTime, element.content.count == (isShort ? 13 : 15),
            bytes[element.content.upperBound - 1] == UInt8(ascii: "Z")
        else { return nil }
        var numbers: [Int64] = []
        for place in stride(from: element.content.lowerBound, to: element.content.upperBound - 1, by: 2) {
            guard ASCII.isDigit(bytes[place]), ASCII.isDigit(bytes[place + 1]) else { return nil }
            numbers.append(Int64(bytes[place] - 0x30) * 10 + Int64(bytes[place + 1] - 0x30))
        }
        // Two digits mean 1950 to 2049.
        let century: Int64 = isShort ? (numbers[0] < 50 ? 20 : 19) : numbers.removeFirst()
        let (hour, minute, second) = (numbers[3], numbers[4], numbers[5])
        guard hour < 24, minute < 60, second < 60,
            let day = UnixTime.day(year: century * 100 + numbers[0], month: numbers[1], day: numbers[2])
        else { return nil }
        return day * 86_400 + hour * 3600 + minute * 60 + second
    }

    // MARK: Extensions

    private static func extensions(
        _ bytes: Span<UInt8>, _ fields: Range<Int>, _ version: UInt8
    ) throws(CertificateError) -> Extensions {
        var fields = fields
        var found = Extensions()
        while !fields.isEmpty {
            guard let field = DERElement.next(in: bytes, &fields) else { throw CertificateError.malformed("its end") }
            switch field.tag {
            // The unique identifiers of issuer and subject, which nobody uses.
            case 0x81 where version > 1, 0x82 where version > 1: continue
            case DERElement.extensions where version == 3 && fields.isEmpty:
                found = try readExtensions(bytes, field.content)
            default: throw CertificateError.malformed("what follows its key")
            }
        }
        return found
    }

    private static func readExtensions(
        _ bytes: Span<UInt8>, _ content: Range<Int>
    ) throws(CertificateError) -> Extensions {
        var outside = content
        guard var list = DERElement.next(DERElement.sequence, in: bytes, &outside)?.content, outside.isEmpty else {
            throw CertificateError.malformed("its extensions")
        }
        var found = Extensions()
        var seen: Set<[UInt8]> = []
        while !list.isEmpty {
            guard let (identifier, value) = readExtension(bytes, &list), seen.count < maximumExtensions,
                seen.insert(identifier).inserted
            else { throw CertificateError.malformed("its extensions") }
            switch identifier {
            case basicConstraints: found.isAuthority = try isAuthority(bytes, value)
            case keyUsage: found.maySign = try maySign(bytes, value)
            default: break
            }
        }
        return found
    }

    /// Identifier, whether it is critical, and the value's own DER in an octet string.
    private static func readExtension(
        _ bytes: Span<UInt8>, _ list: inout Range<Int>
    ) -> (identifier: [UInt8], value: Range<Int>)? {
        guard var parts = DERElement.next(DERElement.sequence, in: bytes, &list)?.content,
            let identifier = DERElement.next(DERElement.objectIdentifier, in: bytes, &parts),
            var value = DERElement.next(in: bytes, &parts)
        else { return nil }
        if value.tag == DERElement.boolean {
            guard boolean(bytes, value) != nil, let next = DERElement.next(in: bytes, &parts) else { return nil }
            value = next
        }
        guard value.tag == DERElement.octetString, parts.isEmpty else { return nil }
        return (Array(copying: bytes.extracting(identifier.content)), value.content)
    }

    /// Nothing but 0 and 255 is a truth value (X.690, section 11.1).
    private static func boolean(_ bytes: Span<UInt8>, _ element: DERElement) -> Bool? {
        guard element.content.count == 1 else { return nil }
        switch bytes[element.content.lowerBound] {
        case 0: return false
        case 0xff: return true
        default: return nil
        }
    }

    private static func isAuthority(_ bytes: Span<UInt8>, _ value: Range<Int>) throws(CertificateError) -> Bool {
        var outside = value
        guard var parts = DERElement.next(DERElement.sequence, in: bytes, &outside)?.content, outside.isEmpty else {
            throw CertificateError.malformed("its basicConstraints")
        }
        var answer = false
        if !parts.isEmpty, bytes[parts.lowerBound] == DERElement.boolean {
            guard let flag = DERElement.next(in: bytes, &parts), let isSet = boolean(bytes, flag) else {
                throw CertificateError.malformed("its basicConstraints")
            }
            answer = isSet
        }
        // How many more authorities may stand below it.
        if !parts.isEmpty, DERElement.next(DERElement.integer, in: bytes, &parts) == nil || !parts.isEmpty {
            throw CertificateError.malformed("its basicConstraints")
        }
        return answer
    }

    /// The bit keyCertSign, the sixth of a bit string whose first octet counts the unused bits of its last.
    private static func maySign(_ bytes: Span<UInt8>, _ value: Range<Int>) throws(CertificateError) -> Bool {
        var outside = value
        guard let bits = DERElement.next(DERElement.bitString, in: bytes, &outside)?.content, outside.isEmpty,
            (1...3).contains(bits.count), bytes[bits.lowerBound] < 8, bits.count > 1 || bytes[bits.lowerBound] == 0
        else { throw CertificateError.malformed("its keyUsage") }
        return bits.count > 1 && bytes[bits.lowerBound + 1] & 0x04 != 0
    }
}
