/// The certificate of a proxy that decrypts: is it the right one, and how a phone comes to trust it.

internal import Profiles

/// What the page at `/ca` shows.
public struct CertificateView: Equatable, Sendable {
    /// A certificate of an authority, as it came through the proxy; it has been checked to be one.
    public struct Certificate: Equatable, Sendable {
        /// The subject's common name, or all of it.
        public var subject: String
        /// Of its DER octets.
        public var sha256: [UInt8]
        /// The last second of its life, counted from 1970.
        public var expires: Int64

        public init(subject: String, sha256: [UInt8], expires: Int64) {
            self.subject = subject
            self.sha256 = sha256
            self.expires = expires
        }
    }

    /// What is known of the certificate.
    public enum Outcome: Equatable, Sendable {
        /// The device's upstream does not decrypt.
        case notNeeded
        case found(Certificate)
        /// It is being fetched.
        case underway
        /// Why there is none: the proxy did not give one, or what it gave is none.
        case missing(String)
    }

    public var device: DeviceView
    public var profile: String
    public var kind: UpstreamView.Kind
    public var outcome: Outcome

    public init(device: DeviceView, profile: String, kind: UpstreamView.Kind, outcome: Outcome) {
        self.device = device
        self.profile = profile
        self.kind = kind
        self.outcome = outcome
    }

    public func answer(in context: PageContext) -> PageAnswer {
        var answer = PageAnswer(title: "Certificate of \(profile)", context) {
            tag(.h1) { Markup("Certificate of ") + foreign(profile) }
            switch outcome {
            case .notNeeded:
                tag(.p) { "This phone's profile does not decrypt: it needs no certificate." }
            case .underway:
                tag(.section, .labelled("How far it is"), .class("card")) {
                    tag(.p, .role("status")) {
                        tag(.strong) { "No certificate: " }
                        "it is being fetched through the proxy; this page looks again every "
                            + "\(PageContext.words(Self.refreshTime))."
                    }
                    tag(.p) { tag(.a, .class("button"), .href(PageLink("/ca"))) { "Fetch the certificate again" } }
                }
            case .missing(let why):
                tag(.section, .labelled("What is wrong"), .class("card")) {
                    tag(.p) {
                        tag(.strong) { "No certificate: " }
                        foreign(why)
                    }
                    tag(.p) { "It is fetched through the proxy, so the proxy has to work first." }
                    tag(.p) { tag(.a, .class("button"), .href(PageLink("/ca"))) { "Fetch the certificate again" } }
                    if let elsewhere { elsewhere }
                }
            case .found(let certificate):
                card(certificate, context)
                CertificateCard.installation(
                    of: certificate.subject, from: "http://\(context.authority)/ca.crt", kind)
                if let elsewhere { elsewhere }
            }
        }
        // Without a script too; a fetch has an end, and so has this. As a field it is no trap for aids to reading.
        if outcome == .underway { answer.set("Refresh", "\(Self.refreshTime)") }
        return answer
    }

    /// After how many seconds a certificate that is being fetched is looked for again.
    private static let refreshTime: Int64 = 2

    private func card(_ certificate: Certificate, _ context: PageContext) -> Markup {
        tag(.section, .labelled("The certificate"), .class("card")) {
            tag(.dl) {
                tag(.dt) { "Issued to" }
                tag(.dd) { foreign(certificate.subject) }
                tag(.dt) { "Expires" }
                tag(.dd) {
                    context.day(certificate.expires)
                    if certificate.expires < context.now { tag(.strong, .class("error")) { "✕ It has expired." } }
                }
                tag(.dt) { "SHA-256" }
                tag(.dd) { tag(.code) { Self.spelled(certificate.sha256) } }
            }
            tag(.p, .class("hint")) {
                "Compare the fingerprint with the one on the laptop: whoever has this certificate's key can read all "
                    + "that a phone which trusts it sends."
            }
            tag(.p) {
                tag(.a, .class("button"), .href(PageLink("/ca.crt"))) { "Download the certificate to this phone" }
            }
        }
    }

    /// The page of the proxy itself, at a host that leads to it.
    private var elsewhere: Markup? {
        guard let host = kind.certificateHost, let link = PageLink(authority: host, path: "/") else { return nil }
        return tag(.p) {
            Markup("\(kind.name)'s own page for this is ") + tag(.a, .href(link)) { "http://\(host)/" } + Markup(".")
        }
    }

    /// `AB:CD:…`, as phones and programs show it.
    static func spelled(_ octets: [UInt8]) -> String {
        octets.map { octet in
            let digits = String(octet, radix: 16, uppercase: true)
            return digits.utf8.count == 1 ? "0\(digits)" : digits
        }.joined(separator: ":")
    }
}

extension CertificateView {
    /// The certificate as phones take it: DER, under the type that Android and iOS both know.
    public static func file(der: [UInt8], name: String) -> PageAnswer {
        var answer = PageAnswer(status: 200, type: "application/x-x509-ca-cert", body: der)
        let isPlain = !name.isEmpty && name.utf8.allSatisfy { 0x61...0x7a ~= $0 || 0x30...0x39 ~= $0 || $0 == 0x2d }
        answer.set("Content-Disposition", "attachment; filename=\"\(isPlain ? name : "proxy")-ca.crt\"")
        return answer
    }
}

extension UpstreamView.Kind {
    /// Where such a proxy hands out its certificate itself.
    var certificateHost: String? {
        switch self {
        case .whistle: "rootca.pro"
        case .charles: "chls.pro"
        case .mitmproxy: "mitm.it"
        case .proxyman: "proxy.man"
        case .plain: nil
        }
    }
}

/// How a phone comes to trust a certificate, and how it stops: the steps that everybody is told, as parts of a page.
enum CertificateCard {
    /// The steps for a certificate that the phone shows under a name, and that it gets at a URL.
    static func installation(of name: String, from url: String, _ kind: UpstreamView.Kind) -> Markup {
        tag(.section, .labelled(by: "install"), .class("card")) {
            tag(.h2, .id("install")) { "Trust it on this phone" }
            each(name, url) { list($0.install + $0.trust) }
            tag(.h3) { "When you are done" }
            tag(.p) { "Remove it again: who has the key of \(kind.name)'s certificate can read this phone everywhere." }
            removed(name, url)
        }
    }

    /// Which certificate the phone has is not known any more: it is called by its proxy.
    static func removal(of kind: UpstreamView.Kind) -> Markup {
        tag(.section, .labelled(by: "remove"), .class("card")) {
            tag(.h2, .id("remove")) { "Remove the certificate of \(kind.name)" }
            tag(.p) {
                "This phone does not use \(kind.name) any more. If its certificate was installed, take it off:"
            }
            removed(kind.name, "")
        }
    }

    private static func removed(_ name: String, _ url: String) -> Markup { each(name, url) { list($0.remove) } }

    private static func each(_ name: String, _ url: String, _ steps: (CertificateSteps) -> Markup) -> Markup {
        .joined(
            CertificateSteps.System.allCases.flatMap { system in
                [
                    tag(.h3) { system.rawValue },
                    steps(CertificateSteps(system, certificate: name, from: url)),
                ]
            })
    }

    private static func list(_ steps: [String]) -> Markup {
        tag(.ol) { Markup.joined(steps.map { step in tag(.li) { foreign(step) } }) }
    }
}
