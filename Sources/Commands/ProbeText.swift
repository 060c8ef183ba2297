/// What a probe has found: each step with its time and its error, then the colour that comes of it.

internal import Profiles

struct ProbeText {
    let found: Found
    let style: Style
    let moment: Moment

    var probed: Rendered {
        let health = HealthText(health: found["health"])
        let steps = found["steps"].elements
        let width = max(10, steps.map { ($0["step"].text ?? "").columns }.max() ?? 0)
        var text = style.paint(found["profile"].text ?? "the profile", .bold) + "\n"
        for step in steps { text += line(step, width) }
        text += style.paint(health.sign, health.tint)
        for words in [health.cause, health.note].compactMap(\.self) { text += "  " + words }
        return Rendered(text + "\n", exitCode: health.exitCode)
    }

    private func line(_ step: Found, _ width: Int) -> String {
        let (sign, tint): (String, Style.Tint) =
            switch step["ok"].flag {
            case true?: ("✓", .good)
            case false?: ("✗", .bad)
            case nil: ("–", .faint)
            }
        let time = step["ms"].integer.map(Quantities.time) ?? ""
        let name = (step["step"].text ?? "?").padded(to: width)
        let start = "\(sign) \(name)  \(time.padded(to: 7))"
        // The sign takes one column, whatever its colour.
        let said = step["error"].text ?? step["words"].text ?? ""
        let words = said.isEmpty ? "" : "  " + said
        let broken = HelpText.wrapped(start + words, indent: width + 13)
        return style.paint(sign, tint) + String(broken.dropFirst()).trimmedAtEnd + "\n"
    }

    /// The page that was chosen stands alone on standard output, as the profile's setting; why others were not is said
    /// beside it.
    func chosen(among pages: [HealthOptions.Page]) -> Rendered {
        var warnings: [String] = []
        for page in found["tried"].elements where page["ok"].flag != true {
            let cause = page["cause"]["text"].text ?? page["cause"].text ?? "it does not answer as it should"
            warnings.append("\(page["url"].text ?? "?"): \(cause)")
        }
        guard let chosen = found["chosen"].text else {
            warnings.append("found no page that answers through this proxy; name one of your own network's")
            return Rendered("", warnings: warnings, exitCode: ExitCode.failed)
        }
        guard let page = pages.first(where: { $0.url.description == chosen }) else {
            return Rendered(chosen + "\n", warnings: warnings)
        }
        return Rendered(page.setting + "\n", warnings: warnings)
    }
}
