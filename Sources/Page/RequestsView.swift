/// What this phone asked for, and which way it went: for nobody's eyes but its own.

/// What the page at `/requests` shows.
public struct RequestsView: Equatable, Sendable {
    /// One name or address.
    public struct Entry: Equatable, Sendable {
        /// What became of it.
        public enum Way: Equatable, Sendable {
            case proxied
            case direct
            case refused
            /// Its address was asked for; a direct connection in domain mode is not seen by the gateway.
            case asked
        }

        public var host: String
        public var way: Way
        /// The rule that decided, in its notation.
        public var rule: String?
        /// The status of CONNECT, or why it was closed or refused.
        public var result: String?
        /// Octets from the device, and to it.
        public var up: UInt64
        public var down: UInt64
        /// Seconds since 1970.
        public var at: Int64
        /// Whether the host may be sent another way for this device.
        public var mayGoDirect: Bool
        public var mayBeProxied: Bool

        public init(
            host: String, way: Way, rule: String? = nil, result: String? = nil, up: UInt64 = 0, down: UInt64 = 0,
            at: Int64, mayGoDirect: Bool = false, mayBeProxied: Bool = false
        ) {
            self.host = host
            self.way = way
            self.rule = rule
            self.result = result
            self.up = up
            self.down = down
            self.at = at
            self.mayGoDirect = mayGoDirect
            self.mayBeProxied = mayBeProxied
        }
    }

    /// The most entries that are shown.
    public static let limit = 30

    public var device: DeviceView
    /// The newest first.
    public var entries: [Entry]
    /// Hosts that were sent another way for this device already.
    public var sentDirect: [String] = []
    public var proxied: [String] = []
    public var notice: PageNotice?
    public var refusal: String?

    public init(device: DeviceView, entries: [Entry]) {
        self.device = device
        self.entries = entries
    }

    public func answer(in context: PageContext) -> PageAnswer {
        PageAnswer(
            title: refusal == nil ? "My requests" : "Not done: my requests", status: refusal == nil ? 200 : 422,
            context
        ) {
            tag(.h1) { Markup("Requests of ") + foreign(device.label) }
            if let refusal {
                tag(.div, .class("notice"), .role("alert")) {
                    tag(.p) { tag(.strong) { "Not done: " } + foreign(refusal) }
                }
            } else if let notice {
                notice.markup
            }
            tag(.p) { "The last \(Self.limit) names, newest first. Only this phone sees them." }
            tag(.p) { tag(.a, .href(PageLink("/requests"))) { "Refresh" } }
            if entries.isEmpty {
                tag(.p) { "None yet: open anything on this phone, then refresh." }
            } else {
                table(context)
            }
            own
        }
    }

    private func table(_ context: PageContext) -> Markup {
        tag(.table) {
            tag(.caption) { "What this phone asked for" }
            tag(.thead) {
                tag(.tr) {
                    tag(.th, .fixed("scope", "col")) { "Host" }
                    tag(.th, .fixed("scope", "col")) { "Way and result" }
                }
            }
            tag(.tbody) { Markup.joined(entries.prefix(Self.limit).map { row($0, context) }) }
        }
    }

    private func row(_ entry: Entry, _ context: PageContext) -> Markup {
        tag(.tr) {
            tag(.th, .fixed("scope", "row")) {
                foreign(entry.host)
                tag(.span, .class("hint")) { context.ago(entry.at) }
            }
            tag(.td) {
                entry.state
                if let result = entry.result { tag(.span, .class("hint")) { foreign(result) } }
                if let rule = entry.rule { tag(.span, .class("hint")) { Markup("by ") + foreign(rule) } }
                if entry.up + entry.down > 0 {
                    tag(.span, .class("hint")) {
                        "\(PageContext.words(octets: entry.up)) sent, \(PageContext.words(octets: entry.down)) received"
                    }
                }
                if entry.mayGoDirect {
                    context.button("Send \(entry.host) direct for this phone", .direct, ["host": entry.host])
                }
                if entry.mayBeProxied {
                    context.button("Proxy \(entry.host) for this phone", .proxy, ["host": entry.host])
                }
            }
        }
    }

    private var own: Markup {
        guard !sentDirect.isEmpty || !proxied.isEmpty else { return .empty }
        return tag(.section, .labelled(by: "own"), .class("card")) {
            tag(.h2, .id("own")) { "Set for this phone" }
            tag(.dl) {
                tag(.dt) { "Direct" }
                tag(.dd) { sentDirect.isEmpty ? Markup("none") : foreign(sentDirect.joined(separator: ", ")) }
                tag(.dt) { "Proxied" }
                tag(.dd) { proxied.isEmpty ? Markup("none") : foreign(proxied.joined(separator: ", ")) }
            }
            tag(.p, .class("hint")) { "They end with its lease, or when it is put back to the default." }
        }
    }
}

extension RequestsView.Entry {
    fileprivate var state: Markup {
        switch way {
        case .proxied: tag(.span, .class("state green")) { "→ Proxied" }
        case .direct: tag(.span, .class("state grey")) { "↗ Direct" }
        case .refused: tag(.span, .class("state red")) { "✕ Refused" }
        case .asked: tag(.span, .class("state grey")) { "? Asked" }
        }
    }
}
