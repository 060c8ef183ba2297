/// Which answer of the daemon it is, and what it looks like in words.

public import Profiles

/// The kinds of answers.
public enum Answer: Equatable, Sendable {
    case status
    case switched
    case released
    case devices
    case device
    case named
    case forgotten
    case profiles
    case pushed
    case confirmed
    case rolledBack
    case reloaded
    case history
    case differences
    case why
    case explanation
    case flows
    case requests
    case lists
    case lesson
    case link
    case probed
    /// One of these pages, by its URL.
    case pageChosen([HealthOptions.Page])
    /// The certificate of a profile's proxy.
    case authority
    case capturing
    case captured
    /// Shown as JSON, one member a line; where that is not possible the text is empty, and the answer itself is shown.
    case document
}

/// An answer in words.
public struct Rendered: Equatable, Sendable {
    /// For standard output, with its line end.
    public var text: String
    /// For standard error, one line each.
    public var warnings: [String]
    public var exitCode: Int32

    public init(_ text: String, warnings: [String] = [], exitCode: Int32 = ExitCode.done) {
        self.text = text
        self.warnings = warnings
        self.exitCode = exitCode
    }
}

extension Answer {
    /// Puts an answer into words.
    public func render(_ value: JSON5Value, _ style: Style, _ moment: Moment) -> Rendered {
        let found = Found(value)
        return switch self {
        case .status: StatusText(found: found, style: style, moment: moment).rendered
        case .switched: SwitchText(found, style, moment).switched
        case .released: SwitchText(found, style, moment).released
        case .devices: Rendered(DeviceText(style: style, moment: moment).table(found["devices"].elements))
        case .device: Rendered(DeviceText(style: style, moment: moment).details(found))
        case .named: Rendered("\(DeviceText.place(of: found)) is \(found["name"].text ?? "named") now\n")
        case .forgotten: Rendered("\(DeviceText.place(of: found)) has no name any more\n")
        case .profiles: Rendered(ListText(style: style, moment: moment).profiles(found["profiles"].elements))
        case .pushed: ChangeText(found, moment).rendered("applied")
        case .confirmed: ChangeText(found, moment).rendered("kept")
        case .rolledBack: ChangeText(found, moment).rendered("rolled back")
        case .reloaded: ChangeText(found, moment).rendered("read again")
        case .history: Rendered(ListText(style: style, moment: moment).history(found))
        case .differences: ListText(style: style, moment: moment).differences(found["differences"].elements)
        case .why: WhyText.rendered(found, style)
        case .explanation: Rendered(Self.explanation(found))
        case .flows: Rendered(ListText(style: style, moment: moment).flows(found))
        case .requests: Rendered(RequestText(style: style).requests(found))
        case .lists: RequestText(style: style).lists(found, moment)
        case .lesson: Rendered(RequestText(style: style).lesson(found))
        case .link: Rendered((found["link"].raw ?? "") + "\n")
        case .probed: ProbeText(found: found, style: style, moment: moment).probed
        case .pageChosen(let pages): ProbeText(found: found, style: style, moment: moment).chosen(among: pages)
        case .authority: AuthorityText(found: found, style: style, moment: moment).rendered
        case .capturing: Rendered("capturing into \(found["file"].text ?? "a file of the daemon's")\n")
        case .captured:
            Rendered("\(found["file"].text ?? "the file"): \(found["packets"].integer ?? 0) packets\n")
        case .document: Rendered(Self.json(value)?.pretty ?? "")
        }
    }

    /// A value to be written again; nil where there is a number that is no whole one.
    private static func json(_ value: JSON5Value) -> JSON? {
        switch value.content {
        case .null: return .null
        case .boolean(let flag): return .boolean(flag)
        case .number(let number): return number.integer.map(JSON.integer)
        case .string(let text): return .string(text)
        case .array(let elements):
            let values = elements.compactMap(json)
            return values.count == elements.count ? .array(values) : nil
        case .object(let members):
            let values = members.compactMap { member in json(member.value).map { JSON.Member(member.key, $0) } }
            return values.count == members.count ? .object(values) : nil
        }
    }

    private static func explanation(_ found: Found) -> String {
        (found["text"].lines ?? []).map { $0 + "\n" }.joined()
    }
}

/// Counts as people say them.
enum Count {
    static func text(_ count: Int, _ one: String, _ many: String? = nil) -> String {
        count == 1 ? "1 \(one)" : "\(count) \(many ?? one + "s")"
    }
}
