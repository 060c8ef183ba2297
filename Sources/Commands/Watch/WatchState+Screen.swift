/// The state as a screen: what stands where, and what gives way on a small one.

extension WatchState {
    /// Draws for a terminal of this size; below 80 by 24 the lower parts go first, down to one line.
    public func screen(columns: Int, rows: Int) -> Screen {
        let (columns, rows) = (max(1, columns), max(1, rows))
        let (top, bottom) = (header(columns), bottomLine(columns))
        guard rows > top.count else {
            // The first lines say most, but not more than a question that waits for a key.
            let lines = mode == .normal ? top.prefix(rows) : top.prefix(rows - 1) + [bottom]
            return Screen(Array(lines), columns: columns, rows: rows)
        }
        let room = rows - top.count - 1
        return Screen(top + Self.filled(middle(columns, room), room) + [bottom], columns: columns, rows: rows)
    }

    private func middle(_ columns: Int, _ room: Int) -> [ScreenLine] {
        switch mode {
        case .help: return Self.help(room)
        case .device(let profile, let marked): return deviceLines(profile, marked, columns, room)
        case .normal, .filter, .scope: break
        }
        let plan = Rooms(room, profiles: profiles.count)
        return Self.filled(profileLines(columns, plan.profiles), plan.profiles)
            + Self.filled(flowLines(columns, plan.flows), plan.flows) + eventLines(plan.events)
    }

    /// Lines with as many empty ones behind them as there is room for, so that what follows stays where it is.
    private static func filled(_ lines: [ScreenLine], _ room: Int) -> [ScreenLine] {
        lines + Array(repeating: ScreenLine(), count: max(0, room - lines.count))
    }

    // MARK: The top

    private func header(_ columns: Int) -> [ScreenLine] {
        [title(columns), upstream, reason, layers, curves(columns), totals]
    }

    private func title(_ columns: Int) -> ScreenLine {
        var line = ScreenLine()
        switch link {
        case .connecting: line.add("○ asking the daemon …", .faint)
        case .lost(let since, _):
            let time = Moment.span(moment.now - since)
            line.add("○ NO DAEMON for \(time); it is tried again every second", .bad)
        case .live:
            let id = status["profile"]["id"].text ?? "no profile"
            line.add(health.sign, health.tint)
            line.add("  ")
            line.add(id, .bold)
            if let name = status["profile"]["name"].text, name != id { line.add("  \(name)") }
        }
        let uptime = status["uptime"].integer.map { ", up \(Moment.span(Int64($0)))" } ?? ""
        let right = link == .live ? "\(status["gateway"].text ?? "")\(uptime)" : ""
        if line.columns + right.columns + 2 <= columns {
            line.move(to: columns - right.columns)
            line.add(right, .faint)
        }
        return line
    }

    private var upstream: ScreenLine {
        var parts = [status["profile"]["upstream"].text].compactMap(\.self)
        if let kind = status["upstream"]["kind"].text { parts.append("(\(kind))") }
        if let mode = status["profile"]["mode"].text { parts.append("· \(mode) mode") }
        if let since = health.health["since"].integer {
            parts.append("· \(health.colour) since \(moment.since(since))")
        }
        if let issuer = status["decrypts"]["issuer"].text { parts.append("· decrypts (\(issuer))") }
        return ScreenLine(parts.joined(separator: " "))
    }

    /// What is wrong, the nearest trouble first.
    private var reason: ScreenLine {
        if case .lost(_, let words) = link { return ScreenLine(words, .bad) }
        if status["uplink"]["up"].flag == false {
            return ScreenLine("the gateway has no uplink: \(status["uplink"]["words"].text ?? "no way out")", .bad)
        }
        if let cause = health.cause { return ScreenLine(cause, health.tint) }
        return ScreenLine(health.note ?? status["notices"].texts.first ?? "", .warning)
    }

    private var layers: ScreenLine {
        var line = ScreenLine()
        for name in HealthText.layers {
            guard let words = health.layer(name, at: moment.now) else { continue }
            if line.columns > 0 { line.add("   ") }
            line.add("\(name) ", .faint)
            let isBad = health.health["layers"][name]["ok"].flag == false
            line.add(words, isBad ? .bad : nil)
        }
        return line
    }

