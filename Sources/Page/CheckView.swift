/// Does this phone use the gateway, in all that it does? Three images say so, without a script.
///
/// A browser fetches an image by a name that only our DNS service knows, one by an address that only our tunnel
/// answers, and one by IPv6; which of them it fetched is seen here, not there.

import Bytes

/// What the page at `/check` shows.
public struct CheckView: Equatable, Sendable {
    /// What the browser is asked to fetch.
    public struct Images: Equatable, Sendable {
        let names: PageLink
        let route: PageLink
        let ipv6: PageLink?
        /// Where the last one stands, by itself.
        let frame: PageLink

        /// Takes what a browser is to fetch, under `/check.png`; nil where a part of it is no host.
        ///
        /// - Parameters:
        ///   - nonce: One label of letters and digits: the name is `NONCE.check.starship.internal`.
        ///   - route: An address of the tunnel, as a URL has it.
        ///   - ipv6: An address in brackets; nil: there is nothing to try.
        public init?(nonce: String, route: String, ipv6: String?) {
            let path: StaticString = "/check.png"
            guard let names = PageLink(authority: nonce + PageGuard.checkSuffix, path: path, ["n": nonce]),
                let route = PageLink(authority: route, path: path, ["n": nonce])
            else { return nil }
            self.names = names
            self.route = route
            frame = PageLink("/check/ipv6", ["n": nonce])
            guard let ipv6 else {
                self.ipv6 = nil
                return
            }
            guard let link = PageLink(authority: ipv6, path: path, ["n": nonce]) else { return nil }
            self.ipv6 = link
        }
    }

    /// What was asked.
    public enum Question: CaseIterable, Sendable {
        case names
        case route
        case ipv6
    }

    /// What is wrong.
    public enum Fault: CaseIterable, Sendable {
        /// Another DNS server is asked, in plain text.
        case foreignResolver
        /// The phone insists on DNS over TLS.
        case privateDNS
        /// The phone insists on DNS over HTTPS, or on a relay.
        case encryptedDNS
        /// The question never came: which of these, nobody can tell.
        case otherResolver
        /// Packets to the tunnel's addresses take another way.
        case otherRoute
        /// IPv6 takes another way.
        case foreignIPv6
    }

    /// The answer to one question.
    public struct Result: Equatable, Sendable {
        public var question: Question
        /// Nil: it is as it should be.
        public var fault: Fault?
        /// What was seen, where that says more: an address, a server's name.
        public var detail: String?

        public init(_ question: Question, fault: Fault? = nil, detail: String? = nil) {
            self.question = question
            self.fault = fault
            self.detail = detail
        }
    }

    /// How far the check has come.
    public enum Stage: Equatable, Sendable {
        /// The images are on their way.
        case asking(nonce: String, Images)
        /// What came.
        case results([Result])
        /// The nonce is none, or too old.
        case unknown
    }

    public var device: DeviceView
    public var stage: Stage

    public init(device: DeviceView, stage: Stage) {
        self.device = device
        self.stage = stage
    }

    public func answer(in context: PageContext) -> PageAnswer {
        switch stage {
        case .asking(let nonce, let images): asking(nonce, images, context)
        case .results(let results): showing(results, context)
        case .unknown:
            PageAnswer(title: "Check this phone", context) {
                tag(.h1) { "This check is over" }
                tag(.p) { tag(.a, .class("button"), .href(PageLink("/check"))) { "Check this phone again" } }
            }
        }
    }

    private func asking(_ nonce: String, _ images: Images, _ context: PageContext) -> PageAnswer {
        let policy = ContentPolicy(images: [images.names, images.route], hasFrame: images.ipv6 != nil)
        return PageAnswer(title: "Check this phone", context, policy: policy) {
            tag(.h1) { Markup("Check of ") + foreign(device.label) }
            tag(.p) { "This phone now fetches three tiny images. Wait five seconds, then look." }
            tag(.p, .class("checks")) {
                Self.image(images.names, "Image by a name")
                Self.image(images.route, "Image by a route")
                if images.ipv6 != nil {
                    tag(
                        .iframe, .source(images.frame), .title("Image by IPv6"), .number("width", 24),
                        .number("height", 24))
                }
            }
            tag(.p) { tag(.a, .class("button"), .href(PageLink("/check", ["n": nonce]))) { "Show the result" } }
        }
    }

    private static func image(_ link: PageLink, _ text: String) -> Markup {
        tag(.img, .source(link), .alternative(text), .number("width", 8), .number("height", 8))
    }

