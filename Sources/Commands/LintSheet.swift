/// What lint has found, in words and as JSON.

internal import Addresses
public import Profiles

/// A proxy's marks, as they are shown.
public struct LintSheet: Equatable, Sendable {
    /// How well a proxy does something.
    public enum Mark: String, CaseIterable, Sendable {
        case good
        case odd
        case bad
        case unknown
    }

    /// One thing that was tried.
    public struct Row: Equatable, Sendable {
        /// One word for programs.
        public var name: String
        public var mark: Mark
        public var words: String
        public var milliseconds: Int?

        public init(_ name: String, _ mark: Mark, _ words: String, milliseconds: Int? = nil) {
            self.name = name
            self.mark = mark
            self.words = words
            self.milliseconds = milliseconds
        }
    }

    /// A key and its value that fit.
    public struct Setting: Equatable, Sendable {
        public var key: String
        public var value: JSON
        public var reason: String
        /// Whether it belongs into `upstream`, or stands beside it.
        public var isUpstreams: Bool

        public init(_ key: String, _ value: JSON, reason: String, isUpstreams: Bool = true) {
            self.key = key
            self.value = value
            self.reason = reason
            self.isUpstreams = isUpstreams
        }
    }

    public var server: Upstream.Server
    /// `http` or `socks5`; nil: neither.
    public var type: String?
    public var kind = "other"
    public var grade = Mark.good
    public var rows: [Row] = []
    public var settings: [Setting] = []
    public var notes: [String] = []

    public init(server: Upstream.Server) { self.server = server }

    /// The sheet in words; bad marks are a failure.
    public func rendered(_ style: Style) -> Rendered {
        let exitCode = grade == .bad ? ExitCode.failed : ExitCode.done
        let what = type.map { type in
            (type == "http" ? "an HTTP proxy" : "a SOCKS5 proxy") + (kind == "other" ? "" : ", \(kind)")
        }
        var text = style.paint("\(server)", .bold) + ": "
        text += what.map { "\($0); \(verdict)\n" } ?? "no proxy that the gateway could use\n"
        let width = rows.map { Self.label($0.name).columns }.max() ?? 0
        for row in rows { text += line(row, width, style) }
        if !settings.isEmpty { text += "\nsettings that fit:\n" + settingLines }
        if !notes.isEmpty { text += "\n" }
        for note in notes { text += HelpText.wrapped("- \(note)", indent: 2) + "\n" }
        return Rendered(text, exitCode: exitCode)
    }

    private var verdict: String {
        switch grade {
        case .good, .unknown: "everything is right"
        case .odd: "it works, with remarks"
        case .bad: "something is wrong"
        }
    }

    private func line(_ row: Row, _ width: Int, _ style: Style) -> String {
        let (sign, tint): (String, Style.Tint) =
            switch row.mark {
            case .good: ("✓", .good)
            case .odd: ("!", .warning)
            case .bad: ("✗", .bad)
            case .unknown: ("–", .faint)
            }
        let time = row.milliseconds.map { " (\($0) ms)" } ?? ""
        let label = Self.label(row.name).padded(to: width)
        let broken = HelpText.wrapped("\(sign) \(label)  \(row.words)\(time)", indent: width + 4)
        return style.paint(sign, tint) + broken.dropFirst(1) + "\n"
    }

    /// As a profile of the configuration has them, ready to be copied, with the reasons as comments.
    private var settingLines: String {
        var text = "  upstream: {\n"
        let own = settings.filter(\.isUpstreams)
        text += Self.commented([("host", .string(host)), ("port", .integer(Int(server.port)))], [], indent: 4)
        text += Self.commented(own.map { ($0.key, $0.value) }, own.map(\.reason), indent: 4) + "  },\n"
        let others = settings.filter { !$0.isUpstreams }
        return text + Self.commented(others.map { ($0.key, $0.value) }, others.map(\.reason), indent: 2)
    }

    private var host: String {
        switch server.host {
        case .address(let address): address.description
        case .name(let name): name
        }
    }

    private static func commented(_ pairs: [(String, JSON)], _ reasons: [String], indent: Int) -> String {
        let lines = pairs.map { "\($0.0): \($0.1.text)," }
        let width = lines.map(\.columns).max() ?? 0
        let start = String(repeating: " ", count: indent)
        return lines.enumerated().map { number, line in
            guard number < reasons.count else { return start + line + "\n" }
            return start + line.padded(to: width) + "  // " + reasons[number] + "\n"
        }.joined()
    }

    /// The words for what was tried.
    private static func label(_ name: String) -> String {
        switch name {
        case "port443": "port 443"
        case "port80": "port 80"
        case "otherPort": "another port"
        case "firstOctets": "first words"
        case "halfClose": "half-close"
        case "unknownHost": "unknown host"
        default: name
        }
    }

    /// The sheet for programs.
    public var json: JSON {
        .members([
            "server": .string("\(server)"), "type": type.map(JSON.string) ?? .null, "kind": .string(kind),
            "grade": .string(grade.rawValue),
            "checks": .array(
                rows.map { row in
                    .members([
                        "name": .string(row.name), "verdict": .string(row.mark.rawValue), "words": .string(row.words),
                        "ms": row.milliseconds.map(JSON.integer),
                    ])
                }),
            "settings": .array(
                settings.map { setting in
                    .members([
                        "key": .string(setting.isUpstreams ? "upstream.\(setting.key)" : setting.key),
                        "value": setting.value, "reason": .string(setting.reason),
                    ])
                }),
            "notes": .strings(notes),
        ])
    }
}
