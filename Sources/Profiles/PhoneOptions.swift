/// What phones need although they never ask for it, each to be switched off.

/// Exceptions that go around the rules, so that a phone stays on its Wi-Fi and its names stay ours to answer.
public struct PhoneOptions: Equatable, Sendable {
    /// The probes by which a device decides whether a Wi-Fi has Internet.
    public var connectivity = Connectivity.direct
    /// Whether push services go direct, whatever the rules say, so that a dead proxy costs no notification.
    public var push = true
    /// Whether UDP 123 (time) goes direct, whatever the profile says of UDP.
    public var ntp = true
    /// Whether UDP 500 and 4500 (Wi-Fi calling) go direct, whatever the profile says of UDP.
    public var ike = true
    /// Whether devices may use iCloud Private Relay.
    ///
    /// Without it the names by which they ask for leave get negative answers, as Apple wants it.
    public var privateRelay = false
    /// Known hosts of DNS over HTTPS, and the names by which devices ask for leave to use them.
    public var doh = Encrypted.refuse
    /// DNS over TLS and QUIC: port 853.
    public var dot = Encrypted.refuse
    /// The directory of the host lists; nil: `phones` beside the configuration, or the lists that came with the
    /// program.
    public var lists: String?

    /// Where a connectivity probe is answered.
    public enum Connectivity: String, CaseIterable, Sendable {
        /// By its own server, around the proxy.
        case direct
        /// By whoever the rules send it to.
        case upstream
        /// By the gateway, for labs without Internet.
        case answer
    }

    /// What becomes of names that a device wants to ask elsewhere, encrypted.
    public enum Encrypted: String, CaseIterable, Sendable {
        /// At once, so that the device falls back to asking us.
        case refuse
        /// They are names and ports like any other.
        case allow
    }

    public init() {}
}
