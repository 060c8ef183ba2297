/// From what was seen of a proxy to the settings that fit it.

struct LintAdvice: Equatable {
    var kind: ProxyKind
    var settings: [LintSetting] = []
    var notes: [String] = []

    init(_ findings: LintFindings) {
        kind = Self.kind(findings)
        add("type", .text(findings.isSOCKS ? "socks5" : "http"), "what it speaks")
        if kind != .other { add("kind", .text(kind.rawValue), "by what it says of itself") }
        if findings.refusesPort80, findings.takesAbsoluteForm {
            add("http80", .text("absolute"), "plain http in absolute form alone")
        }
        if findings.endsAtHalfClose {
            add("halfClose", .text("hold"), "it ends a tunnel when one end closes")
        }
        if kind == .whistle {
            add("identify", .flag(true), "each phone is a client of its own in Whistle")
        }
        if Self.decrypting.contains(kind) {
            add("connectName", .text("sni"), "it decrypts what is asked for by name alone", isUpstreams: false)
        }
        addNotes(findings)
    }

    private static let decrypting: [ProxyKind] = [.whistle, .charles, .mitmproxy, .proxyman]

    private mutating func addNotes(_ findings: LintFindings) {
        if kind == .charles {
            notes.append(
                "Charles asks once for each address that it sees, and of all phones it sees the gateway's alone: one "
                    + "Allow there admits every phone of this profile; until then a stream waits (limits.connect, at most 120s)"
            )
        }
        if findings.saysYesToAnything {
            notes.append("a yes of it proves nothing: give the profile a health.url, a page that must answer")
        }
        if findings.refusesPort80, !findings.takesAbsoluteForm {
            notes.append("plain http does not pass it, neither with CONNECT nor in absolute form")
        }
        if Self.decrypting.contains(kind) {
            notes.append("devices must trust its certificate, or hosts that refuse it must go direct (bypass)")
        }
    }

    private mutating func add(_ key: String, _ value: LintSetting.Value, _ reason: String, isUpstreams: Bool = true) {
        settings.append(LintSetting(key: key, value: value, reason: reason, isUpstreams: isUpstreams))
    }

    /// Who it is: by the certificates that it makes, else by its own words.
    private static func kind(_ findings: LintFindings) -> ProxyKind {
        let issuer = (findings.issuer ?? "").lowercased()
        if let kind = decrypting.first(where: { issuer.contains($0.rawValue) }) { return kind }
        let voices = String(decoding: findings.voices, as: UTF8.self).lowercased()
        let known: [ProxyKind] = decrypting + [.squid, .tinyproxy]
        return known.first { voices.contains($0.rawValue) } ?? .other
    }
}
