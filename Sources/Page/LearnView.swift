/// Which domains an app needs: names that this phone asks for while somebody uses the app.

internal import Profiles

/// What the page at `/learn` shows.
public struct LearnView: Equatable, Sendable {
    /// Names under one suffix.
    public struct Group: Equatable, Sendable {
        /// As a profile's `domains` has it: it and all below it.
        public var suffix: String
        /// The names themselves, as they were asked for.
        public var names: [String]
        /// Whether it is in the device's list, or was ticked.
        public var isTicked: Bool

        public init(suffix: String, names: [String], isTicked: Bool) {
            self.suffix = suffix
            self.names = names
            self.isTicked = isTicked
        }
    }

    /// How far it has come.
    public enum Stage: Equatable, Sendable {
        case ready
        /// Until a time in seconds since 1970.
        case running(until: Int64)
        case over
    }

    public var device: DeviceView
    public var stage: Stage
    public var groups: [Group]
    public var notice: PageNotice?
    /// Why nothing was added.
    public var refusal: String?

    public init(device: DeviceView, stage: Stage, groups: [Group] = []) {
        self.device = device
        self.stage = stage
        self.groups = groups
    }

    public func answer(in context: PageContext) -> PageAnswer {
        PageAnswer(
            title: refusal == nil ? "Learn domains" : "Not done: learn domains", status: refusal == nil ? 200 : 422,
            context
        ) {
            tag(.h1) { Markup("Learn the domains of an app on ") + foreign(device.label) }
            if let notice, refusal == nil { notice.markup }
            if let refusal, groups.isEmpty {
                tag(.div, .class("notice"), .role("alert")) {
                    tag(.p) { tag(.strong) { "Not done: " } + foreign(refusal) }
                }
            }
            progress(context)
            if !groups.isEmpty { choice(context) }
            if !ticked.isEmpty { pasteable }
        }
    }

    private func progress(_ context: PageContext) -> Markup {
        switch stage {
        case .ready:
            return tag(.section, .labelled("Start"), .class("card")) {
                tag(.p) {
                    "For two minutes the gateway notes the names that this phone asks for or opens. Use the app "
                        + "meanwhile, and close others."
                }
                context.button("Learn from this phone for 2 minutes", .learn, isMain: true)
            }
        case .running(let until):
            return tag(.section, .labelled("Progress"), .class("card")) {
                tag(.p, .live("learning")) {
                    Markup("Learning: ends ") + context.ahead(until)
                        + Markup(". \(groups.count) suffixes so far. Use the app now.")
                }
                tag(.p) { tag(.a, .class("button"), .href(PageLink("/learn"))) { "Show what was learnt so far" } }
            }
        case .over:
            return tag(.section, .labelled("Start"), .class("card")) {
                tag(.p) { groups.isEmpty ? "Nothing was asked for in these two minutes." : "The two minutes are over." }
                context.button("Learn again from this phone for 2 minutes", .learn)
            }
        }
    }

    private func choice(_ context: PageContext) -> Markup {
        context.form(.addDomains) {
            if let refusal {
                tag(.p, .id("domain-error"), .class("error"), .role("alert")) {
                    Markup("Not taken: ") + foreign(refusal)
                }
            }
            tag(.fieldset) {
                tag(.legend) { "What is to go through the proxy" }
                Markup.joined(groups.enumerated().map { tick($1, id: "domain-\($0)") })
            }
            context.submit("Add the ticked domains to this phone's list")
        }
    }

    private func tick(_ group: Group, id: String) -> Markup {
        let state: [Attribute] = group.isTicked ? [.flag("checked")] : []
        return tag(.div) {
            tag(.div, .class("tick")) {
                tag(
                    .input,
                    all: [.id(id), .type("checkbox"), .name("domain"), .value(group.suffix)] + describing(id) + state)
                tag(.label, .label(for: id)) { foreign(group.suffix) }
            }
            tag(.span, .id("\(id)-hint"), .class("hint")) { foreign(group.names.joined(separator: ", ")) }
        }
    }

    private func describing(_ id: String) -> [Attribute] {
        guard refusal != nil else { return [.described(by: ["\(id)-hint"])] }
        return [.described(by: ["\(id)-hint", "domain-error"]), .fixed("aria-invalid", "true")]
    }

    private var ticked: [String] { groups.filter(\.isTicked).map(\.suffix) }

    private var pasteable: Markup {
        tag(.section, .labelled(by: "paste"), .class("card")) {
            tag(.h2, .id("paste")) { "For the profile's text" }
            tag(.pre) { "domains: [\(ticked.map { JSON.string($0).text }.joined(separator: ", "))]," }
        }
    }
}
