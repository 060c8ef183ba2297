/// Where a decrypting proxy gives its certificate away, and which names mean it.
///
/// Such a proxy answers a few names itself, to whoever comes through it; to anybody else they are some web site or
/// nothing. So they have to go through the device's own upstream whatever its profile lists, and as a whole URL.

internal import Routing

/// The names that a decrypting proxy answers itself.
public struct CertificateSource: Equatable, Sendable {
    /// The first is the one whose page has the certificate.
    public var hosts: [String]
    /// The path of the certificate there, by plain http.
    public var path: String

    public var url: String { "http://\(hosts[0])\(path)" }
}

extension Upstream.Kind {
    /// Where its certificate comes from; nil for what decrypts nothing.
    public var certificateSource: CertificateSource? {
        switch self {
        case .mitmproxy: CertificateSource(hosts: ["mitm.it"], path: "/cert/pem")
        case .charles:
            CertificateSource(hosts: ["chls.pro", "charlesproxy.com", "www.charlesproxy.com"], path: "/ssl")
        case .whistle: CertificateSource(hosts: ["rootca.pro", "local.whistlejs.com"], path: "/")
        case .proxyman: CertificateSource(hosts: ["proxy.man"], path: "/ssl")
        case .other, .squid, .tinyproxy: nil
        }
    }

    /// The kinds that decrypt.
    public static var decrypting: [Self] { allCases.filter { $0.certificateSource != nil } }
}

extension Configuration {
    /// The names that go through a profile's upstream before any of its rules is asked; for a group those of all its
    /// members.
    func impliedNames(of profile: Profile) -> [ImpliedNames] {
        var kinds: [Upstream.Kind] = []
        let members = profile.upstream.group?.members.compactMap { self.profile($0)?.upstream.kind }
        for kind in members ?? [profile.upstream.kind] where !kinds.contains(kind) { kinds.append(kind) }
        return kinds.compactMap { kind in
            kind.certificateSource.map {
                ImpliedNames(list: "certificate hosts of \(kind.rawValue)", names: $0.hosts)
            }
        }
    }
}
