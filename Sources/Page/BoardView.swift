/// What hangs on the wall: all devices, what they have, and how that is. It has no buttons.

public import Health

/// What the page at `/lab` shows.
public struct BoardView: Equatable, Sendable {
    /// One device.
    public struct Row: Equatable, Sendable {
        public var device: String
        /// The profile's name, or `direct`, or `blocked`.
        public var profile: String
        /// Nil where no proxy is used.
        public var colour: Colour?
        /// One sentence; empty where all is well.
        public var cause: String
        /// Seconds since 1970; nil: it has no end.
        public var until: Int64?
        /// When it last opened a connection.
        public var seen: Int64?

        public init(
            device: String, profile: String, colour: Colour?, cause: String = "", until: Int64? = nil,
            seen: Int64? = nil
        ) {
            self.device = device
            self.profile = profile
            self.colour = colour
            self.cause = cause
            self.until = until
            self.seen = seen
        }
    }

    /// In the order in which they are shown.
    public var rows: [Row]

    public init(rows: [Row]) { self.rows = rows }

    public func answer(in context: PageContext) -> PageAnswer {
        PageAnswer(title: "Board", context, isBare: true) {
            tag(.h1) { Markup("Devices of ") + foreign(context.gateway) }
            tag(.div, .class("wide board"), .role("region"), .labelled("Devices"), .number("tabindex", 0)) {
                tag(.div, .live("board")) { table(context) }
            }
            tag(.p, .class("screen")) { tag(.a, .href(PageLink("/lab"))) { "Refresh" } }
        }
    }

    private func table(_ context: PageContext) -> Markup {
        tag(.table) {
            tag(.caption) { "\(rows.count) devices" }
            tag(.thead) {
                tag(.tr) {
                    Markup.joined(
                        ["Device", "Profile", "State", "Until", "Last seen"].map { title in
                            tag(.th, .fixed("scope", "col")) { title }
                        })
                }
            }
            tag(.tbody) { Markup.joined(rows.map { row($0, context) }) }
        }
    }

    private func row(_ row: Row, _ context: PageContext) -> Markup {
        tag(.tr) {
            tag(.th, .fixed("scope", "row")) { foreign(row.device) }
            tag(.td) { foreign(row.profile) }
            tag(.td) {
                row.colour.map(UpstreamView.state) ?? Markup("no proxy")
                if !row.cause.isEmpty { tag(.span, .class("hint")) { foreign(row.cause) } }
            }
            tag(.td) { row.until.map(context.ahead) ?? Markup("open") }
            tag(.td) { row.seen.map(context.ago) ?? Markup("never") }
        }
    }
}
