/// The first look: what this phone has, how that is and why, and what can be done about it.

/// A device as pages speak of it.
public struct DeviceView: Equatable, Sendable {
    /// What people have called it; nil: nobody has yet.
    public var name: String?
    /// What it is called in a list.
    public var label: String
    public var address: String

    public init(name: String?, label: String, address: String) {
        self.name = name
        self.label = label
        self.address = address
    }
}

/// What the page at `/` shows.
public struct HomeView: Equatable, Sendable {
    /// Where the device's requests go.
    public enum Way: Equatable, Sendable {
        case profile(ProfileView)
        /// Around every proxy, since nobody has named the device.
        case direct
        /// Nowhere, since nobody has named the device.
        case blocked
    }

    /// Who has decided that.
    public enum Origin: Equatable, Sendable {
        /// Somebody has given the profile to this device; times in seconds since 1970, no end: until it is released.
        case assignment(by: String, since: Int64, until: Int64?)
        /// The gateway's configuration names it for this device.
        case file
        case interface(String)
        case standard
        /// What becomes of devices that nobody has named.
        case newcomer
        /// Nobody here has named it, and other gateways of the lab, which may know it, have not been heard yet.
        case unheard
    }

    /// A profile that anybody may pick.
    public struct Choice: Equatable, Sendable {
        public var id: String
        public var name: String

        public init(id: String, name: String) {
            self.id = id
            self.name = name
        }
    }

    public var device: DeviceView
    public var way: Way
    public var origin: Origin
    /// In the order of the configuration.
    public var choices: [Choice]
    /// For how long a choice holds, in seconds; nil: until it is released.
    public var lease: Int64?
    /// Nobody has been here from this device yet.
    public var isFirstVisit: Bool
    /// It has a name, and whoever has it now has not said yet whether that is the right one.
    public var asksName = false
    /// What is written on the phone: a proposal, or what was typed and not taken.
    public var naming = FormField()
    public var notice: PageNotice?
    /// Why something that was asked for has not been done.
    public var refusal: String?
    /// What is odd about this device's network, as the gateway sees it.
    public var warnings: [String] = []
    /// The proxy whose certificate the device may still have and need no more.
    public var leftCertificate: UpstreamView.Kind?
    /// It comes by the proxy setting of another Wi-Fi, not through this one.
    public var usesProxyScript = false

    public init(
        device: DeviceView, way: Way, origin: Origin, choices: [Choice] = [], lease: Int64? = nil,
        isFirstVisit: Bool = false
    ) {
        self.device = device
        self.way = way
        self.origin = origin
        self.choices = choices
        self.lease = lease
        self.isFirstVisit = isFirstVisit
    }

    /// The page; a refusal makes it 422 (RFC 9110, section 15.5.21).
    public func answer(in context: PageContext) -> PageAnswer {
        let isRefused = refusal != nil || naming.error != nil
        return PageAnswer(
            title: isRefused ? "Not done: \(device.label)" : device.label, status: isRefused ? 422 : 200, context
        ) {
            tag(.h1) { Markup("This phone: ") + foreign(device.label) }
            notices
            status(context)
            holding(context)
            if wantsName { name(context) }
            switching(context)
            if isFirstVisit { FirstPhoneCard.markup(isOpen: true) }
            if let leftCertificate { CertificateCard.removal(of: leftCertificate) }
            rest(context)
        }
    }

    // MARK: What is so

    private var notices: Markup {
        var parts: [Markup] = []
        if let refusal {
            parts.append(
                tag(.div, .class("notice"), .role("alert")) {
                    tag(.p) { tag(.strong) { "Not done: " } + foreign(refusal) }
                })
        } else if let notice {
            parts.append(notice.markup)
        }
        return .joined(parts)
    }

    private func status(_ context: PageContext) -> Markup {
        switch way {
        case .profile(let profile): profileStatus(profile, context)
        case .direct:
            plainStatus("! Around every proxy", "Nobody has named this phone yet, so its requests go out directly.")
        case .blocked:
            plainStatus(
                "✕ Blocked",
                origin == .unheard
                    ? "This gateway has not heard from its peer since it started, and doesn't know this phone yet, so none "
                        + "of its requests go out."
                    : "Nobody has named this phone yet, so none of its requests go out.")
        }
    }

    private func plainStatus(_ state: String, _ words: String) -> Markup {
        tag(.section, .labelled("How it is"), .class("card status"), .live("status")) {
            tag(.p, .class("big")) { tag(.span, .class("state")) { state } }
            tag(.p) { words }
            tag(.p) { device.name == nil ? "Give it a name below, or pick a profile." : "Pick a profile below." }
        }
    }

    private func profileStatus(_ profile: ProfileView, _ context: PageContext) -> Markup {
        tag(.section, .labelled("How it is"), .class("card")) {
            tag(.div, .class(profile.upstream.frame), .role("status"), .live("status")) { headline(profile) }
            tag(.div, .live("times")) { tag(.p, .class("hint")) { times(profile.upstream, context) } }
            context.button("Try again for this phone", .tryAgain)
            tag(.p, .class("screen")) { tag(.a, .href(PageLink("/"))) { "Refresh" } }
        }
    }

    /// What changes only with the state itself, so that it is read aloud only then.
    private func headline(_ profile: ProfileView) -> Markup {
        let upstream = profile.upstream
        let remedy = upstream.cause.map { Remedy($0, address: upstream.name, kind: upstream.kind) }
        return Markup.joined([
            tag(.p, .class("big")) { upstream.state + Markup(": ") + foreign(profile.name) },
            remedy.map { remedy in
                tag(.p) { foreign(remedy.sentence) + Markup(".") }
                    + tag(.ul) { Markup.joined(remedy.steps.map { step in tag(.li) { foreign(step) } }) }
            } ?? .empty,
            upstream.note.map { note in tag(.p) { foreign(note) } } ?? .empty,
        ])
    }