    /// Latency and throughput, each with its newest value; the curves share what the words leave.
    private func curves(_ columns: Int) -> ScreenLine {
        let latency = latencies.last.map { $0.map(Quantities.time) ?? "missed" } ?? "–"
        let curves: [(name: String, samples: Samples, value: String, tint: Style.Tint?)] = [
            ("latency", latencies, latency, .warning),
            ("down", downRates, (downRates.last ?? nil).map(Quantities.rate) ?? "–", .good),
            ("up", upRates, (upRates.last ?? nil).map(Quantities.rate) ?? "–", nil),
        ]
        let words = curves.reduce(0) { $0 + $1.name.count + 12 } + 4
        let width = min(60, max(0, (columns - words) / curves.count))
        var line = ScreenLine()
        for curve in curves {
            if line.columns > 0 { line.add("  ") }
            line.add("\(curve.name) ", .faint)
            if width > 1 { line.add(Sparkline.text(curve.samples.values, width: width), curve.tint) }
            line.add(" " + curve.value.padded(to: 10))
        }
        return line
    }

    private var totals: ScreenLine {
        var parts: [String] = []
        if let seen = status["devices"]["seen"].integer { parts.append(Count.text(seen, "device")) }
        if let assigned = status["devices"]["assigned"].integer { parts.append("\(assigned) assigned") }
        if let open = status["flows"]["open"].integer { parts.append(Count.text(open, "flow")) }
        if let up = status["traffic"]["up"].integer { parts.append("\(Quantities.size(up)) up") }
        if let down = status["traffic"]["down"].integer { parts.append("\(Quantities.size(down)) down") }
        if let pending = status["pending"]["revision"].integer { parts.append("revision \(pending) waits for confirm") }
        return ScreenLine(parts.joined(separator: ", "))
    }

    // MARK: The bottom

    private func bottomLine(_ columns: Int) -> ScreenLine {
        switch mode {
        case .filter: return ScreenLine("filter: \(filter)▏  Enter keeps it, Esc ends it", .reversed)
        case .scope(let profile):
            return ScreenLine("\(profile) for whom?  a all devices   d one device   Esc nobody", .reversed)
        case .device(let profile, _):
            return ScreenLine("\(profile) for which device?  ↑ ↓ Enter   Esc none", .reversed)
        case .help: return ScreenLine("any key goes back", .reversed)
        case .normal: break
        }
        if let work { return ScreenLine(work, .bold) }
        if let message, moment.now - message.at < Self.messageTime { return ScreenLine(message.text, message.tint) }
        return ScreenLine("1-9 ↑↓ Enter switch  s sort  / filter  p probe  ? help  q quit", .faint)
    }

    private static func help(_ room: Int) -> [ScreenLine] {
        let keys: [(String, String)] = [
            ("1 to 9", "switch to the profile of this number: for all devices, or for one"),
            ("↑ ↓ Enter", "the same for the profile that is marked"),
            ("p", "probe the marked profile's proxy now"),
            ("s", "sort flows: newest, oldest, down, up, device, target"),
            ("/", "show only flows in which a text stands; Esc ends it"),
            ("PgUp PgDn", "look further up and down the flows"),
            ("^L  ^Z", "draw the screen anew; stop until `fg`"),
            ("q", "quit"),
            ("", ""),
            ("● GREEN", "a request came back through the proxy lately, as it should"),
            ("● YELLOW", "something is there, and something is wrong: the third line says what"),
            ("● RED", "nothing gets through; the third line says why"),
            ("● GREY", "nobody has tried it, or there is no page to try it with"),
        ]
        return keys.prefix(room).map { key in
            var line = ScreenLine("  ")
            line.add(key.0.padded(to: 12), .bold)
            line.add(key.1)
            return line
        }
    }
}

/// How the lines in the middle are shared out.
struct Rooms: Equatable {
    var profiles = 0
    var flows = 0
    var events = 0

    /// Each part has a heading; one for which nothing but that is left is left out.
    init(_ room: Int, profiles count: Int) {
        let wanted = 1 + max(1, count)
        if room >= 12 { events = 1 + max(3, room / 5) }
        let left = room - events
        profiles = left < 7 ? min(wanted, left) : min(wanted, max(4, left / 3))
        flows = left - profiles < 3 ? 0 : left - profiles
    }
}
