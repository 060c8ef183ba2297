/// What a switch or a push has done: how many moved, which flows were reset, until when.

struct SwitchText {
    private let found: Found
    private let style: Style
    private let moment: Moment

    init(_ found: Found, _ style: Style, _ moment: Moment) {
        self.found = found
        self.style = style
        self.moment = moment
    }

    var switched: Rendered {
        let profile = found["profile"].text ?? "the profile"
        var text = "\(moved) on \(style.paint(profile, .bold))\(until)\n"
        text += rest
        return Rendered(text, warnings: warnings)
    }

    var released: Rendered {
        let profile = found["profile"].text.map { " (\($0))" } ?? ""
        return Rendered("\(moved) on the default\(profile) again\n\(rest)", warnings: warnings)
    }

    /// Who moved: by name as long as that is short.
    private var moved: String {
        let devices = found["devices"].texts
        let count = found["moved"].integer ?? devices.count
        guard count > 0 else { return "no device moved: \(devices.isEmpty ? "nobody" : Self.list(devices)) is" }
        guard !devices.isEmpty else { return "\(Count.text(count, "device")) moved: now" }
        return count == 1 ? "\(devices[0]) is" : "\(Count.text(count, "device")) moved: \(Self.list(devices)) are"
    }

    private var until: String {
        guard let until = found["until"].integer else { return "" }
        return " until \(moment.end(until))"
    }

    private var rest: String {
        var text = ChangeText.flows(found["flows"]).map { $0 + "\n" } ?? ""
        let kept = found["kept"].elements.compactMap { kept in
            kept["device"].text.map { "\($0) (\(kept["profile"].text ?? "?"))" }
        }
        if !kept.isEmpty {
            text += "with a profile of their own, not moved: \(Self.list(kept)); --override moves them too\n"
        }
        return text + (ChangeText.pending(found["pending"], moment).map { $0 + "\n" } ?? "")
    }

    private var warnings: [String] {
        var warnings = found["warnings"].texts
        // The daemon warns five minutes before the end; who asks for less than that is told at once.
        if let until = found["until"].integer, Int64(until) - moment.now < 300 {
            warnings.append("the assignment ends at \(moment.end(until)); `starshipctl use` again makes it longer")
        }
        return warnings
    }

    private static func list(_ names: [String]) -> String {
        let shown = names.prefix(8).joined(separator: ", ")
        return names.count > 8 ? shown + " and \(names.count - 8) more" : shown
    }
}

/// What a push, a reload, a rollback or a confirmation has changed.
struct ChangeText {
    private let found: Found
    private let moment: Moment

    init(_ found: Found, _ moment: Moment) {
        self.found = found
        self.moment = moment
    }

    func rendered(_ done: String) -> Rendered {
        let changed = found["changed"].texts
        let revision = found["revision"].integer.map { "revision \($0): " } ?? ""
        var text = "\(revision)\(changed.isEmpty ? "\(done), nothing has changed" : done)\n"
        for change in changed { text += "  \(change)\n" }
        if let flows = Self.flows(found["flows"]) { text += flows + "\n" }
        if let pending = Self.pending(found["pending"], moment) { text += pending + "\n" }
        let restart = found["needsRestart"].texts
        var warnings = found["warnings"].texts
        if !restart.isEmpty {
            warnings.append(
                "\(restart.joined(separator: ", ")): changed in the file, and taken at the next start of starshipd alone"
            )
        }
        return Rendered(text, warnings: warnings)
    }

    static func flows(_ flows: Found) -> String? {
        guard flows.isThere else { return nil }
        let (reset, draining) = (flows["reset"].integer ?? 0, flows["draining"].integer ?? 0)
        var text = "flows: \(reset) reset"
        if draining > 0 { text += ", \(draining) busy and draining" }
        return text + ", \(flows["untouched"].integer ?? 0) untouched"
    }

    static func pending(_ pending: Found, _ moment: Moment) -> String? {
        guard pending.isThere else { return nil }
        let end = (pending["until"].integer ?? pending.integer).map { " at \(moment.end($0))" } ?? ""
        return "taken back\(end), unless `starshipctl confirm` keeps it"
    }
}
