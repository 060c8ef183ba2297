/// Profiles, revisions, flows and differences, one a line.

struct ListText {
    let style: Style
    let moment: Moment

    func profiles(_ profiles: [Found]) -> String {
        guard !profiles.isEmpty else { return "there is no profile; `starshipctl push FILE` adds one\n" }
        var table = TextTable(headings: ["", "ID", "NAME", "HEALTH", "UPSTREAM", "MODE", "FROM", "SELF", "DEVICES"])
        for profile in profiles {
            let isActive = profile["active"].flag == true
            let isHidden = profile["hidden"].flag == true
            let name = profile["name"].text ?? ""
            let health = HealthText(health: profile["health"])
            let chosen = profile["chosen"].text.map { " → \($0)" } ?? ""
            table.rows.append([
                .init(isActive ? "●" : "", .good), .init(profile["id"].text ?? "?", isActive ? .bold : nil),
                .init(name == profile["id"].text ? "" : name),
                .init(health.health.isThere ? health.colour : "", health.tint),
                .init((profile["upstream"].text ?? "") + chosen),
                .init(profile["mode"].text ?? ""),
                .init((profile["source"].text ?? "") + (isHidden ? ", hidden" : ""), isHidden ? .warning : nil),
                .init(profile["selfService"].flag == true ? "yes" : ""),
                .init(profile["devices"].texts.joined(separator: ", ")),
            ])
        }
        return table.text(style) + legend(profiles)
    }

    private func legend(_ profiles: [Found]) -> String {
        var text = ""
        if profiles.contains(where: { $0["active"].flag == true }) { text += "● the default\n" }
        if profiles.contains(where: { $0["hidden"].flag == true }) {
            text += "hidden: the file has a profile of this id, and that one counts\n"
        }
        return text
    }

    func history(_ found: Found) -> String {
        let current = found["current"].integer
        var table = TextTable(headings: ["", "REVISION", "WHEN", "BY", "HOW", "WHAT"])
        for revision in found["revisions"].elements {
            let isCurrent = revision["revision"].integer == current
            table.rows.append([
                .init(isCurrent ? "●" : "", .good), .init(revision["revision"].integer.map(String.init) ?? "?"),
                .init(revision["at"].integer.map(moment.clock) ?? ""), .init(revision["by"].text ?? ""),
                .init(revision["how"].text ?? ""), .init(revision["summary"].text ?? ""),
            ])
        }
        return table.text(style)
    }

    func differences(_ differences: [Found]) -> Rendered {
        guard !differences.isEmpty else { return Rendered("the file and what is running are the same\n") }
        var text = ""
        for difference in differences {
            text += style.paint(difference["path"].text ?? "?", .bold) + "\n"
            text += "  file:    \(Self.value(difference["file"]))\n"
            text += "  running: \(Self.value(difference["running"]))\n"
        }
        return Rendered(text, exitCode: ExitCode.failed)
    }

    /// A text without quotes, anything else as JSON.
    static func value(_ found: Found) -> String {
        guard found.isThere else { return "nothing" }
        if let text = found.text { return text }
        if let number = found.integer { return "\(number)" }
        if let flag = found.flag { return "\(flag)" }
        if !found.elements.isEmpty { return "[" + found.elements.map(value).joined(separator: ", ") + "]" }
        return "{ " + found.members.map { "\($0.key): \(value($0.value))" }.joined(separator: ", ") + " }"
    }

    func flows(_ found: Found) -> String {
        let flows = found["flows"].elements
        let total = found["total"].integer ?? flows.count
        guard !flows.isEmpty else { return "no flow is open\n" }
        var table = TextTable(headings: ["DEVICE", "TARGET", "PROFILE", "UPSTREAM", "STATE", "UP", "DOWN", "AGE"])
        for flow in flows {
            table.rows.append([
                .init(flow["device"].text ?? flow["client"].text ?? ""), .init(Self.target(flow)),
                .init(flow["profile"].text ?? ""), .init(flow["upstream"].text ?? ""),
                .init(flow["state"].text ?? ""), .init(flow["up"].integer.map(Quantities.size) ?? ""),
                .init(flow["down"].integer.map(Quantities.size) ?? ""),
                .init(flow["ms"].integer.map { Moment.span(Int64($0) / 1000) } ?? ""),
            ])
        }
        let rest = total > flows.count ? "\(flows.count) of \(total); --limit, --device and --profile choose\n" : ""
        return table.text(style) + rest
    }

    /// The name where there is one, with the target's port.
    static func target(_ flow: Found) -> String {
        let target = flow["target"].text ?? ""
        guard let name = flow["name"].text, !target.hasPrefix(name) else { return target }
        guard let colon = target.lastIndex(of: ":") else { return name }
        return name + target[colon...]
    }
}
