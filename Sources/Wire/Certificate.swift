/// # One certificate, for people (X.509, RFC 5280)
///
///     octets ── PEM? ──▶ DER ──▶ names · validity · is it an authority's? ──▶ Certificate
///                                      whole DER ── SHA-256 ──▶ fingerprint
///
/// A phone that is to trust a proxy's authority is shown what it is about to trust: whose it is, until when, and a
/// fingerprint to compare. Nothing is verified, and no signature is looked at: whoever trusts an authority takes it as
/// it is. What is read is read strictly, and everything has a bound.

import Bytes
import Digest

public struct Certificate: Equatable, Sendable {
    /// `CN=mitmproxy, O=mitmproxy`: as RFC 4514 writes names, in the order of the certificate.
    public let subject: String
    public let issuer: String
    /// The first and the last second of its validity, counted from 1970 (section 4.1.2.5).
    public let notBefore: Int64
    public let notAfter: Int64
    /// Why it is no authority's; nil for one that is.
    public let authorityDoubt: String?
    /// The whole certificate.
    public let der: [UInt8]

    /// The octets that a certificate may have, in either form.
    public static let sizeLimit = 65536

    /// Whether it may sign others: by basicConstraints (section 4.2.1.9) and by keyUsage (section 4.2.1.3), where it
    /// has one.
    public var isAuthority: Bool { authorityDoubt == nil }

    /// The SHA-256 of the certificate as people compare it: `6A:1F:…`, 32 octets.
    public var fingerprint: String {
        let digest = SHA256.digest(der.span)
        return digest.map { octet in
            let digits = String(octet, radix: 16, uppercase: true)
            return octet < 16 ? "0" + digits : digits
        }.joined(separator: ":")
    }

    /// What phones list it as: the subject's common name, or what else there is to call it by.
    public var name: String { CertificateNames.parse(der.span)?.subject ?? subject }

    /// The certificate in PEM (RFC 7468).
    public var pem: String { CertificateText.encode(der) }

    /// Reads a certificate in PEM or in DER.
    public static func parse(_ octets: [UInt8]) throws(CertificateError) -> Certificate {
        guard octets.count <= sizeLimit else { throw .tooLong(octets.count) }
        if octets.first != DERElement.sequence, let der = try CertificateText.decode(octets) {
            return try CertificateReader.read(der)
        }
        guard octets.first == DERElement.sequence else { throw CertificateText.sort(of: octets) }
        return try CertificateReader.read(octets)
    }

    /// Refuses what a phone cannot use as an authority at a time in seconds from 1970.
    public func checkAuthority(at now: Int64) throws(CertificateError) {
        if let authorityDoubt { throw .notAuthority(subject: subject, because: authorityDoubt) }
        guard now <= notAfter else { throw .over(since: notAfter) }
        guard now >= notBefore else { throw .notYet(from: notBefore) }
    }
}
