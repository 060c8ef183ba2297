/// What every page needs to know, apart from its own view.

internal import Bytes

/// Who looks, where and when.
public struct PageContext: Sendable {
    /// The gateway's name, as people know it.
    public var gateway: String
    /// The gateway's address on the asking device's LAN, with the page's port where that is not 80: what is printed.
    public var authority: String
    /// Seconds since 1970.
    public var now: Int64
    /// The seconds by which the gateway's time zone is east of UTC.
    public var utcOffset: Int64
    /// Which of the other pages there are for the asking device: every page leads to them.
    public var offers: PageOffers = []
    private let tokens: PageToken
    /// The asking device's identity as text; forms work for it alone.
    private let device: String

    public init(
        gateway: String, authority: String, now: Int64, utcOffset: Int64 = 0, tokens: PageToken, device: String
    ) {
        self.gateway = gateway
        self.authority = authority
        self.now = now
        self.utcOffset = utcOffset
        self.tokens = tokens
        self.device = device
    }

    func token(_ action: PageAction) -> String { tokens.text(device: device, action: action, at: now) }
}

extension PageContext {
    // MARK: Times

    /// `12 min ago (17:30)`, of a moment in the past.
    func ago(_ moment: Int64) -> Markup { time(moment, "\(Self.words(now - moment)) ago") }

    /// `in 52 min (17:30)`, of a moment to come.
    func ahead(_ moment: Int64) -> Markup { time(moment, "in \(Self.words(moment - now))") }

    private func time(_ moment: Int64, _ words: String) -> Markup {
        let utc = UnixTime(seconds: moment).description
        let local = UnixTime(seconds: moment + utcOffset).description
        // A day or more away, the hour says little without its date.
        let isNear = abs(moment - now) < 86_400
        let shown = isNear ? local.dropFirst(11).prefix(5) : local.prefix(10)
        return tag(.time, .dateTime(utc)) { "\(words) (\(shown))" }
    }

    /// `2027-06-30`, of the gateway's time zone.
    func day(_ moment: Int64) -> Markup {
        let text = UnixTime(seconds: moment + utcOffset).description.prefix(10)
        return tag(.time, .dateTime(String(text))) { String(text) }
    }

    /// A length of time in one unit, to the nearest: `45 s`, `52 min`, `8 h`, `3 days`.
    static func words(_ seconds: Int64) -> String {
        switch max(0, seconds) {
        case let seconds where seconds < 120: "\(seconds) s"
        case let seconds where seconds < 7200: "\((seconds + 30) / 60) min"
        case let seconds where seconds < 172_800: "\((seconds + 1800) / 3600) h"
        case let seconds: "\((seconds + 43_200) / 86_400) days"
        }
    }

    /// `512 B`, `12 KiB`, `3.4 MiB`.
    static func words(octets: UInt64) -> String {
        switch octets {
        case ..<1024: "\(octets) B"
        case ..<(1 << 20): "\(octets >> 10) KiB"
        case ..<(1 << 30): "\(octets >> 20).\(octets % (1 << 20) * 10 >> 20) MiB"
        default: "\(octets >> 30).\(octets % (1 << 30) * 10 >> 30) GiB"
        }
    }

    // MARK: Forms

    /// A form of this page; what it does and for whom stands in it.
    func form(
        _ action: PageAction, _ values: KeyValuePairs<StaticString, String> = [:],
        @MarkupBuilder content: () -> Markup
    ) -> Markup {
        let hidden = values.map { tag(.input, .type("hidden"), .name($0.key), .value($0.value)) }
        return tag(.form, .fixed("method", "post"), .action(action.link), .fixed("accept-charset", "utf-8")) {
            tag(.input, .type("hidden"), .name("token"), .value(token(action)), .live("token-\(action.rawValue)"))
            Markup.joined(hidden)
            content()
        }
    }

    /// A button that does one thing; the label says what, and to whom.
    func button(
        _ label: String, _ action: PageAction, _ values: KeyValuePairs<StaticString, String> = [:],
        isMain: Bool = false
    ) -> Markup {
        form(action, values) { submit(label, isMain: isMain) }
    }

    func submit(_ label: String, isMain: Bool = true) -> Markup {
        tag(.button, .type("submit"), .class(isMain ? "main" : "plain")) { label }
    }
}

extension PageAction {
    fileprivate var link: PageLink {
        switch self {
        case .switchTo: PageLink("/switch")
        case .activate: PageLink("/a")
        case .release: PageLink("/release")
        case .tryAgain: PageLink("/try")
        case .extend: PageLink("/extend")
        case .handOver: PageLink("/hand-over")
        case .name: PageLink("/name")
        case .direct: PageLink("/direct")
        case .proxy: PageLink("/proxy")
        case .learn: PageLink("/learn")
        case .addDomains: PageLink("/learn/add")
        case .bringProxy: PageLink("/adhoc")
        case .bringLaptop: PageLink("/l")
        }
    }
}

/// What stands in a field, and what is wrong with it.
public struct FormField: Equatable, Sendable {
    /// What was typed, or what is proposed.
    public var value: String
    /// What is wrong, and why; nil: nothing.
    public var error: String?

    public init(_ value: String = "", error: String? = nil) {
        self.value = value
        self.error = error
    }

    /// How a field looks, and what it takes.
    struct Look {
        var label: String
        var hint: String
        var isLong = false
        /// Keyboards and hands that correct words harm hosts and ports.
        var mode: StaticString = "text"
    }

    func markup(_ name: StaticString, _ look: Look) -> Markup {
        let id = "\(name)"
        let described = error == nil ? ["\(id)-hint"] : ["\(id)-hint", "\(id)-error"]
        return tag(.div, .class("field")) {
            tag(.label, .label(for: id)) { look.label }
            tag(.span, .id("\(id)-hint"), .class("hint")) { look.hint }
            if let error {
                tag(.strong, .id("\(id)-error"), .class("error")) {
                    Markup("Not taken: ") + foreign(error)
                }
            }
            input(name, id, look, described)
        }
    }

    private func input(_ name: StaticString, _ id: String, _ look: Look, _ described: [String]) -> Markup {
        let isInvalid = Attribute.fixed("aria-invalid", error == nil ? "false" : "true")
        if look.isLong {
            return tag(
                .textarea, .id(id), .name(name), .fixed("rows", "4"), .fixed("autocapitalize", "off"),
                .fixed("spellcheck", "false"), .described(by: described), isInvalid
            ) { value }
        }
        return tag(
            .input, .id(id), .name(name), .type("text"), .value(value), .fixed("inputmode", look.mode),
            .fixed("autocomplete", "off"), .fixed("autocapitalize", "off"), .fixed("spellcheck", "false"),
            .described(by: described), isInvalid)
    }
}
