/// What doctor has found, in words and as JSON.

public import Profiles

/// Findings as they are shown, in the order in which they are.
public struct DoctorSheet: Equatable, Sendable {
    /// How bad a finding is.
    public enum Mark: String, CaseIterable, Sendable {
        case ok
        case notice
        case wrong
        case unseen
    }

    /// One finding.
    public struct Row: Equatable, Sendable {
        /// One word for programs.
        public var name: String
        public var mark: Mark
        public var words: String
        public var meaning: String
        public var mending: [String]
        public var advice: String?

        public init(
            _ name: String, _ mark: Mark, _ words: String, meaning: String = "", mending: [String] = [],
            advice: String? = nil
        ) {
            self.name = name
            self.mark = mark
            self.words = words
            self.meaning = meaning
            self.mending = mending
            self.advice = advice
        }
    }

    public var rows: [Row]

    public init(_ rows: [Row]) { self.rows = rows }

    /// The worst mark; what was not seen is no fault.
    public var grade: Mark {
        if rows.contains(where: { $0.mark == .wrong }) { return .wrong }
        return rows.contains { $0.mark == .notice } ? .notice : .ok
    }

    /// In words; something wrong is a failure.
    public func rendered(_ style: Style) -> Rendered {
        var text = style.paint(sentence, .bold) + "\n"
        let width = rows.map(\.name.columns).max() ?? 0
        for (index, row) in rows.enumerated() {
            // What is in order stands together; all else has room around it.
            if row.mark != .ok || index == 0 || rows[index - 1].mark != .ok { text += "\n" }
            text += lines(row, width, style)
        }
        return Rendered(text, exitCode: grade == .wrong ? ExitCode.failed : ExitCode.done)
    }

    private var sentence: String {
        func count(_ mark: Mark) -> Int { rows.count { $0.mark == mark } }
        var parts: [String] = []
        if count(.wrong) > 0 { parts.append("\(count(.wrong)) wrong") }
        if count(.notice) > 0 { parts.append("\(count(.notice)) to be noticed") }
        let unseen = count(.unseen) > 0 ? "; \(count(.unseen)) could not be looked at" : ""
        return (parts.isEmpty ? "Nothing is wrong" : parts.joined(separator: ", ")) + unseen
    }

    private func lines(_ row: Row, _ width: Int, _ style: Style) -> String {
        let (sign, tint): (String, Style.Tint) =
            switch row.mark {
            case .ok: ("✓", .good)
            case .notice: ("!", .warning)
            case .wrong: ("✗", .bad)
            case .unseen: ("–", .faint)
            }
        let indent = width + 4
        let first = HelpText.wrapped(
            "\(sign) \(row.name.padded(to: width))  \(Self.visible(row.words))", indent: indent)
        var text = style.paint(sign, tint) + first.dropFirst(1) + "\n"
        let start = String(repeating: " ", count: indent)
        for said in [row.meaning, row.advice ?? ""] where !said.isEmpty {
            text += HelpText.wrapped(start + Self.visible(said), indent: indent) + "\n"
        }
        // A command is never broken: it is to be copied.
        for command in row.mending { text += start + "$ " + style.paint(Self.visible(command), .bold) + "\n" }
        return text
    }

    /// Names of interfaces and words of tools are others' texts.
    private static func visible(_ text: String) -> String { Found.visible(text[...]) }

    /// For programs.
    public var json: JSON {
        .members([
            "grade": .string(grade.rawValue),
            "findings": .array(
                rows.map { row in
                    .members([
                        "check": .string(row.name), "grade": .string(row.mark.rawValue), "words": .string(row.words),
                        "meaning": row.meaning.isEmpty ? nil : .string(row.meaning), "mend": .strings(row.mending),
                        "advice": row.advice.map(JSON.string),
                    ])
                }),
        ])
    }
}
