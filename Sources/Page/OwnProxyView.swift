/// A proxy of one's own for one phone: brought by the phone, or by the laptop that it runs on.

public import QRCode

/// What may be brought (`adhoc`).
public struct OwnProxyTerms: Equatable, Sendable {
    /// How long it holds and how long it can be made to, in seconds.
    public var lease: Int64
    public var longest: Int64
    /// The networks and ports that such a proxy may have, in words.
    public var from: String
    public var ports: String

    public init(lease: Int64, longest: Int64, from: String, ports: String) {
        self.lease = lease
        self.longest = longest
        self.from = from
        self.ports = ports
    }

    fileprivate var words: Markup {
        tag(.p, .class("hint")) {
            "For one phone and \(PageContext.words(lease)), \(PageContext.words(longest)) at most. Addresses in "
            foreign(from) + Markup(", ports ") + foreign(ports) + Markup(".")
        }
    }
}

/// What the page at `/adhoc` shows: the phone says where the proxy is.
public struct OwnProxyView: Equatable, Sendable {
    public var device: DeviceView
    /// Nil: nobody may.
    public var terms: OwnProxyTerms?
    public var server: FormField
    public var domains: FormField

    public init(
        device: DeviceView, terms: OwnProxyTerms?, server: FormField = FormField(), domains: FormField = FormField()
    ) {
        self.device = device
        self.terms = terms
        self.server = server
        self.domains = domains
    }

    public func answer(in context: PageContext) -> PageAnswer {
        let isRefused = server.error != nil || domains.error != nil
        return PageAnswer(
            title: isRefused ? "Not done: my own proxy" : "My own proxy", status: isRefused ? 422 : 200, context
        ) {
            tag(.h1) { Markup("Your own proxy for ") + foreign(device.label) }
            if let terms {
                tag(.section, .labelled("The proxy"), .class("card")) {
                    terms.words
                    context.form(.bringProxy) { form(context) }
                }
                tag(.p) { "Or open http://\(context.authority)/l?port=8899 on the laptop, with the port of its proxy." }
            } else {
                tag(.p) { "This gateway lets nobody bring a proxy. Whoever looks after it can: adhoc." }
            }
        }
    }

    private func form(_ context: PageContext) -> Markup {
        .joined([
            server.markup(
                "server",
                FormField.Look(
                    label: "Address and port of the proxy", hint: "As the proxy's own window says: 10.20.3.77:8899.",
                    mode: "url")),
            domains.markup(
                "domains",
                FormField.Look(
                    label: "Domains for it", hint: "One a line, each with all below it; empty: everything.",
                    isLong: true)),
            context.submit("Switch this phone to this proxy"),
        ])
    }
}

/// What the page at `/l` shows: the laptop offers the proxy that runs on it.
public struct LaptopView: Equatable, Sendable {
    /// One thing that was tried.
    public struct Finding: Equatable, Sendable {
        /// Nil: nothing can be said.
        public var isGood: Bool?
        public var words: String

        public init(isGood: Bool?, words: String) {
            self.isGood = isGood
            self.words = words
        }
    }

    /// What a phone scans.
    public struct Ticket: Equatable, Sendable {
        /// Host and port of the proxy.
        public var server: String
        public var kind: UpstreamView.Kind
        public var findings: [Finding]
        /// What the code says.
        public var link: String
        public var code: QRCode
        /// The last second at which it can be scanned, counted from 1970.
        public var expires: Int64

        /// Throws where the link fits no code.
        public init(
            server: String, kind: UpstreamView.Kind, findings: [Finding], link: String, expires: Int64
        ) throws(QRCodeError) {
            self.server = server
            self.kind = kind
            self.findings = findings
            self.link = link
            self.expires = expires
            code = try QRCode(link)
        }
    }

    /// How far it has come.
    public enum Stage: Equatable, Sendable {
        /// The laptop confirms its address and the port.
        case asking(port: FormField)
        /// Its proxy, host and port, is being tried.
        case trying(server: String)
        /// What runs there is no proxy that can be used.
        case failed(port: FormField, findings: [Finding])
        case ready(Ticket)
        /// In words, why this machine can't offer one.
        case refused(String)
    }

    /// The address of the asking machine.
    public var address: String
    public var terms: OwnProxyTerms?
    public var stage: Stage
    /// What the devices are called that have its proxy.
    public var phones: [String]

    public init(address: String, terms: OwnProxyTerms?, stage: Stage, phones: [String] = []) {
        self.address = address
        self.terms = terms
        self.stage = stage
        self.phones = phones
    }

    public func answer(in context: PageContext) -> PageAnswer {
        switch stage {
        case .asking(let port): return asking(port, context)
        case .trying(let server): return trying(server, context)
        case .failed(let port, let findings): return failed(port, findings, context)
        case .ready(let ticket): return ready(ticket, context)
        case .refused(let why):
            return PageAnswer(title: "Not done: this laptop's proxy", status: 422, context) {
                tag(.h1) { "This laptop's proxy can't be used" }
                tag(.p, .role("alert")) { foreign(why) }
            }
        }
    }

