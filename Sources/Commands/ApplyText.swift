/// What a link would do, before anybody has agreed to it.

public enum ApplyText {
    /// The link and the change in words, for a person who is to say yes.
    public static func preview(
        _ answer: Found, of application: Application, _ style: Style, _ moment: Moment
    ) -> String {
        let link = answer["link"]
        var lines = LabelledLines()
        let profile = link["profile"].text.map { "(\($0)\(link["isNew"].flag == true ? ", new" : ""))" }
        lines.add("profile", [link["name"].text, profile].compactMap(\.self).joined(separator: " "))
        lines.add("upstream", link["upstream"].text)
        if link["upstream"].isThere {
            let domains = link["domains"].texts
            lines.add("domains", domains.isEmpty ? "everything is proxied" : domains.joined(separator: ", "))
        }
        lines.add("signed by", link["key"].text)
        lines.add("link ends", link["expires"].integer.map(moment.end))
        switch application.target {
        case .device(let name):
            lines.add("for", name)
            lines.add("lasts", application.duration ?? "as the configuration's `lease` says")
        case .all:
            let kept =
                application.overrides ? "those with a profile of their own too" : "but those with one of their own"
            lines.add("for", "all devices, \(kept)")
        }
        return lines.text(style)
    }
}
