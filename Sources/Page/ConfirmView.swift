/// What a scanned code is about to do, asked once.

/// A link that is good, or why it is not.
public struct ConfirmView: Equatable, Sendable {
    /// What the link brings.
    public struct Offer: Equatable, Sendable {
        public var profile: ProfileView
        /// By whose key it is signed; nil: it names a profile that anybody may pick.
        public var signer: String?
        /// For how long it holds, in seconds.
        public var lease: Int64?

        public init(profile: ProfileView, signer: String? = nil, lease: Int64? = nil) {
            self.profile = profile
            self.signer = signer
            self.lease = lease
        }
    }

    /// What becomes of the link.
    public enum Outcome: Equatable, Sendable {
        case offer(Offer)
        /// In words: found, expected, advice.
        case refused(String)
    }

    public var device: DeviceView
    /// What the device has now, in a word or two.
    public var current: String
    /// The query behind `/a?`, as it came; the form sends it back.
    public var query: String
    public var outcome: Outcome

    public init(device: DeviceView, current: String, query: String, outcome: Outcome) {
        self.device = device
        self.current = current
        self.query = query
        self.outcome = outcome
    }

    public func answer(in context: PageContext) -> PageAnswer {
        switch outcome {
        case .offer(let offer): asking(offer, context)
        case .refused(let why):
            PageAnswer(title: "Not done: a code", status: 422, context) {
                tag(.h1) { "This code can't be used" }
                tag(.p, .role("alert")) { foreign(why) }
                tag(.p) { "Nothing has changed: this phone has " + current + "." }
                tag(.p) { tag(.a, .class("button"), .href(PageLink("/"))) { "Go to this phone's page" } }
            }
        }
    }

    private func asking(_ offer: Offer, _ context: PageContext) -> PageAnswer {
        let profile = offer.profile
        return PageAnswer(title: "Switch to \(profile.name)?", context) {
            tag(.h1) { Markup("Switch this phone to ") + foreign(profile.name) + Markup("?") }
            tag(.section, .labelled("What it does"), .class("card")) {
                facts(offer)
                if let cause = profile.upstream.cause {
                    let remedy = Remedy(cause, address: profile.upstream.name, kind: profile.upstream.kind)
                    tag(.p) { foreign(remedy.sentence) + Markup(". Switching is possible all the same.") }
                }
                tag(.p) { profile.upstream.readingWords }
                context.button("Switch this phone to \(profile.name)", .activate, ["link": query], isMain: true)
                tag(.p) { tag(.a, .href(PageLink("/"))) { "Leave this phone as it is" } }
            }
        }
    }

    private func facts(_ offer: Offer) -> Markup {
        let upstream = offer.profile.upstream
        return tag(.dl) {
            tag(.dt) { "Phone" }
            tag(.dd) { foreign(device.label) + Markup(", and no other") }
            tag(.dt) { "Now" }
            tag(.dd) { foreign(current) }
            tag(.dt) { "Then" }
            tag(.dd) { foreign(offer.profile.name) }
            tag(.dt) { "Proxy" }
            tag(.dd) {
                upstream.address.map(foreign) ?? Markup("none: direct")
                Markup(" – ") + upstream.state
            }
            tag(.dt) { "Mode" }
            tag(.dd) { offer.profile.modeWords }
            tag(.dt) { "For" }
            tag(.dd) { offer.lease.map(PageContext.words) ?? "as long as nobody releases it" }
            if let signer = offer.signer {
                tag(.dt) { "Signed by" }
                tag(.dd) { foreign(signer) }
            }
        }
    }
}