    private func asking(_ port: FormField, _ context: PageContext) -> PageAnswer {
        let isRefused = port.error != nil
        return PageAnswer(
            title: isRefused ? "Not done: this laptop's proxy" : "This laptop's proxy", status: isRefused ? 422 : 200,
            context
        ) {
            // What is wrong with what was typed stays until it is sent again.
            if isRefused { offer(port, context) } else { live { offer(port, context) } }
        }
    }

    private func offer(_ port: FormField, _ context: PageContext) -> Markup {
        .joined([
            tag(.h1) { Markup("Offer the proxy of this laptop, ") + foreign(address) },
            tag(.section, .labelled("The proxy"), .class("card")) {
                if let terms { terms.words }
                tag(.p) { "The gateway tries it, then shows a code for one phone." }
                form(port, context)
            },
            followers,
        ])
    }

    private func form(_ port: FormField, _ context: PageContext) -> Markup {
        context.form(.bringLaptop) {
            port.markup(
                "port",
                FormField.Look(
                    label: "Port of the proxy on this laptop",
                    hint: "Whistle 8899, Charles 8888, mitmproxy 8080, Proxyman 9090, if nobody changed it.",
                    mode: "numeric"))
            context.submit("Try the proxy of this laptop and show a code")
        }
    }

    /// Who has the proxy already.
    private var followers: Markup {
        guard !phones.isEmpty else { return Markup("") }
        return tag(.p) { Markup("Phones with a proxy of this laptop: ") + foreign(phones.joined(separator: ", ")) }
    }

    /// What changes by itself as soon as the proxy was tried.
    private func live(@MarkupBuilder _ content: () -> Markup) -> Markup { tag(.div, .live("laptop")) { content() } }

    private func trying(_ server: String, _ context: PageContext) -> PageAnswer {
        PageAnswer(title: "Trying \(server)", context) {
            live {
                tag(.h1) { Markup("Trying ") + foreign(server) }
                tag(.p, .role("status")) { "The gateway tries this laptop's proxy. It takes a few seconds." }
                tag(.p) { tag(.a, .class("button"), .href(PageLink("/l"))) { "Look again" } }
            }
        }
    }

    private func failed(_ port: FormField, _ findings: [Finding], _ context: PageContext) -> PageAnswer {
        PageAnswer(title: "No code: this laptop's proxy", context) {
            live {
                tag(.h1) {
                    Markup("The proxy of this laptop can't be used yet: ") + foreign("\(address):\(port.value)")
                }
                tried(findings)
                tag(.section, .labelled("Try again"), .class("card")) {
                    tag(.p) {
                        "Start the proxy, let it and this laptop's firewall take connections from the network, then try"
                            + " again."
                    }
                    form(port, context)
                }
                followers
            }
        }
    }

    private func tried(_ findings: [Finding], _ kind: UpstreamView.Kind = .plain) -> Markup {
        tag(.section, .labelled(by: "tried"), .class("card")) {
            tag(.h2, .id("tried")) { "What was tried" }
            tag(.ul) { Markup.joined(findings.map(\.markup)) }
            if kind.decrypts {
                tag(.p) { "It looks like \(kind.name): the phone's page has its certificate afterwards." }
            }
        }
    }

    private func ready(_ ticket: Ticket, _ context: PageContext) -> PageAnswer {
        PageAnswer(title: "Code for \(ticket.server)", context) {
            live {
                tag(.h1) { Markup("Scan this with one phone: ") + foreign(ticket.server) }
                tag(.section, .labelled("The code"), .class("card")) {
                    CodeSheet.drawing(ticket.code, label: "Code that switches one phone to \(ticket.server)")
                    tag(.p) { Markup("Good for one phone; ends ") + context.ahead(ticket.expires) + Markup(".") }
                    tag(.p, .class("hint")) { foreign(ticket.link) }
                }
                tried(ticket.findings, ticket.kind)
                tag(.p) { "When this laptop's address changes, open this page on it again: the phone follows." }
                followers
            }
        }
    }
}

extension LaptopView.Finding {
    fileprivate var markup: Markup {
        switch isGood {
        case true?: tag(.li) { tag(.span, .class("state green")) { "✓ Good: " } + foreign(words) }
        case false?: tag(.li) { tag(.span, .class("state red")) { "✕ Bad: " } + foreign(words) }
        case nil: tag(.li) { tag(.span, .class("state grey")) { "? Not known: " } + foreign(words) }
        }
    }
}

extension PageAnswer {
    /// What follows a laptop's word: its page, which shows what becomes of it.
    public static let laptopTried = seeOther(PageLink("/l"))

    /// The laptop's page at another address of the gateway's, with the port that was named here; nil for what is no
    /// host.
    public static func laptop(at authority: String, port: String?) -> PageAnswer? {
        let link =
            if let port {
                PageLink(authority: authority, path: "/l", ["port": port])
            } else {
                PageLink(authority: authority, path: "/l")
            }
        return link.map(seeOther)
    }

    /// Another page (303, RFC 9110, section 15.4.4).
    private static func seeOther(_ link: PageLink) -> PageAnswer {
        var answer = PageAnswer(status: 303, type: nil, body: [])
        answer.set("Location", link.text)
        return answer
    }
}
