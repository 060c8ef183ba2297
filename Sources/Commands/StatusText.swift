/// The card: which profile, which upstream, whether it works, and what is wrong besides.

struct StatusText {
    let found: Found
    let style: Style
    let moment: Moment

    /// What a state of the upstream means.
    private struct State {
        var words: String
        var tint: Style.Tint
        var exitCode: Int32
    }

    private var state: State {
        switch found["profile"]["upstreamState"].text {
        case "ok": State(words: "ok", tint: .good, exitCode: ExitCode.done)
        case "lost": State(words: "lost: the upstream does not answer", tint: .bad, exitCode: ExitCode.red)
        case "credentialsRejected":
            State(words: "the upstream rejects the credentials", tint: .bad, exitCode: ExitCode.red)
        default: State(words: "not known yet: nothing was asked of it", tint: .warning, exitCode: ExitCode.failed)
        }
    }

    var rendered: Rendered {
        let profile = found["profile"]
        let id = profile["id"].text ?? "no profile"
        let name = profile["name"].text.flatMap { $0 == id ? nil : $0 }
        var text = style.paint("●", state.tint) + " " + style.paint(id, .bold) + (name.map { "  \($0)" } ?? "") + "\n"
        var lines = LabelledLines()
        lines.add("upstream", upstream)
        lines.add("mode", mode)
        lines.add("from", profile["source"].text.map { $0 == "file" ? "the file" : "the lab's store" })
        lines.add("gateway", gateway)
        lines.add("devices", counts("devices", [("seen", "seen"), ("named", "named"), ("assigned", "assigned")]))
        lines.add("flows", counts("flows", [("open", "open"), ("halfOpen", "half-open"), ("udp", "of UDP")]))
        lines.add("memory", memory)
        lines.add("revision", found["revision"].integer.map(String.init))
        lines.add("pending", pending)
        lines.add("resolvers", found["resolvers"].texts.joined(separator: ", "))
        lines.add("refusals", reasons)
        if found["clock"]["synchronised"].flag == false {
            lines.add("clock", "not synchronised: signed links can't be checked")
        }
        for text in found["insists"].texts { lines.add("insists", text) }
        for text in found["notices"].texts { lines.add("notice", text) }
        text += lines.text(style)
        return Rendered(text, exitCode: state.exitCode)
    }

    private var upstream: String {
        (found["profile"]["upstream"].text.map { $0 + ", " } ?? "") + state.words
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

    private func counts(_ key: String, _ names: [(key: String, words: String)]) -> String {
        names.compactMap { name in found[key][name.key].integer.map { "\($0) \(name.words)" } }.joined(separator: ", ")
    }

    private var memory: String? {
        guard let resident = found["memory"]["residentKiB"].integer else { return nil }
        var parts = ["\(resident / 1024) MiB"]
        if let buffers = found["memory"]["bufferBytes"].integer {
            parts.append("\(ListText.octets(buffers)) of buffers")
        }
        if let descriptors = found["descriptors"].integer { parts.append("\(descriptors) descriptors") }
        return parts.joined(separator: ", ")
    }

    private var pending: String? {
        guard let revision = found["pending"]["revision"].integer else { return nil }
        let end = found["pending"]["until"].integer.map { " at \(moment.end($0))" } ?? ""
        return "revision \(revision) is taken back\(end), unless `starshipctl confirm` keeps it"
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
