/// What a link would do, before anybody has agreed to it.

public enum ApplyText {
    /// The link and the change in words, for a person who is to say yes.
    public static func preview(_ answer: Found, for target: Target, _ style: Style, _ moment: Moment) -> String {
        let link = answer["link"]
        var lines = LabelledLines()
        let profile = link["profile"].text ?? answer["profile"].text
        lines.add("profile", [link["name"].text, profile.map { "(\($0))" }].compactMap(\.self).joined(separator: " "))
        lines.add("upstream", link["upstream"].text)
        let domains = link["domains"].texts
        if link["upstream"].isThere {
            lines.add("domains", domains.isEmpty ? "everything is proxied" : domains.joined(separator: ", "))
        }
        lines.add("signed by", link["key"].text)
        lines.add("link ends", link["expires"].integer.map(moment.end))
        let devices = answer["devices"].texts
        switch target {
        case .device(let name): lines.add("for", name)
        case .all:
            lines.add(
                "for", "all devices: \(Count.text(answer["moved"].integer ?? devices.count, "device")) would move")
        }
        lines.add("until", answer["until"].integer.map(moment.end))
        if let reset = answer["flows"]["reset"].integer, let draining = answer["flows"]["draining"].integer {
            lines.add("flows", "\(Count.text(reset + draining, "flow")) would be reset")
        }
        return lines.text(style)
    }
}
