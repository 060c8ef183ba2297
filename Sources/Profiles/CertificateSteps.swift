/// What a person does on a phone so that it trusts a proxy's certificate, and so that it no longer does.

/// Steps in words, each one line; menus are those of iOS 17 and of Android 14.
public struct CertificateSteps: Equatable, Sendable {
    /// Whose menus they are.
    public enum System: String, CaseIterable, Sendable {
        case iOS
        case android = "Android"
    }

    public var system: System
    /// Getting the certificate onto the phone.
    public var install: [String]
    /// Having it trusted, which on iOS is another thing, and on Android is up to each app.
    public var trust: [String]
    /// Taking it off again.
    public var remove: [String]

    /// The steps for a certificate that the phone shows under a name, and that it gets at a URL.
    public init(_ system: System, certificate name: String, from url: String) {
        self.system = system
        switch system {
        case .iOS:
            install = [
                "Open \(url) in Safari (other browsers can't install it) and tap Allow.",
                "Open Settings → General → VPN & Device Management, tap \"\(name)\" under Downloaded Profile,"
                    + " then Install, and enter the passcode.",
            ]
            trust = [
                "Open Settings → General → About → Certificate Trust Settings.",
                "Switch on \"\(name)\" under Enable Full Trust for Root Certificates, and tap Continue.",
            ]
            remove = [
                "Open Settings → General → VPN & Device Management, tap \"\(name)\", then Remove Profile.",
                "Close apps that were open: each keeps its connections until it is started anew.",
            ]
        case .android:
            install = [
                "Open \(url) in the browser; the file goes to Downloads.",
                "Open Settings → Security → Encryption & credentials → Install a certificate → CA certificate"
                    + " (on some phones below Security & privacy → More security settings), tap Install anyway,"
                    + " and choose the file.",
            ]
            trust = [
                "Browsers trust it now. Since Android 7 an app does only if it is built so: its network security"
                    + " configuration (res/xml/network_security_config.xml) needs <certificates src=\"user\" /> in its"
                    + " trust-anchors, at least below <debug-overrides>.",
                "An app that doesn't, or that pins its certificates, fails with this profile: send its hosts direct.",
            ]
            remove = [
                "Open Settings → Security → Encryption & credentials → Trusted credentials → User, tap \"\(name)\","
                    + " then Remove.",
                "Close apps that were open: each keeps its connections until it is started anew.",
            ]
        }
    }
}
