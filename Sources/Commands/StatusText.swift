/// The card: which profile, which upstream, whether it works, and what is wrong besides.

struct StatusText {
    let found: Found
    let style: Style
    let moment: Moment

    private var health: HealthText { HealthText(health: found["health"]) }

    var rendered: Rendered {
        let profile = found["profile"]
        let id = profile["id"].text ?? "no profile"
        let name = profile["name"].text.flatMap { $0 == id ? nil : $0 }
        let sign = style.paint(health.sign, health.tint)
        var text = sign + "  " + style.paint(id, .bold) + (name.map { "  \($0)" } ?? "") + "\n"
        var lines = LabelledLines()
        addHealth(to: &lines)
        addProfile(to: &lines)
        addLoad(to: &lines)
        addTrouble(to: &lines)
        text += lines.text(style)
        return Rendered(text, exitCode: health.exitCode)
    }

    private func addHealth(to lines: inout LabelledLines) {
        lines.add("cause", health.cause)
        lines.add("note", health.note)
        if health.colour != "green" { lines.add("last good", health.health["lastGood"].integer.map(moment.since)) }
        lines.add("since", health.health["since"].integer.map(moment.since))
        for layer in HealthText.layers { lines.add(layer, health.layer(layer, at: moment.now)) }
        let next = health.health["nextProbe"].integer.map { Int64($0) - moment.now }
        lines.add("next probe", next.map { $0 > 0 ? "in \(Moment.span($0))" : "now" })
        if found["uplink"]["up"].flag == false {
            lines.add("uplink", "the gateway has none: " + (found["uplink"]["words"].text ?? "no way out"))
        }
    }

    private func addProfile(to lines: inout LabelledLines) {
        lines.add("upstream", upstream)
        lines.add("decrypts", decrypts)
        for group in found["groups"].elements { lines.add("group", Self.group(group)) }
        lines.add("mode", mode)
        lines.add("from", found["profile"]["source"].text.map { $0 == "file" ? "the file" : "the lab's store" })
        lines.add("gateway", gateway)
        lines.add("lock-down", lockdown)
        for peer in found["peers"].elements { lines.add("peer", self.peer(peer)) }
    }

    private func addLoad(to lines: inout LabelledLines) {
        lines.add("devices", counts("devices", [("seen", "seen"), ("named", "named"), ("assigned", "assigned")]))
        lines.add("flows", counts("flows", [("open", "open"), ("halfOpen", "half-open"), ("udp", "of UDP")]))
        lines.add("traffic", traffic)
        lines.add("memory", memory)
        lines.add("revision", found["revision"].integer.map(String.init))
        lines.add("pending", pending)
        lines.add("resolvers", found["resolvers"].texts.joined(separator: ", "))
    }

    private func addTrouble(to lines: inout LabelledLines) {
        lines.add("refusals", reasons)
        lines.add("dropped", dropped)
        for limit in found["limits"].elements { lines.add("limit", Self.limit(limit)) }
        if found["clock"]["synchronised"].flag == false {
            lines.add("clock", "not synchronised: signed links can't be checked")
        }
        for text in found["insists"].texts { lines.add("insists", text) }
        for text in found["notices"].texts { lines.add("notice", text) }
    }

    /// `http whistle.qa.example:8899 (whistle)`.
    private var upstream: String? {
        guard let words = found["profile"]["upstream"].text else { return nil }
        return words + (found["upstream"]["kind"].text.map { " (\($0))" } ?? "")
    }

    /// Whether the upstream shows certificates of its own, and whether devices refuse them.
    private var decrypts: String? {
        guard found["decrypts"].isThere else { return nil }
        let issuer = found["decrypts"]["issuer"].text.map { ", with certificates of \($0)" } ?? ""
        let refused = found["decrypts"]["refused"].flag == true ? "; a device has refused its certificate lately" : ""
        return "yes" + issuer + refused
    }

    /// `lab: proxy-b, chosen of proxy-a (red), proxy-b (green)`.
    static func group(_ group: Found) -> String {
        let members = group["members"].elements.compactMap { member in
            member["id"].text.map { "\($0) (\(HealthText(health: member).colour))" }
        }
        let chosen = group["chosen"].text ?? "none"
        let manner = group["choose"].text.map { ", \($0)" } ?? ""
        return "\(group["profile"].text ?? "?")\(manner): \(chosen), of " + members.joined(separator: ", ")
    }