    /// What stands in the frame: the image by IPv6 and no text of anybody's, so that its wide policy lets nothing
    /// through.
    ///
    /// Nil where that family is not tried.
    public static func frame(_ images: Images) -> PageAnswer? {
        guard let link = images.ipv6 else { return nil }
        let page = tag(.html, .fixed("lang", "en")) {
            tag(.head) {
                tag(.meta, .fixed("charset", "utf-8"))
                tag(.title) { "Image by IPv6" }
            }
            tag(.body) { image(link, "Image by IPv6") }
        }
        let document = Markup(literal: "<!DOCTYPE html>\n") + page
        return PageAnswer(
            status: 200, type: PageAnswer.html, body: Array((document.html + "\n").utf8),
            policy: ContentPolicy(isFrame: true))
    }

    private func showing(_ results: [Result], _ context: PageContext) -> PageAnswer {
        let faults = results.filter { $0.fault != nil }.count
        return PageAnswer(
            title: faults == 0 ? "This phone is fine" : "This phone has \(faults) faults", context
        ) {
            tag(.h1) { Markup("Result for ") + foreign(device.label) }
            Markup.joined(results.map(\.markup))
            tag(.p) { tag(.a, .class("button"), .href(PageLink("/check"))) { "Check this phone again" } }
        }
    }

    /// The image of every check: one transparent pixel (PNG, 68 octets); other hosts' pages of ours show it.
    public static let image: PageAnswer = {
        var answer = PageAnswer(status: 200, type: "image/png", body: Pixel.png)
        answer.set("Cross-Origin-Resource-Policy", "cross-origin")
        return answer
    }()
}

extension CheckView.Question {
    /// What is good about it when it is.
    fileprivate var good: String {
        switch self {
        case .names: "This phone asks the gateway's DNS"
        case .route: "This phone's route leads into the gateway"
        case .ipv6: "IPv6 does not go around the gateway"
        }
    }
}

extension CheckView.Result {
    fileprivate var markup: Markup {
        guard let fault else {
            return tag(.section, .labelled(question.good), .class("card status green")) {
                tag(.p) { tag(.span, .class("state")) { "✓ Good: " } + Markup("\(question.good).") }
            }
        }
        return tag(.section, .labelled(fault.words), .class("card status red")) {
            tag(.p) { tag(.span, .class("state")) { "✕ Bad: " } + Markup("\(fault.words).") }
            if let detail { tag(.p) { Markup("Seen: ") + foreign(detail) } }
            tag(.dl) {
                tag(.dt) { "iOS" }
                tag(.dd) { fault.remedies.iOS }
                tag(.dt) { "Android" }
                tag(.dd) { fault.remedies.android }
            }
        }
    }
}

extension CheckView.Fault {
    var words: String {
        switch self {
        case .foreignResolver: "This phone asks another DNS server than the gateway"
        case .privateDNS: "This phone asks a private DNS server over TLS"
        case .encryptedDNS: "This phone asks DNS through HTTPS or a relay"
        case .otherResolver: "This phone's question did not come to the gateway's DNS"
        case .otherRoute: "This phone's packets take another way than the gateway"
        case .foreignIPv6: "This phone's IPv6 goes around the gateway"
        }
    }

    /// The paths through the menus that mend it.
    var remedies: (iOS: String, android: String) {
        switch self {
        case .foreignResolver:
            (
                "Settings, Wi-Fi, (i) beside this network, Configure DNS: Automatic",
                "Settings, Network & internet, Internet, this network, edit (pencil), IP settings: DHCP"
            )
        case .privateDNS:
            (
                "Settings, General, VPN & Device Management, DNS: Automatic, or remove the profile that sets it",
                "Settings, Network & internet, Private DNS: Off"
            )
        case .encryptedDNS:
            (
                "Settings, your name, iCloud, Private Relay: off; and Settings, General, VPN & Device Management, DNS: "
                    + "Automatic",
                "In Chrome: Settings, Privacy and security, Use secure DNS: off"
            )
        case .otherResolver:
            (
                "Settings, Wi-Fi, (i) beside this network, Configure DNS: Automatic; and Settings, your name, iCloud, "
                    + "Private Relay: off",
                "Settings, Network & internet, Private DNS: Off; and in Chrome: Settings, Privacy and security, Use "
                    + "secure DNS: off"
            )
        case .otherRoute:
            (
                "Settings, General, VPN & Device Management, VPN: off; Settings, Wi-Fi, (i), Configure IP: Automatic; "
                    + "Settings, Mobile Service: Mobile Data off",
                "Settings, Network & internet, VPN: off; Internet, this network, IP settings: DHCP; SIMs: Mobile data off"
            )
        case .foreignIPv6:
            (
                "There is no switch on iOS: turn off Mobile Data, and have the other router on this Wi-Fi stop announcing "
                    + "IPv6",
                "Settings, Network & internet, SIMs: Mobile data off; and have the other router on this Wi-Fi stop "
                    + "announcing IPv6"
            )
        }
    }
}
