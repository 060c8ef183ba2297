/// Tables that fit a terminal of 80 columns.

/// Rows of cells under headings.
struct TextTable {
    struct Cell: ExpressibleByStringInterpolation {
        var text: String
        var tint: Style.Tint?

        init(_ text: String, _ tint: Style.Tint? = nil) {
            self.text = text
            self.tint = tint
        }

        init(stringLiteral value: String) { self.init(value) }
    }

    static let width = 80
    private static let gap = 2
    /// No column is cut below this.
    private static let least = 6

    var headings: [String]
    var rows: [[Cell]] = []

    /// The table, each line with its line end; the widest columns give way where it does not fit.
    func text(_ style: Style) -> String { lines(within: Self.width).map { $0.painted(style) + "\n" }.joined() }

    /// The headings and the rows in so many columns.
    func lines(within width: Int) -> [ScreenLine] {
        let widths = widths(within: width)
        return [line(headings.map { Cell($0, .faint) }, widths)] + rows.map { line($0, widths) }
    }

    private func widths(within width: Int) -> [Int] {
        var widths = headings.indices.map { column in
            max(headings[column].columns, rows.map { $0[column].text.columns }.max() ?? 0)
        }
        // A column in which nothing stands is left out.
        for column in widths.indices where !rows.isEmpty && rows.allSatisfy({ $0[column].text.isEmpty }) {
            widths[column] = 0
        }
        while total(widths) > width, let widest = widths.indices.max(by: { widths[$0] < widths[$1] }),
            widths[widest] > Self.least
        {
            widths[widest] -= 1
        }
        return widths
    }

    private func total(_ widths: [Int]) -> Int {
        let shown = widths.filter { $0 > 0 }
        return shown.reduce(0, +) + Self.gap * max(0, shown.count - 1)
    }

    private func line(_ cells: [Cell], _ widths: [Int]) -> ScreenLine {
        var line = ScreenLine()
        var start = 0
        for column in cells.indices where widths[column] > 0 {
            let text = cells[column].text.cut(to: widths[column])
            if !text.isEmpty {
                if start > 0 { line.move(to: start) }
                line.add(text, cells[column].tint)
            }
            start += widths[column] + Self.gap
        }
        return line
    }
}

/// Lines of a label and what belongs to it.
struct LabelledLines {
    private var lines: [(label: String, text: String)] = []

    /// Adds a line; nil and the empty text add none.
    mutating func add(_ label: String, _ text: String?) {
        guard let text, !text.isEmpty else { return }
        lines.append((label, text))
    }

    /// The lines, what is too long being broken at blanks.
    func text(_ style: Style) -> String {
        let width = max(10, lines.map(\.label.columns).max() ?? 0) + 2
        return lines.map { line in
            let label = line.label.padded(to: width)
            let broken = HelpText.wrapped(label + line.text, indent: width)
            return style.paint(label, .faint) + broken.dropFirst(label.count) + "\n"
        }.joined()
    }
}