    private var traffic: String? {
        let traffic = found["traffic"]
        guard let up = traffic["up"].integer, let down = traffic["down"].integer else { return nil }
        var text = "\(Quantities.size(up)) up, \(Quantities.size(down)) down"
        if let up = traffic["upRate"].integer, let down = traffic["downRate"].integer {
            text += "; now \(Quantities.rate(up)) up, \(Quantities.rate(down)) down"
        }
        return text
    }

    private var mode: String? {
        let profile = found["profile"]
        guard let mode = profile["mode"].text else { return nil }
        let because = profile["captureBecause"].text.map { ": \($0)" } ?? ""
        return mode + (profile["capture"].text.map { ", captures \($0)\(because)" } ?? "")
    }

    private var gateway: String? {
        var parts: [String] = []
        if let name = found["gateway"].text { parts.append(name) }
        if let version = found["version"].text { parts.append("version \(version)") }
        if let uptime = found["uptime"].integer { parts.append("up \(Moment.span(Int64(uptime)))") }
        return parts.joined(separator: ", ")
    }

    /// Whether it holds; what it lacks stands among the notices.
    private var lockdown: String? {
        guard let holds = found["lockdown"]["holds"].flag else { return nil }
        guard holds else { return "not whole" }
        let rights = found["lockdown"]["capabilities"].text ?? "none"
        return "holds; rights left: \(rights)"
            + (found["lockdown"]["systemCalls"].integer.map { ", \($0) system calls" } ?? "")
    }

    /// `lab-2 (192.168.50.3:10801), heard 1 s ago, has everything`.
    private func peer(_ peer: Found) -> String {
        let place = peer["address"].text.map { " (\($0))" } ?? ""
        let heard = peer["lastHeard"].integer.map { "heard \(Moment.span(max(0, moment.now - Int64($0)))) ago" }
        let behind = peer["behind"].integer ?? 0
        let cause = peer["cause"].text.map { ": \($0)" } ?? ""
        return (peer["id"].text ?? "?") + place + ", " + (heard ?? "not heard since the start") + ", "
            + (behind == 0 ? "has everything" : "\(behind) items behind") + cause
    }

    private func counts(_ key: String, _ names: [(key: String, words: String)]) -> String {
        names.compactMap { name in found[key][name.key].integer.map { "\($0) \(name.words)" } }.joined(separator: ", ")
    }

    /// What the kernel had no room for in front of us.
    private var dropped: String? {
        guard let count = found["counters"]["tun_tx_dropped"].integer, count > 0 else { return nil }
        return "\(count) packets of devices: the queue of the TUN device was full"
    }

    private var memory: String? {
        guard let resident = found["memory"]["residentKiB"].integer else { return nil }
        var parts = ["\(resident / 1024) MiB"]
        if let buffers = found["memory"]["bufferBytes"].integer {
            parts.append("\(Quantities.size(buffers)) of buffers")
        }
        if let descriptors = found["descriptors"].integer { parts.append("\(descriptors) descriptors") }
        return parts.joined(separator: ", ")
    }

    private var pending: String? {
        guard let revision = found["pending"]["revision"].integer else { return nil }
        let end = found["pending"]["until"].integer.map { " at \(moment.end($0))" } ?? ""
        return "revision \(revision) is taken back\(end), unless `starshipctl confirm` keeps it"
    }

    /// `flows: 65536 of 65536, reached 12 times`; nil for a bound that is far, and was never reached.
    private static func limit(_ limit: Found) -> String? {
        guard let name = limit["limit"].text, let used = limit["used"].integer, let bound = limit["of"].integer,
            let hits = limit["hits"].integer, hits > 0 || used >= bound - bound / 10
        else { return nil }
        let words = name.replacing("_", with: " ")
        return "\(words): \(used) of \(bound)" + (hits > 0 ? ", reached \(hits) times" : "")
    }

    /// The most frequent reasons first, those of one count by name.
    private var reasons: String {
        let counted = found["reasons"].members.compactMap { member in
            member.value.integer.map { (name: member.key, count: $0) }
        }
        let sorted = counted.filter { $0.count > 0 }.sorted { ($1.count, $0.name) < ($0.count, $1.name) }
        return sorted.prefix(5).map { "\($0.count) \($0.name)" }.joined(separator: ", ")
    }
}
