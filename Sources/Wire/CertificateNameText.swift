/// A distinguished name as one line of text (RFC 4514), in the order in which the certificate has it.

import Bytes

enum CertificateNameText {
    /// More than anybody reads; a name that is longer ends with an ellipsis.
    private static let maximumLength = 400
    private static let maximumAttributes = 64

    /// Takes the name at the beginning of a range; `part` says in an error which one it is.
    static func next(
        in bytes: Span<UInt8>, _ fields: inout Range<Int>, _ part: String
    ) throws(CertificateError) -> String {
        guard var sets = DERElement.next(DERElement.sequence, in: bytes, &fields)?.content else {
            throw CertificateError.malformed(part)
        }
        var text = ""
        var count = 0
        while !sets.isEmpty {
            guard var attributes = DERElement.next(DERElement.set, in: bytes, &sets)?.content, !attributes.isEmpty
            else { throw CertificateError.malformed(part) }
            var separator = text.isEmpty ? "" : ", "
            while !attributes.isEmpty {
                guard let attribute = attribute(bytes, &attributes), count < maximumAttributes else {
                    throw CertificateError.malformed(part)
                }
                text += separator + attribute
                // Several attributes of one step are one step all the same.
                separator = " + "
                count += 1
            }
        }
        guard !text.isEmpty else { return "(without a name)" }
        return text.count <= maximumLength ? text : text.prefix(maximumLength - 1) + "…"
    }

    private static func attribute(_ bytes: Span<UInt8>, _ attributes: inout Range<Int>) -> String? {
        guard var parts = DERElement.next(DERElement.sequence, in: bytes, &attributes)?.content,
            let type = DERElement.next(DERElement.objectIdentifier, in: bytes, &parts)
        else { return nil }
        let whole = parts
        guard let value = DERElement.next(in: bytes, &parts), parts.isEmpty,
            let name = name(ofType: Array(copying: bytes.extracting(type.content)))
        else { return nil }
        if let text = CertificateNames.text(bytes, value) { return "\(name)=\(escaped(text))" }
        // What is no string is shown as it is (section 2.4), as far as anybody looks at it.
        let octets = Array(copying: bytes.extracting(whole.prefix(maximumLength / 2)))
        return "\(name)=#" + octets.map { hex($0) }.joined()
    }

    private static func hex(_ octet: UInt8) -> String {
        (octet < 16 ? "0" : "") + String(octet, radix: 16, uppercase: true)
    }

    /// Marks what would be read as the end of a value (section 2.4).
    private static func escaped(_ text: String) -> String {
        var result = text.first == "#" ? "\\" : ""
        for scalar in text.unicodeScalars {
            if "\"+,;<>\\".unicodeScalars.contains(scalar) { result += "\\" }
            result.unicodeScalars.append(scalar)
        }
        return result
    }

    /// The short name of an attribute's type, or its numbers; nil for what is no identifier.
    private static func name(ofType octets: [UInt8]) -> String? {
        if octets.count == 3, octets.starts(with: [0x55, 0x04]), let known = ofX520[octets[2]] { return known }
        switch octets {
        // 0.9.2342.19200300.100.1.25 and .1 (RFC 4519), 1.2.840.113549.1.9.1 (RFC 2985).
        case [0x09, 0x92, 0x26, 0x89, 0x93, 0xf2, 0x2c, 0x64, 1, 25]: return "DC"
        case [0x09, 0x92, 0x26, 0x89, 0x93, 0xf2, 0x2c, 0x64, 1, 1]: return "UID"
        case [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 9, 1]: return "emailAddress"
        default: return numbers(octets)
        }
    }

    /// Types below 2.5.4.
    private static let ofX520: [UInt8: String] = [
        3: "CN", 4: "SN", 5: "serialNumber", 6: "C", 7: "L", 8: "ST", 9: "street", 10: "O", 11: "OU", 12: "title",
        42: "GN",
    ]

    /// `1.2.840…`: groups of seven bits, the first of which holds two numbers (X.690, section 8.19).
    private static func numbers(_ octets: [UInt8]) -> String? {
        guard let last = octets.last, last < 0x80, octets.count <= 32 else { return nil }
        var numbers: [UInt64] = []
        var number: UInt64 = 0
        for octet in octets {
            guard number < 1 << 56, number > 0 || octet != 0x80 else { return nil }
            number = number << 7 | UInt64(octet & 0x7f)
            guard octet < 0x80 else { continue }
            if numbers.isEmpty {
                let first = min(number / 40, 2)
                numbers = [first, number - first * 40]
            } else {
                numbers.append(number)
            }
            number = 0
        }
        return numbers.map(String.init).joined(separator: ".")
    }
}