    private func times(_ upstream: UpstreamView, _ context: PageContext) -> Markup {
        let since = upstream.since.map { Markup("In this state since ") + context.ago($0) + Markup(". ") } ?? .empty
        let good = upstream.lastGood.map { Markup("Last good request ") + context.ago($0) + Markup(".") }
        return since + (good ?? Markup("No good request yet."))
    }

    private func holding(_ context: PageContext) -> Markup {
        tag(.section, .labelled(by: "has"), .class("card")) {
            tag(.h2, .id("has")) { "What it has" }
            tag(.dl) {
                if case .profile(let profile) = way { facts(profile) }
                tag(.dt) { "Set by" }
                tag(.dd) { origin(context) }
                if case .assignment(_, _, let until) = origin {
                    tag(.dt) { "Until" }
                    tag(.dd, .live("until")) { until.map(context.ahead) ?? Markup("somebody releases it") }
                }
                tag(.dt) { "Address" }
                tag(.dd) { foreign(device.address) }
            }
            if case .profile(let profile) = way { tag(.p) { profile.upstream.readingWords } }
            if isLeased {
                context.button("One hour more for this phone", .extend)
                context.button("Put this phone back to the default", .release)
            }
        }
    }

    private func facts(_ profile: ProfileView) -> Markup {
        .joined([
            tag(.dt) { "Profile" }, tag(.dd) { foreign(profile.name) },
            tag(.dt) { "Proxy" }, tag(.dd) { profile.upstream.address.map(foreign) ?? Markup("none: direct") },
            tag(.dt) { "Mode" }, tag(.dd) { profile.modeWords },
        ])
    }

    private var isLeased: Bool {
        if case .assignment = origin { return true }
        return false
    }

    private func origin(_ context: PageContext) -> Markup {
        switch origin {
        case .assignment(let by, let since, _): foreign(by) + Markup(", ") + context.ago(since)
        case .file: Markup("the gateway's configuration, for this phone")
        case .interface(let name): Markup("the gateway's default for everything on ") + foreign(name)
        case .standard: Markup("the gateway's default for everything")
        case .newcomer: Markup("the gateway's rule for phones without a name")
        case .unheard: Markup("the gateway, which waits for what its peer knows")
        }
    }

    // MARK: What can be done

    private var wantsName: Bool { device.name == nil || asksName || naming.error != nil }

    private func name(_ context: PageContext) -> Markup {
        tag(.section, .labelled(by: "naming"), .class("card")) {
            tag(.h2, .id("naming")) { "What is written on this phone?" }
            nameForm(context, submit: "Name this phone")
        }
    }

    /// For a name that turns out to be wrong, out of the way of everybody else.
    private func rename(_ context: PageContext) -> Markup {
        tag(.section, .labelled("Another name"), .class("card")) {
            tag(.details) {
                tag(.summary) { "Give this phone another name" }
                nameForm(context, submit: "Rename this phone")
            }
        }
    }

    private func nameForm(_ context: PageContext, submit: String) -> Markup {
        context.form(.name) {
            naming.markup(
                "name",
                FormField.Look(
                    label: "Name of this phone",
                    hint: "As on its sticker: letters, digits, hyphens, dots and underscores, such as pixel-7."))
            context.submit(submit)
        }
    }

    private func switching(_ context: PageContext) -> Markup {
        var current: String?
        if case .profile(let profile) = way { current = profile.id }
        let others = choices.filter { $0.id != current }
        return tag(.section, .labelled(by: "switching"), .class("card")) {
            tag(.h2, .id("switching")) { "Switch this phone" }
            if others.isEmpty {
                tag(.p) { "No other profile may be picked here. Scan a code, or ask whoever looks after the gateway." }
            } else {
                tag(.p, .class("hint")) {
                    lease.map { "For \(PageContext.words($0)), and for this phone alone." } ?? "For this phone alone."
                }
                Markup.joined(
                    others.map { choice in
                        context.button(
                            "Switch this phone to \(choice.name)", .switchTo, ["profile": choice.id], isMain: true)
                    })
            }
        }
    }

    private func rest(_ context: PageContext) -> Markup {
        .joined([
            warnings.isEmpty
                ? .empty
                : tag(.section, .labelled(by: "odd"), .class("card")) {
                    tag(.h2, .id("odd")) { "What is odd about this phone's network" }
                    tag(.ul) { Markup.joined(warnings.map { warning in tag(.li) { foreign(warning) } }) }
                    tag(.p) { tag(.a, .href(PageLink("/check"))) { "Check this phone" } }
                },
            tag(.section, .labelled(by: "handing"), .class("card")) {
                tag(.h2, .id("handing")) { "Hand over" }
                tag(.p) {
                    "Somebody else takes this phone: its profile goes back to the default, and its own hosts and "
                        + "domains and the list of its requests are forgotten."
                }
                context.button("Hand this phone over", .handOver)
            },
            wantsName ? .empty : rename(context),
            isFirstVisit ? .empty : FirstPhoneCard.markup(isOpen: false),
            context.offers.contains(.proxyScript) || usesProxyScript
                ? ProxyScript.card(context, isUsed: usesProxyScript) : .empty,
        ])
    }
}
