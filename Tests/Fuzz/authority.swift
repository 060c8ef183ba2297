/// Any bytes as a certificate that somebody may have to trust, in PEM and in DER: it is read strictly, and written as
/// it was read.

@testable import Wire

func fuzzAuthority(_ bytes: [UInt8]) {
    do throws(CertificateError) {
        let certificate = try Certificate.parse(bytes)
        precondition((try? Certificate.parse(certificate.der)) == certificate, "another certificate in DER")
        precondition((try? Certificate.parse(Array(certificate.pem.utf8))) == certificate, "another certificate in PEM")
        precondition(certificate.fingerprint.utf8.count == 95, "a fingerprint of another length")
        for text in [certificate.subject, certificate.issuer, certificate.name] {
            precondition(text.utf8.count < 8192, "a name without end")
            precondition(!text.unicodeScalars.contains { $0.properties.generalCategory == .control }, "a name of lines")
        }
        for time in [0, certificate.notBefore, certificate.notAfter] { try? certificate.checkAuthority(at: time) }
        if let doubt = certificate.authorityDoubt { precondition(!doubt.isEmpty, "a doubt without words") }
    } catch {
        let words = "\(error)"
        precondition(!words.isEmpty && words.utf8.count < 1000, "a refusal of no length, or without end")
        precondition(!words.unicodeScalars.contains { $0.properties.generalCategory == .control }, "no line")
    }
    // The fuzzer seldom makes Base64 that is something.
    let text = CertificateText.encode(bytes)
    if let decoded = try? CertificateText.decode(Array(text.utf8)) {
        precondition(decoded == bytes, "PEM that is read as other octets")
    }
}
