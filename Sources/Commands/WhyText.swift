/// One device's path, step by step, down to the first one that is broken.

enum WhyText {
    static func rendered(_ found: Found, _ style: Style) -> Rendered {
        let steps = found["steps"].elements
        let broken = steps.firstIndex { $0["ok"].flag == false }
        let shown = steps.prefix((broken ?? steps.count) + (broken == nil ? 0 : 1))
        let width = min(28, shown.map { ($0["step"].text ?? "").columns }.max() ?? 0)
        var text = ""
        for (index, step) in shown.enumerated() {
            text += line(index + 1, of: shown.count, step, width, style)
        }
        // What only says the evidence again is not said twice.
        let evidence = broken.flatMap { steps[$0]["evidence"].text } ?? ""
        if let verdict = found["verdict"].text, evidence.isEmpty || !verdict.hasSuffix(evidence) {
            text += HelpText.wrapped(verdict, indent: 0) + "\n"
        }
        return Rendered(text, exitCode: broken == nil ? ExitCode.done : ExitCode.failed)
    }

    private static func line(_ number: Int, of count: Int, _ step: Found, _ width: Int, _ style: Style) -> String {
        let (sign, tint): (String, Style.Tint) =
            switch step["ok"].flag {
            case true?: ("✓", .good)
            case false?: ("✗", .bad)
            case nil: ("–", .faint)
            }
        let digits = String(number).count
        let start = String(repeating: " ", count: String(count).count - digits) + "\(number) "
        let indent = start.count + 2 + width + 2
        let evidence = (step["step"].text ?? "").cut(to: width).padded(to: width) + "  " + (step["evidence"].text ?? "")
        // The sign takes one column, whatever its colour.
        let broken = HelpText.wrapped(start + sign + " " + evidence, indent: indent)
        return start + style.paint(sign, tint) + broken.dropFirst(start.count + 1) + "\n"
    }
}
