/// Why octets are not the certificate that was expected.

import Bytes

/// What was found, and what would be right.
public enum CertificateError: Error, Equatable, Sendable, CustomStringConvertible {
    case empty
    /// More octets than any certificate has.
    case tooLong(Int)
    case webPage
    /// Words that are no certificate; their beginning.
    case text(String)
    case privateKey
    /// PEM of another sort; its label.
    case otherText(String)
    /// PEM with so many certificates.
    case several(Int)
    case malformedText(String)
    /// The part of the certificate that cannot be read.
    case malformed(String)
    /// Whose it is, and what says so.
    case notAuthority(subject: String, because: String)
    /// Since when, in seconds from 1970.
    case over(since: Int64)
    case notYet(from: Int64)

    private static let expected = "expected a certificate, in PEM or DER"

    public var description: String {
        switch self {
        case .empty: "found nothing; \(Self.expected)"
        case .tooLong(let count): "found \(count) octets; \(Self.expected) of at most \(Certificate.sizeLimit)"
        case .webPage: "found a web page; \(Self.expected)"
        case .text(let words): "found \"\(words)\"; \(Self.expected)"
        case .privateKey: "found a private key, which must not leave its machine; \(Self.expected)"
        case .otherText(let label): "found PEM of the kind \"\(label)\"; \(Self.expected)"
        case .several(let count): "found \(count) certificates; expected one"
        case .malformedText(let what): "found PEM with \(what); \(Self.expected)"
        case .malformed(let part): "found what is no X.509 certificate: \(part) can't be read; \(Self.expected)"
        case .notAuthority(let subject, let because):
            "found a certificate of a server (\(subject)): \(because); expected one of an authority"
        case .over(let since): "found a certificate that is over since \(Self.day(since)); expected one that is valid"
        case .notYet(let from):
            "found a certificate that is valid from \(Self.day(from)) on; expected one that is valid now:"
                + " is this machine's clock right?"
        }
    }

    /// A day in UTC, as RFC 3339 writes it.
    private static func day(_ seconds: Int64) -> String {
        String(UnixTime(seconds: seconds).description.prefix { $0 != "T" })
    }
}
