/// A certificate as PEM writes it (RFC 7468), and what else comes where one was expected.

import Bytes
import Digest

/// Reads the one certificate of a text, strictly, and writes it.
enum CertificateText {
    private static let begin = "-----BEGIN "
    private static let dashes = "-----"
    /// The second and the third are older spellings of the same (RFC 7468, section 5.1).
    private static let labels = ["CERTIFICATE", "X509 CERTIFICATE", "X.509 CERTIFICATE"]

    /// The certificate's DER; nil for what is no PEM at all.
    ///
    /// Text around it is passed over (section 5.2), anything within it but Base64 and blanks is not.
    static func decode(_ octets: [UInt8]) throws(CertificateError) -> [UInt8]? {
        guard let text = String(validating: octets, as: UTF8.self) else { return nil }
        var blocks: [(label: String, lines: [Substring])] = []
        var isInside = false
        for line in text.split(whereSeparator: \.isNewline) {
            if let label = label(of: line, begin) {
                guard !isInside else { throw .malformedText("a block that begins within another one") }
                blocks.append((label, []))
                isInside = true
            } else if isInside, let label = label(of: line, "-----END ") {
                guard label == blocks.last?.label else { throw .malformedText("a block that ends as another one") }
                isInside = false
            } else if isInside {
                blocks[blocks.count - 1].lines.append(line)
            }
        }
        guard !blocks.isEmpty else { return nil }
        // A key has no business here, whatever stands beside it.
        if blocks.contains(where: { $0.label.hasSuffix("PRIVATE KEY") }) { throw .privateKey }
        guard !isInside else { throw .malformedText("a block without an end") }
        let certificates = blocks.filter { labels.contains($0.label) }
        guard let certificate = certificates.first else { throw .otherText(blocks[0].label) }
        guard certificates.count == 1 else { throw .several(certificates.count) }
        do throws(Base64Error) {
            return try Base64.standard.decode(certificate.lines.joined().filter { $0 != " " && $0 != "\t" })
        } catch {
            throw .malformedText(words(error))
        }
    }

    /// The label of a line that begins or ends a block; its length is bounded, since it is shown.
    private static func label(of line: Substring, _ start: String) -> String? {
        var line = line
        while line.last == " " || line.last == "\t" { line.removeLast() }
        guard line.hasPrefix(start), line.hasSuffix(dashes), line.utf8.count >= start.utf8.count + dashes.utf8.count
        else { return nil }
        return HTTPErrorText.clean(Array(line.dropFirst(start.count).dropLast(dashes.count).utf8))
    }

    /// Writes DER in lines of 64 characters (section 2).
    static func encode(_ der: [UInt8]) -> String {
        let text = Array(Base64.standard.encode(der.span).utf8)
        var lines = "\(begin)CERTIFICATE\(dashes)\n"
        for start in stride(from: 0, to: text.count, by: 64) {
            lines += String(decoding: text[start..<min(start + 64, text.count)], as: UTF8.self) + "\n"
        }
        return lines + "-----END CERTIFICATE\(dashes)\n"
    }

    /// What octets are that are no certificate.
    static func sort(of octets: [UInt8]) -> CertificateError {
        let start = octets.drop { $0 == 0x20 || (0x09...0x0d).contains($0) }.prefix(80)
        guard let first = start.first else { return .empty }
        if first == UInt8(ascii: "<") { return .webPage }
        guard first != DERElement.sequence, start.allSatisfy({ $0 >= 0x20 || (0x09...0x0d).contains($0) }) else {
            return .malformed("its outermost sequence")
        }
        return .text(HTTPErrorText.clean(Array(start)))
    }

    /// The error without the text, which may be long.
    private static func words(_ error: Base64Error) -> String {
        switch error {
        case .character: "a character that is not of Base64"
        case .length: "Base64 that is cut short"
        case .slack: "Base64 whose last character says too much"
        }
    }
}
