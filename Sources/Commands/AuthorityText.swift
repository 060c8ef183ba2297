/// The certificate of a proxy that decrypts, and how phones get it and lose it again.

internal import Profiles

struct AuthorityText {
    let found: Found
    let style: Style
    let moment: Moment

    /// What it is, and what to do with it; the exit code says whether a phone can use it.
    var rendered: Rendered {
        var text = style.paint(found["profile"].text ?? "the profile", .bold)
        if let kind = found["kind"].text { text += ", \(kind)" }
        text += "\n" + rows.map { $0.padded(to: 9) + $1 + "\n" }.joined()
        let (name, url) = (found["name"].text ?? "the certificate", found["url"].text ?? "its page")
        for system in CertificateSteps.System.allCases {
            let steps = CertificateSteps(system, certificate: name, from: url)
            text += "\n" + style.paint("\(system.rawValue), while it has this profile", .bold) + "\n"
            text += Self.numbered(steps.install + steps.trust)
            text += "To take it off again:\n" + Self.numbered(steps.remove)
        }
        let warnings = found["warnings"].texts
        return Rendered(text, warnings: warnings, exitCode: warnings.isEmpty ? ExitCode.done : ExitCode.failed)
    }

    private var rows: [(String, String)] {
        var rows = [("subject", found["subject"].text ?? "-")]
        if let issuer = found["issuer"].text, issuer != found["subject"].text { rows.append(("issuer", issuer)) }
        rows.append(("sha256", found["sha256"].text ?? "-"))
        if let end = found["notAfter"].integer { rows.append(("until", moment.date(Int64(end)))) }
        if let url = found["url"].text { rows.append(("from", url)) }
        return rows
    }

    private static func numbered(_ steps: [String]) -> String {
        steps.enumerated().map { HelpText.wrapped("  \($0 + 1). \($1)", indent: 5) + "\n" }.joined()
    }
}
