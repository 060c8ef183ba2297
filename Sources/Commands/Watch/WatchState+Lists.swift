/// The lists in the middle of the screen.

extension WatchState {
    func profileLines(_ columns: Int, _ room: Int) -> [ScreenLine] {
        guard room > 1 else { return [] }
        var table = TextTable(headings: ["", "PROFILE", "NAME", "HEALTH", "UPSTREAM", "DEVICES"])
        for (position, profile) in profiles.enumerated() {
            let id = profile["id"].text ?? "?"
            let name = profile["name"].text ?? ""
            let health = HealthText(health: profile["health"])
            let chosen = profile["chosen"].text.map { " → \($0)" } ?? ""
            let isActive = profile["active"].flag == true
            let number = position < 9 ? "\(position + 1)" : " "
            table.rows.append([
                .init((position == selection ? "▸" : " ") + number + (isActive ? " ●" : ""), isActive ? .good : nil),
                .init(id, position == selection ? .reversed : isActive ? .bold : nil), .init(name == id ? "" : name),
                .init(health.health.isThere ? health.colour : "", health.tint),
                .init((profile["upstream"].text ?? "") + chosen),
                .init(profile["devices"].texts.joined(separator: ", ")),
            ])
        }
        return Self.window(table.lines(within: columns), room, around: selection)
    }

    func flowLines(_ columns: Int, _ room: Int) -> [ScreenLine] {
        guard room > 2 else { return [] }
        let shown = shownFlows
        var title = "\(shown.count == flowTotal ? "" : "\(shown.count) of ")\(Count.text(flowTotal, "flow")), "
        title += "by \(order.rawValue)"
        if !filter.isEmpty { title += ", with \"\(filter)\"" }
        if skipped > 0 { title += ", from number \(skipped + 1)" }
        let isWide = columns >= 120
        let more = isWide ? ["PROFILE", "UPSTREAM", "RULE"] : []
        var table = TextTable(headings: ["DEVICE", "TARGET", "STATE", "UP", "DOWN", "AGE"] + more)
        for flow in shown.dropFirst(skipped).prefix(room - 2) {
            var row: [TextTable.Cell] = [
                .init(flow["device"].text ?? flow["client"].text ?? ""), .init(ListText.target(flow)),
                .init(flow["state"].text ?? ""), .init(flow["up"].integer.map(Quantities.size) ?? ""),
                .init(flow["down"].integer.map(Quantities.size) ?? ""),
                .init(flow["ms"].integer.map { Moment.span(Int64($0) / 1000) } ?? ""),
            ]
            if isWide { row += ["profile", "upstream", "rule"].map { TextTable.Cell(flow[$0].text ?? "") } }
            table.rows.append(row)
        }
        return [ScreenLine(title, .bold)] + table.lines(within: columns)
    }

    func eventLines(_ room: Int) -> [ScreenLine] {
        guard room > 1 else { return [] }
        return [ScreenLine("events", .bold)]
            + events.suffix(room - 1).map { event in
                var line = ScreenLine(moment.second(event.at) + " ", .faint)
                line.add(event.text, event.tint)
                return line
            }
    }

    func deviceLines(_ profile: String, _ marked: String, _ columns: Int, _ room: Int) -> [ScreenLine] {
        var table = TextTable(headings: ["", "DEVICE", "PROFILE", "BY", "ADDRESS"])
        for device in devices {
            let isMarked = device["id"].raw == marked
            table.rows.append([
                .init(isMarked ? "▸" : ""), .init(device["id"].text ?? "?", isMarked ? .reversed : nil),
                .init(device["profile"].text ?? "–"), .init(device["profileBy"].text ?? ""),
                .init(device["addresses"].texts.first ?? ""),
            ])
        }
        return Self.window(table.lines(within: columns), room, around: deviceIDs.firstIndex(of: marked) ?? 0)
    }

    /// As many lines of a table as there is room for: the heading, and rows of which one is seen in any case.
    private static func window(_ lines: [ScreenLine], _ room: Int, around position: Int) -> [ScreenLine] {
        guard lines.count > room, room > 1 else { return Array(lines.prefix(room)) }
        let height = room - 1
        let first = min(max(0, position - height / 2), lines.count - 1 - height)
        return [lines[0]] + lines[(1 + first)..<(1 + first + height)]
    }
}
