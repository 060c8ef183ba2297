/// A screen as a value, and what a terminal has to be told to show it.

/// One line: texts, each with its tint.
struct ScreenLine: Equatable, Sendable {
    struct Part: Equatable, Sendable {
        var text: String
        var tint: Style.Tint?
    }

    private(set) var parts: [Part] = []
    private(set) var columns = 0

    init(_ text: String = "", _ tint: Style.Tint? = nil) { add(text, tint) }

    mutating func add(_ text: String, _ tint: Style.Tint? = nil) {
        guard !text.isEmpty else { return }
        parts.append(Part(text: text, tint: tint))
        columns += text.columns
    }

    /// Goes on at a column, with a blank at least where there is something already.
    mutating func move(to column: Int) {
        add(String(repeating: " ", count: max(columns == 0 ? 0 : 1, column - columns)))
    }

    /// The text without tints.
    var text: String { parts.map(\.text).joined() }

    func painted(_ style: Style) -> String { parts.map { style.paint($0.text, $0.tint) }.joined() }

    /// The line in at most so many columns.
    func cut(to width: Int) -> ScreenLine {
        guard columns > width else { return self }
        var line = ScreenLine()
        for part in parts {
            let left = width - line.columns
            line.add(part.text.cut(to: left), part.tint)
            if part.text.columns > left { break }
        }
        return line
    }
}

/// All lines, from the top; none is wider than the screen.
public struct Screen: Equatable, Sendable {
    public let columns: Int
    let lines: [ScreenLine]

    /// Takes as many lines as there is room for, and fills up with empty ones.
    init(_ lines: [ScreenLine], columns: Int, rows: Int) {
        self.columns = columns
        let shown = lines.prefix(rows).map { $0.cut(to: columns) }
        self.lines = shown + Array(repeating: ScreenLine(), count: max(0, rows - shown.count))
    }

    /// The screen as text, without blanks at the ends of lines.
    public var text: String { lines.map { $0.text.trimmedAtEnd + "\n" }.joined() }

    /// What turns another screen into this one: lines that differ are written anew, the rest stays.
    public func update(from old: Screen?, _ style: Style) -> String {
        let isSameSize = old.map { $0.columns == columns && $0.lines.count == lines.count } ?? false
        var text = isSameSize ? "" : "\u{1b}[0m\u{1b}[2J"
        for (row, line) in lines.enumerated() {
            if isSameSize, let old, old.lines[row] == line { continue }
            if !isSameSize, line.columns == 0 { continue }
            text += "\u{1b}[\(row + 1);1H" + line.painted(style)
            // Behind a line that fills its row the cursor stays on the last column, and would erase that.
            if line.columns < columns { text += "\u{1b}[K" }
        }
        return text
    }
}

extension String {
    /// The text without blanks at its end.
    var trimmedAtEnd: String {
        var text = self[...]
        while text.last == " " { text.removeLast() }
        return String(text)
    }
}
