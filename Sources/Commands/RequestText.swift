/// What a device wanted, one name a line; its own lists; and what was learned about it.

struct RequestText {
    let style: Style

    func requests(_ found: Found) -> String {
        let requests = found["requests"].elements
        guard !requests.isEmpty else { return "\(found["device"].text ?? "the device") has wanted nothing yet\n" }
        var table = TextTable(headings: ["AGE", "NAME", "FATE", "TIMES", "DOWN", "WHY"])
        for request in requests {
            let fate = request["fate"].text ?? ""
            let isBad = request["failed"].flag == true
            table.rows.append([
                .init(request["age"].integer.map { Moment.span(Int64($0)) } ?? ""), .init(request["name"].text ?? "?"),
                .init(fate, isBad ? .warning : fate == "proxied" ? .good : nil), .init(Self.times(request)),
                .init(Self.octets(request["down"])), .init(Self.why(request)),
            ])
        }
        return table.text(style)
    }

    private static func times(_ request: Found) -> String {
        guard let count = request["count"].integer, count > 1 else { return "" }
        return "\(count)×"
    }

    private static func octets(_ found: Found) -> String {
        guard let count = found.integer, count > 0 else { return "" }
        return Quantities.size(count)
    }

    /// What is open, else the cause of a failure, else the rule; an end that was in order says nothing.
    private static func why(_ request: Found) -> String {
        let rule = request["rule"].text
        if request["failed"].flag == true {
            let outcome = request["outcome"].text ?? ""
            return request["fate"].text == "refused" ? rule ?? outcome : outcome
        }
        let open = request["open"].integer ?? 0
        let now = open == 0 ? nil : open == 1 ? "open" : "\(open) open"
        return [now, rule].compactMap(\.self).joined(separator: ", ")
    }

    func lists(_ found: Found, _ moment: Moment) -> Rendered {
        let device = found["device"].text ?? "the device"
        var lines = LabelledLines()
        lines.add("direct", found["direct"].texts.joined(separator: ", "))
        lines.add("proxied", found["proxied"].texts.joined(separator: ", "))
        let lists = lines.text(style)
        let until = found["until"].integer.map { " until \(moment.end($0))" } ?? ""
        let profile = found["profile"].text.map { ", beside \($0)\(until)" } ?? ""
        var text = lists.isEmpty ? "\(device) has no lists of its own\n" : "\(device)\(profile)\n\(lists)"
        if let flows = ChangeText.flows(found["flows"]) { text += flows + "\n" }
        return Rendered(text, warnings: found["warnings"].texts)
    }

    func lesson(_ found: Found) -> String {
        let device = found["device"].text ?? "the device"
        var text = ""
        for group in found["groups"].elements {
            text += style.paint(group["suffix"].text ?? "?", .bold) + "\n"
            for name in group["names"].elements {
                guard let shown = name["name"].text, shown != group["suffix"].text else { continue }
                text += "  \(shown)\n"
            }
        }
        if found["cut"].flag == true { text += "there were more names than are kept\n" }
        if !text.isEmpty, let pasted = found["text"].text { text += "\n\(pasted)\n" }
        if found["learning"].flag == true {
            let left = found["secondsLeft"].integer.map { Moment.span(Int64($0)) } ?? "a while"
            return text + "learning for \(left) more: use \(device) now, then `starshipctl learn \(device) --show`\n"
        }
        return text.isEmpty ? "\(device) has wanted no name\n" : text
    }
}
